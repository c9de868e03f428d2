import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Columns } from '../database/columns.ts';
import { memoryFile } from '../database/database.ts';
import type { PageRequest } from './record-page.ts';

export type PageOrder = { readonly id: number; readonly request: PageRequest };
export type PageAnswer = { readonly id: number; readonly rows: readonly Columns[] };

/** Compiled it stands beside this file with the same extension. */
const script = new URL(`./page-thread${extname(import.meta.url)}`, import.meta.url);

/** What passes through is soon gone. A record that is larger ends the thread, and is read by the first one. */
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 };

/**
 * Reads pages on a second thread while the first one handles what it has. The thread starts with the first request and
 * ends at `close`. It may fail at any time: then requests are answered with nothing, and whoever asked reads for itself,
 * where what is wrong with the file comes out.
 */
export class ReadAhead {
  readonly #file: string;
  readonly #waiting = new Map<number, (rows: readonly Columns[] | undefined) => void>();
  #thread: Worker | undefined;
  #isReady = false;
  #isOver: boolean;
  #orders = 0;

  constructor(file: string) {
    this.#file = file;
    this.#isOver = file === memoryFile;
  }

  /** Orders a page; `undefined` while there is no thread to read it. The promise never rejects. */
  order(request: PageRequest): Promise<readonly Columns[] | undefined> | undefined {
    if (this.#isOver) return undefined;
    this.#thread ??= this.#start();
    if (!this.#isReady) return undefined;
    const { promise, resolve } = Promise.withResolvers<readonly Columns[] | undefined>();
    const id = (this.#orders += 1);
    this.#waiting.set(id, resolve);
    // Only who waits for a page keeps the process alive.
    this.#thread.ref();
    this.#thread.postMessage({ id, request } satisfies PageOrder);
    return promise;
  }

  /** Ends the thread; idempotent. */
  async close(): Promise<void> {
    this.#end();
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(script, { workerData: { file: this.#file }, resourceLimits });
    thread.on('message', (message: 'ready' | PageAnswer) => {
      if (message === 'ready') this.#isReady = true;
      else this.#answer(message);
    });
    thread.on('error', () => this.#end());
    thread.on('exit', () => this.#end());
    thread.unref();
    return thread;
  }

  #answer({ id, rows }: PageAnswer): void {
    this.#waiting.get(id)?.(rows);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#thread?.unref();
  }

  #end(): void {
    this.#isOver = true;
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }
}
