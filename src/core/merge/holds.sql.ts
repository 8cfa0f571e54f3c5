/**
 * Why a response waits for a person before it is merged: because of the titles that its date loses, or because a feature
 * holds it. A title that is withdrawn is lost unless it has a successor: the same title, restated under another identity.
 */
import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LockedDay } from '../ledger/day-ledger.sql.ts';
import type { Attempt } from '../ledger/pull-ledger.sql.ts';
import type { Hold, HoldReason } from '../ledger/states.ts';
import { companyIdOf } from '../title/title-hashes.sql.ts';
import type { EngineParts, Losses, MergePlan } from './engine-hooks.ts';
import { pairKey } from './merge-apply.sql.ts';

export interface MergePolicy {
  readonly withdrawalLimitPercent: number;
  /** False: a response is held because of withdrawals only. */
  readonly checksPlausibility: boolean;
}

/**
 * Returns the reason why a response must wait because of the titles that the date loses; null: none.
 * Titles that earlier responses withdrew count, so that no series of responses loses more than one may.
 */
export function decideHold(day: {
  readonly currentTitles: number;
  /** Titles of the response that keep the contract. */
  readonly responseTitles: number;
  readonly rejected: number;
  /** Titles that the response withdraws. */
  readonly withdrawals: number;
  /** Those of them without a successor. */
  readonly lost: number;
  /** Titles without a successor that earlier responses withdrew. */
  readonly lostBefore: number;
  readonly withdrawalLimitPercent: number;
}): HoldReason | null {
  const { lost, lostBefore, currentTitles } = day;
  if (day.withdrawals > 0 && day.responseTitles === 0 && day.rejected > 0) return 'unreadable';
  if (lost === 0) return null;
  if (day.responseTitles === 0) return 'emptied';
  const isOverLimit =
    (lost + lostBefore) * 100 > day.withdrawalLimitPercent * (currentTitles + lostBefore);
  return isOverLimit ? 'withdrawal_limit' : null;
}

/**
 * The greatest share of the titles of a run, in percent, that its responses may withdraw together: half of the limit
 * of one date. Null: there is no limit. Responses that each lose at most this share of their date lose at most this
 * share of the run together. So such a response is merged at once, and only a greater one waits for the others.
 */
export function runLimitPercent(withdrawalLimitPercent: number): number | null {
  return withdrawalLimitPercent === 100 ? null : withdrawalLimitPercent / 2;
}

interface PlannedMerge extends Pick<Attempt, 'fence' | 'isRepair' | 'isOfRun'> {
  readonly day: LockedDay;
  readonly plan: MergePlan;
}

/**
 * Why the planned changes of an attempt must wait for a person, and how many titles its date loses.
 *
 * While a run is under way, the decision does not depend on other dates, whose responses come in any order: no
 * successor on another date counts, and a response that loses more than the share of a run waits for the end of the run.
 */
