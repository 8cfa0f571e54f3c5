import type { PullState } from '../domain/pull-state.ts';
import type { Database } from './database.ts';
import { inStaging } from './in-staging.ts';
import type { PullReport } from './merge.ts';
import type { Attempt } from './pull-ledger.ts';
import type { DateReport } from './pull-outcome.ts';

/**
 * What the attempt's merge has committed, if it has: a connection that is lost while COMMIT is on its
 * way says nothing of the outcome, but the ledger does. Null: nothing was committed under its fence.
 */
export function readCommittedReport(
  database: Database,
  attempt: Attempt,
): Promise<PullReport | null> {
  return inStaging(async () => {
    const [pull] = await database.prisma.$queryRaw<
      [{ state: PullState; titles: number; rejected: number }?]
    >`
      SELECT state, titles, rejected FROM conciliation.pull
      WHERE id = ${attempt.pullId} AND fence = ${attempt.fence}
        AND state IN ('merged', 'unchanged', 'held', 'superseded')`;
    if (pull === undefined) return null;
    const dates = await database.prisma.$queryRaw<DateReport[]>`
      SELECT date::text AS date, outcome, hold_reason AS "holdReason", titles, inserted, changed,
             withdrawn, restored, unchanged, rejected
      FROM conciliation.pull_date WHERE pull_id = ${attempt.pullId} ORDER BY date`;
    return { pullId: attempt.pullId, ...pull, dates };
  });
}
