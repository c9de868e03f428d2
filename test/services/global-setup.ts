import type { TestProject } from 'vitest/node';
import { type FoundServer, findServer, type ServerName } from './ladder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port,…`; `undefined` where there is none. */
    kafka: string | undefined;
    /** A URL; `undefined` where there is none. */
    mongodb: string | undefined;
  }
}

/** Finds the real servers before the tests that need them, says which, and stops what it started. On CI all must be there. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using started = new AsyncDisposableStack();
  const [kafka, mongodb] = await Promise.all([find('Kafka'), find('MongoDB')]);
  for (const server of [kafka, mongodb]) if (server !== undefined) started.use(server);
  if (process.env['CI'] !== undefined && (kafka === undefined || mongodb === undefined)) {
    throw new Error('On CI every server must be there.');
  }
  project.provide('kafka', kafka?.address);
  project.provide('mongodb', mongodb?.address);
  const kept = started.move();
  return () => kept.disposeAsync();
}

async function find(name: ServerName): Promise<FoundServer | undefined> {
  try {
    const server = await findServer(name);
    process.stdout.write(`${name}: ${server.address} (${server.how})\n`);
    return server;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stdout.write(`tests with ${name} are skipped: ${reason}\n`);
    return undefined;
  }
}
