import { recordAudit } from '../../base/audit/audit.ts';
import { type Database, inTransaction, type Transaction } from '../../base/database/database.ts';
import {
  type FileImport,
  type FileReading,
  formatOf,
  inBatches,
  MAX_REPORTED_FAULTS,
  RECORDS_AT_ONCE,
  readFile,
} from '../../base/files/import-file.ts';
import { type FieldFault, isObject } from '../../base/values/field-fault.ts';
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
 * Reads the providers of a file and checks each of them. The import checks conflicts between providers.
 * @returns with `id`, the external id where it can be read
 * @throws InputError when the file cannot be read, or does not have the format of its name
 */
export function readProviderFile(reading: FileReading) {
  return readFile(reading, SHAPE, ({ at, value, isCsv, fault }) => {
    if (fault !== null) return { at, id: null, provider: null, faults: [fault] };
    const accounts = isCsv ? accountsOf(value as Cells) : [];
    const stated = isCsv ? toProvider(value as Cells, accounts) : value;
    const statedId = isObject(stated) ? stated['externalId'] : null;
    const id = typeof statedId === 'string' ? statedId : null;
    const check = checkProvider(stated);
    if (check.ok) return { at, id, provider: check.provider, faults: [] };
    const toField = (field: string) => (isCsv ? toColumn(field, accounts) : field);
    const faults = check.faults.map((fault) => ({ ...fault, field: toField(fault.field) }));
    return { at, id, provider: null, faults };
  });
}

/** The accounts of which a row states something. */
function accountsOf(cells: Cells): readonly string[] {
  return ACCOUNTS.filter((account) =>
    Object.keys(cells).some((column) => column.startsWith(account)),
  );
}

function toProvider(cells: Cells, accounts: readonly string[]): object {
  const stated = (fields: readonly string[], prefix = '') =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const cell = cells[prefix + field];
        return cell === undefined ? [] : [[field, VALUES[field]?.(cell) ?? cell]];
      }),
    );
  return {
    ...stated(OWN_FIELDS),
    ...(accounts.length > 0 && {
      accounts: accounts.map((account) => stated(ACCOUNT_FIELDS, `${account}.`)),
    }),
  };
}

/** The cells that are no text in JSON. */
const VALUES: Readonly<Record<string, (cell: string) => unknown>> = {
  canAnticipate: toFlag,
  defaultAccount: toFlag,
  phones: (cell) => toList(cell).map((number) => ({ number })),
  emailAddresses: (cell) => toList(cell).map((email) => ({ email })),
};

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

/**
 * Imports the providers of a file into `conciliation.provider`. Providers with a fault are reported and left out. A
 * provider replaces the existing row: fields that the file does not state become null. Rows with equal content stay
 * unchanged, so that they are not pushed again.
 * @returns the numbers of providers; with the faults, without values, of at most `MAX_REPORTED_FAULTS` refused ones in the
 *   order of the file: `at` is the line of a CSV file or the index in a JSON list, both from 1
 * @throws InputError when the file cannot be read in the format of its name; nothing was imported
 * @throws ShutdownError when `signal` is aborted; nothing was imported
 */
export async function importProviderFile(
  database: Database,
  reading: FileReading,
  options: FileImport,
) {
  const { actor, isDryRun } = options;
  const good = new Map<number, Provider>();
  const faults: (FieldFault & { readonly at: number })[] = [];
  const placesOf = new Map<string, number[]>();
  let read = 0;
  for await (const batch of inBatches(readProviderFile(reading), options)) {
    read += batch.length;
    for (const { at, id, provider, faults: found } of batch) {
      if (provider !== null) good.set(at, provider);
      else if (faults.length < MAX_REPORTED_FAULTS)
        faults.push(...found.map((fault) => ({ at, ...fault })));
      if (id !== null) placesOf.set(id, [...(placesOf.get(id) ?? []), at]);
    }
  }
  // Conflicting places are all reported, and none is imported. A refused one may be the newer.
  for (const places of placesOf.values()) {
    if (places.length === 1) continue;
    for (const [index, at] of places.entries()) {
      const other = places[Math.abs(index - 1)];
      const place = formatOf(reading.path) === 'csv' ? 'line' : 'item';
      if (good.delete(at))
        faults.push({ at, field: 'externalId', expected: `is also in ${place} ${other}` });
    }
  }
  const written = await inTransaction(database, { isDryRun, ...MERGE_TRANSACTION }, async (tx) => {
    const counts = await writeProviders(tx, [...good.values()]);
    await recordAudit(tx, { actor, action: 'providers.import', details: counts });
    return counts;
  });
  return {
    read,
    refused: read - good.size,
    ...written,
    faults: faults.sort((a, b) => a.at - b.at).slice(0, MAX_REPORTED_FAULTS),
  };
}

async function writeProviders(tx: Transaction, providers: Provider[]) {
  // In the order of the key: two concurrent imports then wait for each other without a deadlock.
  providers.sort((a, b) => (a.externalId < b.externalId ? -1 : 1));
  const counts = { inserted: 0, changed: 0, unchanged: providers.length };
  for (let at = 0; at < providers.length; at += RECORDS_AT_ONCE) {
    const rows = JSON.stringify(providers.slice(at, at + RECORDS_AT_ONCE));
    const [{ inserted, changed }] = await tx.$queryRaw<[{ inserted: number; changed: number }]>`
      WITH written AS (
        INSERT INTO conciliation.provider AS provider
          (external_id, type, identification_number, name, can_anticipate, phones, email_addresses, accounts)
        SELECT "externalId", type, "identificationNumber", name, "canAnticipate", phones, "emailAddresses", accounts
        FROM jsonb_to_recordset(${rows}::jsonb) AS stated
          ("externalId" text, type text, "identificationNumber" text, name text,
           "canAnticipate" boolean, phones jsonb, "emailAddresses" jsonb, accounts jsonb)
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
      SELECT count(*) FILTER (WHERE is_new)::int AS inserted, count(*) FILTER (WHERE NOT is_new)::int AS changed
      FROM written`;
    counts.inserted += inserted;
    counts.changed += changed;
    counts.unchanged -= inserted + changed;
  }
  return counts;
}
