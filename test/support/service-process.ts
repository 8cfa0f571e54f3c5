import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex, Readable } from 'node:stream';
import { ROLES, type Role, type ServiceOverrides } from '../../src/app/service.ts';
import { endWithThisProcess } from './program.ts';

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
  /** Loaded before the program. Its end of `hook` is the file descriptor 3. */
  readonly hook?: string;
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

export function spawnService(options: ServiceStart) {
  const { roles = ROLES, overrides, clockFile, environment, hook } = options;
  const args = [
    ...(hook === undefined ? [] : ['--import', hook]),
    ...(overrides === null
      ? [COMMAND, 'start', '--roles', roles.join(',')]
      : [COMMAND_WITH_OVERRIDES, JSON.stringify({ roles, clockFile, overrides })]),
  ];
  const child = spawn(process.execPath, args, {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'ignore', 'pipe', ...(hook === undefined ? [] : ['pipe' as const])],
  });
  endWithThisProcess(child);
  const log: LogLine[] = [];
  const text: string[] = [];
  const written: string[] = [];
  const lines = createInterface({ input: child.stderr as Readable });
  lines.on('line', (line) => {
    written.push(line);
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
    /** This end of the hook's channel. */
    channel: child.stdio[3] as Duplex,
    /** Everything that it wrote to standard error. */
    written: written as readonly string[],
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
