import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ServerMissing } from './server-files.ts';

const run = promisify(execFile);

/** Runs a command that fetches or prepares something; if it fails, the server is missing, and the message says why. */
export async function command(file: string, args: readonly string[], cwd: string): Promise<string> {
  try {
    return (await run(file, [...args], { cwd, timeout: 300_000, maxBuffer: 16 * 1024 * 1024 })).stdout;
  } catch (error) {
    const { code, message, stderr = '' } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    throw new ServerMissing(code === 'ENOENT' ? `there is no command ${file}` : `${message.trim()} ${stderr.trim()}`);
  }
}
