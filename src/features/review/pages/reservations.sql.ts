import { amountSum } from '../../../base/database/amount-sum.sql.ts';
import type { Database } from '../../../base/database/database.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { OPEN_HOLDS } from '../../accounts/payment-holds.sql.ts';
import type { DayBreaks } from '../../matching/breaks.sql.ts';

/** What a person has to know about a day before the sign-off, beside its `DayNote`. Values are exact decimal text. */
export interface Reservations {
  readonly date: CivilDate;
  /** Of the newest run of the matching, the urgent ones first. */
  readonly breaks: readonly DayBreaks[];
  /** Titles that equal another one of the day. */
  readonly equalTitles: number;
  readonly equalValue: string;
  /** Open findings of other checks. */
  readonly findings: number;
  readonly findingsValue: string;
  readonly heldValue: string;
}

export async function readReservations(
  { prisma }: Database,
  dates: readonly CivilDate[],
): Promise<ReadonlyMap<CivilDate, Reservations>> {
  const isEqual = Prisma.sql`code = 'equal_in_day'`;
  const value = Prisma.sql`original_value`;
  const rows = await prisma.$queryRaw<Reservations[]>`
    SELECT wanted.date::text AS date, coalesce((
             SELECT jsonb_agg(found) FROM jsonb_array_elements(
               (SELECT breaks FROM conciliation.match_run ORDER BY id DESC LIMIT 1)) AS found
             WHERE found ->> 'date' = wanted.date::text), '[]') AS breaks,
           finding.*, (
             SELECT coalesce(${amountSum(value)}, 0)::text
             FROM (SELECT DISTINCT title_id, ${value} FROM (${OPEN_HOLDS}) AS hold WHERE accepted_date = wanted.date)
               AS held) AS "heldValue"
    FROM unnest(${dates}::text[]::date[]) AS wanted (date) CROSS JOIN LATERAL (
      SELECT (count(*) FILTER (WHERE ${isEqual}))::int AS "equalTitles",
             coalesce(${amountSum(value, isEqual)}, 0)::text AS "equalValue",
             (count(*) FILTER (WHERE NOT ${isEqual}))::int AS findings,
             coalesce(${amountSum(value, Prisma.sql`NOT ${isEqual}`)}, 0)::text AS "findingsValue"
      FROM conciliation.check_finding AS open JOIN conciliation.title ON title.id = open.title_id
      WHERE open.accepted_date = wanted.date AND open.closed_at IS NULL AND open.resolved_at IS NULL
    ) AS finding`;
  return new Map(rows.map((row) => [row.date, row]));
}
