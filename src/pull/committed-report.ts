import type { Database } from '../database/database.ts';
import type { Attempt } from '../ledger/pull-ledger.ts';
import type { PullReport } from './merge/merge.ts';

/**
 * The report of what the attempt's merge has committed: a connection that is lost while COMMIT is on its
 * way says nothing of the outcome, but the ledger does. Null: nothing was committed under its fence.
 */
export async function readCommittedReport(
  database: Database,
  attempt: Attempt,
): Promise<PullReport | null> {
  const [pull] = await database.prisma.$queryRaw<[PullReport?]>`
    SELECT id AS "pullId", date::text AS date, state, hold_reason AS "holdReason", titles, rejected,
           inserted, changed, withdrawn, restored, unchanged, withheld
    FROM conciliation.pull
    WHERE id = ${attempt.pullId} AND fence = ${attempt.fence}
      AND state IN ('merged', 'unchanged', 'held', 'superseded')`;
  return pull ?? null;
}
