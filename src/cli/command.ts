/** What a command is: its name and words, from which come parser, help and docs/commands.md, and its run to the exit status. */
import { setMaxListeners } from 'node:events';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  type OptionValues,
} from '@commander-js/extra-typings';
import { type OpenStaging, openStaging } from '../app/parts.ts';
import {
  type Config,
  type Environment,
  misspeltVariables,
  readConfig,
} from '../base/config/config.ts';
import type { Database } from '../base/database/database.ts';
import { databaseErrorCode, describeDatabaseError } from '../base/database/database-error.ts';
import { ConciliationError, ConfigError, InputError } from '../base/runtime/errors.ts';
import { createLogger, describeError, type Logger } from '../base/runtime/logger.ts';
import { amountText } from '../base/texts/texts.ts';
import { type CivilDate, dateIn, parseCivilDate } from '../base/values/business-day.ts';

export const EXIT = { done: 0, failed: 1, usage: 2, needsPerson: 3 } as const;
type ExitStatus = (typeof EXIT)[keyof typeof EXIT];
export type Exit = (status: ExitStatus) => void;

export interface CommandRun {
  readonly config: Config;
  readonly logger: Logger;
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** The date in the time zone of the configuration. */
  readonly today: CivilDate;
  /** The account of the operating system, as the actor for the audit log. */
  readonly by: string;
  readonly progress: ReturnType<typeof createProgress>;
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

interface Declared<Options extends OptionValues, Arguments extends unknown[]> {
  /** With the command that it belongs to: `key add`. */
  readonly name: string;
  readonly does: string;
  /** Adds the arguments and options. */
  readonly words?: (line: Command) => Command<Arguments, Options>;
  /** Below the options in the help. */
  readonly help: string;
}

export interface CommandOfProgram {
  readonly name: string;
  addTo(program: CommandUnknownOpts, exit: Exit): void;
}

export function command<Options extends OptionValues, Arguments extends unknown[]>(
  declared: Declared<Options, Arguments> & {
    readonly needs: CommandNeeds;
    readonly run: (run: CommandRun, options: Options, words: Arguments) => Promise<CommandResult>;
  },
): CommandOfProgram {
  const { name, does, words, help, needs, run } = declared;
  return {
    name,
    addTo(program, exit) {
      const [own = '', group] = name.split(' ').reverse();
      const parent = program.commands.find((known) => known.name() === group) ?? program;
      const line = new Command(own).copyInheritedSettings(program).description(does);
      words?.(line);
      line.addHelpText('after', `\n${help}`).action(async () => {
        const options = line.opts() as Options;
        const given = line.processedArgs as unknown[] as Arguments;
        const json = program.opts()['json'] === true;
        exit(await runCommand({ ...needs, json }, (context) => run(context, options, given)));
      });
      parent.addCommand(line);
    },
  };
}

export function stagingCommand<Options extends OptionValues, Arguments extends unknown[]>(
  declared: Declared<Options, Arguments> & {
    readonly run: (
      database: Database,
      options: Options,
      run: CommandRun,
      words: Arguments,
    ) => Promise<CommandResult>;
  },
): CommandOfProgram {
  return command({
    ...declared,
    needs: { platform: false },
    run: (run, options, words) =>
      withStaging(run, ({ database }) => declared.run(database, options, run, words)),
  });
}

export function toDate(text: string): CivilDate {
  const date = parseCivilDate(text);
  if (date === null) throw new InvalidArgumentError('Expected a calendar date as YYYY-MM-DD.');
  return date;
}

/** Reads the number of a pull, a backfill, … */
export const idOf = (what: string) => (text: string) => {
  if (/^[1-9]\d{0,17}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError(`Expected the number of a ${what}.`);
};

/** Reads a whole number within bounds. */
export const integerFrom = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
};

export function toWords(text: string): string {
  const words = text.trim();
  if (words === '') throw new InvalidArgumentError('Expected a text that is not empty.');
  return words;
}

/** Reads entries of `choices`, which are separated by commas. */
export const someOf =
  <const Value extends string>(choices: readonly Value[]) =>
  (text: string): Value[] => {
    const names = new Set(text.split(',').map((name) => name.trim()));
    const known = choices.filter((choice) => names.has(choice));
    if (known.length === names.size) return known;
    throw new InvalidArgumentError(`Expected some of ${choices.join(', ')}.`);
  };

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
  const progress = createProgress();
  try {
    const environment = options.environment ?? process.env;
    const config = readConfig(options.service === true ? environment : withQuietLog(environment), {
      platform: options.platform,
    });
    const logger = createLogger(config);
    for (const [name, meant] of misspeltVariables(environment)) {
      const warning = `${name} is not a variable of the program; is ${meant} meant?`;
      if (options.service === true) logger.warn(warning);
      else progress.say(warning);
    }
    const today = dateIn(config.timezone, new Date());
    const by = `command line: ${accountName()}`;
    const { signal } = abort;
    const { document, text, exit } = await command({ config, logger, signal, today, by, progress });
    print(options.json === true ? JSON.stringify(document, toJson, 2) : text);
    return exit ?? EXIT.done;
  } catch (error) {
    return reportError(error, options.json === true);
  } finally {
    process.removeListener('SIGINT', stop);
    process.removeListener('SIGTERM', stop);
    // A stopped service must exit, so that the next one is started. A worker of BullMQ that was closed during an outage
    // of Redis may renew locks without end, and its timer would keep the process alive.
    if (options.service === true) setTimeout(() => process.exit(), LEFTOVERS_LIMIT_MS).unref();
  }
}

