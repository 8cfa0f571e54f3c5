import { setMaxListeners } from 'node:events';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { type OpenStaging, openPlatform, openStaging } from '../app/parts.ts';
import { type Config, type Environment, readConfig } from '../base/config/config.ts';
import type { Database } from '../base/database/database.ts';
import { ConciliationError, ConfigError, InputError } from '../base/runtime/errors.ts';
import { createLogger, describeError, type Logger } from '../base/runtime/logger.ts';
import { type CivilDate, dateIn } from '../base/values/business-day.ts';
import type { PlatformClient } from '../core/platform/conciliation-client.ts';

/** Exit statuses of every command. */
export const EXIT = { done: 0, failed: 1, usage: 2, needsPerson: 3 } as const;
type ExitStatus = (typeof EXIT)[keyof typeof EXIT];
/** Receives the exit status of a command. */
export type Exit = (status: ExitStatus) => void;

/** The parameters of a command. */
export interface CommandRun {
  readonly config: Config;
  readonly logger: Logger;
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** The date in the time zone of the configuration. */
  readonly today: CivilDate;
  /** The account of the operating system, as the actor for the audit log. */
  readonly by: string;
  readonly progress: ProgressLine;
}

/** The result of a command: a document for `--json`, text for people, and the exit status, by default `done`. */
export interface CommandResult {
  readonly document: object;
  readonly text: string;
  readonly exit?: ExitStatus;
}

interface CommandNeeds {
  readonly platform: boolean;
  /** A service logs at its configured level. Other commands log only on request. */
  readonly service?: boolean;
  /** Overrides of the environment, for commands with their own parts. */
  readonly environment?: Environment;
}

/**
 * Runs a command to its exit status: reads the configuration, turns signals into an abort, prints the result
 * on standard output and everything else on standard error. One of the three places that translate errors.
 * Exported for test/support/service-process.mjs.
 * @public
 */
export async function runCommand(
  options: CommandNeeds & { readonly json?: boolean | undefined },
  command: (run: CommandRun) => Promise<CommandResult>,
): Promise<ExitStatus> {
  const abort = new AbortController();
  // Every pull of a backfill adds a listener. Node warns of a leak above ten.
  setMaxListeners(0, abort.signal);
  const stop = () => {
    abort.abort();
    // A second signal ends the process immediately.
    process.removeListener('SIGINT', stop);
    process.removeListener('SIGTERM', stop);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const progress = createProgressLine();
  try {
    const environment = options.environment ?? process.env;
    const config = readConfig(options.service === true ? environment : withQuietLog(environment), {
      platform: options.platform,
    });
    const logger = createLogger(config);
    const today = dateIn(config.timezone, new Date());
    const by = `command line: ${accountName()}`;
    const result = await command({ config, logger, signal: abort.signal, today, by, progress });
    progress.end();
    print(options.json === true ? JSON.stringify(result.document, toJson, 2) : result.text);
    return result.exit ?? EXIT.done;
  } catch (error) {
    progress.end();
    return reportError(error, options.json === true);
  } finally {
    process.removeListener('SIGINT', stop);
    process.removeListener('SIGTERM', stop);
    if (options.service === true) endDespiteLeftovers();
  }
}

/**
 * Returns the action of a command. `work` receives the arguments and the options of the command line, with
 * those of the parent command.
 */
export function commandAction<Words extends readonly unknown[]>(
  exit: Exit,
  needs: CommandNeeds | ((...words: Words) => CommandNeeds),
  work: (run: CommandRun, ...words: Words) => Promise<CommandResult>,
): (...line: unknown[]) => Promise<void> {
  return async (...line) => {
    const command = line.at(-1) as Command;
    const options = command.optsWithGlobals<{ json?: boolean }>();
    const words = [...line.slice(0, -2), options] as unknown as Words;
    const needed = typeof needs === 'function' ? needs(...words) : needs;
    exit(await runCommand({ ...needed, json: options.json }, (run) => work(run, ...words)));
  };
}

/** Returns the action of a command that needs the staging database and no platform, see `commandAction`. */
export function stagingAction<Words extends readonly unknown[]>(
  exit: Exit,
  work: (database: Database, run: CommandRun, ...words: Words) => Promise<CommandResult>,
): (...line: unknown[]) => Promise<void> {
  return commandAction(exit, { platform: false }, (run, ...words: Words) =>
    withStaging(run, ({ database }) => work(database, run, ...words)),
  );
}

/** Opens the staging database for `work`, and closes it afterwards. */
export async function withStaging<T>(
  { config, logger }: Pick<CommandRun, 'config' | 'logger'>,
  work: (staging: OpenStaging) => Promise<T>,
): Promise<T> {
  const staging = await openStaging(config, logger);
  try {
    return await work(staging);
  } finally {
    await staging.close();
  }
}

/** Opens the staging database and the platform for `work`, and closes them afterwards. */
export function withPlatform<T>(
  run: Pick<CommandRun, 'config' | 'logger'>,
  work: (staging: OpenStaging, platform: PlatformClient) => Promise<T>,
): Promise<T> {
  return withStaging(run, async (staging) => {
    const platform = openPlatform(run.config);
    try {
      return await work(staging, platform);
    } finally {
      await platform.close();
    }
  });
}

/**
 * One line on standard error with the progress of a long step. On a terminal the line is rewritten
 * in place, starting after one second; elsewhere a new line is printed every ten seconds.
 */
interface ProgressLine {
  update(text: string): void;
  /** Clears the line. */
  end(): void;
}

function createProgressLine(): ProgressLine {
  const stream = process.stderr;
  const intervalMs = stream.isTTY ? 200 : 10_000;
  let shownAt = performance.now() + (stream.isTTY ? 1000 - intervalMs : 0);
  let isShown = false;
  return {
    update(text) {
      if (performance.now() - shownAt < intervalMs) return;
      shownAt = performance.now();
      isShown = true;
      stream.write(stream.isTTY ? `\r\u001B[K${text}` : `${text}\n`);
    },
    end() {
      if (isShown && stream.isTTY) stream.write('\r\u001B[K');
      isShown = false;
    },
  };
}

/** By this time, everything that ends without help has ended. */
const LEFTOVERS_LIMIT_MS = 3_000;

/**
 * A stopped service must exit, so that the next one is started. A worker of BullMQ that was closed during an
 * outage of Redis may renew locks without end, and its timer would keep the process alive.
 */
function endDespiteLeftovers(): void {
  setTimeout(() => process.exit(), LEFTOVERS_LIMIT_MS).unref();
}

/** Containers often run under a user id without an account. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function withQuietLog(environment: Environment): Environment {
  return { ...environment, LOG_LEVEL: environment['LOG_LEVEL'] || 'fatal' };
}

function print(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`);
}

function toJson(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

function reportError(error: unknown, json: boolean): ExitStatus {
  const known = error instanceof ConciliationError;
  const code = known ? error.code : 'DEFECT';
  const message = known
    ? error.message
    : `a defect of the program: ${JSON.stringify(describeError(error))}`;
  if (json) print(JSON.stringify({ error: { code, message } }, null, 2));
  process.stderr.write(`error: ${message}\n`);
  return error instanceof ConfigError || error instanceof InputError ? EXIT.usage : EXIT.failed;
}
