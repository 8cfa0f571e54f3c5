import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROLES, type Role, type ServiceOverrides } from '../../src/app/service.ts';

const COMMAND = join(import.meta.dirname, '../../bin/conciliation.js');
const COMMAND_WITH_OVERRIDES = join(import.meta.dirname, 'service-process.mjs');

export interface ServiceStart {
  /** All unless told. */
  readonly roles?: readonly Role[];
  readonly environment: Readonly<Record<string, string>>;
  /** Null: the command itself, as people start it. */
  readonly overrides: Omit<ServiceOverrides, 'clock'> | null;
  /** Holds the instant that the process takes for now. */
  readonly clockFile?: string;
}

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

export interface ServiceEnd {
  /** Null where a signal ended it. */
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The output on standard error that is not a line of the log. */
  readonly text: string;
}

/** `conciliation start` in a separate process, from the build. */
export type ServiceProcess = ReturnType<typeof spawnService>;

/** Errors and worse; pino's numbers. */
const ERROR_LEVEL = 50;

const running = new Set<ChildProcess>();
// A test that runs out of time never gets to its own cleaning up.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function spawnService(options: ServiceStart) {
  const { roles = ROLES, overrides, clockFile, environment } = options;
  const args =
    overrides === null
      ? [COMMAND, 'start', '--roles', roles.join(',')]
      : [COMMAND_WITH_OVERRIDES, JSON.stringify({ roles, clockFile, overrides })];
  const child = spawn(process.execPath, args, {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  const log: LogLine[] = [];
  const text: string[] = [];
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => {
    // The last line of a process that was killed may be half a line.
    if (/^\{.*\}$/.test(line)) log.push(JSON.parse(line));
    else text.push(line);
  });
  const ended: Promise<ServiceEnd> = once(child, 'close').then(([exit, signal]) => ({
    exit,
    signal,
    text: text.join('\n'),
  }));
  const logged = (message: string) => log.filter((line) => line.msg === message);
  const start = async () => {
    while (logged('service started').length === 0) {
      const end = await Promise.race([ended, once(lines, 'line').then(() => null)]);
      if (end !== null) throw new Error(`the service ended with ${end.exit}: ${end.text}`);
    }
  };
  const started = start();
  // A test that expects the start to fail waits for the end only.
  started.catch(() => {});
  return {
    pid: child.pid ?? 0,
    /** So far, as the process wrote it. */
    log: log as readonly LogLine[],
    logged,
    /** Once every part of it has started; rejects when it ends before. */
    started,
    /** Empty before it started, and without the console. */
    consoleUrl: () => String(logged('service started')[0]?.['consoleUrl'] ?? ''),
    send: (signal: NodeJS.Signals) => void child.kill(signal),
    ended,
    /** Ends it as a crash does, and waits for that. */
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The log lines that need the attention of a person. */
export function errorsOf(process: ServiceProcess): LogLine[] {
  return process.log.filter((line) => Number(line['level']) >= ERROR_LEVEL);
}
