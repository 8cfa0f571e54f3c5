import { type Static, Type } from 'typebox';
import type { Transaction } from '../../../base/database/database.ts';
import { amount, instantOrNull } from '../../../console/api/schema-parts.ts';
import { isStale } from '../../alerts/messages/erp-alerts.ts';

/** The state of the ERP's payables. */
export const PayableState = Type.Object({
  open: Type.Integer({
    minimum: 0,
    description: 'Payables with the status `open` that no snapshot has closed.',
  }),
  openValue: amount,
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

/** Returns when the payables were complete last; null: never. */
export async function readSnapshotAt(tx: Transaction): Promise<Date | null> {
  const [row] = await tx.$queryRaw<[{ at: Date | null }]>`
    SELECT max(started_at) AS at FROM conciliation.erp_payable_import
    WHERE kind = 'sql' OR kind = 'snapshot' AND is_complete`;
  return row.at;
}

/** Whether the payables were complete last before more than `maxAgeHours` hours, or never. */
export async function arePayablesStale(tx: Transaction, maxAgeHours: number): Promise<boolean> {
  return isStale({ snapshotAt: await readSnapshotAt(tx), maxAgeHours }, new Date());
}

/** Whether the ERP has given any payable. Without one, nothing about payables is shown and no alert is raised. */
export async function hasPayables(tx: Transaction): Promise<boolean> {
  const [row] = await tx.$queryRaw<[{ has: boolean }]>`
    SELECT EXISTS (SELECT FROM conciliation.erp_payable)
        OR EXISTS (SELECT FROM conciliation.erp_payable_import) AS has`;
  return row.has;
}

/** Returns the state of the payables; null: the ERP has given none. */
export async function readPayableState(tx: Transaction): Promise<PayableState | null> {
  if (!(await hasPayables(tx))) return null;
  const snapshotAt = await readSnapshotAt(tx);
  const [row] = await tx.$queryRaw<[Omit<PayableState, 'snapshotAt'>]>`
    SELECT count(*)::float8 AS open, coalesce(sum(open_value), 0)::text AS "openValue",
           (SELECT max(ended_at) FROM conciliation.erp_payable_import
            WHERE kind = 'snapshot' AND NOT is_complete
              AND started_at > coalesce(${snapshotAt}, '-infinity'::timestamptz)) AS "incompleteAt"
    FROM conciliation.erp_payable WHERE status = 'open' AND closed_at IS NULL`;
  return { ...row, snapshotAt };
}
