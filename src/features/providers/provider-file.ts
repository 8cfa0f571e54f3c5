import { type CsvRecord, readCsvRecords } from '../../base/files/csv-records.ts';
import { formatOf, readJson, readText } from '../../base/files/import-file.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { type FieldFault, isObject, isStorableText } from '../../base/values/field-reader.ts';
import {
  ACCOUNT_FIELDS,
  checkProvider,
  OWN_FIELDS,
  type Provider,
  type ProviderAccount,
} from './provider.ts';

/** One provider of a file, or its faults. */
interface FileProvider {
  /** The line of a CSV file on which it begins, or its index in a JSON list; both from 1. */
  readonly at: number;
  /** Null if there are faults. */
  readonly provider: Provider | null;
  readonly isRaised: boolean;
  /** Of a provider with faults, where it can be read: another row with it is contested. */
  readonly refusedId: string | null;
  /** For CSV with the names of the columns. */
  readonly faults: readonly FieldFault[];
}

/**
 * Reads the providers of a file and checks each of them. The import checks conflicts between providers.
 * @throws InputError when the file cannot be read, or does not have the format of its name
 */
export async function* readProviderFile(path: string): AsyncGenerator<FileProvider> {
  if (formatOf(path) === 'json') {
    for (const [index, value] of listIn(await readJson(path)).entries()) {
      yield checked(index + 1, value, (field) => field);
    }
    return;
  }
  let csv: ProviderCsv | null = null;
  for await (const record of readCsvRecords(readText(path))) {
    if (csv === null) {
      csv = new ProviderCsv(record);
      continue;
    }
    const read = csv.read(record);
    yield 'expected' in read
      ? { at: record.line, provider: null, isRaised: false, refusedId: null, faults: [read] }
      : checked(record.line, read.candidate, read.toColumn);
  }
  if (csv === null) throw new InputError('the file is empty');
}

function checked(at: number, value: unknown, toField: (field: string) => string): FileProvider {
  const check = checkProvider(value);
  if (check.ok) return { at, ...check, refusedId: null, faults: [] };
  const id = isObject(value) ? value['externalId'] : null;
  return {
    at,
    provider: null,
    isRaised: false,
    refusedId: typeof id === 'string' && isStorableText(id) ? id : null,
    faults: check.faults.map((fault) => ({ ...fault, field: toField(fault.field) })),
  };
}

function listIn(value: unknown): readonly unknown[] {
  const list = isObject(value) ? value['providers'] : value;
  if (Array.isArray(list)) return list;
  throw new InputError('expected {"providers": [...]} or a list of providers');
}

const REQUIRED_COLUMNS = ['externalId', 'identificationNumber', 'name'] as const;
/** `account1.bankNumber` to `account9.defaultAccount`. */
const ACCOUNT_COLUMN = /^account([1-9])\.(\w+)$/;
/** Separates several phones or addresses in one cell. */
const LIST_SEPARATOR = '|';

/** The meaning of a column of the file. */
type Column =
  | { readonly field: (typeof OWN_FIELDS)[number] }
  | { readonly account: number; readonly field: keyof ProviderAccount };

/** A row in the shape of a provider, unchecked. */
export interface CsvCandidate {
  readonly candidate: Readonly<Record<string, unknown>>;
  /** Returns the column for the field of a fault. */
  readonly toColumn: (field: string) => string;
}

/** Reads the rows of a file according to its first line. */
export class ProviderCsv {
  readonly #columns: readonly Column[];

