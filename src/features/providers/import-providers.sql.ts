import { recordAudit } from '../../base/audit/audit.ts';
import { type Database, inTransaction, type Transaction } from '../../base/database/database.ts';
import { type FileReading, formatOf } from '../../base/files/import-file.ts';
import { ShutdownError } from '../../base/runtime/errors.ts';
import { MERGE_TRANSACTION } from '../../core/merge/merge.sql.ts';
import type { Provider } from './provider.ts';
import { readProviderFile } from './provider-file.ts';

/** The fault at one place of the file, without values. */
interface FileFault {
  /** The line of a CSV file, or the index in a JSON list; both from 1. */
  readonly at: number;
  readonly field: string;
  readonly expected: string;
}

export interface FileReport {
  /** Providers in the file. */
  readonly read: number;
  readonly inserted: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Providers that were not imported. */
  readonly refused: number;
  /** Tax identifiers whose lower-case letters were changed to upper case. */
  readonly raised: number;
  /** The faults of refused providers, in the order of the file; at most `MAX_REPORTED_FAULTS`. */
  readonly faults: readonly FileFault[];
}

export const MAX_REPORTED_FAULTS = 1000;
const ROWS_AT_ONCE = 1000;

const REPEATED = {
  externalId: 'is also in',
  identificationNumber: 'belongs to another externalId in',
} as const;

interface ImportOptions {
  readonly isDryRun: boolean;
  readonly actor: string;
  readonly signal: AbortSignal;
  /** Receives the number of providers read so far. */
  readonly onProgress?: (read: number) => void;
}

/**
 * Imports the providers of a file into `conciliation.provider` in one transaction, which lasts as long as the reading
 * of the file. Providers with a fault are reported and left out. A provider replaces the existing row: fields that the
 * file does not state become null. Rows with equal content stay unchanged, so that they are not pushed again. A dry
 * run is rolled back.
 * @throws InputError when the file cannot be read in the format of its name; nothing was imported
 * @throws ShutdownError when `signal` is aborted; nothing was imported
 */
export function importProviderFile(
  database: Database,
  reading: FileReading,
  options: ImportOptions,
): Promise<FileReport> {
  const { actor, isDryRun } = options;
  return inTransaction(database, { isDryRun, ...MERGE_TRANSACTION }, async (tx) => {
    await createImportTable(tx);
    const { faults, refusedIds, ...count } = await readRows(tx, reading, options);
    const repeated = await takeRepeatedRows(tx, refusedIds);
    const place = formatOf(reading.path) === 'csv' ? 'line' : 'item';
    for (const { at, field, otherAt } of repeated) {
      faults.push({ at, field, expected: `${REPEATED[field]} ${place} ${otherAt}` });
    }
    const written = await writeProviders(tx);
    if (!isDryRun) {
      await recordAudit(tx, { actor, action: 'providers.import', details: { ...written } });
    }
    return {
      ...count,
      refused: count.refused + new Set(repeated.map(({ at }) => at)).size,
      ...written,
      faults: faults.sort((a, b) => a.at - b.at).slice(0, MAX_REPORTED_FAULTS),
    };
  });
}

/** Reads the file into the table of the import. Returns the rows with faults, and counts. */
async function readRows(
  tx: Transaction,
  reading: FileReading,
  { signal, onProgress }: Pick<ImportOptions, 'signal' | 'onProgress'>,
) {
  const faults: FileFault[] = [];
  const refusedIds: { at: number; externalId: string }[] = [];
  const count = { read: 0, refused: 0, raised: 0 };
  let rows: { at: number; provider: Provider }[] = [];
  for await (const { at, provider, isRaised, refusedId, faults: found } of readProviderFile(
    reading,
  )) {
    count.read += 1;
    if (isRaised) count.raised += 1;
    if (provider !== null) rows.push({ at, provider });
    else {
      count.refused += 1;
      if (refusedId !== null) refusedIds.push({ at, externalId: refusedId });
      if (faults.length < MAX_REPORTED_FAULTS)
        faults.push(...found.map((fault) => ({ at, ...fault })));
    }
    if (rows.length < ROWS_AT_ONCE) continue;
    if (signal.aborted) break;
    onProgress?.(count.read);
    await addRows(tx, rows);
    rows = [];
  }
  if (signal.aborted) throw new ShutdownError('the import was interrupted');
  await addRows(tx, rows);
  return { ...count, faults, refusedIds };
}

