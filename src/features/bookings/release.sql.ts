/** The release of a signed-off day: docs/bookings.md. */
import type { Database, Transaction } from '../../base/database/database.ts';
import { amountSum } from '../../base/database/expressions.sql.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { ObstacleRules } from '../../console/day-obstacle.ts';
import { DESTINATION_COLUMNS, destinationColumns } from '../../core/title/destinations.sql.ts';
import { AMOUNT_COLUMNS, VALUE_COLUMNS } from '../../core/title/title.ts';
import { companyIdOf } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  hasObstacle,
  RELEASE_FAULTS,
  type ReleaseFault,
  readReleaseFaults,
} from '../review/obstacles.sql.ts';
import { compareDate } from '../verify/verify.sql.ts';
import { BATCH_DIGEST } from './feed.sql.ts';
import { settleReceipts } from './receipts.sql.ts';
import { erpKeyOf, keptTitles, linesToRepeat, postingValueOf } from './release-conditions.sql.ts';

export interface ReleaseRules extends ObstacleRules {
  /** TIMEZONE, in which the day of a release is dated. Absent: the default. */
  readonly timeZone?: string | undefined;
}

/**
 * The columns accounting_date and accounting_basis of a row `line` with kind and date that is written now: an
 * acceptance belongs to its own day, and what changes a posting later is never dated back.
 */
export const accounting = (
  line: Prisma.Sql,
  timeZone = 'America/Sao_Paulo',
): Prisma.Sql => Prisma.sql`
  CASE ${line}.kind WHEN 'book' THEN ${line}.date ELSE (now() AT TIME ZONE ${timeZone})::date END,
  CASE ${line}.kind WHEN 'book' THEN 'acceptance' ELSE 'event' END`;

/** Of lines: line_count, book_count, adjust_count, reverse_count and digest of their batch. */
export const LINE_COUNTS = Prisma.sql`
  count(*), count(*) FILTER (WHERE kind = 'book'), count(*) FILTER (WHERE kind = 'adjust'),
  count(*) FILTER (WHERE kind = 'reverse'), ${BATCH_DIGEST}`;

/** `booking_line.content_hash` of a reversal. */
const NOTHING = Prisma.sql`'00000000-0000-0000-0000-000000000000'::uuid`;

// The names are constants of core/title. No input reaches Prisma.raw.
const VALUES: readonly string[] = [
  ...VALUE_COLUMNS.filter((column) => column !== 'accepted_date'),
  ...DESTINATION_COLUMNS,
];
const columnsOf = (table: string) =>
  Prisma.raw(VALUES.map((name) => `${table}.${name}`).join(', '));
const names = Prisma.raw(VALUES.join(', '));
const sumNames = Prisma.raw(AMOUNT_COLUMNS.map((name) => `${name}_sum`).join(', '));
const sums = Prisma.raw(
  AMOUNT_COLUMNS.map(
    (name) => `coalesce(sum(coalesce(sealed.${name}, 0) - coalesce(top.${name}, 0)), 0)`,
  ).join(', '),
);

/**
 * Writes the difference between the content that was released last and the titles of the date: one batch with its
 * lines. Contents are compared as multisets within the date, so titles that are renumbered make no line. Of the
 * contents that differ, those of one identity are paired in the order of the bookings and of the content hashes:
 * the same difference gives the same keys in every database. A booking whose content was recorded from a receipt is
 * replaced in any case, and so are the lines of `linesToRepeat`, whose receipts then name what they are for. A title that
 * waits makes no line: what was released of it stays as it is.
 *
 * The row of the day is locked by the caller.
 * @returns `booking_batch.id`; null: nothing is released, because every title that differs waits
 */
