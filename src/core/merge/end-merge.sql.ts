import type { Transaction } from '../../base/database/database.ts';
import { RowsLostError } from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import {
  accountComparison,
  endReturned,
  findChanges,
  type PartyAccounts,
  recordChanges,
  stageAccounts,
  type WatchedMerge,
} from '../../features/accounts/account-watch.sql.ts';
import { holdPayments } from '../../features/accounts/payment-holds.sql.ts';
import { pseudonymIn } from '../../features/privacy/erased-parties.sql.ts';
import { writeTotals } from '../../features/schedule/schedule-totals.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  advanceCheckpoint,
  checkpointAdvance,
  type LockedDay,
  lockClosing,
  setHeldDay,
  setVerifiedDay,
} from '../ledger/day-ledger.sql.ts';
import { stateAfterMerge } from '../ledger/day-state.ts';
import { discardPlan, discardStaged } from '../ledger/discard-staged.sql.ts';
import { mergeRejects } from '../ledger/rejects.sql.ts';
import type { TitleFold } from '../title/title-fold.ts';
import { applyChanges } from './merge-apply.sql.ts';
import type { ChangeCounts, MergePlan } from './merge-plan.sql.ts';

export interface DriftRecord {
  readonly path: string;
  readonly kind: string;
  readonly value: string;
}

/** How a whole response ended. */
export type MergeState = 'merged' | 'unchanged' | 'held' | 'superseded';

/** A response that is merged into its date, or held there. The rows of its pull and its day are locked. */
export interface MergedResponse {
  readonly pullId: bigint;
  readonly fence: bigint;
  readonly day: LockedDay;
  readonly plan: MergePlan;
  readonly state: MergeState;
  /** Whether the date was over when the request was sent. */
  readonly dateWasClosed: boolean;
  readonly drift: readonly DriftRecord[];
  /** Of the response. Null: the day has it already. */
  readonly fold: TitleFold | null;
  /** Whether the pull believes nothing that is stored for its date, because rows of it were altered. */
  readonly isRepair: boolean;
}

/**
 * Writes what a response changes, in two parts.
 *
 * The first part touches rows of the pull's own date only, and holds no lock that a merge of another date
 * waits for. The second part is the closing phase: under the one lock that all merges share, it compares
 * bank accounts, numbers the changes for `title_feed`, notes drift and moves the checkpoint. The closing
 * phase ends with the commit. No statement of it waits for the network or for another process; PostgreSQL
 * ends a session that stays idle in it (idle_in_transaction_session_timeout).
 */
export async function endMerge(tx: Transaction, merge: MergedResponse): Promise<void> {
  const { pullId, plan, drift } = merge;
  const source = { pullId, fence: merge.fence, date: merge.day.date };
  const { isNewlyReconciled, isDayStale } = await mergeOwnDate(tx, merge);
  const isChanged = merge.state === 'merged';
  if (isChanged) await stageAccounts(tx, source);
  // After the accounts, because the totals compare them in any writing.
  if (isDayStale) {
    await writeTotals(tx, Prisma.sql`accepted_date = ${source.date}::date`, source.fence);
  }
  if (merge.state === 'held') await discardPlan(tx, merge.fence);
  else await discardStaged(tx, merge.fence);

  if (!isChanged && !isNewlyReconciled && drift.length === 0 && !merge.isRepair) return;
  await lockClosing(tx);
  reachFaultPoint('closing');
  if (isChanged) {
    const closed = await closeMerge(tx, source, plan, isNewlyReconciled);
    const { changes, named } = findChanges(closed.parties, source.date);
    const hasNewChange = changes.length > 0;
    if (hasNewChange) await recordChanges(tx, source, changes);
    if (closed.hasOpenChange || hasNewChange) await holdPayments(tx, source);
    if (named.length > 0) await endReturned(tx, source, named);
  } else if (isNewlyReconciled) await advanceCheckpoint(tx, pullId);
  if (merge.isRepair) await recordMissing(tx, source);
  await recordDrift(tx, pullId, drift);
}

