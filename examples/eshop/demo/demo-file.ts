import { rm } from 'node:fs/promises';
import { FileHeldError, openEmbedded } from 'tidemark/embedded';

/** What SQLite and the worker keep beside the file. */
const SUFFIXES = ['', '-wal', '-shm', '-journal', '-follower', '-follower-wal', '-follower-shm', '-follower-journal'];

/** Removes the file, but not from under a worker that follows it. Throws `FILE_HELD` then. */
export async function removeFile(file: string): Promise<void> {
  try {
    const opened = await openEmbedded({ file, role: 'follower' });
    await opened.close();
  } catch (error) {
    if (error instanceof FileHeldError) throw error;
    // Whatever else is wrong with the file goes with it.
  }
  for (const suffix of SUFFIXES) await rm(`${file}${suffix}`, { force: true });
}
