import type { Transaction } from '../../database/database.ts';
import { BUYER } from '../../database/tax-id.sql.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import {
  MIN_TITLES,
  MIN_USUAL_DAYS,
  type ResponseFacts,
} from '../../domain/checks/plausibility.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LockedDay } from '../../ledger/day-ledger.sql.ts';
import type { Losses } from './losses.sql.ts';
import type { MergePlan } from './merge-plan.sql.ts';

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

/** The facts of a buyer without its losses. */
type CountedFacts = Omit<ResponseFacts, 'buyer' | 'lost' | 'lostBefore'> & {
  readonly buyer: string;
};
type Usual = Pick<ResponseFacts, 'usualTitles' | 'leastTitles' | 'valueRatio'>;

/** The usual numbers of the weekday of a date. The mean value is the value of a row `response (mean)`. */
const usual = (date: CivilDate, response: Prisma.Sql) => Prisma.sql`
  WITH response (mean) AS (${response}), recent AS (${recent(date, Prisma.sql`true`)}), usual AS (
    SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY title_count) AS titles, min(title_count) AS least,
           percentile_disc(0.5) WITHIN GROUP (ORDER BY mean) AS mean
    FROM recent HAVING count(*) >= ${MIN_USUAL_DAYS}
  )
  SELECT usual.titles AS "usualTitles", usual.least AS "leastTitles",
         ${ratio('response.mean', 'usual.mean')} AS "valueRatio"
  FROM response LEFT JOIN usual ON true`;

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

/**
 * The facts of each buyer, from rows (buyer_identification, titles, duplicates, present, inserted, changed, value).
 * A buyer may have several rows, one for each writing: titles are grouped by the text first, because its normal
 * form for each title takes longer.
 */
const factsOfBuyers = (date: CivilDate, counted: Prisma.Sql) => Prisma.sql`
  WITH recent AS (${recent(
    date,
    Prisma.sql`EXISTS (SELECT FROM conciliation.day_buyer AS counted WHERE counted.date = day.date)`,
  )}), usual AS (${usualOfBuyers(date)}), counted AS (
    SELECT ${BUYER} AS buyer, sum(titles) AS titles, sum(duplicates) AS duplicates, sum(present) AS present,
           sum(inserted) AS inserted, sum(changed) AS changed,
           sum(value) / nullif(sum(titles), 0) AS mean
    FROM (${counted}) AS written GROUP BY 1
  )
  SELECT coalesce(counted.buyer, usual.buyer) AS buyer, coalesce(counted.titles, 0)::float8 AS titles,
         coalesce(duplicates, 0)::float8 AS duplicates, coalesce(present, 0)::float8 AS "currentTitles",
         coalesce(inserted, 0)::float8 AS inserted, coalesce(changed, 0)::float8 AS changed,
         usual.titles::float8 AS "usualTitles",
         usual.least::float8 AS "leastTitles", ${ratio('counted.mean', 'usual.mean')} AS "valueRatio"
  FROM counted FULL JOIN usual ON usual.buyer = counted.buyer
  ORDER BY 1`;

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
  const isNew = !day.hasTitles;
  const mean = isNew
    ? Prisma.sql`SELECT avg(original_value) FROM conciliation.staged_title WHERE fence = ${fence}`
    : Prisma.sql`SELECT NULL::numeric`;
  const duplicates =
    plan.inserted < MIN_TITLES ? Prisma.sql`SELECT 0::float8` : duplicatesOf(fence, isNew);
  const [found] = await tx.$queryRaw<[Usual & { duplicates: number }]>`
    SELECT usual.*, (${duplicates}) AS duplicates FROM (${usual(date, mean)}) AS usual`;
  const counted = isNew ? newTitlesOfBuyers(fence) : changesOfBuyers(fence, day);
  const buyers = await tx.$queryRaw<CountedFacts[]>(factsOfBuyers(date, counted));
  const changed = buyers.reduce((sum, facts) => sum + facts.changed, 0);
  const lossesOf = new Map(losses.map((loss) => [loss.buyer, loss]));
  return [
    { ...countsOf(plan, day.titleCount), ...found, changed },
    ...buyers.map((facts) => ({ lost: 0, lostBefore: 0, ...lossesOf.get(facts.buyer), ...facts })),
  ];
}

/** The limit of all lost titles is `decideHold`. */
function countsOf({ titles, inserted }: MergePlan, currentTitles: number) {
  return { buyer: null, titles, inserted, lost: 0, lostBefore: 0, currentTitles };
}

/** The number of inserted titles of an identity that another title has. */
const duplicatesOf = (fence: bigint, isNew: boolean) =>
  isNew
    ? Prisma.sql`SELECT (count(*) - count(DISTINCT identity_hash))::float8 AS count
                 FROM conciliation.staged_title WHERE fence = ${fence}`
    : Prisma.sql`SELECT count(*)::float8 AS count FROM conciliation.staged_change
                 WHERE fence = ${fence} AND kind = 'inserted' AND occurrence > 1`;

/** A date without titles has no rows in `staged_change`. */
const newTitlesOfBuyers = (fence: bigint) => Prisma.sql`
  SELECT buyer_identification, count(*) AS titles,
         count(*) - count(DISTINCT identity_hash) AS duplicates, 0 AS present, count(*) AS inserted,
         0 AS changed, sum(original_value) AS value
  FROM conciliation.staged_title WHERE fence = ${fence} GROUP BY 1`;

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