/** The first part. Returns whether the merge has made the date reconciled, and whether it has computed its day. */
async function mergeOwnDate(
  tx: Transaction,
  merge: MergedResponse,
): Promise<{ readonly isNewlyReconciled: boolean; readonly isDayStale: boolean }> {
  const { pullId, fence, day, plan, state, dateWasClosed, fold } = merge;
  const { date } = day;
  if (state === 'superseded') return { isNewlyReconciled: false, isDayStale: false };
  const hasOtherHold = day.heldPullId !== null && day.heldPullId !== pullId;
  // A repair ends all held pulls of the date, because the row of the day may have been altered.
  if (hasOtherHold || merge.isRepair) await supersedeHolds(tx, date, pullId);
  if (hasOtherHold && day.heldFence !== null) await discardStaged(tx, day.heldFence);
  if (state === 'held') {
    await setHeldDay(tx, { date, pullId, fold });
    return { isNewlyReconciled: false, isDayStale: false };
  }
  const isChanged = state === 'merged';
  const hasRejects = plan.rejected > 0 || day.rejected > 0;
  const openRejects = hasRejects
    ? await mergeRejects(tx, { pullId, fence, date }, plan.withheld)
    : 0;
  const newState = stateAfterMerge({
    wasClosed: dateWasClosed,
    openRejects,
    hasOpenFindings: day.hasOpenFindings,
  });
  const merged = { date, pullId, state: newState, fold };
  const isDayStale = isChanged || !day.hasDigest || merge.isRepair;
  const source = { pullId, fence };
  if (!isDayStale) await setVerifiedDay(tx, merged);
  else await applyChanges(tx, source, day, merged, { isChanged, isRepair: merge.isRepair });
  reachFaultPoint('applied');
  return { isNewlyReconciled: newState === 'reconciled' && day.state !== 'reconciled', isDayStale };
}

/** Numbers the end of the titles of a date whose rows are gone, for the feed. */
async function recordMissing(
  tx: Transaction,
  { pullId, date }: { readonly pullId: bigint; readonly date: CivilDate },
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.title_change (title_id, kind, pull_id)
    SELECT title_id, 'withdrawn', ${pullId}::bigint
    FROM (
      SELECT DISTINCT ON (title_id) title_id, content_hash FROM conciliation.title_change
      WHERE pull_id = ANY(ARRAY(SELECT id FROM conciliation.pull WHERE date = ${date}::date))
        AND kind <> 'payment_released'
      ORDER BY title_id, change_seq DESC
    ) AS newest
    WHERE content_hash IS NOT NULL
      AND NOT EXISTS (SELECT FROM conciliation.title WHERE id = newest.title_id AND accepted_date = ${date}::date)
    ORDER BY title_id`;
}

/** Ends the older pulls that are held in the date, because a newer response is merged or held there. */
async function supersedeHolds(tx: Transaction, date: CivilDate, pullId: bigint): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.pull
    SET state = 'superseded', finished_at = now(), inserted = 0, changed = 0, withdrawn = 0,
        restored = 0, unchanged = 0, withheld = 0
    WHERE date = ${date}::date AND state = 'held' AND id <> ${pullId}`;
}

async function recordDrift(
  tx: Transaction,
  pullId: bigint,
  drift: readonly DriftRecord[],
): Promise<void> {
  if (drift.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO conciliation.drift (path, kind, value, first_pull_id)
    SELECT path, kind, coalesce(${pseudonymIn(Prisma.sql`value`)}, value), ${pullId}::bigint
    FROM jsonb_to_recordset(${JSON.stringify(drift)}::jsonb) AS seen (path text, kind text, value text)
    ON CONFLICT DO NOTHING`;
}

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
async function closeMerge(
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
