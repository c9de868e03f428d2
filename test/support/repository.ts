import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type RepositoryFile = { readonly path: string; readonly text: string };

const root = join(import.meta.dirname, '..', '..');
/** In a linked worktree `.git` is a file. */
const ignored = new Set(['.cache', '.git', 'coverage', 'data', 'dist', 'node_modules']);

/** Every text file of the repository below the folder, by its path from the root with `/`; binary files are left out. */
export function textFiles(folder = ''): RepositoryFile[] {
  const files: RepositoryFile[] = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (ignored.has(entry.name)) continue;
    if (entry.isDirectory()) files.push(...textFiles(path));
    if (!entry.isFile()) continue;
    const text = readFileSync(join(root, path), 'utf8');
    if (!text.includes('\0')) files.push({ path, text });
  }
  return files;
}

/** What a module imports, re-exports or loads, as written there. */
export function importsOf(source: string): string[] {
  const statements = /^\s*(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm;
  const sideEffects = /^\s*import\s*['"]([^'"]+)['"]/gm;
  const calls = /\bimport\(\s*['"]([^'"]+)['"]/g;
  return [statements, sideEffects, calls].flatMap((pattern) =>
    [...source.matchAll(pattern)].flatMap(([, specifier]) => specifier ?? []),
  );
}
