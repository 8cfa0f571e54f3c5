import { readCsvRecords } from '../../../base/files/csv-records.ts';
import { formatOf, readJson, readText } from '../../../base/files/import-file.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import type { FieldFault } from '../../../base/values/field-reader.ts';
import { checkPayable, type Payable } from './payable.ts';
import { PayableCsv } from './payable-csv.ts';

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
