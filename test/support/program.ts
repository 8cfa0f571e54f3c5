import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface ProgramResult {
  /** Null where a signal ended it. */
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface ProgramOptions {
  /** Added to the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Where it runs; default: the working folder of this process. */
  readonly folder?: string;
  readonly timeoutMs?: number;
  readonly input?: string;
}

const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** A test that runs out of time never gets to its own cleaning up. */
export function endWithThisProcess(child: ChildProcess): void {
  living.add(child);
  child.once('exit', () => living.delete(child));
}

/** A program of the machine that runs. Where there is no such program, `ended` rejects. */
export function startProgram(
  program: string,
  args: readonly string[],
  { input, ...options }: SpawnOptions & { readonly input?: string | undefined },
) {
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  endWithThisProcess(child);
  child.stdin.end(input);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return {
    pid: child.pid ?? 0,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    /** The output so far. */
    stdout: () => output.stdout,
    /** Once it has ended and everything it said was read. */
    ended: once(child, 'close').then(
      ([exit, signal]): ProgramResult => ({ exit, signal, ...output }),
    ),
  };
}

/** Runs a program of the machine to its end. Rejects where there is no such program. */
export function runProgram(
  program: string,
  args: readonly string[],
  { environment = {}, folder, timeoutMs, input }: ProgramOptions = {},
): Promise<ProgramResult> {
  const env = { ...process.env, ...environment };
  return startProgram(program, args, { env, cwd: folder, timeout: timeoutMs, input }).ended;
}

/** Its standard output. Throws what it said where it failed. */
export async function outputOf(
  program: string,
  args: readonly string[],
  options?: ProgramOptions,
): Promise<string> {
  const { exit, stdout, stderr } = await runProgram(program, args, options);
  if (exit !== 0)
    throw new Error(`${program} ${args.join(' ')} ended ${exit}:\n${stdout}${stderr}`);
  return stdout.trim();
}

/** The path of the program of this name on the PATH, or null. */
export function findProgram(name: string): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const program = join(folder, name);
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}
