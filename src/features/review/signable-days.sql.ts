/** The days that can be signed off now: reconciled, and not signed off in their present state. */

import type { QueryClient } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { ObstacleRules } from '../../console/day-obstacle.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type LedgerDay, selectDays } from './ledger-days.sql.ts';
import { hasObstacle, PERSON_OBSTACLES } from './obstacles.sql.ts';

/** Over all days of a condition. The sum is decimal text, exact. */
export interface SignableTotals {
  readonly days: number;
  readonly titles: number;
  readonly originalValueSum: string;
}

/**
 * A condition for a row `day`: it can be signed off now, by some person.
 * @param today no later day counts
 * @param clean null: all days. Otherwise those without an obstacle for the person of the rules
 */
export const isSignable = (today: CivilDate, clean: ObstacleRules | null): Prisma.Sql => Prisma.sql`
  state = 'reconciled' AND content_digest IS NOT NULL
  AND (signed_off_at IS NULL OR restated_after_sign_off) AND date <= ${today}::date
  AND NOT ${clean === null ? Prisma.sql`false` : hasObstacle(Prisma.sql`day.date`, clean)}`;

/** A condition for a row `day`: it is one of the dates. */
export const isOneOf = (dates: readonly CivilDate[]): Prisma.Sql =>
  Prisma.sql`date = ANY(${dates}::text[]::date[])`;

export async function readDayTotals(
  db: QueryClient,
  condition: Prisma.Sql,
): Promise<SignableTotals> {
  const [row] = await db.$queryRaw<[SignableTotals]>`
    SELECT count(*)::int AS days, coalesce(sum(title_count), 0)::float8 AS titles,
           coalesce(sum(original_value_sum), 0)::text AS "originalValueSum"
    FROM conciliation.day WHERE ${condition}`;
  return row;
}

/** Returns a part of the days of a condition, newest first. */
export function readDays(
  db: QueryClient,
  condition: Prisma.Sql,
  page: { readonly offset: number; readonly limit: number | null } = { offset: 0, limit: null },
): Promise<LedgerDay[]> {
  return db.$queryRaw<LedgerDay[]>(
    selectDays(Prisma.sql`
      ${condition} ORDER BY day.date DESC OFFSET ${page.offset}::int LIMIT ${page.limit}::int`),
  );
}

/**
 * Returns the next day for a signature of the person after a date: the newest one before the date, otherwise the newest
 * of all. Null: the person can sign no other day.
 */
export async function readNextToSign(
  db: QueryClient,
  after: CivilDate,
  today: CivilDate,
  rules: ObstacleRules,
): Promise<CivilDate | null> {
  const [next] = await db.$queryRaw<[{ date: CivilDate }?]>`
    SELECT date::text AS date FROM conciliation.day
    WHERE ${isSignable(today, null)} AND date <> ${after}::date
      AND NOT ${hasObstacle(Prisma.sql`day.date`, rules, PERSON_OBSTACLES)}
    ORDER BY day.date < ${after}::date DESC, day.date DESC LIMIT 1`;
  return next?.date ?? null;
}