  /** @throws InputError when the first line is not a header of known columns without repetitions */
  constructor(header: CsvRecord) {
    if (header.fault !== null) throw new InputError(`line ${header.line}: ${header.fault}`);
    const named = header.cells.map((cell) => toColumn(cell.trim()));
    const unknown = named.flatMap((column, index) => (column === null ? [index + 1] : []));
    // The text may be a provider's data instead of a column's name, so it is not quoted.
    if (unknown.length > 0) {
      throw new InputError(
        `line ${header.line}: no known name in column ${unknown.join(', ')}; expected ${OWN_FIELDS.join(', ')}, or account1.${ACCOUNT_FIELDS[0]} and so on`,
      );
    }
    const columns = named.filter((column) => column !== null);
    const names = columns.map(nameOf);
    const missing = REQUIRED_COLUMNS.filter((name) => !names.includes(name));
    if (missing.length > 0) {
      throw new InputError(`line ${header.line}: the header lacks ${missing.join(', ')}`);
    }
    const repeated = names.find((name, index) => names.indexOf(name) !== index);
    if (repeated !== undefined) {
      throw new InputError(`line ${header.line}: the column ${repeated} occurs twice`);
    }
    this.#columns = columns;
  }

  /** Returns the provider, or the fault that makes the row unreadable. */
  read(record: CsvRecord): CsvCandidate | FieldFault {
    if (record.fault !== null) return { field: '(row)', expected: record.fault };
    if (record.cells.length !== this.#columns.length) {
      const expected = `expected ${this.#columns.length} cells, got ${record.cells.length}`;
      return { field: '(row)', expected };
    }
    const candidate: Record<string, unknown> = {};
    const accounts = new Map<number, Record<string, unknown>>();
    for (const [index, column] of this.#columns.entries()) {
      const cell = record.cells[index] ?? '';
      if (cell.trim() === '') continue;
      if (!('account' in column)) candidate[column.field] = toValue(column.field, cell);
      else {
        const account = accounts.get(column.account) ?? {};
        account[column.field] = column.field === 'defaultAccount' ? toFlag(cell) : cell;
        accounts.set(column.account, account);
      }
    }
    const numbers = [...accounts.keys()].sort();
    if (numbers.length > 0) candidate['accounts'] = numbers.map((number) => accounts.get(number));
    return { candidate, toColumn: (field) => toColumnName(field, numbers) };
  }
}

function toColumn(name: string): Column | null {
  const field = OWN_FIELDS.find((known) => known.toLowerCase() === name.toLowerCase());
  if (field !== undefined) return { field };
  const [, number, text = ''] = ACCOUNT_COLUMN.exec(name) ?? [];
  const accountField = ACCOUNT_FIELDS.find((known) => known.toLowerCase() === text.toLowerCase());
  return accountField === undefined ? null : { account: Number(number), field: accountField };
}

function nameOf(column: Column): string {
  return 'account' in column ? `account${column.account}.${column.field}` : column.field;
}

function toValue(field: (typeof OWN_FIELDS)[number], cell: string): unknown {
  if (field === 'canAnticipate') return toFlag(cell);
  if (field === 'phones') return toList(cell).map((number) => ({ number }));
  if (field === 'emailAddresses') return toList(cell).map((email) => ({ email }));
  return cell;
}

function toList(cell: string): string[] {
  return cell
    .split(LIST_SEPARATOR)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The words for yes and no of spreadsheets in English and Portuguese. */
const FLAGS = new Map([
  ...['true', 'yes', 'verdadeiro', 'sim'].map((word) => [word, true] as const),
  ...['false', 'no', 'falso', 'não', 'nao'].map((word) => [word, false] as const),
]);

/** Other values stay text, which the check refuses. */
function toFlag(cell: string): boolean | string {
  return FLAGS.get(cell.trim().normalize('NFC').toLowerCase()) ?? cell;
}

/** Maps `accounts[0].bankNumber` to `account1.bankNumber`, `phones[1].number` to `phones`. */
function toColumnName(field: string, accountNumbers: readonly number[]): string {
  const [, list = field, index, rest] = /^(\w+)\[(\d+)\](?:\.(.*))?$/.exec(field) ?? [];
  if (list !== 'accounts' || index === undefined) return list;
  return `account${accountNumbers[Number(index)] ?? 1}.${rest ?? ''}`;
}
