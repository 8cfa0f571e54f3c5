import type { Transaction } from '../../base/database/database.ts';
import { RowsLostError } from '../../base/runtime/errors.ts';
import {
  accountComparison,
  type PartyAccounts,
  type WatchedMerge,
} from '../../features/accounts/account-watch.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { checkpointAdvance } from '../ledger/day-ledger.sql.ts';
import type { ChangeCounts } from './merge-plan.sql.ts';

interface ClosedMerge {
  /** The parties whose bank accounts may have changed. */
  readonly parties: readonly PartyAccounts[];
  /** Whether an open change of an account concerns the date. */
  readonly hasOpenChange: boolean;
}

/**
 * Numbers the changes that a merge has made, stores the bank accounts that its titles name, and advances the
 * checkpoint. One statement, because other merges wait for the lock of the closing phase while the process reads the
 * answer of each statement. The parts of the statement do not see what the others write.
 *
 * The caller holds the lock and keeps it until the commit: when a `change_seq` is visible, no smaller one can still
 * appear.
 *
 * @param isNewlyReconciled whether the merge has made the date reconciled
 * @throws RowsLostError when the rows that name the pull are not those of its plan, because something
 *   else has written to the tables
 */
export async function closeMerge(
  tx: Transaction,
  source: WatchedMerge,
  counts: ChangeCounts,
  isNewlyReconciled: boolean,
): Promise<ClosedMerge> {
  const { pullId, date } = source;
  const checkpoint = isNewlyReconciled
    ? Prisma.sql`, advanced AS (${checkpointAdvance(pullId)})`
    : Prisma.empty;
  const [{ numbered, ...closed }] = await tx.$queryRaw<
    [{ numbered: number; parties: PartyAccounts[] | null; hasOpenChange: boolean }]
  >`
    WITH numbered AS (
      INSERT INTO conciliation.title_change (title_id, kind, pull_id, content_hash)
      SELECT id, kind, ${pullId}::bigint, content_hash
      FROM (${recordedChanges(source, counts)}) AS change (id, kind, content_hash) ORDER BY id
      RETURNING 1
    ), ${accountComparison(source)}${checkpoint}
    SELECT (SELECT count(*) FROM numbered)::int AS numbered, parties, has_open_change AS "hasOpenChange"
    FROM compared`;
  const planned = counts.inserted + counts.changed + counts.withdrawn + counts.restored;
  if (numbered !== planned) {
    throw new RowsLostError(
      `the merge of ${date} would record ${numbered} changes instead of ${planned}: something else has written to the tables`,
      { context: { date, numbered, planned } },
    );
  }
  return { ...closed, parties: closed.parties ?? [] };
}

/** Rows (id, kind, content_hash) of the titles that the pull has changed. */
function recordedChanges({ pullId, date }: WatchedMerge, counts: ChangeCounts): Prisma.Sql {
  const inserted = Prisma.sql`
    SELECT id, 'inserted' AS kind, content_hash FROM conciliation.title
    WHERE accepted_date = ${date}::date AND first_pull_id = ${pullId} AND status = 'current'`;
  const revised = Prisma.sql`
    SELECT title_id, kind, title.content_hash
    FROM conciliation.title_revision
    JOIN (SELECT id, content_hash FROM conciliation.title
          WHERE id = ANY(ARRAY(SELECT title_id FROM conciliation.title_revision
                               WHERE pull_id = ${pullId}))) AS title ON title.id = title_id
    WHERE pull_id = ${pullId}`;
  const hasRevised = counts.changed + counts.withdrawn + counts.restored > 0;
  const changes = [...(counts.inserted > 0 ? [inserted] : []), ...(hasRevised ? [revised] : [])];
  return Prisma.join(changes, ' UNION ALL ');
}
