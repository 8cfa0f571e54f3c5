import type { Database } from '../../src/base/database/database.ts';
import { checkPayables } from '../../src/features/matching/payables/payable.ts';
import {
  addPayables,
  beginImport,
  endImport,
  type ImportKind,
} from '../../src/features/matching/payables/payable-import.sql.ts';

/** Fields of a payable; the supplier is that of `titleText` unless stated. */
export interface PayableFields {
  readonly erpKey: string;
  readonly openValue: string;
  readonly [field: string]: string;
}

/** Imports payables as the API does. */
export async function importPayables(
  database: Database,
  payables: readonly PayableFields[],
  kind: ImportKind = 'delta',
) {
  return database.prisma.$transaction(
    async (tx) => {
      const importId = await beginImport(tx, { kind, by: 'test' });
      const rows = payables.map((payable) => ({
        supplierExternalId: 'P-1',
        dueDate: '2026-06-30',
        ...payable,
      }));
      await addPayables(tx, importId, [...checkPayables(rows)]);
      return endImport(tx, importId, { by: 'test', announced: null });
    },
    { timeout: 60_000 },
  );
}
