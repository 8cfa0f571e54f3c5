export type ErrorContext = Readonly<Record<string, string | number | boolean | null>>;

interface ErrorOptions {
  readonly cause?: unknown;
  readonly context?: ErrorContext;
}

/**
 * One class for each kind of failure. `code` does not change: it is stored in `pull.error_code`,
 * logged, and returned by the console and the command line, so that scripts can match it. Messages
 * and `context` hold no personal data: no tax identifier, name, bank account or token, and no part
 * of a response body. The messages of drivers and parsers go into `cause`, which is never logged.
 */
export abstract class ConciliationError extends Error {
  abstract readonly code: string;
  /** Whether the same work may succeed later without a change by a person. */
  abstract readonly retryable: boolean;
  readonly context: ErrorContext;

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.context = options.context ?? {};
  }
}

/** @param isRetryable whether the same work may succeed later without a change by a person */
const kindOf = (code: string, isRetryable: boolean) =>
  class extends ConciliationError {
    readonly code = code;
    readonly retryable = isRetryable;
  };

/** The environment is wrong. `problems` has one sentence for each invalid variable. */
export class ConfigError extends kindOf('CONFIG_INVALID', false) {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** The token's source holds no usable token now: its file is empty, unreadable or malformed. */
export class TokenUnusableError extends ConfigError {}

/** A person's request cannot be carried out: a wrong date, an unknown pull, a wrong state. */
export class InputError extends kindOf('INPUT_INVALID', false) {}

/** 5xx, no connection, silence beyond the timeout, or a cut transfer. */
export class PlatformUnavailableError extends kindOf('PLATFORM_UNAVAILABLE', true) {}

/** 429, or 503 with a time. `retryAfterSeconds` is null if the platform sent no time. */
export class PlatformRateLimitedError extends kindOf('PLATFORM_RATE_LIMITED', true) {
  readonly retryAfterSeconds: number | null;

  constructor(message: string, retryAfterSeconds: number | null, options: ErrorOptions = {}) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** 401 after the token was read again. Every pull waits for another token. Does not count as an attempt. */
export class PlatformAuthError extends kindOf('PLATFORM_AUTH', false) {}

/** 400: the request itself is refused, so a repetition is pointless. */
export class PlatformRequestError extends kindOf('PLATFORM_REQUEST', false) {}

/** The answer is not the documented one: not JSON, no `titles`, a redirect, a wrong content type. */
export class PlatformContractError extends kindOf('PLATFORM_CONTRACT', true) {}

/**
 * The database is not available: unreachable, restarting or full, or it rolled the transaction back
 * after a deadlock. Or it does not have the rows that the program wrote: a crash empties the staging tables, and
 * something else may have written to the tables.
 */
export class StagingUnavailableError extends kindOf('STAGING_UNAVAILABLE', true) {}

/** Attempts at a pull have ended their process, or their connection to the database, again and again. */
export class AttemptAbandonedError extends kindOf('ATTEMPT_ABANDONED', false) {}

/** An error that the program does not know: a defect of it, or a state of the database that it does not expect. */
export class DefectError extends kindOf('DEFECT', true) {}

/** Another worker has taken this pull over. All results of this worker are discarded. */
export class StaleFenceError extends kindOf('STALE_FENCE', false) {}

/** The process is stopping. The work returns to the ledger unchanged. */
export class ShutdownError extends kindOf('SHUTDOWN', false) {}

/** Returns the code of an error, otherwise its name. The messages of sockets and of clients quote the address. */
export function faultCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
