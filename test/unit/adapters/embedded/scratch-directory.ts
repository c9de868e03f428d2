import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory that is gone when the test is over. */
export type ScratchDirectory = AsyncDisposable & { readonly path: (name: string) => string };

export async function scratchDirectory(): Promise<ScratchDirectory> {
  const directory = await mkdtemp(join(tmpdir(), 'tidemark-'));
  return {
    path: (name) => join(directory, name),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}
