/**
 * Civil dates. An accepted date or due date is a day of the calendar, not an instant. It is
 * `YYYY-MM-DD` text everywhere and never a JavaScript `Date`, which is used for
 * arithmetic inside of this file only.
 */
import { Temporal } from 'temporal-polyfill';

declare const civilDate: unique symbol;

/** A real calendar date as `YYYY-MM-DD`, years 0001 to 9999. Text order is date order. */
export type CivilDate = string & { readonly [civilDate]: true };

const DAY_MS = 86_400_000;
const SHAPE = /^(?!0000)\d{4}-\d{2}-\d{2}$/;

/** Returns the date, or null when the text is not `YYYY-MM-DD` or not an existing day (2026-02-30). */
export function parseCivilDate(text: string): CivilDate | null {
  // The parser takes 2026-02-30 for 2 March.
  const exists = SHAPE.test(text) && new Date(text).getUTCDate() === Number(text.slice(8));
  return exists ? (text as CivilDate) : null;
}

/**
 * Like `parseCivilDate`, for text that is known to be a date.
 * @throws RangeError for any other text
 */
export function toCivilDate(text: string): CivilDate {
  const date = parseCivilDate(text);
  if (date === null) throw new RangeError(`not a calendar date: ${JSON.stringify(text)}`);
  return date;
}

/**
 * Returns the date `days` later (earlier if negative).
 * @throws RangeError outside the years 0001 to 9999
 */
export function addDays(date: CivilDate, days: number): CivilDate {
  return toCivilDate(new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10));
}

/** Returns the number of days from `from` to `to`; negative when `to` is earlier. */
export function daysBetween(from: CivilDate, to: CivilDate): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}

/** Returns every date from `from` to `to`, both included; empty when `to` is earlier. */
export function datesBetween(from: CivilDate, to: CivilDate): CivilDate[] {
  const length = Math.max(0, daysBetween(from, to) + 1);
  return Array.from({ length }, (_, days) => addDays(from, days));
}

/** True on Saturday and Sunday. */
export function isWeekend(date: CivilDate): boolean {
  return new Date(date).getUTCDay() % 6 === 0;
}

export function dateIn(timeZone: string, at: Date): CivilDate {
  const instant = Temporal.Instant.fromEpochMilliseconds(at.getTime());
  return toCivilDate(instant.toZonedDateTimeISO(timeZone).toPlainDate().toString());
}

/**
 * Returns the last date that is over in `timeZone` at the instant `at`. Only such closed dates can
 * be reconciled.
 */
export function lastClosedDate(timeZone: string, at: Date): CivilDate {
  return addDays(dateIn(timeZone, at), -1);
}
