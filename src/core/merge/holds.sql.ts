/** Why a response waits for a person before it is merged. */
import type { Transaction } from '../../base/database/database.ts';
import { BUYER } from '../../base/database/tax-id.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LockedDay } from '../ledger/day-ledger.sql.ts';
import type { Attempt } from '../ledger/pull-ledger.sql.ts';
import { type Losses, readPlannedLosses, type SuccessorScope } from './losses.sql.ts';
import type { MergePlan } from './merge-plan.sql.ts';

export interface MergePolicy {
  readonly withdrawalLimitPercent: number;
  /** False: a response is held because of withdrawals only. */
  readonly checksPlausibility: boolean;
}

/** The reasons why a plausible document waits for a person. */
export const IMPLAUSIBLE_REASONS = [
  'run_withdrawals',
  'buyer_withdrawals',
  'buyer_missing',
  'duplicates',
  'growth',
  'changed_share',
  'value_jump',
] as const;
export type ImplausibleReason = (typeof IMPLAUSIBLE_REASONS)[number];

/** The reasons why a response waits for a decision before it is merged. */
export const HOLD_REASONS = [
  'emptied',
  'unreadable',
  'withdrawal_limit',
  ...IMPLAUSIBLE_REASONS,
] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

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

/** A run with fewer lost titles is not held. */
const MIN_RUN_TITLES = 20;

/**
 * Whether the responses of a run that withdraw titles must wait for a person. The limit of the date holds for one.
 * @param run.dates dates that lose titles
 * @param run.titles titles of all dates of the run before it
 */
export function isRunHeld(
  run: { readonly dates: number; readonly lost: number; readonly titles: number },
  withdrawalLimitPercent: number,
): boolean {
  const limit = runLimitPercent(withdrawalLimitPercent);
  if (limit === null || run.dates < 2 || run.lost < MIN_RUN_TITLES) return false;
  return run.lost * 100 > limit * run.titles;
}

/** The value that was compared with a limit. */
export interface HoldDetail {
  /** The identification of the buyer, empty for titles without one; null: all titles. */
  readonly buyer: string | null;
  /** The titles or, for `value_jump`, the factor, rounded. */
  readonly found: number;
  /** The titles that `found` is a share of, or the usual number; null for `value_jump`. */
  readonly of: number | null;
  readonly limit: number;
}

export interface Hold {
  readonly reason: HoldReason;
  /** Null unless the response is held for its plausibility. */
  readonly detail: HoldDetail | null;
}

interface PlannedMerge {
  readonly day: LockedDay;
  readonly plan: MergePlan;
}

/**
 * The holds that the end of a run decides again; see `decideRuns`. `run_withdrawals`: until then the response waits for
 * the other dates of its run, and afterwards the run as a whole has lost too much.
 */
export const LOSS_REASONS = [
  'emptied',
  'withdrawal_limit',
  'run_withdrawals',
  'buyer_withdrawals',
] as const satisfies readonly HoldReason[];

const isLossHold = (hold: Hold | null) => LOSS_REASONS.some((reason) => reason === hold?.reason);

/**
 * Why the planned changes of an attempt must wait for a person, and how many titles its date loses.
 *
 * While a run is under way, the decision does not depend on other dates, whose responses come in any order: no
 * successor on another date counts, and a response that loses more than the share of a run waits for the end of the run.
 */
export async function findHold(
  tx: Transaction,
  { fence, isOfRun, origin }: Pick<Attempt, 'fence' | 'isOfRun' | 'origin'>,
  { day, plan }: PlannedMerge,
  policy: MergePolicy,
): Promise<{ readonly hold: Hold | null; readonly lost: number }> {
  // A repair withdraws rows that no response had: no earlier loss adds to them.
  const change = { plan, day: origin === 'repair' ? { ...day, withdrawnCount: 0 } : day };
  const within = await holdWithin(tx, fence, change, policy, 'date');
  const runLimit = runLimitPercent(policy.withdrawalLimitPercent);
  if (isOfRun) {
    const isGreat = runLimit !== null && within.lost * 100 > runLimit * change.day.titleCount;
    if (within.hold !== null || !isGreat) return within;
    return { ...within, hold: { reason: 'run_withdrawals', detail: null } };
  }
  if (!isLossHold(within.hold)) return within;
  return holdWithin(tx, fence, change, policy, 'dates');
}

async function holdWithin(
  tx: Transaction,
  fence: bigint,
  { day, plan }: PlannedMerge,
  policy: MergePolicy,
  scope: SuccessorScope,
): Promise<{ readonly hold: Hold | null; readonly lost: number }> {
  const { checksPlausibility, withdrawalLimitPercent } = policy;
  const losses = plan.withdrawn === 0 ? [] : await readPlannedLosses(tx, fence, day, scope);
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
  if (!checksPlausibility || !isChanged) return { lost, hold: null };
  for (const facts of await readStagedFacts(tx, fence, day, plan, losses)) {
    const hold = holdOf(facts, withdrawalLimitPercent, day.titleCount === 0);
    if (hold !== null) return { lost, hold };
  }
  return { lost, hold: null };
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

/**
 * Limits beyond which a response waits for a person although it keeps the contract. Each limit holds for the whole
 * response and for the titles of each buyer. Small numbers of titles vary by themselves: no limit holds a response
 * because of fewer titles than `MIN_TITLES`, and those of one buyer that vanished, than `MIN_BUYER_TITLES`.
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
  /** Titles without a successor that earlier responses withdrew; see `decideHold`. */
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
  const hold = (reason: ImplausibleReason, found: number, of: number | null, limit: number) => ({
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
async function readStagedFacts(
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

/** A date without titles has no rows in `staged_change`. */
const newTitlesOfBuyers = (fence: bigint) => Prisma.sql`
  SELECT buyer_identification, count(*) AS titles, count(*) FILTER (WHERE copy > 1) AS duplicates, 0 AS present,
         count(*) AS inserted, 0 AS changed, sum(original_value) AS value
  FROM (SELECT buyer_identification, original_value, row_number() OVER (PARTITION BY identity_hash) AS copy
        FROM conciliation.staged_title WHERE fence = ${fence}) AS staged
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