async function writeDifference(
  tx: Transaction,
  date: CivilDate,
  seal: { readonly id: bigint; readonly by: string },
  timeZone: string | undefined,
): Promise<bigint | null> {
  // The statement joins sets of a day by hashing or sorting, so that the plan does not depend on statistics.
  await tx.$executeRaw`SELECT set_config('enable_nestloop', 'off', true)`;
  const [batch] = await tx.$queryRaw<[{ id: bigint; isReleased: boolean }?]>`
    WITH top AS MATERIALIZED (
      SELECT * FROM conciliation.booking_version WHERE date = ${date}::date AND is_newest
    ), stated AS MATERIALIZED (
      -- What a seal that is not restated covers.
      SELECT title.*, ${destinationColumns}, ${erpKeyOf(Prisma.sql`title.id`)} AS erp_key,
             ${postingValueOf(Prisma.sql`title.id`, Prisma.sql`title.original_value`)} AS posting_value,
             title.id IN (SELECT title_id FROM (${keptTitles(Prisma.sql`${date}::date`)}) AS kept) AS waits
      FROM conciliation.title AS title
      WHERE title.accepted_date = ${date}::date AND title.status = 'current'
    ), repeated AS MATERIALIZED (
      SELECT top.* FROM top JOIN (${linesToRepeat(Prisma.sql`${date}::date`)}) AS line USING (id)
    ), own AS MATERIALIZED (
      SELECT top.id AS line_id, stated.id AS title_id FROM top JOIN stated ON stated.id = top.title_id
      WHERE stated.content_hash = top.content_hash AND top.posted_hash IS NULL
        AND top.id NOT IN (SELECT id FROM repeated)
    ), live AS (
      -- Among equal contents, a title keeps the line that names the title and its payable.
      SELECT id, identity_hash, occurrence, content, title_id,
             row_number() OVER (PARTITION BY identity_hash, content
                                ORDER BY id NOT IN (SELECT line_id FROM own), occurrence) AS copy
      FROM top
      CROSS JOIN LATERAL (
        SELECT CASE WHEN posted_hash IS NULL AND id NOT IN (SELECT id FROM repeated) THEN content_hash END AS content
      ) AS known
      WHERE has_content
    ), sealed AS MATERIALIZED (
      -- The title of a repeated line takes the line of no equal title.
      SELECT *, row_number() OVER (PARTITION BY identity_hash, content
                                   ORDER BY id NOT IN (SELECT title_id FROM own), waits, occurrence, id) AS copy
      FROM stated
      CROSS JOIN LATERAL (
        SELECT CASE WHEN id NOT IN (SELECT title_id FROM repeated) THEN content_hash END AS content
      ) AS known
    ), differing AS MATERIALIZED (
      SELECT coalesce(live.identity_hash, sealed.identity_hash) AS identity_hash,
             live.id AS line_id, live.occurrence, live.title_id AS line_title_id,
             sealed.id AS title_id, sealed.content_hash, coalesce(sealed.waits, false) AS waits
      FROM live FULL JOIN sealed
        ON sealed.identity_hash = live.identity_hash AND sealed.content = live.content
       AND sealed.copy = live.copy
      WHERE live.id IS NULL OR sealed.id IS NULL
    ), kept AS MATERIALIZED (
      -- A restated title that waits keeps its line.
      SELECT line.line_id, title.title_id FROM differing AS line
      JOIN differing AS title ON title.title_id = line.line_title_id AND title.waits
    ), present AS MATERIALIZED (
      SELECT identity_hash, line_id, title_id, place, coalesce(waits, false) AS waits
      FROM (
        -- A repeated line has a title of its content.
        SELECT differing.identity_hash, line_id,
               row_number() OVER (PARTITION BY differing.identity_hash
                                  ORDER BY repeated.content_hash, differing.occurrence) AS place
        FROM differing LEFT JOIN repeated ON repeated.id = line_id
        WHERE line_id IS NOT NULL AND line_id NOT IN (SELECT line_id FROM kept)
      ) AS gone
      FULL JOIN (
        SELECT identity_hash, title_id, waits,
               row_number() OVER (PARTITION BY identity_hash ORDER BY waits, content_hash, title_id) AS place
        FROM differing WHERE title_id IS NOT NULL AND title_id NOT IN (SELECT title_id FROM kept)
      ) AS fresh USING (identity_hash, place)
    ), paired AS MATERIALIZED (
      SELECT identity_hash, line_id, title_id,
             row_number() OVER (PARTITION BY identity_hash, line_id IS NULL ORDER BY place) AS nr
      FROM present WHERE NOT waits
    ), reversed AS (
      SELECT *, row_number() OVER (PARTITION BY identity_hash ORDER BY occurrence) AS nr FROM top WHERE NOT has_content
    ), taken AS (
      SELECT identity_hash, max(occurrence) AS last, count(*) FILTER (WHERE NOT has_content) AS reversed
      FROM top GROUP BY identity_hash
    ), buyer AS (
      SELECT buyer, min(name) AS consumer
      FROM conciliation.booking_consumer CROSS JOIN unnest(buyers) AS buyer GROUP BY buyer
    ), line AS MATERIALIZED (
      -- A booking that continues.
      SELECT top.consumer, ${date}::date AS date, top.identity_hash, top.occurrence,
             top.version + 1 AS version, 'adjust' AS kind, sealed.content_hash, top.version AS succeeds,
             sealed.erp_key, coalesce(sealed.posting_value, sealed.original_value) AS posting_value, sealed.id AS title_id, ${columnsOf('sealed')}
      FROM paired JOIN top ON top.id = paired.line_id JOIN sealed ON sealed.id = paired.title_id
      UNION ALL
      SELECT top.consumer, top.date, top.identity_hash, top.occurrence, top.version + 1, 'reverse',
             ${NOTHING}, top.version, top.erp_key, top.posting_value, top.title_id, ${columnsOf('top')}
      FROM paired JOIN top ON top.id = paired.line_id
      WHERE paired.title_id IS NULL
      UNION ALL
      -- A new booking takes the place of a reversed one, otherwise the next number. What stands in the ERP is replaced.
      SELECT coalesce(reversed.consumer, buyer.consumer, 'erp'), ${date}::date, paired.identity_hash,
             coalesce(reversed.occurrence,
                      coalesce(taken.last, 0) + paired.nr - coalesce(taken.reversed, 0))::int,
             coalesce(reversed.version, 0) + 1,
             CASE WHEN stands AND reversed.state IN ('failed', 'refused') THEN 'adjust' ELSE 'book' END,
             sealed.content_hash, reversed.version,
             coalesce(sealed.erp_key, CASE WHEN stands THEN reversed.erp_key END),
             coalesce(sealed.posting_value, CASE WHEN stands THEN reversed.posting_value END, sealed.original_value), sealed.id, ${columnsOf('sealed')}
      FROM paired JOIN sealed ON sealed.id = paired.title_id
      LEFT JOIN taken ON taken.identity_hash = paired.identity_hash
      LEFT JOIN reversed ON reversed.identity_hash = paired.identity_hash AND reversed.nr = paired.nr
      LEFT JOIN buyer ON buyer.buyer = ${companyIdOf('sealed.buyer_identification')}
      WHERE paired.line_id IS NULL
    ), total AS (
      SELECT ${sums}
      FROM paired LEFT JOIN top ON top.id = paired.line_id LEFT JOIN sealed ON sealed.id = paired.title_id
    ), batch AS (
      INSERT INTO conciliation.booking_batch
        (date, sign_off_id, released_by, waiting_titles, line_count, book_count, adjust_count, reverse_count,
         digest, ${sumNames})
      SELECT ${date}::date, ${seal.id}::bigint, ${seal.by}, waiting.titles,
             counted.*, total.*
      FROM total, (
        SELECT ((SELECT count(*) FROM present WHERE waits) + (SELECT count(*) FROM kept))::int AS titles
      ) AS waiting, (
        SELECT ${LINE_COUNTS} FROM line
      ) AS counted (lines)
      WHERE counted.lines > 0 OR waiting.titles = 0 OR NOT EXISTS (
        SELECT FROM conciliation.booking_batch AS earlier
        WHERE earlier.date = ${date}::date AND earlier.sign_off_id = ${seal.id}::bigint)
      RETURNING id, line_count > 0 OR waiting_titles = 0 AS is_released
    ), written AS (
      INSERT INTO conciliation.booking_line
        (batch_id, consumer, date, identity_hash, occurrence, version, kind, content_hash, succeeds,
         erp_key, posting_value, title_id, ${names}, accounting_date, accounting_basis)
      SELECT batch.id, line.*, ${accounting(Prisma.sql`dated`, timeZone)} FROM batch CROSS JOIN line
      CROSS JOIN LATERAL (
        -- What the ERP could not post is still the acceptance.
        SELECT line.date, CASE WHEN (line.identity_hash, line.occurrence, line.succeeds) IN (
          SELECT identity_hash, occurrence, version FROM repeated
          WHERE accounting_basis = 'acceptance' AND state IN ('failed', 'refused')
        ) THEN 'book' ELSE line.kind END AS kind
      ) AS dated
      ORDER BY line.title_id
    )
    SELECT id, is_released AS "isReleased" FROM batch`;
  await tx.$executeRaw`
    SELECT set_config(name, reset_val, true) FROM pg_settings WHERE name = 'enable_nestloop'`;
  return batch?.isReleased === true ? batch.id : null;
}

