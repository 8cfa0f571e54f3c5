import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { LockedDay } from '../../core/ledger/day-ledger.sql.ts';
import type { Hold, HoldReason } from '../../core/ledger/states.ts';
import type { Losses, PlannedResponse } from '../../core/merge/engine-hooks.ts';
import { BUYER } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/**
 * Limits beyond which a response waits for a person although it keeps the contract and its date may lose its titles.
 * Each limit holds for the whole response and for the titles of each buyer. Small numbers of titles vary by themselves:
 * no limit holds a response because of fewer titles than `MIN_TITLES`, and those of one buyer that vanished, than
 * `MIN_BUYER_TITLES`.
 */
const MIN_TITLES = 20;

/** The greatest share of a response, in percent, of titles that equal an earlier title of it in their identity. */
const DUPLICATE_PERCENT = 25;
/** The greatest multiple of the usual number of titles of that weekday. */
const GROWTH_FACTOR = 5;
/** The greatest share of the current titles of a date, in percent, that a response may change. */
const CHANGED_PERCENT = 50;
/** The greatest factor between the mean original value of a response and the usual one of that weekday. */
const VALUE_FACTOR = 20;

/** Of one buyer, whose titles vanish. */
const MIN_BUYER_TITLES = 5;

/** The newest reconciled dates of the same weekday; fewer make nothing usual. */
const MIN_USUAL_DAYS = 4;

/** The effect of a response on its date, counted over all of its titles or over those of one buyer. */
interface ResponseFacts {
  /** The identification of the buyer, empty for titles without one; null: all titles. */
  readonly buyer: string | null;
  /** Titles of the response that keep the contract. */
  readonly titles: number;
  /** New titles of the response that equal an earlier title of it, or of the date, in their identity. */
  readonly duplicates: number;
  readonly currentTitles: number;
  readonly inserted: number;
  readonly changed: number;
  /** Titles without a successor that the response withdraws. */
  readonly lost: number;
  /** Titles without a successor that earlier responses withdrew; see `Losses`. */
  readonly lostBefore: number;
  /** The median number of titles of the weekday; null: not known. */
  readonly usualTitles: number | null;
  /** The least number of titles of the weekday; null: not known. */
  readonly leastTitles: number | null;
  /** The greater one of the mean original values, response and usual, as a multiple of the other one; null: not known. */
  readonly valueRatio: number | null;
}

/**
 * Returns why a response must wait because of its titles, or of those of one buyer; null: nothing.
 * @param isFirst whether the date has no title yet: only then is a buyer without titles missing, because a person may
 *   have decided about the present titles
 */
function holdOf(facts: ResponseFacts, withdrawalPercent: number, isFirst: boolean): Hold | null {
  const { buyer, titles, duplicates, currentTitles, changed, lost, usualTitles, valueRatio } =
    facts;
  const hold = (reason: HoldReason, found: number, of: number | null, limit: number) => ({
    reason,
    detail: { buyer, found, of, limit },
  });
  if (buyer !== null) {
    const allLost = lost + facts.lostBefore;
    const greatest = currentTitles + facts.lostBefore;
    const isLost = lost > 0 && greatest >= MIN_BUYER_TITLES && allLost >= MIN_BUYER_TITLES;
    if (isLost && allLost * 100 > withdrawalPercent * greatest) {
      return hold('buyer_withdrawals', allLost, greatest, withdrawalPercent);
    }
    if (isFirst && titles === 0 && (facts.leastTitles ?? 0) >= MIN_BUYER_TITLES) {
      return hold('buyer_missing', 0, usualTitles, MIN_BUYER_TITLES);
    }
  }
  if (duplicates >= MIN_TITLES && duplicates * 100 > DUPLICATE_PERCENT * titles) {
    return hold('duplicates', duplicates, titles, DUPLICATE_PERCENT);
  }
  // A buyer without usual titles is a new one.
  const isGrown = usualTitles !== null && usualTitles > 0 && titles > GROWTH_FACTOR * usualTitles;
  if (isGrown && facts.inserted >= MIN_TITLES) {
    return hold('growth', titles, usualTitles, GROWTH_FACTOR);
  }
  if (changed >= MIN_TITLES && changed * 100 > CHANGED_PERCENT * currentTitles) {
    return hold('changed_share', changed, currentTitles, CHANGED_PERCENT);
  }
  if (valueRatio !== null && valueRatio > VALUE_FACTOR && titles >= MIN_TITLES) {
    return hold('value_jump', Math.floor(valueRatio), null, VALUE_FACTOR);
  }
  return null;
}

/** Returns why a response waits for a person because it is not plausible; null: it is. */
export async function findImplausible(
  tx: Transaction,
  planned: PlannedResponse,
  withdrawalLimitPercent: number,
): Promise<Hold | null> {
  for (const facts of await readStagedFacts(tx, planned)) {
    const hold = holdOf(facts, withdrawalLimitPercent, planned.day.titleCount === 0);
    if (hold !== null) return hold;
  }
  return null;
}

/** The newest reconciled dates with titles of the same weekday. */
const USUAL_DAYS = 8;
/** How far back they may be. */
const USUAL_WEEKS = 12;

/** How many times the greater one of two means is the other one; null where one of them is not positive. */
const ratio = (first: string, second: string) =>
  Prisma.raw(
    `CASE WHEN ${first} > 0 AND ${second} > 0
          THEN least(greatest(${first} / ${second}, ${second} / ${first}), 1e6)::float8 END`,
  );

