import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const source = join(import.meta.dirname, '..', '..', 'src', 'cli', 'bin.ts');

/** Stands in for the command line: says what started it, waits if asked to, and ends as asked. */
const main = `
const [how, what] = process.argv.slice(2);
if (how === 'wait') {
  process.on('SIGTERM', () => process.exit(7));
  setTimeout(() => process.exit(9), 20_000);
}
console.log(JSON.stringify({ version: process.version, args: process.argv.slice(2) }));
if (how === 'exit') process.exit(Number(what));
if (how === 'die') process.kill(process.pid, what);
`;

/** Passes for an older Node where there is none: the launcher looks at nothing else. */
const olderVersion = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });";

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-launcher-'));
  await mkdir(join(folder, 'package', 'dist', 'cli'), { recursive: true });
  await mkdir(join(folder, 'path'));
  const script = stripTypeScriptTypes(await readFile(source, 'utf8')).replace("'./main.ts'", "'./main.js'");
  await writeFile(join(folder, 'package', 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'package', 'dist', 'cli', 'bin.js'), script);
  await writeFile(join(folder, 'package', 'dist', 'cli', 'main.js'), main);
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** A real older Node of this machine, else the one that runs this, in disguise. */
function olderNode(): readonly [node: string, ...args: string[]] {
  for (const entry of (process.env['PATH'] ?? '').split(delimiter)) {
    const node = join(entry, 'node');
    const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    if (status === 0 && /^v(18|20|22)\./.test(stdout)) return [node];
  }
  return [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(olderVersion)}`];
}

function launch([node, ...options]: readonly [string, ...string[]], args: readonly string[]): ChildProcess {
  const bin = join(folder, 'package', 'dist', 'cli', 'bin.js');
  return spawn(node, [...options, bin, ...args], { env: { PATH: join(folder, 'path') }, stdio: 'pipe' });
}

type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

async function ended(child: ChildProcess): Promise<Ended> {
  const closed = once(child, 'close');
  const [stdout = '', stderr = ''] = await Promise.all(
    [child.stdout, child.stderr].map((stream) => (stream === null ? Promise.resolve('') : text(stream))),
  );
  const [code, signal] = (await closed) as [number | null, string | null];
  return { code, signal, stdout, stderr };
}

/** A command on the path that calls itself Node of this version. */
async function fakeNode(name: string, version: string): Promise<void> {
  const file = join(folder, 'path', name);
  await writeFile(file, `#!/bin/sh\necho ${version}\n`);
  await chmod(file, 0o755);
}

const said = ({ stdout }: Ended): unknown => JSON.parse(stdout);

describe('the launcher', () => {
  test('goes on in its own process where its Node is new enough', async () => {
    const result = await ended(launch([process.execPath], ['exit', '3']));
    expect(result).toMatchObject({ code: 3, stderr: '' });
    expect(said(result)).toEqual({ version: process.version, args: ['exit', '3'] });
  });

  test('under an older Node starts the one beside the package, and ends as it ends', async () => {
    await mkdir(join(folder, 'node_modules', '.bin'), { recursive: true });
    await symlink(process.execPath, join(folder, 'node_modules', '.bin', 'node'));
    await fakeNode('node', 'v23.1.0');
    const result = await ended(launch(olderNode(), ['exit', '5']));
    expect(result).toMatchObject({ code: 5, stderr: '' });
    expect(said(result)).toEqual({ version: process.version, args: ['exit', '5'] });
    expect(await ended(launch(olderNode(), ['die', 'SIGKILL']))).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  test('under an older Node finds one on the path, passing by those that are too old', async () => {
    await fakeNode('node', 'v24.15.9');
    await symlink(process.execPath, join(folder, 'path', 'node24'));
    expect(await ended(launch(olderNode(), ['exit', '0']))).toMatchObject({ code: 0, stderr: '' });
  });

  test('passes signals on', async () => {
    await symlink(process.execPath, join(folder, 'path', 'node24'));
    const child = launch(olderNode(), ['wait']);
    const over = ended(child);
    if (child.stdout !== null) await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await over).toMatchObject({ code: 7, signal: null });
  });

  test('without any Node that is new enough says what is missing', async () => {
    await fakeNode('node', 'v22.3.0');
    await fakeNode('node24', 'nonsense');
    const result = await ended(launch(olderNode(), []));
    expect(result).toMatchObject({ code: 78, stdout: '' });
    expect(result.stderr).toMatch(
      /^error NODE_MISSING: tidemark needs Node 24\.16 or newer; this is \d+\.\d+\.\d+\nhint: /,
    );
  });
});