/** Room for the lines of a day with hundreds of thousands of titles, in milliseconds. */
export const RELEASE_TRANSACTION = { timeout: 300_000, maxWait: 10_000 } as const;

/**
 * Releases what differs between the content that was released last and the content that the day's seal covers.
 * Does nothing where the day is before BOOKINGS_FROM, has no seal, was restated since, has been released completely
 * for this seal and has no line to repeat, or must wait; a later call releases it then. Titles that have to wait are left to a later call too. The row of the day is locked by the caller.
 * @param isCompared whether the caller has compared the rows of the day with their record: see `compareDate`
 * @returns `booking_batch.id`; null: nothing was released
 */
export async function releaseSealedDay(
  tx: Transaction,
  date: CivilDate,
  rules: ReleaseRules,
  { isCompared } = { isCompared: false },
): Promise<bigint | null> {
  await settleReceipts(tx, date);
  const [seal] = await tx.$queryRaw<[{ id: bigint; by: string }?]>`
    SELECT seal.id, seal.signed_off_by AS by ${releasable} AND day.date = ${date}::date
    -- A move of BOOKINGS_FROM waits for the lines, or is seen here.
    FOR SHARE OF start`;
  if (seal === undefined) return null;
  if (!isCompared) await compareDate(tx, date);
  if ((await readReleaseFaults(tx, date, rules)).length > 0) return null;
  const batchId = await writeDifference(tx, date, seal, rules.timeZone);
  if (batchId === null) return null;
  // Numbered last, and under the lock until the commit: a position that is visible has none before it to come.
  await takeLock(tx, 'closing');
  await tx.$executeRaw`
    INSERT INTO conciliation.booking_offer (line_id)
    SELECT id FROM conciliation.booking_line WHERE batch_id = ${batchId}
    -- A payable is free again before its title's successor is booked on it.
    ORDER BY kind <> 'reverse', identity_hash, occurrence, version`;
  return batchId;
}

