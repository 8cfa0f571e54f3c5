import { type Static, Type } from 'typebox';
import { recordAudit } from '../../../base/audit/audit.ts';
import { type Database, inTransaction, type Transaction } from '../../../base/database/database.ts';
import {
  type FileImport,
  type FileReading,
  inBatches,
  MAX_REPORTED_FAULTS,
} from '../../../base/files/import-file.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { count, id, text, words } from '../../../console/api/schema-parts.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { PAYABLE_FIELDS, type Payable, readPayableFile, type StatedPayable } from './payable.ts';

/** snapshot: all open payables of the ERP; delta: payables that changed. */
export const IMPORT_KINDS = ['snapshot', 'delta'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

const counts = {
  inserted: count,
  changed: count,
  unchanged: count,
  outdated: Type.Integer({
    minimum: 0,
    description:
      'Payables left as they are: a newer version or a later statement has written them.',
  }),
  downgraded: Type.Integer({
    minimum: 0,
    description: 'Of the changed ones: a snapshot gave them an older version.',
  }),
  incomparable: Type.Integer({
    minimum: 0,
    description: 'Of the changed ones: their version cannot be compared with the one before.',
  }),
  rejected: count,
};
const ImportCounts = Type.Object(counts);
type ImportCounts = Static<typeof ImportCounts>;

/** A fault of a payable that was left out, without values. */
const PayableReject = Type.Object({
  at: Type.Integer({
    minimum: 1,
    description: 'The line of a CSV file or the place in a JSON list, from 1.',
  }),
  field: text,
  expected: text,
});
type PayableReject = Static<typeof PayableReject>;
export const rejects = Type.Array(PayableReject);

const MAX_REPORTED_KEYS = 20;

export const BatchReport = Type.Object({
  ...counts,
  downgradedKeys: Type.Array(text, {
    description: `ERP keys of downgraded payables; at most ${MAX_REPORTED_KEYS}.`,
  }),
  rejects,
});
type BatchReport = Static<typeof BatchReport>;

/** An import that has ended. */
export const EndedImport = Type.Object({
  importId: id,
  kind: words(IMPORT_KINDS),
  ...counts,
  arrived: Type.Integer({ minimum: 0, description: 'Payables of the import that the table has.' }),
  isComplete: Type.Boolean({
    description: 'Whether no payable was rejected and as many arrived as were announced.',
  }),
  closed: Type.Integer({
    minimum: 0,
    description: 'Open payables that a complete snapshot lacks.',
  }),
});
export type EndedImport = Static<typeof EndedImport>;

/** `supplierTaxId` is `supplier_tax_id`. */
export const columnOf = (field: string) =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const COLUMNS = PAYABLE_FIELDS.map(columnOf);
const [, ...CONTENT] = COLUMNS;
const columns = Prisma.raw(COLUMNS.join(', '));
const contentOf = (relation: string) =>
  Prisma.raw(`ROW(${CONTENT.map((column) => `${relation}.${column}`).join(', ')})`);
const REPLACEMENTS = Prisma.raw(
  CONTENT.map((column) => `${column} = excluded.${column}`).join(', '),
);

/** The stated columns. An absent one is null in SQL, and most are. */
const rowOf = (payable: Payable | null) =>
  Object.fromEntries(
    Object.entries(payable ?? {}).flatMap(([field, value]) =>
      value === null ? [] : [[columnOf(field), value]],
    ),
  );

/** Whether an import, or SQL of the ERP, has written a row after `start`. An import may begin within a transaction of the ERP. */
const isStatedAfter = (row: Prisma.Sql, start: Prisma.Sql) => Prisma.sql`
  (${row}.stated_at > ${start}
   OR ${row}.changed_at > ${start} AND ${row}.closed_at IS NULL
      AND ${row}.stated_at IS DISTINCT FROM (SELECT own.started_at FROM conciliation.erp_payable_import AS own
                                             WHERE own.id = ${row}.import_id))`;

/** Whether the version is older than the one of the present row. Null: the texts cannot be compared. */
const isOlder = (version: Prisma.Sql, present: Prisma.Sql) => Prisma.sql`
  CASE WHEN ${present} IS NOT NULL AND ${version} IS DISTINCT FROM ${present}
       THEN conciliation.is_older_version(${version}, ${present}) ELSE false END`;

const REPEATED = {
  field: 'erpKey',
  expected: 'is in this import already, with another content; the first was imported',
};

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
 * a whole. A row with equal content stays unchanged, so a repeated request changes nothing. Outdated, so left as it
 * is, is a row that an import which began later, or later SQL of the ERP, has written, and in a delta a row with a
 * newer version. A second payable of one import with the same key and another content is rejected.
 * @throws InputError when the import does not exist or has ended, or when a later snapshot is complete
 */
export async function addPayables(
  tx: Transaction,
  importId: bigint,
  stated: readonly StatedPayable[],
): Promise<BatchReport> {
  const { kind } = await lockOpenImport(tx, importId);
  const isDelta = kind === 'delta';
  const whole = stated.filter(({ payable }) => payable !== null);
  const rows = whole.map(({ payable }) => rowOf(payable));
  const [{ repeated, downgradedKeys, ...counts }] = await tx.$queryRaw<
    [
      Omit<ImportCounts, 'rejected'> &
        Pick<BatchReport, 'downgradedKeys'> & { readonly repeated: readonly number[] },
    ]
  >`
    WITH import AS (
      SELECT started_at FROM conciliation.erp_payable_import WHERE id = ${importId}
    ), stated AS (
      SELECT ordinality::int AS place, ${columns}, ${contentOf('stated')} AS content
      FROM jsonb_populate_recordset(NULL::conciliation.erp_payable, ${JSON.stringify(rows)}::jsonb)
        WITH ORDINALITY AS stated
    ), judged AS (
      SELECT stated.*, present.erp_key IS NULL AS is_new,
             present.closed_at IS NOT NULL OR present.content IS DISTINCT FROM stated.content AS differs,
             coalesce(present.import_id = ${importId} AND present.stated_at = started_at, false) AS is_again,
             coalesce(${isStatedAfter(Prisma.sql`present`, Prisma.sql`started_at`)}, false) AS is_late,
             ${isOlder(Prisma.sql`stated.version`, Prisma.sql`present.version`)} AS is_older,
             first_value(stated.content) OVER same_key IS DISTINCT FROM stated.content AS is_other_copy,
             row_number() OVER same_key AS copy
      FROM import CROSS JOIN stated
      LEFT JOIN LATERAL (
        SELECT erp_key, import_id, closed_at, stated_at, changed_at, version, ${contentOf('payable')} AS content
        FROM conciliation.erp_payable AS payable WHERE payable.erp_key = stated.erp_key
      ) AS present ON true
      WINDOW same_key AS (PARTITION BY stated.erp_key ORDER BY place)
    ), sorted AS (
      SELECT judged.*, is_other_copy OR is_again AND differs AS is_repeated,
             is_late OR ${isDelta} AND NOT is_again AND is_older IS TRUE AS is_outdated
      FROM judged
    ), written AS (
      INSERT INTO conciliation.erp_payable AS payable (${columns}, import_id, stated_at)
      SELECT ${columns}, ${importId}, started_at FROM sorted, import
      WHERE NOT is_repeated AND NOT is_again AND copy = 1
      -- In the order of the key: two imports then wait for each other without a deadlock.
      ORDER BY erp_key
      ON CONFLICT (erp_key) DO UPDATE
      SET ${REPLACEMENTS}, import_id = excluded.import_id, stated_at = excluded.stated_at, closed_at = NULL
      -- Decided on the locked row, which another import may have written meanwhile.
      WHERE NOT ${isStatedAfter(Prisma.sql`payable`, Prisma.sql`excluded.stated_at`)}
        AND (NOT ${isDelta}
             OR (${isOlder(Prisma.sql`excluded.version`, Prisma.sql`payable.version`)}) IS NOT TRUE)
    )
    SELECT count(*) FILTER (WHERE is_written AND is_new)::int AS inserted,
           count(*) FILTER (WHERE is_change)::int AS changed,
           count(*) FILTER (WHERE NOT is_repeated AND (copy > 1 OR NOT is_new AND NOT differs))::int AS unchanged,
           count(*) FILTER (WHERE NOT is_repeated AND copy = 1 AND is_outdated AND differs)::int AS outdated,
           count(*) FILTER (WHERE is_change AND is_older)::int AS downgraded,
           count(*) FILTER (WHERE is_change AND is_older IS NULL)::int AS incomparable,
           coalesce((array_agg(erp_key ORDER BY erp_key)
                     FILTER (WHERE is_change AND is_older))[:${MAX_REPORTED_KEYS}::int], '{}') AS "downgradedKeys",
           coalesce(array_agg(place ORDER BY place) FILTER (WHERE is_repeated), '{}') AS repeated
    FROM (SELECT *, is_written AND NOT is_new AND differs AS is_change
          FROM (SELECT *, NOT is_repeated AND copy = 1 AND NOT is_outdated AS is_written FROM sorted) AS sorted)
      AS sorted`;
  const faulty = [
    ...stated.filter(({ faults }) => faults.length > 0),
    ...whole
      .filter((_, index) => repeated.includes(index + 1))
      .map((again) => ({ ...again, faults: [REPEATED] })),
  ];
  await tx.erpPayableReject.createMany({
    data: faulty.map(({ at, raw, faults }) => ({
      ...{ importId, at, raw },
      reasons: faults.map(({ field, expected }) => `${field}: ${expected}`),
    })),
  });
  const rejected = faulty.length;
  await tx.erpPayableImport.update({
    where: { id: importId },
    data: {
      inserted: { increment: counts.inserted },
      changed: { increment: counts.changed },
      unchanged: { increment: counts.unchanged },
      outdated: { increment: counts.outdated },
      downgraded: { increment: counts.downgraded },
      incomparable: { increment: counts.incomparable },
      rejected: { increment: rejected },
    },
  });
  const rejects = faulty.flatMap(({ at, faults }) => faults.map((fault) => ({ at, ...fault })));
  return { ...counts, downgradedKeys, rejected, rejects };
}

/**
 * Ends an import. A complete snapshot closes the open payables that it lacks, except those that a later import
 * or later SQL of the ERP has written. An incomplete snapshot closes none.
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
          UPDATE conciliation.erp_payable AS payable SET closed_at = now(), stated_at = import.started_at
          FROM conciliation.erp_payable_import AS import
          WHERE import.id = ${importId} AND payable.closed_at IS NULL AND payable.import_id <> import.id
            AND NOT ${isStatedAfter(Prisma.sql`payable`, Prisma.sql`import.started_at`)}`
      : 0;
  const [counts] = await tx.$queryRaw<[ImportCounts]>`
    UPDATE conciliation.erp_payable_import
    SET ended_at = clock_timestamp(), is_complete = ${isComplete}, closed = ${closed}
    WHERE id = ${importId} RETURNING inserted, changed, unchanged, outdated, downgraded, incomparable, rejected`;
  const ended = { kind, ...counts, arrived, isComplete, closed };
  await recordAudit(tx, {
    actor: by,
    action: 'payables.import',
    details: { importId: Number(importId), ...ended },
  });
  return { importId: Number(importId), ...ended };
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

export type PayableFileReport = EndedImport & {
  /** The faults in the order of the file; at most `MAX_REPORTED_FAULTS`. */
  readonly rejects: readonly PayableReject[];
  /** ERP keys of downgraded payables; at most `MAX_REPORTED_KEYS`. */
  readonly downgradedKeys: readonly string[];
};

