import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import type { DayState } from '../domain/day-state.ts';
import { AMOUNT_COLUMNS } from '../domain/title.ts';
import type { AmountColumn } from '../export/export-titles.sql.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type DayNote, dayNoteColumns } from './day-note.sql.ts';

/** A day of the ledger with all columns. Sums are decimal text, exact, over current titles. */
export interface LedgerDay extends DayNote {
  readonly date: CivilDate;
  readonly state: DayState;
  readonly titles: number;
  readonly withdrawn: number;
  readonly rejected: number;
  readonly sums: Readonly<Record<AmountColumn, string>>;
  readonly contentDigest: string | null;
  readonly heldPullId: number | null;
  readonly verifiedAt: Date | null;
  readonly changedAt: Date | null;
  readonly signedOffAt: Date | null;
  readonly signedOffBy: string | null;
  readonly signedOffDigest: string | null;
  readonly isRestated: boolean;
}

/** The columns of `LedgerDay` but for its note, for a query of `conciliation.day`. */
export const LEDGER_DAY_COLUMNS = Prisma.raw(`
  date::text AS date, state, title_count AS titles, withdrawn_count AS withdrawn,
  rejected_count AS rejected, content_digest AS "contentDigest", held_pull_id::float8 AS "heldPullId",
  verified_at AS "verifiedAt", changed_at AS "changedAt", signed_off_at AS "signedOffAt",
  signed_off_by AS "signedOffBy", signed_off_digest AS "signedOffDigest",
  restated_after_sign_off AS "isRestated",
  jsonb_build_object(${AMOUNT_COLUMNS.map((name) => `'${name}', ${name}_sum::text`).join(', ')}) AS sums`);

/*
 * A row of a date that has not begun is a mistake, and a page that used the greatest date would
 * show the year 9999. Therefore every reader of the ledger gets today's date and returns no later
 * row.
 */

/** The days of a range, both ends included, in date order. */
export function readLedgerDays(
  database: Database,
  range: { readonly from: CivilDate; readonly to: CivilDate },
  today: CivilDate,
): Promise<LedgerDay[]> {
  return database.prisma.$queryRaw<LedgerDay[]>`
    SELECT ${LEDGER_DAY_COLUMNS}, ${dayNoteColumns} FROM conciliation.day
    WHERE date BETWEEN ${range.from}::date AND least(${range.to}::date, ${today}::date)
    ORDER BY date`;
}

/** Returns null when the ledger does not have the date. */
export async function readLedgerDay(
  database: Database,
  date: CivilDate,
  today: CivilDate,
): Promise<LedgerDay | null> {
  const [day] = await readLedgerDays(database, { from: date, to: date }, today);
  return day ?? null;
}

/** Why a day needs a person, the most urgent reason first. */
export const NEEDS = ['failed', 'restated', 'held', 'attention', 'sign_off'] as const;
export type Need = (typeof NEEDS)[number];

interface NeedyDay {
  readonly date: CivilDate;
  readonly need: Need;
  readonly titles: number;
  readonly originalValueSum: string;
  readonly heldPullId: number | null;
}

export interface NeedCounts {
  readonly counts: Readonly<Record<Need, number>>;
  /** The most urgent days; for each reason the oldest first. */
  readonly days: readonly NeedyDay[];
}

/**
 * Returns the days of the whole ledger that need a person. A day has one reason, its most urgent
 * one.
 */
export async function readNeeds(
  database: Database,
  limit: number,
  today: CivilDate,
): Promise<NeedCounts> {
  const rows = await database.prisma.$queryRaw<(NeedyDay & { total: number })[]>`
    WITH needy AS (
      SELECT date, title_count, original_value_sum, held_pull_id,
             CASE WHEN state = 'failed' THEN 1
                  WHEN restated_after_sign_off THEN 2
                  WHEN state = 'held' THEN 3
                  WHEN state = 'attention' THEN 4
                  ELSE 5 END AS rank
      FROM conciliation.day
      WHERE date <= ${today}::date
        AND (state IN ('failed', 'held', 'attention') OR restated_after_sign_off
             OR (state = 'reconciled' AND signed_off_at IS NULL))
    ), numbered AS (
      SELECT *, count(*) OVER (PARTITION BY rank) AS total,
             row_number() OVER (PARTITION BY rank ORDER BY date) AS place
      FROM needy
    )
    SELECT date::text AS date, ('{failed,restated,held,attention,sign_off}'::text[])[rank] AS need,
           title_count AS titles, original_value_sum::text AS "originalValueSum",
           held_pull_id::float8 AS "heldPullId", total::int AS total
    FROM numbered WHERE place <= ${limit} ORDER BY rank, date`;
  const counts = Object.fromEntries(NEEDS.map((need) => [need, 0])) as Record<Need, number>;
  for (const { need, total } of rows) counts[need] = total;
  return { counts, days: rows.map(({ total: _, ...day }) => day) };
}

/** Returns the first and last date of the ledger; null: it is empty. */
export async function readLedgerRange(
  database: Database,
  today: CivilDate,
): Promise<{ readonly from: CivilDate; readonly to: CivilDate } | null> {
  const [range] = await database.prisma.$queryRaw<
    [{ from: CivilDate | null; to: CivilDate | null }]
  >`SELECT min(date)::text AS "from", max(date)::text AS "to"
    FROM conciliation.day WHERE date <= ${today}::date`;
  return range.from === null || range.to === null ? null : { from: range.from, to: range.to };
}

/** Returns the number of days that changed after their sign-off. */
export function countRestated(database: Database, today: CivilDate): Promise<number> {
  return database.prisma.day.count({
    where: { restatedAfterSignOff: true, date: { lte: today } },
  });
}

/** Returns the numbers of the navigation. */
export async function readBadges(database: Database): Promise<{
  readonly alerts: number;
  readonly accountChanges: number;
  /** Whether the ERP has given payables. */
  readonly hasPayables: boolean;
}> {
  const { prisma } = database;
  const [alerts, accountChanges, payable] = await Promise.all([
    prisma.alert.count({ where: { resolvedAt: null } }),
    prisma.accountChange.count({ where: { state: 'open' } }),
    prisma.erpPayable.findFirst({ select: { erpKey: true } }),
  ]);
  return { alerts, accountChanges, hasPayables: payable !== null };
}
