/**
 * integrity/ computes again what follows from something else, and has altered titles repaired by a pull.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import { loop } from '../runtime/loop.ts';
import { checkDate, type DateCheck } from './check-date.sql.ts';
import { readDueDate, recordCheck } from './findings.sql.ts';

/** A check whose outcome is recorded. */
export interface VerifiedDate extends DateCheck {
  /** The pull that repairs the date; null: none was requested. */
  readonly repairPullId: bigint | null;
}

/**
 * Checks a date and records the outcome.
 *
 * @throws ShutdownError when `signal` is aborted; nothing was recorded
 */
export async function verifyDate(
  database: Database,
  date: CivilDate,
  signal: AbortSignal,
): Promise<VerifiedDate> {
  const check = await checkDate(database, date, signal);
  return { ...check, repairPullId: await recordCheck(database, check) };
}

export interface Verification {
  /** Interrupts the check under way. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 60_000;

/** After a check that took a second the next one waits for nine, so that pulls have the database. */
const REST = 9;

/** Verifies each date once a day, one at a time. */
export function startVerification({
  database,
  logger,
  intervalMs = INTERVAL_MS,
}: {
  readonly database: Database;
  readonly logger: Logger;
  readonly intervalMs?: number;
}): Verification {
  const abort = new AbortController();
  const { signal } = abort;
  const verifyLogged = async (date: CivilDate) => {
    const { alterations, repairPullId } = await verifyDate(database, date, signal);
    if (alterations.length === 0) return;
    logger.error(
      { date, alterations: alterations.length, pullId: repairPullId?.toString() ?? null },
      'rows were altered outside of the program',
    );
  };
  const verifyDueDates = async () => {
    // A date whose check fails does not keep the other dates waiting.
    const failed: CivilDate[] = [];
    try {
      for (
        let date = await readDueDate(database);
        date !== null;
        date = await readDueDate(database, failed)
      ) {
        const startedMs = performance.now();
        try {
          await verifyLogged(date);
        } catch (error) {
          if (signal.aborted) throw error;
          failed.push(date);
          logger.warn({ date, err: describeError(error) }, 'a date was not verified');
        }
        await sleep(REST * (performance.now() - startedMs), undefined, { signal });
      }
    } catch (error) {
      if (signal.aborted) return;
      logger.warn({ err: describeError(error) }, 'the titles were not verified; tried again later');
    }
  };
  const verifying = loop({ everyMs: intervalMs, run: verifyDueDates });
  return {
    async stop() {
      abort.abort();
      await verifying.stop();
    },
  };
}
