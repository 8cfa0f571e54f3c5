/** The days that can be signed off now: reconciled, and not signed off in their present state. */

import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { FourEyesFault } from '../../core/ledger/sign-off.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { OPEN_HOLDS } from '../accounts/payment-holds.sql.ts';
import {
  alterationsColumn,
  HAS_BREAK,
  isChecked,
  type LedgerDay,
  selectDays,
} from './ledger-days.sql.ts';
import { readFourEyesFaults } from './sign-off.sql.ts';

export interface SignableFilter {
  /** No later day counts. */
  readonly today: CivilDate;
  /**
   * Leaves out days that were restated after a sign-off, whose present content was not checked, or that
   * have an open reject, a hold, an altered title, a payment on hold, a break or an open finding, and `excluded`.
   */
  readonly cleanOnly: boolean;
  /** The days that the reader may not sign as the second person. */
  readonly excluded: readonly CivilDate[];
}

/** Over the whole filter. The sum is decimal text, exact. */
export interface SignableTotals {
  readonly days: number;
  readonly titles: number;
  readonly originalValueSum: string;
}

const signable = (today: CivilDate) => Prisma.sql`
  state = 'reconciled' AND content_digest IS NOT NULL
  AND (signed_off_at IS NULL OR restated_after_sign_off) AND date <= ${today}::date`;

const selected = ({ today, cleanOnly, excluded }: SignableFilter) => Prisma.sql`
  ${signable(today)} AND (NOT ${cleanOnly} OR (
    NOT restated_after_sign_off AND held_pull_id IS NULL AND ${isChecked} AND ${alterationsColumn} = 0
    AND NOT EXISTS (SELECT FROM conciliation.rejected_title AS reject
                    WHERE reject.date = day.date AND reject.status = 'open')
    AND day.date NOT IN (SELECT accepted_date FROM (${OPEN_HOLDS}) AS held_payment)
    AND NOT ${HAS_BREAK}
    AND NOT EXISTS (SELECT FROM conciliation.check_finding AS finding WHERE finding.accepted_date = day.date
                      AND finding.closed_at IS NULL AND finding.resolved_at IS NULL)
    AND date <> ALL(${excluded}::text[]::date[])))`;

const totals = Prisma.sql`
  SELECT count(*)::int AS days, coalesce(sum(title_count), 0)::float8 AS titles,
         coalesce(sum(original_value_sum), 0)::text AS "originalValueSum"
  FROM conciliation.day`;

/** The days that the reader may not sign as the second person, among those that can be signed. */
export function readExcluded(
  database: Database,
  today: CivilDate,
  reader: string,
): Promise<ReadonlyMap<CivilDate, FourEyesFault>> {
  const dates = Prisma.sql`SELECT date FROM conciliation.day WHERE ${signable(today)}`;
  return readFourEyesFaults(database.prisma, dates, reader);
}

export async function readSignableTotals(
  database: Database,
  filter: SignableFilter,
): Promise<SignableTotals> {
  const [row] = await database.prisma.$queryRaw<[SignableTotals]>`
    ${totals} WHERE ${selected(filter)}`;
  return row;
}

/** Returns a part of the selected days, newest first. */
export function readSignableDays(
  database: Database,
  filter: SignableFilter,
  page: { readonly offset: number; readonly limit: number },
): Promise<LedgerDay[]> {
  return database.prisma.$queryRaw<LedgerDay[]>(
    selectDays(Prisma.sql`
      ${selected(filter)} ORDER BY day.date DESC OFFSET ${page.offset}::int LIMIT ${page.limit}::int`),
  );
}

/** Returns the given days that are in the ledger, newest first, whether they can be signed or not. */
export function readChosenDays(
  database: Database,
  dates: readonly CivilDate[],
): Promise<LedgerDay[]> {
  return database.prisma.$queryRaw<LedgerDay[]>(
    selectDays(Prisma.sql`date = ANY(${dates}::text[]::date[]) ORDER BY day.date DESC`),
  );
}

/** Returns the totals of the given days that are in the ledger. */
export async function readChosenTotals(
  database: Database,
  dates: readonly CivilDate[],
): Promise<SignableTotals> {
  const [row] = await database.prisma.$queryRaw<[SignableTotals]>`
    ${totals} WHERE date = ANY(${dates}::text[]::date[])`;
  return row;
}

/**
 * Returns the next day for a signature after a date: the newest selected day before the date, otherwise
 * the newest of all. Null: no other day can be signed.
 */
export async function readNextToSign(
  database: Database,
  after: CivilDate,
  filter: SignableFilter,
): Promise<CivilDate | null> {
  const [next] = await database.prisma.$queryRaw<[{ date: CivilDate }?]>`
    SELECT date::text AS date FROM conciliation.day
    WHERE ${selected(filter)} AND date <> ${after}::date AND date <> ALL(${filter.excluded}::text[]::date[])
    ORDER BY day.date < ${after}::date DESC, day.date DESC LIMIT 1`;
  return next?.date ?? null;
}