/**
 * The usual numbers of a weekday, of all titles and of each buyer. Only dates that the checks have counted by buyer count
 * for the buyers.
 */
const usualNumbers = (date: CivilDate) => Prisma.sql`
  WITH recent AS MATERIALIZED (
    SELECT date, title_count, original_value_sum / title_count AS mean
    FROM conciliation.day
    WHERE date = ANY(ARRAY(SELECT ${date}::date - 7 * week FROM generate_series(1, ${USUAL_WEEKS}::int) AS week))
      AND state = 'reconciled' AND title_count > 0
    ORDER BY date DESC LIMIT ${USUAL_DAYS}
  ), counted AS MATERIALIZED (
    SELECT date, buyer_identification AS buyer, titles, original_value_sum FROM conciliation.day_buyer
    WHERE date = ANY(ARRAY(SELECT date FROM recent))
  ), numbers AS (
    SELECT true AS is_total, '' AS buyer, title_count AS titles, mean FROM recent
    UNION ALL
    SELECT false, buyer, coalesce(titles, 0), original_value_sum / nullif(titles, 0)
    FROM (SELECT DISTINCT date FROM counted) AS date CROSS JOIN (SELECT DISTINCT buyer FROM counted) AS buyer
    LEFT JOIN counted USING (date, buyer)
  )
  SELECT is_total, buyer, percentile_disc(0.5) WITHIN GROUP (ORDER BY titles) AS titles, min(titles) AS least,
         percentile_disc(0.5) WITHIN GROUP (ORDER BY mean) AS mean
  FROM numbers GROUP BY 1, 2 HAVING count(*) >= ${MIN_USUAL_DAYS}`;

async function readStagedFacts(
  tx: Transaction,
  { fence, day, losses }: PlannedResponse,
): Promise<ResponseFacts[]> {
  // Rows (buyer_identification, titles, duplicates, present, inserted, changed, value), one for each writing: titles are
  // grouped by the text first, because its normal form for each title takes longer.
  const counted = day.hasTitles ? changesOfBuyers(fence, day) : newTitlesOfBuyers(fence);
  const rows = await tx.$queryRaw<Omit<ResponseFacts, 'lost' | 'lostBefore'>[]>`
    WITH usual AS (${usualNumbers(day.date)}), counted AS (
      SELECT grouping(buyer) = 1 AS is_total, coalesce(buyer, '') AS buyer, sum(titles) AS titles,
             sum(duplicates) AS duplicates, sum(present) AS present, sum(inserted) AS inserted, sum(changed) AS changed,
             sum(value) / nullif(sum(titles), 0) AS mean
      FROM (SELECT ${BUYER} AS buyer, * FROM (${counted}) AS written) AS written
      GROUP BY GROUPING SETS ((), (buyer))
    )
    SELECT CASE WHEN NOT is_total THEN buyer END AS buyer, coalesce(counted.titles, 0)::float8 AS titles,
           coalesce(duplicates, 0)::float8 AS duplicates, coalesce(present, 0)::float8 AS "currentTitles",
           coalesce(inserted, 0)::float8 AS inserted, coalesce(changed, 0)::float8 AS changed,
           usual.titles::float8 AS "usualTitles",
           usual.least::float8 AS "leastTitles", ${ratio('counted.mean', 'usual.mean')} AS "valueRatio"
    FROM counted FULL JOIN usual USING (is_total, buyer)
    ORDER BY is_total DESC, buyer`;
  // The limit of all lost titles is the engine's.
  const lossesOf = new Map<string | null, Losses>(losses.map((loss) => [loss.buyer, loss]));
  return rows.map((facts) => ({ lost: 0, lostBefore: 0, ...lossesOf.get(facts.buyer), ...facts }));
}

/** A date without titles has no rows in `staged_change`. The buyer is part of a title's identity. */
const newTitlesOfBuyers = (fence: bigint) => Prisma.sql`
  SELECT buyer_identification, count(*) AS titles, count(*) FILTER (WHERE copy > 1) AS duplicates, 0 AS present,
         count(*) AS inserted, 0 AS changed, sum(original_value) AS value
  FROM (SELECT buyer_identification, original_value, row_number() OVER (PARTITION BY identity_hash) AS copy
        FROM conciliation.staged_title WHERE fence = ${fence}) AS staged
  GROUP BY 1`;

/**
 * A title whose order comes with another value is changed: the value is part of its identity, so it is withdrawn and
 * inserted.
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
  )
  SELECT buyer_identification,
         count(*) FILTER (WHERE kind IN ('present', 'inserted', 'restored'))
           - count(*) FILTER (WHERE kind = 'withdrawn') AS titles,
         count(*) FILTER (WHERE kind = 'inserted' AND occurrence > 1) AS duplicates,
         count(*) FILTER (WHERE kind = 'present') AS present,
         count(*) FILTER (WHERE kind = 'inserted') AS inserted,
         count(*) FILTER (
           WHERE kind = 'changed'
              OR kind = 'withdrawn' AND order_uid IN (SELECT order_uid FROM arrived_value)
                 AND (order_uid, original_value) NOT IN (SELECT order_uid, original_value FROM arrived_value)
         ) AS changed,
         NULL::numeric AS value
  FROM (
    SELECT * FROM change
    UNION ALL
    SELECT buyer_identification, 'present', NULL, NULL, NULL FROM conciliation.title
    WHERE accepted_date = ${date}::date AND status = 'current'
  ) AS counted GROUP BY 1`;
