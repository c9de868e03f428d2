import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * Holds a server: it is killed when the process that started it ends, however that ends. The shell waits for the server;
 * beside it something waits for the shell's own input to close.
 */
const leash = `
exec 3<&0
log="$1"; shift
"$@" </dev/null >>"$log" 2>&1 3<&- &
server=$!
echo "$server"
{ cat <&3 >/dev/null; kill -9 "$server" 2>/dev/null; } &
guard=$!
wait "$server"
code=$?
kill "$guard" 2>/dev/null
exit "$code"
`;

/** A server process of a test. */
export type ServerProcess = {
  readonly pid: number;
  /** Resolves with its exit code once it is over. */
  readonly over: Promise<number>;
  isOver(): boolean;
  /** Sends a signal to the server itself. */
  signal(name: NodeJS.Signals): void;
};

/** Starts a command with its output appended to a file. */
export async function startServer(command: readonly string[], logFile: string): Promise<ServerProcess> {
  const shell = spawn('sh', ['-c', leash, 'sh', logFile, ...command], { stdio: ['pipe', 'pipe', 'ignore'] });
  const over = once(shell, 'exit').then(([code]) => {
    shell.stdin.destroy();
    return Number(code ?? 1);
  });
  const [line] = (await once(createInterface(shell.stdout), 'line')) as [string];
  const pid = Number(line);
  return {
    pid,
    over,
    isOver: () => shell.exitCode !== null || shell.signalCode !== null,
    signal: (name) => {
      if (shell.exitCode === null) process.kill(pid, name);
    },
  };
}
