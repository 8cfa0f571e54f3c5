import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

export interface ProgramResult {
  /** Null where a signal ended it. */
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
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

/** Runs a program of the machine to its end. Rejects where there is no such program. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { environment = {}, folder, timeoutMs, input }: ProgramOptions = {},
): Promise<ProgramResult> {
  const child = spawn(program, args, {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(folder === undefined ? {} : { cwd: folder }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  });
  child.stdin.end(input);
  const output = collectOutput(child);
  const [exit] = await once(child, 'close');
  return { exit, ...output };
}

/** What a process writes, so far. */
export function collectOutput(child: ChildProcessByStdio<Writable | null, Readable, Readable>) {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return output;
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
