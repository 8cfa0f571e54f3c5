import type { Database } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { decide } from '../matching/confirmations.sql.ts';
import { forgetBreaks, type MatchDecision } from '../matching/match-decisions.sql.ts';
import { type BusinessDayRule, FIRST_YEAR, LAST_YEAR, writeCalendar } from './business-days.sql.ts';

/** A holiday that a person has added to the national ones. */
export type OwnHoliday = Awaited<ReturnType<typeof readOwnHolidays>>[number];

export function readOwnHolidays({ prisma }: Database, year: number) {
  return prisma.holiday.findMany({
    where: { endedAt: null, date: { gte: `${year}-01-01`, lte: `${year}-12-31` } },
  });
}

/** Writes the calendar of the rule, and makes a run of the matching due where a business day changes. */
export function openCalendar(database: Database, rule: BusinessDayRule): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    await takeLock(tx, 'matching');
    if ((await writeCalendar(tx, rule)) > 0) await forgetBreaks(tx);
  });
}

const MAX_NAME = 100;

/**
 * Adds a holiday. Its name is the reason in the audit log.
 * @param date null: the person has stated no date
 * @throws InputError without a date of the calendar or a name, or when the date is an own holiday already
 */
export async function addHoliday(
  database: Database,
  date: CivilDate | null,
  decision: MatchDecision,
  rule: BusinessDayRule,
): Promise<void> {
  const { by, reason: name } = decision;
  const year = Number(date?.slice(0, 4));
  if (date === null || year < FIRST_YEAR || year > LAST_YEAR) {
    throw new InputError(`date: expected a day of the years ${FIRST_YEAR} to ${LAST_YEAR}`, {
      context: { fault: 'holiday_date', first: String(FIRST_YEAR), last: String(LAST_YEAR) },
    });
  }
  if (name.trim() === '' || name.length > MAX_NAME) {
    throw new InputError(`name: expected 1 to ${MAX_NAME} characters`, {
      context: { fault: 'holiday_name', max: MAX_NAME },
    });
  }
  await decide(database, 'holiday.confirm', decision, async (tx) => {
    const made = await tx.holiday.createManyAndReturn({
      data: [{ date, name, confirmedBy: by }],
      skipDuplicates: true,
      select: { id: true },
    });
    if (made.length === 0) {
      throw new InputError(`date: ${date} is a holiday already`, {
        context: { fault: 'holiday_known', date },
      });
    }
    await writeCalendar(tx, rule);
    return made.map(({ id }) => id);
  });
}

/** Ends a holiday that was added. One that has ended already stays as it is. */
export async function endHoliday(
  database: Database,
  id: bigint,
  decision: MatchDecision,
  rule: BusinessDayRule,
): Promise<void> {
  await decide(database, 'holiday.end', decision, async (tx) => {
    const { count } = await tx.holiday.updateMany({
      where: { id, endedAt: null },
      data: { endedAt: new Date(), endedBy: decision.by },
    });
    await writeCalendar(tx, rule);
    return count === 0 ? [] : [id];
  });
}