/** Seals from BOOKINGS_FROM on that last and cover the present content of their day. */
const sealed = Prisma.sql`
  FROM conciliation.booking_start AS start
  JOIN conciliation.day ON day.date >= start.bookings_from
  JOIN conciliation.sign_off AS seal ON seal.date = day.date AND seal.ended_at IS NULL
  WHERE day.content_digest = seal.content_digest`;

/** Whether a seal was not released completely after every receipt that a person recorded. */
const IS_UNRELEASED = Prisma.sql`
  NOT EXISTS (
    SELECT FROM conciliation.booking_batch AS batch
    WHERE batch.date = day.date AND batch.sign_off_id = seal.id AND batch.waiting_titles = 0
      AND NOT EXISTS (SELECT FROM conciliation.booking_batch AS recorded
                      WHERE recorded.date = day.date AND recorded.sign_off_id IS NULL AND recorded.id > batch.id))`;

const unreleased = Prisma.sql`${sealed} AND ${IS_UNRELEASED}`;

/** The same, and seals with lines to repeat. */
const releasable = Prisma.sql`${sealed} AND (${IS_UNRELEASED} OR day.date IN (
  SELECT date FROM (${linesToRepeat(Prisma.sql`ANY(ARRAY(
    SELECT date FROM conciliation.booking_line WHERE state = 'failed'))`)}) AS line))`;

