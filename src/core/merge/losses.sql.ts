/**
 * The titles that a date loses. A title that is withdrawn is lost unless it has a successor: the same title, restated
 * under another identity. The limits count lost titles.
 */
import type { Transaction } from '../../base/database/database.ts';
import { companyIdOf } from '../../base/database/tax-id.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LockedDay } from '../ledger/day-ledger.sql.ts';
import { pairKey } from './merge-apply.sql.ts';

/** The author of an automatic sign-off, in the seal and in the audit log. */
export const AUTO_SIGN_OFF_AUTHOR = 'auto-sign-off';

/** The lost titles of one buyer. */
export interface Losses {
  /** The normal form of the buyer's identification, empty for titles without one. */
  readonly buyer: string;
  /** Titles that the response withdraws. */
  readonly lost: number;
  /** Titles that earlier responses withdrew, see `MEMORY_DAYS`, and that the response does not restore. */
  readonly lostBefore: number;
}

/** Withdrawals count for this long, unless a person has decided about the date since. */
const MEMORY_DAYS = 30;

/**
 * Where a successor may be. `date`: inserted or restored by the merge that withdrew the title, with the same order,
 * buyer and provider. `dates`: there, or on another accepted date, with the same value and due date and in a later
 * response than the newest one that had the title. The first does not depend on the responses for other dates.
 */
export type SuccessorScope = 'date' | 'dates';

/** The losses of a staged response after `planChanges`. */
export function readPlannedLosses(
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

/** The losses of a merged pull that are not restored since, as `lostBefore`. */
export function readMergedLosses(
  tx: Transaction,
  pull: { readonly id: bigint; readonly date: CivilDate },
): Promise<Losses[]> {
  const gone = Prisma.sql`
    SELECT ${goneColumns}, last_change_pull_id AS pull_id FROM conciliation.title
    WHERE accepted_date = ${pull.date}::date AND status = 'withdrawn' AND last_change_pull_id = ${pull.id}`;
  const arrived = Prisma.sql`SELECT ${pairKey}, 0::bigint AS pull_id FROM conciliation.title WHERE false`;
  return readLosses(tx, { date: pull.date, mergedFence: null, gone, arrived, scope: 'dates' });
}

/** Instalments of one order have different due dates. */
const movedKey = Prisma.sql`
  title.original_value, coalesce(title.anticipated_due_date, '-infinity') AS due_date`;

const goneColumns = Prisma.sql`
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

function readLosses(tx: Transaction, query: LossQuery): Promise<Losses[]> {
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
