import type { Database, Transaction } from '../../base/database/database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { dayLock } from '../ledger/day-ledger.sql.ts';
import { PLANNER_SETTINGS } from '../ledger/planner-settings.sql.ts';
import { type Attempt, staleFence } from '../ledger/pull-ledger.sql.ts';

/**
 * Longer than any transaction that the database permits. If Prisma timed out while a COMMIT is on its way,
 * the outcome would be unknown. The database's statement_timeout limits every step.
 */
export const MERGE_TRANSACTION = { timeout: 86_400_000, maxWait: 30_000 } as const;

/**
 * Runs `work` in the transaction of a merge, which holds the rows of the attempt's pull and of its date.
 *
 * @throws StaleFenceError when another attempt has taken the pull over
 */
export function inMerge<T>(
  database: Database,
  attempt: Attempt,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return database.prisma.$transaction(async (tx) => {
    const locked = await tx.$queryRaw<unknown[]>`
      WITH own AS MATERIALIZED (
        SELECT FROM conciliation.pull
        WHERE id = ${attempt.pullId} AND fence = ${attempt.fence} AND state = 'running'
        FOR UPDATE
      ), ${dayLock(attempt.date, Prisma.sql`EXISTS (SELECT FROM own)`)}
      SELECT ${PLANNER_SETTINGS} FROM own`;
    if (locked.length === 0) throw staleFence(attempt);
    return work(tx);
  }, MERGE_TRANSACTION);
}