/**
 * Releases the signed-off days that had to wait and no longer have to wait, each in a separate transaction.
 * @returns the days that were released
 * @throws the first error of a day, after all days were tried
 */
export async function releaseWaitingDays(
  database: Database,
  rules: ReleaseRules,
): Promise<CivilDate[]> {
  const waiting = await database.prisma.$queryRaw<{ date: CivilDate }[]>`
    SELECT day.date::text AS date ${releasable}
      AND NOT ${hasObstacle(Prisma.sql`day.date`, rules, RELEASE_FAULTS)}
    ORDER BY day.date`;
  const released: CivilDate[] = [];
  const faults: unknown[] = [];
  for (const { date } of waiting) {
    try {
      const batchId = await database.prisma.$transaction(async (tx) => {
        await lockDay(tx, date);
        return releaseSealedDay(tx, date, rules);
      }, RELEASE_TRANSACTION);
      if (batchId !== null) released.push(date);
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return released;
}

/** Signed-off days that wait for the same reason. */
export interface WaitingDays {
  /** titles: only single titles of the days wait. Null: released within a minute. */
  readonly fault: ReleaseFault | 'titles' | null;
  readonly days: number;
  /** That had to wait at the newest release of each day; 0 where the whole day waits. */
  readonly titles: number;
  /** Original values less those of the bookings that stand, at least 0 for each day. Exact decimal. */
  readonly value: string;
  /** In order. */
  readonly dates: readonly CivilDate[];
}

/** The signed-off days that wait, each with `fault` and `value` of `WaitingDays`, and the titles that had to wait at the newest release. */
export const waitingDays = (rules: ObstacleRules): Prisma.Sql => Prisma.sql`
  SELECT date, value, titles, coalesce(fault, CASE WHEN titles > 0 THEN 'titles' END) AS fault FROM (
    SELECT day.date,
           CASE ${Prisma.join(
             RELEASE_FAULTS.map(
               (fault) =>
                 Prisma.sql`WHEN ${hasObstacle(Prisma.sql`day.date`, rules, [fault])} THEN ${fault}::text`,
             ),
             ' ',
           )} END AS fault,
           greatest(0, day.original_value_sum - (
             SELECT coalesce(sum(original_value), 0) FROM conciliation.booking_version AS line
             WHERE line.date = day.date AND is_newest AND has_content)) AS value,
           coalesce((SELECT batch.waiting_titles FROM conciliation.booking_batch AS batch
                     WHERE batch.date = day.date AND batch.sign_off_id = seal.id
                     ORDER BY batch.id DESC LIMIT 1), 0) AS titles ${unreleased}
  ) AS judged`;

/** Returns the signed-off days that wait for their release, by the first reason of each, the oldest days first. */
export const readWaitingDays = (
  database: Database,
  rules: ObstacleRules,
): Promise<WaitingDays[]> => database.prisma.$queryRaw<WaitingDays[]>`
  SELECT fault, count(*)::int AS days, coalesce(sum(titles) FILTER (WHERE fault = 'titles'), 0)::int AS titles,
         (${amountSum(Prisma.sql`value`)})::text AS value, array_agg(date::text ORDER BY date) AS dates
  FROM (${waitingDays(rules)}) AS waiting
  GROUP BY fault ORDER BY min(date)`;

/**
 * The dates of the days that were signed off before an instant and are not released. A day counts also where only some
 * of its titles wait. Days that wait for a decision about receipts, altered titles, a held response, rejects or findings
 * have alerts of their own.
 */
export function overdueReleases(signedBefore: Date, rules: ObstacleRules): Prisma.Sql {
  return Prisma.sql`
    SELECT day.date ${unreleased}
      AND NOT ${hasObstacle(Prisma.sql`day.date`, rules, ['receipts', 'altered', 'unrecorded', 'not_reconciled'])}
      AND seal.signed_off_at < ${signedBefore}::timestamptz`;
}

/** Locks the row of the day, as a merge and a seal do. */
export async function lockDay(tx: Transaction, date: CivilDate): Promise<void> {
  await tx.$executeRaw`SELECT FROM conciliation.day WHERE date = ${date}::date FOR UPDATE`;
}
