import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { totalsOf } from './payee.sql.ts';

/**
 * Writes the totals of accepted dates, in the transaction that has changed their titles and has locked their rows of
 * `day`.
 * @param isOfDates a condition for a row with the column `accepted_date`
 * @param fence see `totalsOf`
 */
export async function writeTotals(
  tx: Transaction,
  isOfDates: Prisma.Sql,
  fence: bigint | null,
): Promise<void> {
  // In the order of the due dates, so that a reader of a month reads few pages.
  await tx.$executeRaw`
    WITH replaced AS (DELETE FROM conciliation.schedule_total WHERE ${isOfDates})
    INSERT INTO conciliation.schedule_total
    SELECT * FROM (${totalsOf(isOfDates, fence)}) AS total ORDER BY due_date, payee`;
}

/** Writes the totals of the date of a merge, whose accounts are staged. */
export const writeMergedTotals = (
  tx: Transaction,
  { date, fence }: { readonly date: CivilDate; readonly fence: bigint },
): Promise<void> => writeTotals(tx, Prisma.sql`accepted_date = ${date}::date`, fence);

/** Whether the totals of an accepted date are not those of its current titles. */
export const hasOtherTotals = (date: CivilDate): Prisma.Sql => {
  const isOfDate = Prisma.sql`accepted_date = ${date}::date`;
  const stored = Prisma.sql`SELECT * FROM conciliation.schedule_total WHERE ${isOfDate}`;
  const computed = totalsOf(isOfDate, null);
  return Prisma.sql`
    EXISTS ((${stored} EXCEPT ALL ${computed}) UNION ALL (${computed} EXCEPT ALL ${stored}))`;
};
