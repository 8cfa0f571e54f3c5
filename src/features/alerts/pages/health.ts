import type { Database } from '../../../base/database/database.ts';
import { boundedRun } from '../../../base/runtime/bounded-run.ts';
import { ConciliationError } from '../../../base/runtime/errors.ts';
import { describeError, type Logger } from '../../../base/runtime/logger.ts';
import { OverdueError } from '../../../base/runtime/within.ts';
import { countHungCommits } from '../ledger-gauges.sql.ts';

/** A condition for the work of this process. */
export interface ReadinessCheck {
  /** Does not change: monitoring systems refer to it. */
  readonly name: string;
  /** Returns null on success, otherwise the reason without secrets. A rejection is a failure too. */
  readonly run: () => Promise<string | null>;
}

interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly reason: string | null;
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: readonly CheckResult[];
}

const CHECK_TIMEOUT_MS = 3_000;

/**
 * Runs all checks at the same time and waits at most `timeoutMs` for each. Logs when a check starts
 * to fail and when it passes again.
 */
export function createReadiness(
  checks: readonly ReadinessCheck[],
  logger: Logger,
  timeoutMs: number = CHECK_TIMEOUT_MS,
): () => Promise<Readiness> {
  const failing = new Set<string>();
  const askers = checks.map(({ name, run }) => {
    const ask = boundedRun(run, { timeoutMs, keepMs: 0 });
    return async (): Promise<CheckResult> => {
      let reason: string | null;
      let cause: unknown = null;
      try {
        reason = await ask();
      } catch (error) {
        cause = error;
        reason = reasonOf(error, timeoutMs);
      }
      logTurn(name, reason, cause);
      return { name, ok: reason === null, reason };
    };
  });

  const logTurn = (name: string, reason: string | null, cause: unknown) => {
    if (reason === null) {
      if (failing.delete(name)) logger.info({ check: name }, 'ready again');
    } else if (!failing.has(name)) {
      failing.add(name);
      const err = cause === null ? {} : { err: describeError(cause) };
      logger.warn({ check: name, reason, ...err }, 'not ready');
    }
  };

  return async () => {
    const results = await Promise.all(askers.map((ask) => ask()));
    return { ready: results.every(({ ok }) => ok), checks: results };
  };
}

/** A driver's message may quote any value, so only known messages are shown. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof OverdueError) return `no answer in ${timeoutMs} ms`;
  return error instanceof ConciliationError ? error.code : 'failed';
}

/** A COMMIT takes milliseconds. */
const HUNG_COMMIT_MS = 10_000;

/** @param hungMs replaced in tests */
export function databaseCheck(database: Database, hungMs = HUNG_COMMIT_MS): ReadinessCheck {
  return {
    name: 'database',
    run: async () => {
      const commits = await countHungCommits(database, hungMs);
      return commits === 0 ? null : `${commits} COMMIT(s) without an answer for ${hungMs / 1000} s`;
    },
  };
}

/**
 * Only a restore removes migrations from a database that had all of them. A minute is soon enough
 * to report that.
 */
const MIGRATIONS_TRUSTED_MS = 60_000;

/** @param listPending the names of the migrations that the database lacks */
export function migrationsCheck(listPending: () => Promise<readonly string[]>): ReadinessCheck {
  let trustedUntilMs = 0;
  return {
    name: 'migrations',
    run: async () => {
      if (performance.now() < trustedUntilMs) return null;
      const pending = await listPending();
      if (pending.length > 0) return `${pending.length} not applied`;
      trustedUntilMs = performance.now() + MIGRATIONS_TRUSTED_MS;
      return null;
    },
  };
}

export function queueCheck(isReachable: () => Promise<boolean>): ReadinessCheck {
  return {
    name: 'queue',
    run: async () => ((await isReachable()) ? null : 'not reachable'),
  };
}

const TOKEN_FAULTS = {
  token_refused: 'the platform refuses the token',
  token_unusable: 'no usable token for a minute',
} as const;

/** Only for a process that has the worker role. */
export function tokenCheck(
  findFault: () => Promise<keyof typeof TOKEN_FAULTS | null>,
): ReadinessCheck {
  return {
    name: 'token',
    run: async () => {
      const fault = await findFault();
      return fault === null ? null : TOKEN_FAULTS[fault];
    },
  };
}

/** @param findFault returns the difference of this process's clock as part of a sentence, or null */
export function clockCheck(findFault: () => Promise<string | null>): ReadinessCheck {
  return { name: 'clock', run: findFault };
}

/** Three ticks: one may be late and one may be lost. */
const MAX_TICK_AGE_MS = 180_000;

/** Only for a process that has the scheduler role. Null: there was no tick yet. */
export function schedulerCheck(
  lastTickAt: () => Date | null,
  now: () => Date = () => new Date(),
): ReadinessCheck {
  return {
    name: 'scheduler',
    run: async () => {
      const tickAt = lastTickAt();
      if (tickAt === null) return 'no tick yet';
      const ageMs = now().getTime() - tickAt.getTime();
      return ageMs < MAX_TICK_AGE_MS ? null : `last tick ${Math.round(ageMs / 1000)} s ago`;
    },
  };
}
