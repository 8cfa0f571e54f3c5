import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';

// Constants of this program: nothing from outside reaches Prisma.raw.
const TABLES_WITH_DATE = ['staged_reject', 'staged_date', 'staged_missing', 'staged_change'].map(
  (table) => Prisma.raw(table),
);
const DATE = Prisma.raw('date');
const ACCEPTED_DATE = Prisma.raw('accepted_date');

/** Removes what an attempt staged, but for the dates that wait for a person. */
export async function discardStaged(
  tx: Prisma.TransactionClient,
  fence: bigint,
  keepDates: readonly CivilDate[] = [],
): Promise<void> {
  // A reject without a date is never kept.
  await deleteStaged(
    tx,
    (date) => Prisma.sql`fence = ${fence} AND (${date} = ANY(${keepDates}::date[])) IS NOT TRUE`,
  );
  // What is to change is worked out anew for whoever releases them.
  await tx.$executeRaw`DELETE FROM conciliation.staged_change WHERE fence = ${fence}`;
}

/** Removes what an attempt staged for one date. */
export async function discardStagedDate(
  tx: Prisma.TransactionClient,
  fence: bigint,
  stagedDate: CivilDate,
): Promise<void> {
  await deleteStaged(tx, (date) => Prisma.sql`fence = ${fence} AND ${date} = ${stagedDate}::date`);
}

/**
 * Removes the rows whose fence is that of no attempt that runs and of no pull that is held.
 *
 * @returns how many titles were removed
 */
export function discardStrayRows(tx: Prisma.TransactionClient): Promise<number> {
  return deleteStaged(
    tx,
    () => Prisma.sql`
      fence NOT IN (SELECT fence FROM conciliation.pull
                    WHERE state IN ('running', 'held') AND fence IS NOT NULL)`,
  );
}

/** @param isMeant the condition on a row, given the column that has its date */
function deleteStaged(
  tx: Prisma.TransactionClient,
  isMeant: (date: Prisma.Sql) => Prisma.Sql,
): Promise<number> {
  const others = TABLES_WITH_DATE.map(
    (table) => Prisma.sql`${table} AS (DELETE FROM conciliation.${table} WHERE ${isMeant(DATE)})`,
  );
  return tx.$executeRaw`
    WITH ${Prisma.join(others)}
    DELETE FROM conciliation.staged_title WHERE ${isMeant(ACCEPTED_DATE)}`;
}
