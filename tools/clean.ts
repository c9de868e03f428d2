/** Removes the folders named on the command line; only folders inside this repository are accepted. */
import { rmSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

const root = dirname(import.meta.dirname);
for (const name of process.argv.slice(2)) {
  const folder = resolve(root, name);
  const inside = relative(root, folder);
  if (inside === '' || inside.startsWith('..')) throw new Error(`${name} is not a folder inside the repository`);
  rmSync(folder, { recursive: true, force: true });
}
