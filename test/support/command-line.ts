import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '..', '..');

/** Started often: compiling it anew each time is most of the time it takes. */
const compileCache = join(root, '.cache', 'compile');

/** How the command line is started from source, without its arguments. */
export const commandLine = [
  process.execPath,
  '--conditions=tidemark-source',
  join(root, 'src', 'cli', 'main.ts'),
] as const;

export type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Start = { readonly environment?: Readonly<Record<string, string>>; readonly input?: string };

/** A process of the command line that runs, in a folder outside of the repository. */
export class Running {
  readonly child: ChildProcess;
  readonly #ended: Promise<Ended>;
  #stderr = '';

  constructor(args: readonly string[], folder: string, { environment = {}, input }: Start) {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(TIDEMARK|VITEST|FORCE_COLOR|NODE_OPTIONS|npm_)/.test(name),
    );
    const [node, ...program] = commandLine;
    this.child = spawn(node, [...program, ...args], {
      cwd: folder,
      env: { ...Object.fromEntries(inherited), NODE_COMPILE_CACHE: compileCache, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stderr?.on('data', (bytes: Buffer) => (this.#stderr += bytes.toString()));
    // Whoever does not read its input ends without it.
    this.child.stdin?.on('error', () => undefined);
    this.child.stdin?.end(input ?? '');
    this.#ended = this.#end();
  }

  async #end(): Promise<Ended> {
    const stdout = this.child.stdout === null ? Promise.resolve('') : text(this.child.stdout);
    const [code, signal] = (await once(this.child, 'close')) as [number | null, string | null];
    return { code, signal, stdout: await stdout, stderr: this.#stderr };
  }

  ended(): Promise<Ended> {
    return this.#ended;
  }

  /** Resolves once standard error holds the text; rejects if the process ends without it. */
  async says(wanted: string): Promise<void> {
    while (!this.#stderr.includes(wanted)) {
      const isOver = await Promise.race([
        this.#ended.then(() => true),
        new Promise<false>((resolve) => {
          setTimeout(() => resolve(false), 10);
        }),
      ]);
      if (isOver && !this.#stderr.includes(wanted))
        throw new Error(`It ended without saying ${wanted}:\n${this.#stderr}`);
    }
  }
}

/** A temporary folder to work in by the command line. */
export class Workplace implements AsyncDisposable {
  readonly folder: string;
  readonly #running: Running[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<Workplace> {
    return new Workplace(await mkdtemp(join(tmpdir(), 'tidemark-e2e-')));
  }

  async write(name: string, content: string): Promise<string> {
    const path = join(this.folder, name);
    await writeFile(path, content);
    return path;
  }

  start(args: readonly string[], options: Start = {}): Running {
    const running = new Running(args, this.folder, options);
    this.#running.push(running);
    return running;
  }

  run(args: readonly string[], options: Start = {}): Promise<Ended> {
    return this.start(args, options).ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const running of this.#running) {
      running.child.kill('SIGKILL');
      await running.ended();
    }
    await rm(this.folder, { recursive: true });
  }
}
