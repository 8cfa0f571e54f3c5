import { recordAudit } from '../../base/audit/audit.ts';
import { type Database, inTransaction, type Transaction } from '../../base/database/database.ts';
import { type FileReading, formatOf, readFile } from '../../base/files/import-file.ts';
import { ShutdownError } from '../../base/runtime/errors.ts';
import { type FieldFault, isObject, isStorableText } from '../../base/values/field-fault.ts';
import { MERGE_TRANSACTION } from '../../core/merge/merge.sql.ts';
import { ACCOUNT_FIELDS, checkProvider, OWN_FIELDS, type Provider } from './provider.ts';

const ACCOUNTS = Array.from({ length: 9 }, (_, index) => `account${index + 1}`);
const SHAPE = {
  list: 'providers',
  columns: [
    ...OWN_FIELDS,
    ...ACCOUNTS.flatMap((account) => ACCOUNT_FIELDS.map((field) => `${account}.${field}`)),
  ],
  required: ['externalId', 'identificationNumber', 'name'],
  columnsText: `${OWN_FIELDS.join(', ')}, or account1.${ACCOUNT_FIELDS[0]} and so on`,
};
/** Separates several phones or addresses in one cell. */
const LIST_SEPARATOR = '|';

type Cells = Readonly<Partial<Record<string, string>>>;

/**
 * Reads the providers of a file and checks each of them. The import checks conflicts between providers. A provider with
 * faults is null, with its external id where it can be read: another row with it is contested.
 * @throws InputError when the file cannot be read, or does not have the format of its name
 */
export function readProviderFile(reading: FileReading) {
  return readFile(reading, SHAPE, ({ at, value, cells, fault }) => {
    const refused = { at, provider: null, refusedId: null };
    if (fault !== null) return { ...refused, faults: [fault] };
    const accounts = cells === null ? [] : accountsOf(cells);
    const stated = cells === null ? value : toProvider(cells, accounts);
    const check = checkProvider(stated);
    if (check.ok) return { at, ...check, refusedId: null, faults: [] };
    const id = isObject(stated) ? stated['externalId'] : null;
    const toField = (field: string) => (cells === null ? field : toColumn(field, accounts));
    return {
      ...refused,
      refusedId: typeof id === 'string' && isStorableText(id) ? id : null,
      faults: check.faults.map(({ field, expected }) => ({ field: toField(field), expected })),
    };
  });
}

/** The accounts of which a row states something. */
function accountsOf(cells: Cells): readonly string[] {
  return ACCOUNTS.filter((account) =>
    Object.keys(cells).some((column) => column.startsWith(account)),
  );
}

function toProvider(cells: Cells, accounts: readonly string[]): object {
  const { phones, emailAddresses, canAnticipate } = cells;
  const own = OWN_FIELDS.flatMap((field) => (cells[field] ? [[field, cells[field]]] : []));
  return {
    ...Object.fromEntries(own),
    ...(canAnticipate && { canAnticipate: toFlag(canAnticipate) }),
    ...(phones && { phones: toList(phones).map((number) => ({ number })) }),
    ...(emailAddresses && {
      emailAddresses: toList(emailAddresses).map((email) => ({ email })),
    }),
    ...(accounts.length > 0 && { accounts: accounts.map((account) => toAccount(cells, account)) }),
  };
}

function toAccount(cells: Cells, account: string): object {
  const stated = ACCOUNT_FIELDS.flatMap((field) => {
    const cell = cells[`${account}.${field}`];
    return cell === undefined ? [] : [[field, field === 'defaultAccount' ? toFlag(cell) : cell]];
  });
  return Object.fromEntries(stated);
}

