import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from './command.ts';
import { ServerMissing, serverFiles, sha256OfFile } from './server-files.ts';

const version = '4.4.0';
/** Over names and checksums of all jars, in the order of their names. */
const checksum = '2dc289ad803b1278e1a75602559263b7b1c23da25af19f57cde1bc70e1b460d2';

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${version}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;

/** The class path of Apache Kafka, by its Maven coordinates. Needs Java 17 and Maven. */
export async function kafkaClassPath(): Promise<string> {
  const folder = await serverFiles({
    name: `kafka-${version}-${checksum.slice(0, 12)}`,
    fetch: async (into) => {
      await command('java', ['-version'], into);
      await writeFile(join(into, 'pom.xml'), pom);
      await command('mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=jars'], into);
      await verify(join(into, 'jars'));
    },
  });
  return join(folder, 'jars', '*');
}

async function verify(jars: string): Promise<void> {
  const all = createHash('sha256');
  for (const name of (await readdir(jars)).toSorted()) all.update(`${name} ${await sha256OfFile(join(jars, name))}\n`);
  const found = all.digest('hex');
  if (found !== checksum) throw new ServerMissing(`the jars of Kafka ${version} have the checksum ${found}`);
}
