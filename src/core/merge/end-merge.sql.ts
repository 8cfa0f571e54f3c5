import type { Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { StagingUnavailableError } from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  checkpointAdvance,
  type LockedDay,
  setVerifiedDay,
  stateAfterMerge,
} from '../ledger/day-ledger.sql.ts';
import { discardPlan, discardStaged } from '../ledger/pull-ledger.sql.ts';
import type { TitleFold } from '../title/title.ts';
import type { DriftItem } from '../title/title-contract.ts';
import type { ChangeCounts, EngineFeature, MergePlan, MergingPull } from './engine-hooks.ts';
import { applyChanges } from './merge-apply.sql.ts';

/** How a whole response ended. */
export type MergeState = 'merged' | 'unchanged' | 'held' | 'superseded';

/** A response that is merged into its date, or held there. The rows of its pull and its day are locked. */
export interface MergedResponse extends MergingPull {
  readonly day: LockedDay;
  readonly plan: MergePlan;
  readonly state: MergeState;
  /** Whether the date was over when the request was sent. */
  readonly dateWasClosed: boolean;
  readonly drift: readonly DriftItem[];
  /** Of the response. Null: the day has it already. */
  readonly fold: TitleFold | null;
}

/**
 * Writes what a response changes, in two parts.
 *
 * The first part touches rows of the pull's own date only, and holds no lock that a merge of another date
 * waits for. The second part is the closing phase: under the one lock that all merges share, it numbers the
 * changes for `title_feed`, notes drift and moves the checkpoint. Features add to both parts. The closing
 * phase ends with the commit. No statement of it waits for the network or for another process; PostgreSQL
 * ends a session that stays idle in it (idle_in_transaction_session_timeout).
 */
export async function endMerge(
  tx: Transaction,
  features: readonly EngineFeature[],
  merge: MergedResponse,
): Promise<void> {
  const { pullId, fence, date, day, state, drift, isRepair, fold } = merge;
  const isChanged = state === 'merged';
  const hasOtherHold = day.heldPullId !== null && day.heldPullId !== pullId;
  let isNewlyReconciled = false;
  if (state !== 'superseded') {
    // A repair ends all held pulls of the date, because the row of the day may have been altered.
    if (hasOtherHold || isRepair) await supersedeHolds(tx, date, pullId);
    if (hasOtherHold && day.heldFence !== null) await discardStaged(tx, day.heldFence);
  }
  if (state === 'held') {
    const ofFold = fold && { foldCount: fold.count, foldSum: fold.toText() };
    await tx.day.updateMany({ where: { date }, data: { state, heldPullId: pullId, ...ofFold } });
    await discardPlan(tx, fence);
  } else {
    if (state !== 'superseded') isNewlyReconciled = await mergeOwnDate(tx, features, merge);
    await discardStaged(tx, fence);
  }

  if (!isChanged && !isNewlyReconciled && drift.length === 0 && !isRepair) return;
  await takeLock(tx, 'closing');
  reachFaultPoint('closing');
  if (isChanged) await closeMerge(tx, features, merge, isNewlyReconciled);
  else if (isNewlyReconciled) await tx.$executeRaw(checkpointAdvance(pullId));
  if (isRepair) await recordMissing(tx, merge);
  await recordDrift(tx, pullId, drift);
}

/** The first part. Returns whether the merge has made the date reconciled. */
async function mergeOwnDate(
  tx: Transaction,
  features: readonly EngineFeature[],
  merge: MergedResponse,
): Promise<boolean> {
  const { pullId, fence, date, day, plan, dateWasClosed, fold, isRepair } = merge;
  const isChanged = merge.state === 'merged';
  const hasRejects = plan.rejected > 0 || day.rejected > 0;
  const openRejects = hasRejects
    ? await mergeRejects(tx, { pullId, fence, date }, plan.withheld)
    : 0;
  const { hasOpenFindings } = day;
  const state = stateAfterMerge({ wasClosed: dateWasClosed, openRejects, hasOpenFindings });
  const merged = { date, pullId, state, fold };
  const isDayStale = isChanged || !day.hasDigest || isRepair;
  if (!isDayStale) await setVerifiedDay(tx, merged);
  else await applyChanges(tx, merge, day, merged, isChanged);
  reachFaultPoint('applied');
  if (isDayStale) {
    for (const { engine } of features) await engine?.inOwnDate?.(tx, merge, { isChanged });
  }
  return state === 'reconciled' && day.state !== 'reconciled';
}

