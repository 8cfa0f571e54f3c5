import type { Database } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { refusal } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { decide } from '../matching/confirmations.sql.ts';
import { forgetBreaks, type MatchDecision } from '../matching/match-decisions.sql.ts';
import { type BusinessDayRule, writeCalendar } from './business-days.sql.ts';

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

/**
 * Adds a holiday. Its name is the reason in the audit log.
 * @throws InputError when the date is an own holiday already
 */
export async function addHoliday(
  database: Database,
  date: CivilDate,
  decision: MatchDecision,
  rule: BusinessDayRule,
): Promise<void> {
  const { by, reason: name } = decision;
  await decide(database, 'holiday.confirm', decision, async (tx) => {
    const made = await tx.holiday.createManyAndReturn({
      data: [{ date, name, confirmedBy: by }],
      skipDuplicates: true,
      select: { id: true },
    });
    if (made.length === 0) {
      throw refusal('holiday_known', { date });
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
