import type { Database } from '../../base/database/database.ts';
import type { Attempt } from '../ledger/pull-ledger.sql.ts';
import type { PullReport } from '../merge/merge.sql.ts';

/**
 * Reads the report of the attempt's merge from the ledger, for an attempt that lost its connection while
 * COMMIT was on its way. Null: nothing was committed under the fence of the attempt.
 */
export async function readCommittedReport(
  database: Database,
  attempt: Attempt,
): Promise<PullReport | null> {
  const [pull] = await database.prisma.$queryRaw<[PullReport?]>`
    SELECT id AS "pullId", date::text AS date, state, hold_reason AS "holdReason", hold_detail AS "holdDetail", titles, rejected,
           inserted, changed, withdrawn, restored, unchanged, withheld
    FROM conciliation.pull
    WHERE id = ${attempt.pullId} AND fence = ${attempt.fence}
      AND state IN ('merged', 'unchanged', 'held', 'superseded')`;
  return pull ?? null;
}