async function createImportTable(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    CREATE TEMPORARY TABLE provider_import (
      at integer NOT NULL, external_id text NOT NULL, type text, identification_number text NOT NULL,
      name text, can_anticipate boolean, phones jsonb, email_addresses jsonb, accounts jsonb
    ) ON COMMIT DROP`;
}

async function addRows(
  tx: Transaction,
  rows: readonly { readonly at: number; readonly provider: Provider }[],
): Promise<void> {
  const records = rows.map(({ at, provider }) => ({ at, ...provider }));
  await tx.$executeRaw`
    INSERT INTO pg_temp.provider_import
    SELECT at, "externalId", type, "identificationNumber", name, "canAnticipate", phones,
           "emailAddresses", accounts
    FROM jsonb_to_recordset(${JSON.stringify(records)}::jsonb) AS provider
      (at int, "externalId" text, type text, "identificationNumber" text, name text,
       "canAnticipate" boolean, phones jsonb, "emailAddresses" jsonb, accounts jsonb)`;
}

/** Two conflicting places of one file. Both are reported and neither is imported. */
interface RepeatedRow {
  readonly at: number;
  readonly field: keyof typeof REPEATED;
  readonly otherAt: number;
}

/** A row whose external id a refused row has too is contested: the refused one may be the newer. */
async function takeRepeatedRows(
  tx: Transaction,
  refused: readonly { readonly at: number; readonly externalId: string }[],
): Promise<RepeatedRow[]> {
  const repeated = await tx.$queryRaw<RepeatedRow[]>`
    WITH neighbours AS (
      SELECT at, external_id,
             coalesce(lag(at) OVER same_key, lead(at) OVER same_key) AS key_at,
             coalesce(lag(at) OVER same_number, lead(at) OVER same_number) AS number_at,
             min(external_id) OVER whole_number <> max(external_id) OVER whole_number AS differs
      FROM pg_temp.provider_import
      WINDOW same_key AS (PARTITION BY external_id ORDER BY at),
             same_number AS (PARTITION BY identification_number ORDER BY at),
             whole_number AS (PARTITION BY identification_number)
    )
    SELECT at, 'externalId' AS field, key_at AS "otherAt" FROM neighbours WHERE key_at IS NOT NULL
    UNION ALL
    SELECT neighbours.at, 'externalId', min(refused.at) FROM neighbours
    JOIN jsonb_to_recordset(${JSON.stringify(refused)}::jsonb) AS refused
      (at int, "externalId" text) ON refused."externalId" = neighbours.external_id
    WHERE key_at IS NULL GROUP BY neighbours.at
    UNION ALL
    SELECT at, 'identificationNumber', number_at FROM neighbours WHERE differs
    ORDER BY at, field`;
  await tx.$executeRaw`
    DELETE FROM pg_temp.provider_import
    WHERE at = ANY(${repeated.map(({ at }) => at)}::int[])`;
  return repeated;
}

async function writeProviders(tx: Transaction) {
  // In the order of the key: two concurrent imports then wait for each other without a deadlock.
  const [counts] = await tx.$queryRaw<[Pick<FileReport, 'inserted' | 'changed' | 'unchanged'>]>`
    WITH written AS (
      INSERT INTO conciliation.provider AS provider
        (external_id, type, identification_number, name, can_anticipate, phones, email_addresses, accounts)
      SELECT external_id, type, identification_number, name, can_anticipate, phones, email_addresses, accounts
      FROM pg_temp.provider_import ORDER BY external_id
      ON CONFLICT (external_id) DO UPDATE
      SET type = excluded.type, identification_number = excluded.identification_number,
          name = excluded.name, can_anticipate = excluded.can_anticipate, phones = excluded.phones,
          email_addresses = excluded.email_addresses, accounts = excluded.accounts
      WHERE (provider.type, provider.identification_number, provider.name, provider.can_anticipate,
             provider.phones, provider.email_addresses, provider.accounts)
        IS DISTINCT FROM
            (excluded.type, excluded.identification_number, excluded.name, excluded.can_anticipate,
             excluded.phones, excluded.email_addresses, excluded.accounts)
      -- Only a row that was there before has a locker or an older version.
      RETURNING xmax::text = '0' AS is_new
    )
    SELECT count(*) FILTER (WHERE is_new)::int AS inserted,
           count(*) FILTER (WHERE NOT is_new)::int AS changed,
           (SELECT count(*) FROM pg_temp.provider_import)::int - count(*)::int AS unchanged
    FROM written`;
  return counts;
}
