import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedFile, openEmbedded } from '../../src/adapters/embedded/index.ts';
import { memoryStores } from '../../src/testing/world/memory-stores.ts';
import { VirtualClock } from '../../src/testing/world/virtual-clock.ts';
import { type Opened, opened } from './contract.ts';
import type { StoresSubject } from './stores-subject.ts';

/** An embedded file on disk, in a directory of its own. */
export async function embeddedOnDisk(): Promise<Opened<EmbeddedFile>> {
  const directory = await mkdtemp(join(tmpdir(), 'tidemark-'));
  const file = await openEmbedded({ file: join(directory, 'data.db'), role: 'follower', partitions: 2 });
  return {
    subject: file,
    [Symbol.asyncDispose]: async () => {
      await file.close();
      await rm(directory, { recursive: true });
    },
  };
}

export async function embeddedInMemory(): Promise<Opened<EmbeddedFile>> {
  const file = await openEmbedded({ file: ':memory:', role: 'follower', partitions: 2 });
  return { subject: file, [Symbol.asyncDispose]: () => file.close() };
}

async function simulatedStores(): Promise<Opened<StoresSubject>> {
  return opened(memoryStores({ clock: new VirtualClock() }));
}

/** The adapters whose stores are written in one transaction, by name. */
export const storeAdapters: Readonly<Record<string, () => Promise<Opened<StoresSubject>>>> = {
  'the embedded file': embeddedOnDisk,
  'the embedded file in memory': embeddedInMemory,
  'the simulated stores': simulatedStores,
};