export async function findHold(
  tx: Transaction,
  { fence, isOfRun, isRepair, day, plan }: PlannedMerge,
  parts: Pick<EngineParts, 'features'> & MergePolicy,
): Promise<{ readonly hold: Hold | null; readonly lost: number }> {
  const { features, checksPlausibility, withdrawalLimitPercent } = parts;
  // A repair withdraws rows that no response had: no earlier loss adds to them.
  const before = isRepair ? { ...day, withdrawnCount: 0 } : day;
  const scope = isOfRun ? 'date' : 'dates';
  const losses = plan.withdrawn === 0 ? [] : await readPlannedLosses(tx, fence, before, scope);
  const lost = sumOf(losses.map((loss) => loss.lost));
  const reason = decideHold({
    currentTitles: day.titleCount,
    responseTitles: plan.titles,
    rejected: plan.rejected,
    withdrawals: plan.withdrawn,
    lost,
    lostBefore: sumOf(losses.map((loss) => loss.lostBefore)),
    withdrawalLimitPercent,
  });
  if (reason !== null) return { lost, hold: { reason, detail: null } };
  // A response without changes needs no further statement.
  const isChanged = plan.inserted + plan.changed + plan.withdrawn > 0;
  const holders = checksPlausibility && isChanged ? features : [];
  for (const { engine } of holders) {
    const planned = { fence, day, losses };
    const hold = await engine?.inDecision?.(tx, planned, withdrawalLimitPercent);
    if (hold) return { lost, hold };
  }
  const runLimit = runLimitPercent(withdrawalLimitPercent);
  const isGreat = runLimit !== null && lost * 100 > runLimit * day.titleCount;
  return { lost, hold: isOfRun && isGreat ? { reason: 'run_withdrawals', detail: null } : null };
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

/** The author of an automatic sign-off, in the seal and in the audit log. */
export const AUTO_SIGN_OFF_AUTHOR = 'auto-sign-off';

/** Withdrawals count for this long, unless a person has decided about the date since. */
const MEMORY_DAYS = 30;

/**
 * Where a successor may be. `date`: inserted or restored by the merge that withdrew the title, with the same order,
 * buyer and provider. `dates`: there, or on another accepted date, with the same value and due date and in a later
 * response than the newest one that had the title. The first does not depend on the responses for other dates.
 */
type SuccessorScope = 'date' | 'dates';

/** The losses of a staged response after `planChanges`. */
function readPlannedLosses(
  tx: Transaction,
  fence: bigint,
  day: Pick<LockedDay, 'date' | 'mergedFence' | 'withdrawnCount'>,
  scope: SuccessorScope,
): Promise<Losses[]> {
  const { date, mergedFence, withdrawnCount } = day;
  const changed = (kinds: readonly string[]) => Prisma.sql`
    ARRAY(SELECT title_id FROM conciliation.staged_change
          WHERE fence = ${fence} AND kind = ANY(${kinds}::text[]))`;
  const decision = Prisma.sql`
    SELECT max(at) FROM (
      SELECT now() - make_interval(days => ${MEMORY_DAYS}::int) AS at
      UNION ALL
      SELECT decided_at FROM conciliation.pull WHERE date = ${date}::date
      UNION ALL
      SELECT signed_off_at FROM conciliation.sign_off
      WHERE date = ${date}::date AND signed_off_by <> ${AUTO_SIGN_OFF_AUTHOR}
    ) AS decision`;
  const gone = Prisma.sql`
    SELECT ${goneColumns}, 0::bigint AS pull_id FROM conciliation.title
    WHERE id = ANY(${changed(['withdrawn'])})
    UNION ALL
    SELECT ${goneColumns}, last_change_pull_id FROM conciliation.title
    WHERE ${withdrawnCount > 0}::boolean
      AND accepted_date = ${date}::date AND status = 'withdrawn' AND changed_at > (${decision})
      AND NOT id = ANY(${changed(['restored'])})`;
  const arrived = Prisma.sql`
    SELECT ${pairKey}, 0::bigint AS pull_id
    FROM conciliation.staged_change AS change JOIN conciliation.staged_title AS title USING (fence, ordinal)
    WHERE change.fence = ${fence} AND title.fence = ${fence} AND change.kind IN ('inserted', 'restored')`;
  return readLosses(tx, { date, mergedFence, gone, arrived, scope });
}

/** Instalments of one order have different due dates. */
const movedKey = Prisma.sql`
  title.original_value, coalesce(title.anticipated_due_date, '-infinity') AS due_date`;

export const goneColumns = Prisma.sql`
  ${pairKey}, coalesce(${companyIdOf('title.buyer_identification')}, '') AS buyer_name, ${movedKey}`;

interface LossQuery {
  readonly date: CivilDate;
  /** Of the newest response that had the titles with the `pull_id` 0. */
  readonly mergedFence: bigint | null;
  /** Rows `goneColumns` and pull_id: the withdrawn titles; 0 for those of the staged response. */
  readonly gone: Prisma.Sql;
  /** Rows `pairKey` and pull_id: the titles that the staged response inserts or restores. */
  readonly arrived: Prisma.Sql;
  readonly scope: SuccessorScope;
}

export function readLosses(tx: Transaction, query: LossQuery): Promise<Losses[]> {
  const { date, gone, arrived, scope } = query;
  return tx.$queryRaw<Losses[]>`
    WITH gone AS MATERIALIZED (${gone}), names AS MATERIALIZED (
      SELECT array(SELECT DISTINCT order_uid FROM gone) AS orders,
             array(SELECT DISTINCT pull_id FROM gone WHERE pull_id <> 0) AS pulls
    ), restored AS MATERIALIZED (
      SELECT title_id, pull_id FROM conciliation.title_revision
      WHERE pull_id = ANY((SELECT pulls FROM names)::bigint[]) AND kind = 'restored'
    ), arrived AS (
      ${arrived}
      UNION ALL
      SELECT ${pairKey}, title.first_pull_id FROM conciliation.title
      WHERE (SELECT pulls FROM names) <> '{}' AND accepted_date = ${date}::date
        AND first_pull_id = ANY((SELECT pulls FROM names)::bigint[])
      UNION ALL
      SELECT ${pairKey}, restored.pull_id
      FROM restored JOIN conciliation.title ON title.id = restored.title_id
      WHERE title.id = ANY(ARRAY(SELECT title_id FROM restored))
    ), successors AS (
      SELECT order_uid, buyer, provider, pull_id, count(*) AS titles FROM arrived GROUP BY 1, 2, 3, 4
    ), elsewhere AS (${scope === 'date' ? nothingElsewhere : titlesElsewhere(query)}), gone_of_order AS (
      SELECT order_uid, buyer, provider, pull_id, min(buyer_name) AS buyer_name,
             sum(greatest(equal.titles - coalesce(elsewhere.titles, 0), 0)) AS titles
      FROM (SELECT order_uid, buyer, provider, original_value, due_date, pull_id,
                   min(buyer_name) AS buyer_name, count(*) AS titles FROM gone GROUP BY 1, 2, 3, 4, 5, 6) AS equal
      LEFT JOIN elsewhere USING (order_uid, buyer, provider, original_value, due_date, pull_id)
      GROUP BY 1, 2, 3, 4
    ), lost AS (
      SELECT buyer_name, pull_id,
             greatest(gone_of_order.titles - coalesce(successors.titles, 0), 0) AS titles
      FROM gone_of_order LEFT JOIN successors USING (order_uid, buyer, provider, pull_id)
    )
    SELECT buyer_name AS buyer,
           coalesce(sum(titles) FILTER (WHERE pull_id = 0), 0)::float8 AS lost,
           coalesce(sum(titles) FILTER (WHERE pull_id <> 0), 0)::float8 AS "lostBefore"
    FROM lost GROUP BY buyer_name`;
}

const nothingElsewhere = Prisma.sql`
  SELECT order_uid, buyer, provider, original_value, due_date, pull_id, 0::bigint AS titles FROM gone WHERE false`;

/**
 * The titles of other dates that first came, or came back, in a response after the newest one that had the gone
 * title. A title that both dates had at one time, such as another instalment of the order, is no successor.
 */
const titlesElsewhere = ({ date, mergedFence }: LossQuery) => Prisma.sql`
  SELECT sought.order_uid, sought.buyer, sought.provider, sought.original_value, sought.due_date, sought.pull_id,
         count(*) AS titles
  FROM (SELECT DISTINCT order_uid, buyer, provider, original_value, due_date, pull_id FROM gone) AS sought
  JOIN (
    SELECT 0::bigint AS pull_id, ${mergedFence}::bigint AS fence
    UNION ALL
    SELECT id, lag(fence) OVER (ORDER BY fence) FROM conciliation.pull
    WHERE date = ${date}::date AND state IN ('merged', 'unchanged')
  ) AS last_seen USING (pull_id)
  JOIN (
    SELECT ${pairKey}, ${movedKey}, ${arrivalFence('title')} AS fence FROM conciliation.title
    WHERE title.order_uid = ANY((SELECT orders FROM names)::text[])
      AND title.status = 'current' AND title.accepted_date <> ${date}::date
  ) AS other
    ON other.order_uid = sought.order_uid AND other.buyer = sought.buyer AND other.provider = sought.provider
       AND other.original_value = sought.original_value AND other.due_date = sought.due_date
       AND other.fence > last_seen.fence
  GROUP BY 1, 2, 3, 4, 5, 6`;

/**
 * The fence of the newest response in which a row of `title` came, for the first time or again. A greater fence is a
 * later request.
 * @param title the alias of the row, a constant of this program
 */
export const arrivalFence = (title: string): Prisma.Sql =>
  Prisma.raw(`
    (SELECT max(arrival.fence) FROM conciliation.pull AS arrival
     WHERE arrival.id = ANY(ARRAY(
       SELECT ${title}.first_pull_id
       UNION ALL
       SELECT revision.pull_id FROM conciliation.title_revision AS revision
       WHERE revision.title_id = ${title}.id AND revision.kind = 'restored')))`);
