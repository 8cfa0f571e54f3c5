import type { Database, Transaction } from '../../base/database/database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

// Constants of this program. No input reaches Prisma.raw.
const OTHER_TABLES = ['staged_reject', 'staged_base', 'staged_missing', 'staged_change'].map(
  (table) => Prisma.raw(table),
);

/** Removes the staged rows of an attempt. Those of `staged_account` do not outlast the transaction of a merge. */
export async function discardStaged(tx: Transaction, fence: bigint): Promise<void> {
  await deleteStaged(tx, Prisma.sql`fence = ${fence}`);
}

/** Removes the plan of a merge. The release of a held pull makes a new plan. */
export async function discardPlan(tx: Transaction, fence: bigint): Promise<void> {
  await tx.$executeRaw`DELETE FROM conciliation.staged_change WHERE fence = ${fence}`;
}

/**
 * Removes the rows that killed processes and attempts that were taken over have left: their fence belongs neither
 * to a running attempt nor to a held pull.
 * @returns the number of removed titles
 */
export function discardStrayRows({ prisma }: Pick<Database, 'prisma'>): Promise<number> {
  return deleteStaged(
    prisma,
    Prisma.sql`
      fence NOT IN (SELECT fence FROM conciliation.pull
                    WHERE state IN ('running', 'held') AND fence IS NOT NULL)`,
  );
}

function deleteStaged(
  tx: Pick<Transaction, '$executeRaw'>,
  condition: Prisma.Sql,
): Promise<number> {
  const others = OTHER_TABLES.map(
    (table) => Prisma.sql`${table} AS (DELETE FROM conciliation.${table} WHERE ${condition})`,
  );
  return tx.$executeRaw`
    WITH ${Prisma.join(others)}
    DELETE FROM conciliation.staged_title WHERE ${condition}`;
}
