import { recordAudit } from '../audit/audit.ts';
import type { Transaction } from '../database/database.ts';
import { InputError } from '../runtime/errors.ts';
import type { StatedPayable } from './payable-file.ts';

/** snapshot: all open payables of the ERP; delta: payables that changed. */
export const IMPORT_KINDS = ['snapshot', 'delta'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

interface ImportCounts {
  readonly inserted: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly rejected: number;
}

/** A fault of a payable that was left out, without values. */
export interface PayableReject {
  /** The line of a CSV file or the place in a JSON list, from 1. */
  readonly at: number;
  readonly field: string;
  readonly expected: string;
}

export interface BatchReport extends ImportCounts {
  readonly rejects: readonly PayableReject[];
}

/** An import that has ended. */
export interface EndedImport extends ImportCounts {
  readonly importId: bigint;
  readonly kind: ImportKind;
  /** Whether every payable was accepted and as many payables arrived as were announced. */
  readonly isComplete: boolean;
  /** Open payables that a complete snapshot lacks. They are closed. */
  readonly closed: number;
}

/** Payables that one statement writes. */
export const PAYABLES_AT_ONCE = 1000;

const REPEATED = 'is in this import already, with another content';

/** Begins an import. Returns its number. */
export async function beginImport(
  tx: Transaction,
  { kind, by }: { readonly kind: ImportKind; readonly by: string },
): Promise<bigint> {
  const { id } = await tx.erpPayableImport.create({ data: { kind, importedBy: by } });
  return id;
}

/**
 * Writes payables of an import, and keeps those with a fault as rejects. A payable replaces the row of its key as
 * a whole. A row with equal content stays unchanged, so a repeated request changes nothing, and so does a row that an
 * import which began later has written. A second payable of
 * one import with the same key and another content is rejected.
 * @throws InputError when the import does not exist or has ended, or when a later snapshot is complete
 */
export async function addPayables(
  tx: Transaction,
  importId: bigint,
  stated: readonly StatedPayable[],
): Promise<BatchReport> {
  await lockOpenImport(tx, importId);
  const rows = stated.flatMap(({ at, payable }) => (payable === null ? [] : [{ at, ...payable }]));
  const [{ repeated, ...counts }] = await tx.$queryRaw<
    [Omit<ImportCounts, 'rejected'> & { readonly repeated: readonly number[] }]
  >`
    WITH stated AS (
      SELECT at, "erpKey" AS erp_key,
             ROW(company, "supplierExternalId", "supplierTaxId", document, instalment, "orderUid",
                 "dueDate", "openValue", status, payee, version) AS content,
             company, "supplierExternalId", "supplierTaxId", document, instalment, "orderUid",
             "dueDate", "openValue", status, payee, version
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS stated
        (at int, "erpKey" text, company text, "supplierExternalId" text, "supplierTaxId" text,
         document text, instalment text, "orderUid" text, "dueDate" date, "openValue" numeric,
         status text, payee text, version text)
    ), judged AS (
      SELECT stated.*, present.erp_key IS NULL AS is_new,
             present.closed_at IS NOT NULL OR present.content IS DISTINCT FROM stated.content AS differs,
             coalesce(present.import_id > ${importId}, false) AS is_outdated,
             present.import_id = ${importId} AND present.content IS DISTINCT FROM stated.content
               OR first_value(stated.content) OVER same_key IS DISTINCT FROM stated.content AS is_repeated,
             row_number() OVER same_key AS copy
      FROM stated
      LEFT JOIN LATERAL (
        SELECT erp_key, import_id, closed_at,
               ROW(company, supplier_external_id, supplier_tax_id, document, instalment, order_uid,
                   due_date, open_value, status, payee, version) AS content
        FROM conciliation.erp_payable AS payable WHERE payable.erp_key = stated.erp_key
      ) AS present ON true
      WINDOW same_key AS (PARTITION BY stated.erp_key ORDER BY at)
    ), written AS (
      INSERT INTO conciliation.erp_payable AS payable
        (erp_key, company, supplier_external_id, supplier_tax_id, document, instalment, order_uid,
         due_date, open_value, status, payee, version, import_id)
      SELECT erp_key, company, "supplierExternalId", "supplierTaxId", document, instalment, "orderUid",
             "dueDate", "openValue", status, payee, version, ${importId}
      FROM judged WHERE is_repeated IS NOT TRUE AND copy = 1
      -- In the order of the key: two imports then wait for each other without a deadlock.
      ORDER BY erp_key
      ON CONFLICT (erp_key) DO UPDATE
      SET company = excluded.company, supplier_external_id = excluded.supplier_external_id,
          supplier_tax_id = excluded.supplier_tax_id, document = excluded.document,
          instalment = excluded.instalment, order_uid = excluded.order_uid,
          due_date = excluded.due_date, open_value = excluded.open_value, status = excluded.status,
          payee = excluded.payee, version = excluded.version, import_id = excluded.import_id,
          closed_at = NULL
      WHERE payable.import_id IS NULL OR payable.import_id <= excluded.import_id
    )
    SELECT count(*) FILTER (WHERE is_written AND is_new)::int AS inserted,
           count(*) FILTER (WHERE is_written AND NOT is_new AND differs)::int AS changed,
           count(*) FILTER (WHERE NOT is_repeated AND NOT is_written OR is_written AND NOT is_new AND NOT differs)::int
             AS unchanged,
           coalesce(array_agg(at ORDER BY at) FILTER (WHERE is_repeated), '{}') AS repeated
    FROM (SELECT at, is_new, differs, copy, is_repeated IS TRUE AS is_repeated,
                 is_repeated IS NOT TRUE AND copy = 1 AND NOT is_outdated AS is_written FROM judged) AS judged`;
  const faults = [
    ...stated.map(({ at, faults: found }) => ({ at, faults: found })),
    ...repeated.map((at) => ({ at, faults: [{ field: 'erpKey', expected: REPEATED }] })),
  ].filter(({ faults: found }) => found.length > 0);
  await keepRejects(tx, importId, stated, faults);
  await tx.erpPayableImport.update({
    where: { id: importId },
    data: {
      inserted: { increment: counts.inserted },
      changed: { increment: counts.changed },
      unchanged: { increment: counts.unchanged },
      rejected: { increment: faults.length },
    },
  });
  return {
    ...counts,
    rejected: faults.length,
    rejects: faults.flatMap(({ at, faults: found }) => found.map((fault) => ({ at, ...fault }))),
  };
}

async function keepRejects(
  tx: Transaction,
  importId: bigint,
  stated: readonly StatedPayable[],
  faults: readonly Pick<StatedPayable, 'at' | 'faults'>[],
): Promise<void> {
  const raws = new Map(stated.map(({ at, raw }) => [at, raw]));
  await tx.erpPayableReject.createMany({
    data: faults.map(({ at, faults: found }) => ({
      importId,
      at,
      reasons: found.map(({ field, expected }) => `${field}: ${expected}`),
      raw: raws.get(at) ?? '',
    })),
  });
}

/**
 * Ends an import. A complete snapshot closes the open payables that it lacks, except those that a later import
 * has written. An incomplete snapshot closes none.
 * @param announced the number of payables that the ERP sent; null: not stated
 * @throws InputError when the import does not exist or has ended, or when a later snapshot is complete
 */
export async function endImport(
  tx: Transaction,
  importId: bigint,
  { by, announced }: { readonly by: string; readonly announced: number | null },
): Promise<EndedImport> {
  const { kind, rejected } = await lockOpenImport(tx, importId);
  const arrived = await tx.erpPayable.count({ where: { importId } });
  // An export that failed has no payable. That the ERP owes nothing has to be stated.
  const isWhole = announced === null ? kind === 'delta' || arrived > 0 : arrived === announced;
  const isComplete = rejected === 0 && isWhole;
  const closed =
    kind === 'snapshot' && isComplete
      ? await tx.$executeRaw`
          UPDATE conciliation.erp_payable SET closed_at = now()
          WHERE closed_at IS NULL AND import_id < ${importId}`
      : 0;
  const [counts] = await tx.$queryRaw<[ImportCounts]>`
    UPDATE conciliation.erp_payable_import
    SET ended_at = clock_timestamp(), is_complete = ${isComplete}, closed = ${closed}
    WHERE id = ${importId} RETURNING inserted, changed, unchanged, rejected`;
  const ended = { kind, ...counts, isComplete, closed };
  await recordAudit(tx, {
    actor: by,
    action: 'payables.import',
    details: { importId: Number(importId), ...ended },
  });
  return { importId, ...ended };
}

async function lockOpenImport(
  tx: Transaction,
  importId: bigint,
): Promise<{ readonly kind: ImportKind; readonly rejected: number }> {
  const [row] = await tx.$queryRaw<
    [{ kind: ImportKind; rejected: number; isEnded: boolean; isOutdated: boolean }?]
  >`
    SELECT kind, rejected, ended_at IS NOT NULL OR kind = 'sql' AS "isEnded",
           EXISTS (SELECT FROM conciliation.erp_payable_import AS later
                   WHERE later.id > ${importId} AND later.kind = 'snapshot' AND later.is_complete) AS "isOutdated"
    FROM conciliation.erp_payable_import WHERE id = ${importId} FOR UPDATE`;
  if (row === undefined) throw new InputError('id: there is no such import');
  if (row.isEnded) throw new InputError('id: the import has ended');
  // Its payables would open again what the later snapshot has closed.
  if (row.isOutdated) {
    throw new InputError('id: a snapshot that began later is complete; begin another import');
  }
  return row;
}
