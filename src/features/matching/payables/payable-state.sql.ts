import { type Static, Type } from 'typebox';
import type { Transaction } from '../../../base/database/database.ts';
import { instantOrNull } from '../../../console/api/schema-parts.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { IS_COMPARED } from '../candidates.sql.ts';

/** The state of the ERP's payables. */
export const PayableState = Type.Object({
  open: Type.Integer({
    minimum: 0,
    description:
      'Payables with the status `open` that no snapshot has closed, as far as they are compared with titles: in BRL, and without a `bookingKey`.',
  }),
  openValue: Type.String({ description: 'Of these payables. Exact decimal.' }),
  snapshotAt: Type.Unsafe<Date | null>({
    ...instantOrNull,
    description:
      'When the newest complete snapshot began, or the ERP stated last by SQL that its rows are complete. Null: never.',
  }),
  incompleteAt: Type.Unsafe<Date | null>({
    ...instantOrNull,
    description:
      'When the newest import ended that was not complete and is newer than `snapshotAt`. Null: none.',
  }),
});
export type PayableState = Static<typeof PayableState>;

/** A table with one row: `complete_at` is when the payables were complete last; null: never. */
export const COMPLETE_AT = Prisma.sql`(
  SELECT max(started_at) AS complete_at FROM conciliation.erp_payable_import
  WHERE kind = 'sql' OR kind = 'snapshot' AND is_complete)`;

/** Whether the ERP has given any payable. Without one, nothing about payables is shown and no alert is raised. */
export const HAS_PAYABLES = Prisma.sql`(
  EXISTS (SELECT FROM conciliation.erp_payable) OR EXISTS (SELECT FROM conciliation.erp_payable_import))`;

/** Whether the payables were complete last before more than `maxAgeHours` hours, or never. */
export const areStale = (
  maxAgeHours: number | null,
  now = Prisma.sql`clock_timestamp()`,
) => Prisma.sql`
  (SELECT coalesce(complete_at <= ${now} - ${maxAgeHours}::float8 * interval '1 hour', true)
   FROM ${COMPLETE_AT} AS newest)`;

export async function arePayablesStale(tx: Transaction, maxAgeHours: number): Promise<boolean> {
  const [row] = await tx.$queryRaw<[{ stale: boolean }]>`SELECT ${areStale(maxAgeHours)} AS stale`;
  return row.stale;
}

export async function hasPayables(tx: Transaction): Promise<boolean> {
  const [row] = await tx.$queryRaw<[{ has: boolean }]>`SELECT ${HAS_PAYABLES} AS has`;
  return row.has;
}

/** Returns the state of the payables; null: the ERP has given none. */
export async function readPayableState(tx: Transaction): Promise<PayableState | null> {
  const [state] = await tx.$queryRaw<[PayableState?]>`
    SELECT complete_at AS "snapshotAt",
           (SELECT max(ended_at) FROM conciliation.erp_payable_import
            WHERE kind = 'snapshot' AND NOT is_complete
              AND started_at > coalesce(complete_at, '-infinity')) AS "incompleteAt", counted.*
    FROM ${COMPLETE_AT} AS snapshot, (
      SELECT count(*)::float8 AS open, coalesce(sum(open_value), 0)::text AS "openValue"
      FROM conciliation.erp_payable AS payable
      WHERE status = 'open' AND closed_at IS NULL AND ${IS_COMPARED}) AS counted
    WHERE ${HAS_PAYABLES}`;
  return state ?? null;
}
