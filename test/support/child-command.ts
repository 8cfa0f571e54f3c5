import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ANY_DAY_ENVIRONMENT } from './any-day-environment.ts';
import { collectOutput, endWithThisProcess } from './program.ts';
import type { PullWorld } from './pull-world.ts';

const HOST = join(import.meta.dirname, 'warm-commands.mjs');

let host: ChildProcess | null = null;
let last: Promise<unknown> = Promise.resolve();

/** Runs a command after those before it, all in one process. */
function runWarm(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ChildResult> {
  const result = last.then(() => run(args, environment));
  last = result.catch(() => {});
  return result;
}

async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ChildResult> {
  host ??= start();
  const end = `end of ${randomUUID()} `;
  const outputs = Promise.all([readUntil(host.stdout, end), readUntil(host.stderr, end)]);
  host.send({ args, environment, end });
  const [{ text: stdout, exit }, { text: stderr }] = await outputs;
  return { exit, signal: null, stdout, stderr };
}

function start(): ChildProcess {
  const child = spawn(process.execPath, [HOST], {
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  endWithThisProcess(child);
  child.once('close', () => {
    host = null;
  });
  child.stdout?.setEncoding('utf8');
  child.stderr?.setEncoding('utf8');
  return child;
}

/** Reads what the command writes up to the line with `end` and the exit status. */
function readUntil(stream: Readable | null, end: string): Promise<{ text: string; exit: number }> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (part: string) => {
      text += part;
      const [own = '', exit] = text.split(end);
      if (exit === undefined || !exit.endsWith('\n')) return;
      settle();
      resolve({ text: own, exit: Number(exit) });
    };
    const onClose = () => {
      settle();
      reject(new Error(`the process of the commands ended: ${text}`));
    };
    const settle = () => {
      stream?.off('data', onData);
      stream?.off('close', onClose);
    };
    stream?.on('data', onData);
    stream?.on('close', onClose);
  });
}

const BIN = join(import.meta.dirname, '../../bin/conciliation.js');

export interface ChildResult {
  /** Null where a signal ended it. */
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line in a separate process, from the build, so that the process can be killed. */
export type ChildCommand = ReturnType<typeof startCommand>;

export function startCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
) {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collectOutput(child);
  return {
    pid: child.pid ?? 0,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    /** The output so far. */
    stdout: () => output.stdout,
    /** Once it has ended and everything it said was read. */
    ended: once(child, 'close').then(
      ([exit, signal]): ChildResult => ({ exit, signal, ...output }),
    ),
  };
}

/**
 * Runs a command to its end. The start of a process costs ten times as much as most commands, so commands on the
 * tests' server share one. A process of its own has what a shared one cannot have: a server, or a setting of Node.
 */
export function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ChildResult> {
  const needsProcess =
    args[0] === 'start' ||
    !('DATABASE_URL' in environment) ||
    Object.keys(environment).some((name) => name.startsWith('NODE_'));
  return needsProcess ? startCommand(args, environment).ended : runWarm(args, environment);
}

/** The environment of a command that works on the world's database and sandbox. */
export function environmentOf(world: PullWorld): Record<string, string> {
  return {
    DATABASE_URL: world.databaseUrl,
    PLATFORM_BASE_URL: world.sandbox.baseUrl,
    PLATFORM_TOKEN: world.sandbox.issueToken(),
    PULL_BACKOFF_SECONDS: '1',
    ...ANY_DAY_ENVIRONMENT,
  };
}

/** As the image starts Node, so that the peak is what a pull needs and not what V8 keeps for later. */
const MEASURED = {
  NODE_OPTIONS: `--max-semi-space-size=2 --import ${join(import.meta.dirname, 'report-peak-memory.mjs')}`,
  MALLOC_ARENA_MAX: '1',
};

/** Runs a command that has to succeed; returns its output and the most memory that it had resident. */
export async function runMeasured(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
) {
  const { exit, stdout, stderr } = await runCommand(args, { ...environment, ...MEASURED });
  if (exit !== 0) throw new Error(stderr);
  return { stdout, peakMegabytes: Number(/^peak (\d+) MB$/m.exec(stderr)?.[1]) };
}
