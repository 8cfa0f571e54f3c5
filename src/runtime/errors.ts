/**
 * One class per kind of failure. `code` is stable: it is stored in `pull.error_code`, logged, and
 * answered by the console and the command line, so it may be matched by people's scripts.
 *
 * Messages and `context` hold no personal data: no tax identifier, name, bank account or token, and
 * never a piece of a response body. What a driver or parser said goes into `cause`, which is kept
 * for the debugger and never logged.
 */
export type ErrorCode =
  | 'CONFIG_INVALID'
  | 'INPUT_INVALID'
  | 'PLATFORM_UNAVAILABLE'
  | 'PLATFORM_RATE_LIMITED'
  | 'PLATFORM_AUTH'
  | 'PLATFORM_REQUEST'
  | 'PLATFORM_CONTRACT'
  | 'STAGING_UNAVAILABLE'
  | 'ATTEMPT_ABANDONED'
  | 'STALE_FENCE'
  | 'SHUTDOWN';

export type ErrorContext = Readonly<Record<string, string | number | boolean | null>>;

interface ErrorOptions {
  readonly cause?: unknown;
  readonly context?: ErrorContext;
}

export abstract class ConciliationError extends Error {
  abstract readonly code: ErrorCode;
  /** Whether the same work may succeed later without anybody changing anything. */
  abstract readonly retryable: boolean;
  readonly context: ErrorContext;

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.context = options.context ?? {};
  }
}

/** The environment is wrong. `problems` names every variable at fault, one sentence each. */
export class ConfigError extends ConciliationError {
  readonly code = 'CONFIG_INVALID';
  readonly retryable = false;
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** The token's source holds no usable token at the moment: its file is empty, unreadable or malformed. */
export class TokenUnusableError extends ConfigError {}

/** A person asked for something that cannot be done: a wrong date, an unknown pull, a wrong state. */
export class InputError extends ConciliationError {
  readonly code = 'INPUT_INVALID';
  readonly retryable = false;
}

/** 5xx, no connection, silence beyond the timeout, or a transfer that was cut. */
export class PlatformUnavailableError extends ConciliationError {
  readonly code = 'PLATFORM_UNAVAILABLE';
  readonly retryable = true;
}

/** 429, or 503 that names a time. `retryAfterSeconds` is null where the platform named none. */
export class PlatformRateLimitedError extends ConciliationError {
  readonly code = 'PLATFORM_RATE_LIMITED';
  readonly retryable = true;
  readonly retryAfterSeconds: number | null;

  constructor(message: string, retryAfterSeconds: number | null, options: ErrorOptions = {}) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** 401 after the token was read again: every pull waits for a person. Spends no attempt. */
export class PlatformAuthError extends ConciliationError {
  readonly code = 'PLATFORM_AUTH';
  readonly retryable = false;
}

/** 400: the request itself is refused, so repeating it is pointless. */
export class PlatformRequestError extends ConciliationError {
  readonly code = 'PLATFORM_REQUEST';
  readonly retryable = false;
}

/** The answer is not the documented one: not JSON, no `titles`, a redirect, a wrong content type. */
export class PlatformContractError extends ConciliationError {
  readonly code = 'PLATFORM_CONTRACT';
  readonly retryable = true;
}

/** The database is away, restarting, full, or chose this transaction as a deadlock's victim. */
export class StagingUnavailableError extends ConciliationError {
  readonly code = 'STAGING_UNAVAILABLE';
  readonly retryable = true;
}

/** Attempts at a pull have ended their process again and again. */
export class AttemptAbandonedError extends ConciliationError {
  readonly code = 'ATTEMPT_ABANDONED';
  readonly retryable = false;
}

/** Another worker has taken this pull over since; whatever this one did is discarded. */
export class StaleFenceError extends ConciliationError {
  readonly code = 'STALE_FENCE';
  readonly retryable = false;
}

/** The process is stopping: the work goes back to the ledger untouched. */
export class ShutdownError extends ConciliationError {
  readonly code = 'SHUTDOWN';
  readonly retryable = false;
}
