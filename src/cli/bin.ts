#!/usr/bin/env node
/*
 * Starts the command line on a Node that is new enough. This file runs on Node 20: it imports nothing that needs more,
 * and nothing of the package before the version is known.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** First version whose SQLite is stable. */
const NEEDED: readonly [major: number, minor: number] = [24, 16];
const nodeMissing = { code: 'NODE_MISSING' } as const;
/** Configuration error (sysexits.h). */
const EXIT_NO_NODE = 78;
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function isNewEnough(version: string): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(version) ?? [];
  const difference = Number(major) - NEEDED[0];
  return difference > 0 || (difference === 0 && Number(minor) >= NEEDED[1]);
}

/** Files that may be a Node: beside the package and above it, then on the path. */
function candidates(folder: string): readonly string[] {
  const names = process.platform === 'win32' ? ['node24.exe', 'node.exe'] : ['node24', 'node'];
  const beside: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    beside.push(join(at, 'node_modules', '.bin', process.platform === 'win32' ? 'node.exe' : 'node'));
    if (dirname(at) === at) break;
  }
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((entry) => entry !== '');
  const onPath = names.flatMap((name) => path.map((entry) => join(entry, name)));
  return [...new Set([...beside, ...onPath])].filter((file) => existsSync(file));
}

function findNode(folder: string): string | undefined {
  return candidates(folder).find((file) => {
    const { stdout, status } = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: 10_000 });
    return status === 0 && isNewEnough(stdout.trim());
  });
}

function endWithoutNode(message: string): never {
  process.stderr.write(`error ${nodeMissing.code}: ${message}\n`);
  process.stderr.write(`hint: Install Node ${NEEDED.join('.')} or newer, or put it on the PATH as node24.\n`);
  process.exit(EXIT_NO_NODE);
}

/** Runs the same command line there, passes signals on, and ends as it ended. */
function runOn(node: string, bin: string): void {
  const child = spawn(node, [bin, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    endWithoutNode(`${node} cannot be started: ${error.message}`);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    for (const passedOn of PASSED_ON) process.removeAllListeners(passedOn);
    process.kill(process.pid, signal);
    // Signals that do not end this process by themselves.
    process.exit(128 + constants.signals[signal]);
  });
}

const bin = fileURLToPath(import.meta.url);
if (isNewEnough(process.versions.node)) {
  // A third of the time to start. Where the cache cannot be written, nothing is cached.
  nodeModule.enableCompileCache();
  await import('./main.ts');
} else {
  const node = findNode(dirname(bin));
  if (node === undefined) {
    endWithoutNode(`tidemark needs Node ${NEEDED.join('.')} or newer; this is ${process.versions.node}`);
  }
  runOn(node, bin);
}