/**
 * Updates `rejected_title` to the latest response for a date: a reject that is still in the
 * response keeps its row, a missing one becomes `resolved`, a new one is `open`. Rejects are matched by their
 * bytes, copy by copy.
 *
 * A reject stays accepted. But if titles stay current because a reject may be one of them, the acceptance holds for
 * the same titles only: the rejects of a response with other titles are `open` again. Otherwise a person who
 * accepted a reject beside a complete day would have accepted every later shrinkage of the day.
 *
 * @param withheld titles that the response lacks and that stay current because of a reject
 * @returns the number of open rejects
 */
async function mergeRejects(
  tx: Transaction,
  source: { readonly pullId: bigint; readonly fence: bigint; readonly date: CivilDate },
  withheld: number,
): Promise<number> {
  const [{ open }] = await tx.$queryRaw<[{ open: number }]>`
    WITH reopening AS MATERIALIZED (
      SELECT ${withheld}::int > 0
             AND (pull.fold_count, pull.fold_sum) IS DISTINCT FROM (merged.fold_count, merged.fold_sum) AS reopens
      FROM conciliation.pull
      JOIN conciliation.day ON day.date = pull.date
      LEFT JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
      WHERE pull.id = ${source.pullId}
    ), response AS (
      SELECT *, row_number() OVER (PARTITION BY raw_hash ORDER BY ordinal) AS copy
      FROM conciliation.staged_reject WHERE fence = ${source.fence}
    ), present AS (
      SELECT id, raw_hash,
             row_number() OVER (PARTITION BY raw_hash ORDER BY status = 'open', id) AS copy
      FROM conciliation.rejected_title
      WHERE status <> 'resolved' AND date = ${source.date}::date
    ), matched AS (
      SELECT present.id, response.ordinal, response.ordinal IS NOT NULL AND reopens AS is_reopened
      FROM present LEFT JOIN response USING (raw_hash, copy) CROSS JOIN reopening
    ), known AS (
      UPDATE conciliation.rejected_title reject
      SET last_pull_id = CASE WHEN matched.ordinal IS NULL THEN last_pull_id ELSE ${source.pullId} END,
          ordinal = coalesce(matched.ordinal, reject.ordinal),
          status = CASE WHEN matched.ordinal IS NULL THEN 'resolved'
                        WHEN is_reopened THEN 'open' ELSE reject.status END,
          decided_at = CASE WHEN NOT is_reopened THEN decided_at END,
          decided_by = CASE WHEN NOT is_reopened THEN decided_by END,
          reason = CASE WHEN NOT is_reopened THEN reason END
      FROM matched
      WHERE matched.id = reject.id AND reject.id = ANY(ARRAY(SELECT id FROM matched))
      RETURNING status
    ), added AS (
      INSERT INTO conciliation.rejected_title
        (date, order_uid, first_pull_id, last_pull_id, ordinal, reasons, raw, raw_bytes, raw_hash)
      SELECT ${source.date}::date, order_uid, ${source.pullId}::bigint, ${source.pullId}::bigint, ordinal,
             reasons, raw, raw_bytes, raw_hash
      FROM response
      WHERE ordinal NOT IN (SELECT ordinal FROM matched WHERE ordinal IS NOT NULL)
      ORDER BY ordinal
      RETURNING status
    )
    SELECT count(*)::int AS open
    FROM (SELECT status FROM known UNION ALL SELECT status FROM added) AS reject WHERE status = 'open'`;
  return open;
}