/** Opens the staging database for `work`, and closes it afterwards. */
export async function withStaging<T>(
  { config, logger, progress }: Pick<CommandRun, 'config' | 'logger' | 'progress'>,
  work: (staging: OpenStaging) => Promise<T>,
): Promise<T> {
  if (config.databaseUrl === null) {
    progress.say(`DATABASE_URL is not set: the database is in ${resolve(config.dataDir)}`);
  }
  const staging = await openStaging(config, logger);
  if (staging.newer !== null) progress.say(`the database: ${staging.newer}`);
  try {
    return await work(staging);
  } finally {
    await staging.close();
  }
}

const PROGRESS_MS = 5_000;

/** Lines on standard error about a long step. */
function createProgress() {
  let shownAt = performance.now();
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  /** Writes at most one line in five seconds. */
  const update = (text: string) => {
    if (performance.now() - shownAt < PROGRESS_MS) return;
    shownAt = performance.now();
    say(text);
  };
  return { say, update };
}

/** By this time, everything that ends without help has ended. */
const LEFTOVERS_LIMIT_MS = 3_000;

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

const toJson = (_key: string, value: unknown) =>
  typeof value === 'bigint' ? Number(value) : value;

function reportError(error: unknown, json: boolean): ExitStatus {
  const isMissingRight = databaseErrorCode(error) === '42501';
  const defect = isMissingRight
    ? describeDatabaseError(error)
    : `a defect of the program: ${JSON.stringify(describeError(error))}`;
  const { code, message } =
    error instanceof ConciliationError ? error : { code: 'DEFECT', message: defect };
  if (json) print(JSON.stringify({ error: { code, message } }, null, 2));
  process.stderr.write(`error: ${message}\n`);
  return error instanceof ConfigError || error instanceof InputError ? EXIT.usage : EXIT.failed;
}

const NUMBER = /^[\d.,–−-]+$/;

/** Formats rows as columns. A column of numbers or dates is aligned to the right. */
export function renderTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = heads.map((head, index) =>
    Math.max(head.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const areNumbers = heads.map((_, index) => rows.every((row) => NUMBER.test(row[index] ?? '')));
  const line = (cells: readonly string[]) =>
    widths
      .map((width, index) => {
        const cell = cells[index] ?? '';
        return areNumbers[index] ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width));
  return [line(heads), line(rule), ...rows.map(line)].join('\n');
}

/** Groups the digits of an exact decimal: `1234567.5` becomes `1,234,567.50`. No digit is dropped. */
export function formatAmount(decimal: string): string {
  return amountText(decimal, 'en');
}

/** Joins the lines that are there. */
export const linesOf = (...lines: readonly (string | false)[]): string =>
  lines.filter((line) => line !== false).join('\n');

export function formatCount(count: number): string {
  return formatAmount(String(count)).replace(/\.00$/, '');
}
