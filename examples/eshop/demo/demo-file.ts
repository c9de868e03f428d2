import { rm } from 'node:fs/promises';
import { env } from 'node:process';
import { type EmbeddedFile, FileHeldError, openEmbedded } from 'tidemark/embedded';

/** What SQLite and the worker keep beside the file. */
const SUFFIXES = ['', '-wal', '-shm', '-journal', '-follower', '-follower-wal', '-follower-shm', '-follower-journal'];

/** The file of the demo: the one the command line takes when nobody says otherwise. */
export function demoFilePath(): string {
  const configured = env['TIDEMARK_EMBEDDED_FILE'];
  return configured === undefined || configured === '' ? './data/tidemark.db' : configured;
}

/** Opens it to follow it, and makes it and its folder if they are not there. Throws `FILE_HELD` beside another worker. */
export async function openDemoFile(file: string, { isFresh }: { readonly isFresh: boolean }): Promise<EmbeddedFile> {
  if (isFresh) await remove(file);
  return openEmbedded({ file, role: 'follower' });
}

/** Removes the file, but not from under a worker that follows it. */
async function remove(file: string): Promise<void> {
  try {
    const opened = await openEmbedded({ file, role: 'follower' });
    await opened.close();
  } catch (error) {
    if (error instanceof FileHeldError) throw error;
    // Whatever else is wrong with the file goes with it.
  }
  for (const suffix of SUFFIXES) await rm(`${file}${suffix}`, { force: true });
}
