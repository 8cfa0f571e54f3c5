import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ANY_DAY_ENVIRONMENT } from './any-day-environment.ts';
import { collectOutput } from './program.ts';
import type { PullWorld } from './pull-world.ts';
import { runWarm } from './warm-commands.ts';

const BIN = join(import.meta.dirname, '../../bin/conciliation.js');

export interface ChildResult {
  /** Null where a signal ended it. */
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line in a separate process, from the build, so that the process can be killed. */
export interface ChildCommand {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /** The output so far. */
  stdout(): string;
  /** Once it has ended and everything it said was read. */
  readonly ended: Promise<ChildResult>;
}

export function startCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildCommand {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collectOutput(child);
  return {
    pid: child.pid ?? 0,
    kill: (signal) => child.kill(signal),
    stdout: () => output.stdout,
    ended: once(child, 'close').then(([exit, signal]) => ({ exit, signal, ...output })),
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
