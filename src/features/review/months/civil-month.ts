import { hash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import {
  addDays,
  type CivilDate,
  parseCivilDate,
  toCivilDate,
} from '../../../base/values/business-day.ts';
import { date, words } from '../../../console/api/schema-parts.ts';
import { AMOUNT_COLUMNS } from '../../../core/title/title.ts';

/** A month of the calendar as `YYYY-MM`. Text order is month order. */
declare const civilMonth: unique symbol;
export type CivilMonth = string & { readonly [civilMonth]: true };

/** Returns the month; null for text that is not `YYYY-MM`, and near the ends of the calendar. */
export function parseMonth(text: string): CivilMonth | null {
  const isMonth = parseCivilDate(`${text}-01`) !== null && text > '1900' && text < '9000';
  return isMonth ? (text as CivilMonth) : null;
}

export const monthOf = (date: CivilDate) => date.slice(0, 7) as CivilMonth;

export function firstDateOf(month: CivilMonth): CivilDate {
  return toCivilDate(`${month}-01`);
}

export function lastDateOf(month: CivilMonth): CivilDate {
  // 31 days after the first of a month is a day of the next month.
  return addDays(toCivilDate(`${addDays(firstDateOf(month), 31).slice(0, 7)}-01`), -1);
}

/** The columns of `sign_off` that a month seal covers: all that never change. */
export const SEAL_FIELDS = [
  'date',
  'id',
  'signed_off_at',
  'signed_off_by',
  'reason',
  'fence',
  'content_digest',
  'title_count',
  'withdrawn_count',
  'rejected_count',
  ...AMOUNT_COLUMNS.map((column) => `${column}_sum` as const),
] as const;

/** A seal of a day as text: instants in UTC with microseconds, amounts with every stored digit. */
export type SealRecord = Readonly<Record<(typeof SEAL_FIELDS)[number], string | null>>;

/**
 * Returns SHA-256 over the month and the seals of its days in date order, in hexadecimal. Each value is
 * preceded by its length in bytes, and a missing value is `-`, so values cannot run into each other. The
 * verifier of the evidence file computes the same.
 */
export function monthDigest(month: CivilMonth, seals: readonly SealRecord[]): string {
  const values = seals.flatMap((seal) => SEAL_FIELDS.map((field) => seal[field]));
  const lines = ['month seal 1', month, ...values].map((value) =>
    value === null ? '-\n' : `${Buffer.byteLength(value)}:${value}\n`,
  );
  return hash('sha256', lines.join(''), 'hex');
}

/**
 * The cause that broke a month seal.
 * - `restated`: the platform restated the day
 * - `reopened`: a person reopened the day
 * - `sealed_again`: the day was signed off again
 * - `added`: an earlier start date added the day to the month
 */
const BREAK_CAUSES = ['restated', 'reopened', 'sealed_again', 'added'] as const;

export const BrokenDay = Type.Object({ date, cause: words(BREAK_CAUSES) });
export type BrokenDay = Readonly<Static<typeof BrokenDay>>;