/** A million payables take some minutes. */
const IMPORT_TRANSACTION = { timeout: 3_600_000, maxWait: 60_000 };

/**
 * Imports the payables of a file into `conciliation.erp_payable` in one transaction. Payables with a fault are
 * reported, kept as rejects and left out.
 * @param options.announced the number of payables that the ERP wrote; null: not stated
 * @throws InputError when the file cannot be read in the format of its name; nothing was imported
 * @throws ShutdownError when `signal` is aborted; nothing was imported
 */
export function importPayableFile(
  database: Database,
  reading: FileReading,
  options: FileImport & { readonly kind: ImportKind; readonly announced: number | null },
): Promise<PayableFileReport> {
  const { actor: by, announced, isDryRun, kind } = options;
  return inTransaction(database, { isDryRun, ...IMPORT_TRANSACTION }, async (tx) => {
    const importId = await beginImport(tx, { kind, by });
    const rejects: PayableReject[] = [];
    const downgradedKeys: string[] = [];
    for await (const batch of inBatches(readPayableFile(reading), options)) {
      const report = await addPayables(tx, importId, batch);
      rejects.push(...report.rejects.slice(0, MAX_REPORTED_FAULTS - rejects.length));
      downgradedKeys.push(
        ...report.downgradedKeys.slice(0, MAX_REPORTED_KEYS - downgradedKeys.length),
      );
    }
    return { ...(await endImport(tx, importId, { by, announced })), rejects, downgradedKeys };
  });
}
