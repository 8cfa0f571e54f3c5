import type { CsvRecord } from '../../../base/files/csv-records.ts';
import { readCsvRecords } from '../../../base/files/csv-records.ts';
import { formatOf, readJson, readText } from '../../../base/files/import-file.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import type { FieldFault } from '../../../base/values/field-reader.ts';
import {
  AMOUNT_FIELDS,
  checkPayable,
  DATE_FIELDS,
  PAYABLE_FIELDS,
  type Payable,
  REQUIRED_PAYABLE_FIELDS,
} from './payable.ts';

type Field = keyof Payable;

/** `1234.50`, `1234,50`, `1.234,50` or `1,234.50`. */
const AMOUNT =
  /^-?(?:(?:0|[1-9]\d*)(?:[.,]\d{1,2})?|[1-9]\d{0,2}(?:(?:\.\d{3})+,|(?:,\d{3})+\.)\d{1,2})$/;
const AMOUNT_EXPECTATION =
  'expected an amount such as 1234.50 or 1.234,50, with at most two decimals and without leading zeros';
const BRAZILIAN_DATE = /^(\d{2})\/(\d{2})\/(\d{4})$/;

/** Reads the rows of a CSV file of payables according to its first line. */
class PayableCsv {
  readonly #fields: readonly Field[];

  /** @throws InputError when the first line is not a header of known columns without repetitions */
  constructor(header: CsvRecord) {
    const { line } = header;
    if (header.fault !== null) throw new InputError(`line ${line}: ${header.fault}`);
    const named = header.cells.map((cell) => fieldOf(cell));
    const unknown = named.flatMap((field, index) => (field === null ? [index + 1] : []));
    // The text may be the data of a payable instead of a column's name, so it is not quoted.
    if (unknown.length > 0) {
      throw new InputError(
        `line ${line}: no known name in column ${unknown.join(', ')}; expected ${PAYABLE_FIELDS.join(', ')}`,
      );
    }
    const fields = named.filter((field) => field !== null);
    const missing = REQUIRED_PAYABLE_FIELDS.filter((field) => !fields.includes(field));
    if (missing.length > 0) {
      throw new InputError(`line ${line}: the header lacks ${missing.join(', ')}`);
    }
    const repeated = fields.find((field, index) => fields.indexOf(field) !== index);
    if (repeated !== undefined) {
      throw new InputError(`line ${line}: the column ${repeated} occurs twice`);
    }
    this.#fields = fields;
  }

  /** Returns the payable of a row, unchecked, or the faults that make the row unreadable. */
  read(record: CsvRecord): { readonly candidate: object } | readonly FieldFault[] {
    if (record.fault !== null) return [{ field: '(row)', expected: record.fault }];
    if (record.cells.length !== this.#fields.length) {
      const expected = `expected ${this.#fields.length} cells, got ${record.cells.length}`;
      return [{ field: '(row)', expected }];
    }
    const candidate = Object.fromEntries(
      this.#fields.map((field, index) => [field, record.cells[index]?.trim() ?? '']),
    ) as Partial<Record<Field, string>>;
    const faults = AMOUNT_FIELDS.filter(
      (field) => candidate[field] && !AMOUNT.test(candidate[field]),
    );
    if (faults.length > 0) {
      return faults.map((field) => ({ field, expected: AMOUNT_EXPECTATION }));
    }
    for (const field of AMOUNT_FIELDS) candidate[field] = plainAmount(candidate[field] ?? '');
    for (const field of DATE_FIELDS) {
      candidate[field] = candidate[field]?.replace(BRAZILIAN_DATE, '$3-$2-$1') ?? '';
    }
    return { candidate };
  }
}

function fieldOf(cell: string): Field | null {
  const name = cell.trim().replaceAll('_', '').toLowerCase();
  return PAYABLE_FIELDS.find((field) => field.toLowerCase() === name) ?? null;
}

/** The last separator is the decimal one. */
function plainAmount(text: string): string {
  const [, whole = '', cents] = /^(.*?)(?:[.,](\d{1,2}))?$/.exec(text) ?? [];
  const digits = whole.replace(/[.,]/g, '');
  return cents === undefined ? digits : `${digits}.${cents}`;
}

/** One payable of a file or a request, or its faults. */
export interface StatedPayable {
  /** The line of a CSV file on which it begins, or its place in a JSON list; both from 1. */
  readonly at: number;
  /** Null if there are faults. */
  readonly payable: Payable | null;
  readonly faults: readonly FieldFault[];
  /** The row or the item as it was written. Personal data. */
  readonly raw: string;
}

/**
 * Reads the payables of a file and checks each of them.
 * @throws InputError when the file cannot be read, or does not have the format of its name
 */
export async function* readPayableFile(path: string): AsyncGenerator<StatedPayable> {
  if (formatOf(path) === 'csv') yield* readCsv(path);
  else yield* checkPayables(listIn(await readJson(path)));
}

/** Checks the payables of a JSON list. */
export function* checkPayables(list: readonly unknown[]): Generator<StatedPayable> {
  for (const [index, value] of list.entries()) {
    yield checked(index + 1, value, JSON.stringify(value));
  }
}

async function* readCsv(path: string): AsyncGenerator<StatedPayable> {
  let csv: PayableCsv | null = null;
  for await (const record of readCsvRecords(readText(path))) {
    if (csv === null) {
      csv = new PayableCsv(record);
      continue;
    }
    const raw = JSON.stringify(record.cells);
    const read = csv.read(record);
    yield 'candidate' in read
      ? checked(record.line, read.candidate, raw)
      : { at: record.line, payable: null, faults: read, raw };
  }
  if (csv === null) throw new InputError('the file is empty');
}

function checked(at: number, value: unknown, raw: string): StatedPayable {
  const check = checkPayable(value);
  return check.ok
    ? { at, payable: check.payable, faults: [], raw }
    : { at, payable: null, faults: check.faults, raw };
}

function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const list: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, 'payables') : null;
  if (Array.isArray(list)) return list;
  throw new InputError('expected {"payables": [...]} or a list of payables');
}
