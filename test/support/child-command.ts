import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { on } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ANY_DAY_ENVIRONMENT } from './check-rules.ts';
import { endWithThisProcess, type ProgramResult, startProgram } from './program.ts';
import type { PullWorld } from './pull-world.ts';

const HOST = join(import.meta.dirname, 'warm-commands.mjs');

let host: ChildProcessByStdio<null, Readable, Readable> | null = null;
let last: Promise<unknown> = Promise.resolve();

/** Runs a command after those before it, all in one process. */
function runWarm(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ProgramResult> {
  const result = last.then(async () => {
    host ??= startHost();
    const end = `end of ${randomUUID()} `;
    const outputs = Promise.all([readUntil(host.stdout, end), readUntil(host.stderr, end)]);
    host.send({ args, environment, end });
    const [{ text: stdout, exit }, { text: stderr }] = await outputs;
    return { exit, signal: null, stdout, stderr };
  });
  last = result.catch(() => {});
  return result;
}

function startHost() {
  const child = spawn(process.execPath, [HOST], {
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  endWithThisProcess(child);
  child.once('close', () => {
    host = null;
  });
  return child;
}

/** Reads what the command writes up to the line with `end` and the exit status. */
async function readUntil(stream: Readable, end: string): Promise<{ text: string; exit: number }> {
  let text = '';
  for await (const [part] of on(stream.setEncoding('utf8'), 'data', { close: ['close'] })) {
    text += part;
    const [own = '', exit] = text.split(end);
    if (exit?.endsWith('\n')) return { text: own, exit: Number(exit) };
  }
  throw new Error(`the process of the commands ended: ${text}`);
}

const BIN = join(import.meta.dirname, '../../bin/conciliation.js');

/** The command line in a separate process, from the build, so that the process can be killed. */
export type ChildCommand = ReturnType<typeof startCommand>;

export function startCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
) {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...environment };
  return startProgram(process.execPath, [BIN, ...args], { env, cwd: tmpdir() });
}

/**
 * Runs a command to its end. The start of a process costs ten times as much as most commands, so commands on the
 * tests' server share one. A process of its own has what a shared one cannot have: a server, or a setting of Node.
 */
export function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ProgramResult> {
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
