import type { Transaction } from '../../base/database/database.ts';
import { BUYER } from '../../base/database/tax-id.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LockedDay } from '../ledger/day-ledger.sql.ts';
import type { Losses } from './losses.sql.ts';
import type { MergePlan } from './merge-plan.sql.ts';
import { MIN_USUAL_DAYS, type ResponseFacts } from './plausibility.ts';

/** The newest reconciled dates with titles of the same weekday. */
const USUAL_DAYS = 8;
/** How far back they may be. */
const USUAL_WEEKS = 12;

const recent = (date: CivilDate, condition: Prisma.Sql) => Prisma.sql`
  SELECT date, title_count, original_value_sum / title_count AS mean
  FROM conciliation.day
  WHERE date = ANY(ARRAY(SELECT ${date}::date - 7 * week FROM generate_series(1, ${USUAL_WEEKS}::int) AS week))
    AND state = 'reconciled' AND title_count > 0 AND ${condition}
  ORDER BY date DESC LIMIT ${USUAL_DAYS}`;

/** How many times the greater one of two means is the other one; null where one of them is not positive. */
const ratio = (first: string, second: string) =>
  Prisma.raw(
    `CASE WHEN ${first} > 0 AND ${second} > 0
          THEN least(greatest(${first} / ${second}, ${second} / ${first}), 1e6)::float8 END`,
  );

/** The usual numbers of the weekday of a date: rows (titles, least, mean). */
const usual = (date: CivilDate) => Prisma.sql`
  SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY title_count) AS titles, min(title_count) AS least,
         percentile_disc(0.5) WITHIN GROUP (ORDER BY mean) AS mean
  FROM (${recent(date, Prisma.sql`true`)}) AS recent HAVING count(*) >= ${MIN_USUAL_DAYS}`;

/**
 * The usual numbers of each buyer on the weekday of a date: rows (buyer, titles, least, mean). Only dates that the checks
 * have counted by buyer count.
 */
const usualOfBuyers = (date: CivilDate) => Prisma.sql`
  SELECT buyer.name AS buyer,
         percentile_disc(0.5) WITHIN GROUP (ORDER BY coalesce(counted.titles, 0)) AS titles,
         min(coalesce(counted.titles, 0)) AS least,
         percentile_disc(0.5) WITHIN GROUP (ORDER BY counted.original_value_sum / nullif(counted.titles, 0)) AS mean
  FROM recent CROSS JOIN (
    SELECT DISTINCT buyer_identification AS name FROM conciliation.day_buyer
    WHERE date = ANY(ARRAY(SELECT date FROM recent))
  ) AS buyer
  LEFT JOIN conciliation.day_buyer AS counted
    ON counted.date = recent.date AND counted.buyer_identification = buyer.name
  WHERE recent.date <> ${date}::date
  GROUP BY buyer.name HAVING count(*) >= ${MIN_USUAL_DAYS}`;

/** Of a row that `readStagedFacts` reads. */
type CountedFacts = Omit<ResponseFacts, 'buyer' | 'lost' | 'lostBefore'> & {
  readonly isTotal: boolean;
  readonly buyer: string;
};

/**
 * The facts of a staged response after `planChanges`.
 * @param losses of the buyers; those of a buyer that is not listed are 0
 */
export async function readStagedFacts(
  tx: Transaction,
  fence: bigint,
  day: LockedDay,
  plan: MergePlan,
  losses: readonly Losses[],
): Promise<ResponseFacts[]> {
  const { date } = day;
  // Rows (buyer_identification, titles, duplicates, present, inserted, changed, value), one for each writing: titles are
  // grouped by the text first, because its normal form for each title takes longer.
  const counted = day.hasTitles ? changesOfBuyers(fence, day) : newTitlesOfBuyers(fence);
  const isCounted = Prisma.sql`EXISTS (SELECT FROM conciliation.day_buyer AS counted WHERE counted.date = day.date)`;
  const rows = await tx.$queryRaw<CountedFacts[]>`
    WITH recent AS (${recent(date, isCounted)}), usual AS (
      SELECT false AS is_total, * FROM (${usualOfBuyers(date)}) AS buyer
      UNION ALL SELECT true, '', * FROM (${usual(date)}) AS total
    ), counted AS (
      SELECT grouping(buyer) = 1 AS is_total, coalesce(buyer, '') AS buyer, sum(titles) AS titles,
             sum(duplicates) AS duplicates, sum(present) AS present, sum(inserted) AS inserted, sum(changed) AS changed,
             sum(value) / nullif(sum(titles), 0) AS mean
      FROM (SELECT ${BUYER} AS buyer, * FROM (${counted}) AS written) AS written
      GROUP BY GROUPING SETS ((), (buyer))
    )
    SELECT is_total AS "isTotal", buyer, coalesce(counted.titles, 0)::float8 AS titles,
           coalesce(duplicates, 0)::float8 AS duplicates, coalesce(present, 0)::float8 AS "currentTitles",
           coalesce(inserted, 0)::float8 AS inserted, coalesce(changed, 0)::float8 AS changed,
           usual.titles::float8 AS "usualTitles",
           usual.least::float8 AS "leastTitles", ${ratio('counted.mean', 'usual.mean')} AS "valueRatio"
    FROM counted FULL JOIN usual USING (is_total, buyer)
    ORDER BY is_total DESC, buyer`;
  const { titles, inserted } = plan;
  // The limit of all lost titles is `decideHold`.
  const none = { lost: 0, lostBefore: 0 };
  const all = { buyer: null, titles, inserted, currentTitles: day.titleCount, ...none };
  const lossesOf = new Map(losses.map((loss) => [loss.buyer, loss]));
  return rows.map(({ isTotal, ...facts }) =>
    isTotal ? { ...facts, ...all } : { ...none, ...lossesOf.get(facts.buyer), ...facts },
  );
}

