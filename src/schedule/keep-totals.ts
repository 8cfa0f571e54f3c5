import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { StagingUnavailableError } from '../runtime/errors.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import { loop } from '../runtime/loop.ts';
import { readStaleDate, refreshTotals } from './schedule-totals.sql.ts';

export interface TotalsLoop {
  /** Resolves when the computation under way has ended. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 15_000;

/** After a computation that took a second the next one waits for nine, so that pulls have the database. */
const REST = 9;

/**
 * Keeps the totals of the payment schedule up to date, one accepted date at a time. The schedule is exact without
 * them; with them it is fast.
 */
export function startTotals({
  database,
  logger,
  intervalMs = INTERVAL_MS,
}: {
  readonly database: Database;
  readonly logger: Logger;
  readonly intervalMs?: number;
}): TotalsLoop {
  const abort = new AbortController();
  const { signal } = abort;
  const refreshStaleDates = async () => {
    // A date that fails does not keep the other dates waiting.
    const failed: CivilDate[] = [];
    try {
      for (
        let date = await readStaleDate(database);
        date !== null && !signal.aborted;
        date = await readStaleDate(database, failed)
      ) {
        const startedMs = performance.now();
        try {
          await refreshTotals(database, date);
        } catch (error) {
          failed.push(date);
          const fields = { date, err: describeError(error) };
          if (isConflict(error)) logger.debug(fields, 'another process computes these totals');
          else logger.warn(fields, 'the totals of a date were not computed');
        }
        await sleep(REST * (performance.now() - startedMs), undefined, { signal });
      }
    } catch (error) {
      if (signal.aborted) return;
      logger.warn(
        { err: describeError(error) },
        'the totals of the payment schedule were not computed',
      );
    }
  };
  const refreshing = loop({ everyMs: intervalMs, run: refreshStaleDates });
  return {
    async stop() {
      abort.abort();
      await refreshing.stop();
    },
  };
}

/** See `refreshTotals`. */
function isConflict(error: unknown): boolean {
  return error instanceof StagingUnavailableError && error.context['code'] === '40001';
}
