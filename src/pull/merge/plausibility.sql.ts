import type { Transaction } from '../../database/database.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import {
  MIN_BUYER_TITLES,
  MIN_TITLES,
  MIN_USUAL_DAYS,
  type ResponseFacts,
} from '../../domain/checks/plausibility.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LockedDay } from '../../ledger/day-ledger.sql.ts';
import type { MergePlan } from './merge-plan.sql.ts';

/** The newest reconciled dates with titles of the same weekday. */
const USUAL_DAYS = 8;
/** How far back they may be. */
const USUAL_WEEKS = 12;

type Usual = Pick<ResponseFacts, 'usualTitles' | 'valueRatio'>;

/** What is usual for the weekday of a date. The mean value is that of a row `response (mean)`. */
const usual = (date: CivilDate, response: Prisma.Sql) => Prisma.sql`
  WITH response (mean) AS (${response}), recent AS (
    SELECT title_count, original_value_sum / title_count AS mean
    FROM conciliation.day
    WHERE date = ANY(ARRAY(SELECT ${date}::date - 7 * week FROM generate_series(1, ${USUAL_WEEKS}::int) AS week))
      AND state = 'reconciled' AND title_count > 0
    ORDER BY date DESC LIMIT ${USUAL_DAYS}
  ), usual AS (
    SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY title_count) AS titles,
           percentile_disc(0.5) WITHIN GROUP (ORDER BY mean) AS mean
    FROM recent HAVING count(*) >= ${MIN_USUAL_DAYS}
  )
  SELECT usual.titles AS "usualTitles",
         CASE WHEN response.mean > 0 AND usual.mean > 0
              THEN least(greatest(response.mean / usual.mean, usual.mean / response.mean), 1e6)::float8
         END AS "valueRatio"
  FROM response LEFT JOIN usual ON true`;

/** The facts of a response whose titles were loaded into a date without titles and added up in its day. */
export async function readLoadedFacts(
  tx: Transaction,
  date: CivilDate,
  plan: MergePlan,
  duplicates: number,
): Promise<ResponseFacts> {
  const [found] = await tx.$queryRaw<[Usual]>(
    usual(
      date,
      Prisma.sql`SELECT original_value_sum / nullif(title_count, 0) FROM conciliation.day WHERE date = ${date}::date`,
    ),
  );
  return { ...countsOf(plan, 0), ...found, duplicates, hasLostBuyer: false };
}

/** The facts of a staged response after `planChanges`. */
export async function readStagedFacts(
  tx: Transaction,
  fence: bigint,
  day: LockedDay,
  plan: MergePlan,
  withdrawalLimitPercent: number,
): Promise<ResponseFacts> {
  const { date } = day;
  const isNew = !day.hasTitles;
  const mean = isNew
    ? Prisma.sql`SELECT avg(original_value) FROM conciliation.staged_title WHERE fence = ${fence}`
    : Prisma.sql`SELECT NULL::numeric`;
  const [found] = await tx.$queryRaw<[Usual]>(usual(date, mean));
  const duplicates = plan.inserted < MIN_TITLES ? 0 : await countDuplicates(tx, fence, isNew);
  const hasLostBuyer =
    plan.withdrawn >= MIN_BUYER_TITLES &&
    (await losesBuyer(tx, fence, date, withdrawalLimitPercent));
  return { ...countsOf(plan, day.titleCount), ...found, duplicates, hasLostBuyer };
}

function countsOf({ titles, inserted, changed }: MergePlan, currentTitles: number) {
  return { titles, inserted, changed, currentTitles };
}

async function countDuplicates(tx: Transaction, fence: bigint, isNew: boolean): Promise<number> {
  const [{ count }] = await tx.$queryRaw<[{ count: number }]>(
    isNew
      ? Prisma.sql`SELECT (count(*) - count(DISTINCT identity_hash))::float8 AS count
                   FROM conciliation.staged_title WHERE fence = ${fence}`
      : Prisma.sql`SELECT count(*)::float8 AS count FROM conciliation.staged_change
                   WHERE fence = ${fence} AND kind = 'inserted' AND occurrence > 1`,
  );
  return count;
}

/** Whether a buyer with at least `MIN_BUYER_TITLES` current titles loses more than the limit of its titles. */
async function losesBuyer(
  tx: Transaction,
  fence: bigint,
  date: CivilDate,
  limitPercent: number,
): Promise<boolean> {
  const [{ isLost }] = await tx.$queryRaw<[{ isLost: boolean }]>`
    WITH withdrawn AS (
      SELECT title.buyer_identification AS buyer, count(*) AS titles
      FROM conciliation.staged_change AS change JOIN conciliation.title ON title.id = change.title_id
      WHERE change.fence = ${fence} AND change.kind = 'withdrawn' GROUP BY 1
    ), present AS (
      SELECT buyer_identification AS buyer, count(*) AS titles FROM conciliation.title
      WHERE accepted_date = ${date}::date AND status = 'current' GROUP BY 1
    )
    SELECT EXISTS (
      SELECT FROM withdrawn JOIN present ON present.buyer IS NOT DISTINCT FROM withdrawn.buyer
      WHERE present.titles >= ${MIN_BUYER_TITLES} AND withdrawn.titles * 100 > ${limitPercent}::int * present.titles
    ) AS "isLost"`;
  return isLost;
}