function toList(cell: string): string[] {
  return cell
    .split(LIST_SEPARATOR)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The words for yes and no of spreadsheets in English and Portuguese. */
const FLAGS = new Map([
  ...['true', 'yes', 'y', 'verdadeiro', 'sim', 's', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', 'falso', 'não', 'nao', '0'].map((word) => [word, false] as const),
]);

/** Other values stay text, which the check refuses. */
function toFlag(cell: string): boolean | string {
  return FLAGS.get(cell.trim().normalize('NFC').toLowerCase()) ?? cell;
}

/** Maps `accounts[0].bankNumber` to `account1.bankNumber`, `phones[1].number` to `phones`. */
function toColumn(field: string, accounts: readonly string[]): string {
  const [, list = field, index, rest] = /^(\w+)\[(\d+)\](?:\.(.*))?$/.exec(field) ?? [];
  if (list !== 'accounts' || index === undefined) return list;
  return `${accounts[Number(index)] ?? 'account1'}.${rest ?? ''}`;
}

export const MAX_REPORTED_FAULTS = 1000;
const ROWS_AT_ONCE = 1000;

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
 * @returns the numbers of providers; with the faults, without values, of at most `MAX_REPORTED_FAULTS` refused ones in the
 *   order of the file: `at` is the line of a CSV file or the index in a JSON list, both from 1
 * @throws InputError when the file cannot be read in the format of its name; nothing was imported
 * @throws ShutdownError when `signal` is aborted; nothing was imported
 */
export function importProviderFile(
  database: Database,
  reading: FileReading,
  options: ImportOptions,
) {
  const { actor, isDryRun } = options;
  return inTransaction(database, { isDryRun, ...MERGE_TRANSACTION }, async (tx) => {
    await tx.$executeRaw`
      CREATE TEMPORARY TABLE provider_import (
        at integer NOT NULL, external_id text NOT NULL, type text, identification_number text,
        name text, can_anticipate boolean, phones jsonb, email_addresses jsonb, accounts jsonb
      ) ON COMMIT DROP`;
    const { faults, ...count } = await readRows(tx, reading, options);
    const repeated = await takeRepeatedRows(tx);
    const place = formatOf(reading.path) === 'csv' ? 'line' : 'item';
    for (const { at, otherAt } of repeated) {
      faults.push({ at, field: 'externalId', expected: `is also in ${place} ${otherAt}` });
    }
    const written = await writeProviders(tx);
    if (!isDryRun) {
      await recordAudit(tx, { actor, action: 'providers.import', details: { ...written } });
    }
    return {
      ...count,
      refused: count.refused + repeated.length,
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
  const faults: (FieldFault & { readonly at: number })[] = [];
  const count = { read: 0, refused: 0 };
  let rows: ({ readonly at: number } & Partial<Provider>)[] = [];
  for await (const { at, provider, refusedId, faults: found } of readProviderFile(reading)) {
    count.read += 1;
    if (provider !== null) rows.push({ at, ...provider });
    else {
      count.refused += 1;
      if (refusedId !== null) rows.push({ at, externalId: refusedId });
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
  return { ...count, faults };
}

/** A refused provider is a row without a number. */
async function addRows(
  tx: Transaction,
  rows: readonly ({ readonly at: number } & Partial<Provider>)[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO pg_temp.provider_import
    SELECT at, "externalId", type, "identificationNumber", name, "canAnticipate", phones,
           "emailAddresses", accounts
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS provider
      (at int, "externalId" text, type text, "identificationNumber" text, name text,
       "canAnticipate" boolean, phones jsonb, "emailAddresses" jsonb, accounts jsonb)`;
}

/**
 * Two conflicting places of one file are both reported, and neither is imported. A row whose external id a refused row
 * has too is contested: the refused one may be the newer.
 */
async function takeRepeatedRows(tx: Transaction) {
  const repeated = await tx.$queryRaw<{ at: number; otherAt: number }[]>`
    SELECT at, other_at AS "otherAt"
    FROM (SELECT at, identification_number, coalesce(lag(at) OVER same_key, lead(at) OVER same_key) AS other_at
          FROM pg_temp.provider_import
          WINDOW same_key AS (PARTITION BY external_id ORDER BY at)) AS neighbours
    WHERE other_at IS NOT NULL AND identification_number IS NOT NULL ORDER BY at`;
  await tx.$executeRaw`
    DELETE FROM pg_temp.provider_import
    WHERE at = ANY(${repeated.map(({ at }) => at)}::int[]) OR identification_number IS NULL`;
  return repeated;
}

async function writeProviders(tx: Transaction) {
  // In the order of the key: two concurrent imports then wait for each other without a deadlock.
  const [counts] = await tx.$queryRaw<[Record<'inserted' | 'changed' | 'unchanged', number>]>`
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