/**
 * A date without titles has no rows in `staged_change`. Titles of one identity have one buyer and one value: a sum for
 * each identity would take longer.
 */
const newTitlesOfBuyers = (fence: bigint) => Prisma.sql`
  SELECT buyer_identification, sum(copies) AS titles, sum(copies) - count(*) AS duplicates, 0 AS present,
         sum(copies) AS inserted, 0 AS changed, sum(copies * original_value) AS value
  FROM (SELECT min(buyer_identification) AS buyer_identification, min(original_value) AS original_value,
               count(*) AS copies
        FROM conciliation.staged_title WHERE fence = ${fence} GROUP BY identity_hash) AS identity
  GROUP BY 1`;

/**
 * The titles that the date has are those that the checks have counted, if they ran on its present content. A title
 * whose order comes with another value is changed: the value is part of its identity, so it is withdrawn and inserted.
 */
const changesOfBuyers = (fence: bigint, { date }: LockedDay) => Prisma.sql`
  WITH change AS (
    SELECT title.buyer_identification, change.kind, change.occurrence, title.order_uid, title.original_value
    FROM conciliation.staged_change AS change JOIN conciliation.title ON title.id = change.title_id
    WHERE change.fence = ${fence}
      AND title.id = ANY(ARRAY(SELECT title_id FROM conciliation.staged_change
                               WHERE fence = ${fence} AND title_id IS NOT NULL))
    UNION ALL
    SELECT staged.buyer_identification, change.kind, change.occurrence, staged.order_uid, staged.original_value
    FROM conciliation.staged_change AS change
    JOIN conciliation.staged_title AS staged USING (fence, ordinal)
    WHERE change.fence = ${fence} AND change.title_id IS NULL
  ), arrived_value AS (
    SELECT order_uid, original_value FROM change WHERE kind IN ('inserted', 'restored')
  ), changes AS (
    SELECT buyer_identification, count(*) FILTER (WHERE kind = 'inserted') AS inserted,
           count(*) FILTER (WHERE kind = 'inserted' AND occurrence > 1) AS duplicates,
           count(*) FILTER (
             WHERE kind = 'changed'
                OR kind = 'withdrawn' AND order_uid IN (SELECT order_uid FROM arrived_value)
                   AND (order_uid, original_value) NOT IN (SELECT order_uid, original_value FROM arrived_value)
           ) AS changed,
           count(*) FILTER (WHERE kind = 'withdrawn') AS withdrawn,
           count(*) FILTER (WHERE kind = 'restored') AS restored
    FROM change GROUP BY 1
  ), checked AS (
    SELECT FROM conciliation.day JOIN conciliation.day_check AS done USING (date, content_digest)
    WHERE date = ${date}::date
  ), present AS (
    SELECT buyer_identification, titles::bigint AS titles FROM conciliation.day_buyer
    WHERE date = ${date}::date AND EXISTS (SELECT FROM checked)
    UNION ALL
    SELECT buyer_identification, count(*) FROM conciliation.title
    WHERE accepted_date = ${date}::date AND status = 'current' AND NOT EXISTS (SELECT FROM checked)
    GROUP BY 1
  )
  SELECT buyer_identification, titles + inserted + restored - withdrawn AS titles, duplicates, titles AS present,
         inserted, changed, NULL::numeric AS value
  FROM (
    SELECT buyer_identification, 0 AS titles, inserted, duplicates, changed, withdrawn, restored FROM changes
    UNION ALL SELECT buyer_identification, titles, 0, 0, 0, 0, 0 FROM present
  ) AS counted`;