/** Numbers the end of the titles of a date whose rows are gone, for the feed. */
async function recordMissing(tx: Transaction, { pullId, date }: MergingPull): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.title_change (title_id, kind, pull_id)
    SELECT title_id, 'withdrawn', ${pullId}::bigint
    FROM (
      SELECT DISTINCT ON (title_id) title_id, content_hash FROM conciliation.title_change
      WHERE pull_id = ANY(ARRAY(SELECT id FROM conciliation.pull WHERE date = ${date}::date))
        AND kind <> 'payment_decided'
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

/** The fields of one object, or values of one enumeration, that have rows of their own. */
const MAX_DRIFT_ROWS = 20;

/**
 * Records what a response has beyond the interface. Names that differ with each response become one row of their
 * place, with their number.
 */
async function recordDrift(
  tx: Transaction,
  pullId: bigint,
  drift: readonly DriftItem[],
): Promise<void> {
  if (drift.length === 0) return;
  await tx.$executeRaw`
    WITH fresh AS MATERIALIZED (
      SELECT DISTINCT place, path, kind, value
      FROM jsonb_to_recordset(${JSON.stringify(drift)}::jsonb)
        AS seen (place text, path text, kind text, value text)
      WHERE (path, kind, value) NOT IN (SELECT path, kind, value FROM conciliation.drift)
    ), crowded AS MATERIALIZED (
      SELECT place, kind, count(*) AS names FROM fresh GROUP BY place, kind
      HAVING count(*) + (SELECT count(*) FROM conciliation.drift AS known
                         WHERE (known.place, known.kind) = (fresh.place, fresh.kind)) > ${MAX_DRIFT_ROWS}::int
    )
    INSERT INTO conciliation.drift AS known (place, path, kind, value, names, first_pull_id)
    SELECT place, path, kind, value, 1, ${pullId}::bigint FROM fresh
    WHERE (place, kind) NOT IN (SELECT place, kind FROM crowded)
    UNION ALL
    SELECT place, place || '*', kind, '*', names, ${pullId}::bigint FROM crowded
    ON CONFLICT (path, kind, value) DO UPDATE SET names = known.names + excluded.names`;
}

/**
 * Numbers the changes that a merge has made, advances the checkpoint, and runs the parts of the features. One
 * statement, because other merges wait for the lock of the closing phase while the process reads the answer of each
 * statement. The parts of the statement do not see what the others write. The changes of one merge are numbered in any
 * order: with an order by id, a planner that may not sort reads the titles of all dates in the order of the index.
 *
 * The caller holds the lock and keeps it until the commit: when a `change_seq` is visible, no smaller one can still
 * appear.
 *
 * @param isNewlyReconciled whether the merge has made the date reconciled
 * @throws StagingUnavailableError when the rows that name the pull are not those of its plan, because something
 *   else has written to the tables
 */
async function closeMerge(
  tx: Transaction,
  features: readonly EngineFeature[],
  pull: MergedResponse,
  isNewlyReconciled: boolean,
): Promise<void> {
  const { plan: counts } = pull;
  const hooks = features.flatMap(({ engine }) => engine?.inClosing ?? []);
  const expressions = [
    Prisma.sql`numbered AS (
      INSERT INTO conciliation.title_change (title_id, kind, pull_id, content_hash)
      SELECT id, kind, ${pull.pullId}::bigint, content_hash
      FROM (${recordedChanges(pull, counts)}) AS change (id, kind, content_hash)
      RETURNING 1
    )`,
    ...hooks.map((hook) => hook.expressions(pull)),
    ...(isNewlyReconciled ? [Prisma.sql`advanced AS (${checkpointAdvance(pull.pullId)})`] : []),
  ];
  // The names of expressions are constants of this program.
  const answers = [
    '(SELECT count(*) AS titles FROM numbered)',
    ...hooks.map(({ answer }) => answer),
  ]
    .map((from) => `(SELECT to_jsonb(answer) FROM ${from} AS answer)`)
    .join(', ');
  const [{ found }] = await tx.$queryRaw<
    [{ found: readonly [{ readonly titles: number }, ...unknown[]] }]
  >`WITH ${Prisma.join(expressions)} SELECT jsonb_build_array(${Prisma.raw(answers)}) AS found`;
  const [{ titles: numbered }, ...ofHooks] = found;
  const planned = counts.inserted + counts.changed + counts.withdrawn + counts.restored;
  if (numbered !== planned) {
    const { date } = pull;
    throw new StagingUnavailableError(
      `the merge of ${date} would record ${numbered} changes instead of ${planned}: something else has written to the tables`,
      { context: { date, numbered, planned } },
    );
  }
  for (const [place, { finish }] of hooks.entries()) await finish(tx, pull, ofHooks[place]);
}

/** Rows (id, kind, content_hash) of the titles that the pull has changed. */
function recordedChanges({ pullId, date }: MergingPull, counts: ChangeCounts): Prisma.Sql {
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
