import { type FileReading, type FileRecord, readFile } from '../../../base/files/import-file.ts';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import type { FieldFault } from '../../../base/values/field-fault.ts';
import {
  AMOUNT_FIELDS,
  type CheckedPayable,
  checkPayable,
  DATE_FIELDS,
  PAYABLE_FIELDS,
  PAYABLE_STATUSES,
  type Payable,
  REQUIRED_PAYABLE_FIELDS,
} from './payable.ts';

type Field = keyof Payable;

const SHAPE = { list: 'payables', columns: PAYABLE_FIELDS, required: REQUIRED_PAYABLE_FIELDS };

/** `1234.50`, `1234,50`, `1.234,50` or `1,234.50`. */
const AMOUNT =
  /^-?(?:(?:0|[1-9]\d*)(?:[.,]\d{1,2})?|[1-9]\d{0,2}(?:(?:\.\d{3})+,|(?:,\d{3})+\.)\d{1,2})$/;
/** The sign of the currency before an amount, with the sign of the amount before or after it. */
const REAIS = /^(-?)\s*R\$\s*/i;
const AMOUNT_EXPECTATION =
  'expected an amount such as 1234.50, 1.234,50 or R$ 1.234,50, with at most two decimals and without leading zeros';
/** Refused, because the last separator may stand before thousands or before decimals. */
const AMBIGUOUS_AMOUNT = /^-?\d{1,3}(?:[.,]\d{3})+$/;

/** Day, month and year in the order of Brazil, or the year first; then at most a time of midnight. */
const DATE =
  /^(?:(?<day>\d{2})([/.-])(?<month>\d{2})\2(?<year>\d{4})|(?<iso>\d{4}-\d{2}-\d{2})|(?<plain>\d{8}))(?:[T ]00:00(?::00(?:\.0+)?)?)?$/;
const DATE_EXPECTATION =
  'expected a calendar date such as 31/03/2026, 31-03-2026, 2026-03-31 or 20260331, with four digits of the year and no time but 00:00:00';

/** What ERPs write where there is no date. Blanks around it are gone. */
const NO_DATE = /^(?:0{8}|0{4}-00-00|00([/.-])00\1(?:00|0000)|([/.-]) *\2)$/;

const STATUS_WORDS = new Map<string, string>([
  ...PAYABLE_STATUSES.map((status) => [status, status] as const),
  ['aberto', 'open'],
  ['pago', 'paid'],
  ['cancelado', 'cancelled'],
]);

/** One payable of a file or a request, or its faults. */
export type StatedPayable = CheckedPayable & Pick<FileRecord<Field>, 'at' | 'raw'>;

/**
 * Reads the payables of a file and checks each of them.
 * @throws InputError when the file cannot be read, or does not have the format of its name
 */
export function readPayableFile(reading: FileReading): AsyncGenerator<StatedPayable> {
  return readFile(reading, SHAPE, ({ at, raw, value, cells, fault }) => {
    const faults: FieldFault[] = fault === null ? [] : [fault];
    const stated = cells === null ? value : plainPayable(cells, faults);
    return { at, raw, ...(faults.length > 0 ? { payable: null, faults } : checkPayable(stated)) };
  });
}

/** Checks the payables of a JSON list. */
export function* checkPayables(list: readonly unknown[]): Generator<StatedPayable> {
  for (const [index, value] of list.entries()) {
    yield { at: index + 1, raw: JSON.stringify(value), ...checkPayable(value) };
  }
}

/** Returns the cells with amounts, dates and states as JSON has them. Adds the faults of the others. */
function plainPayable(cells: Readonly<Partial<Record<Field, string>>>, faults: FieldFault[]) {
  const plain: Partial<Record<Field, string>> = { ...cells };
  const replace = (field: Field, read: (text: string) => string | null, expected: string) => {
    const text = plain[field];
    if (text === undefined) return;
    plain[field] = read(text) ?? '';
    if (plain[field] === '') faults.push({ field, expected: `${expected}; ${formOf(text)}` });
  };
  for (const field of AMOUNT_FIELDS) replace(field, plainAmount, AMOUNT_EXPECTATION);
  for (const field of DATE_FIELDS) {
    if (NO_DATE.test(plain[field] ?? '')) plain[field] = '';
    else replace(field, plainDate, DATE_EXPECTATION);
  }
  const plainStatus = (text: string) => STATUS_WORDS.get(text.toLowerCase()) ?? null;
  replace('status', plainStatus, `expected ${[...STATUS_WORDS.keys()].join(', ')}`);
  return plain;
}

/** Describes a text without its content: 9 stands for a digit, A for a letter. */
function formOf(text: string): string {
  const form = text.slice(0, 30).replace(/\d/g, '9').replace(/\p{L}/gu, 'A');
  const isAmbiguous = AMBIGUOUS_AMOUNT.test(text.replace(REAIS, '$1'));
  return `got the form ${form}${isAmbiguous ? ', which has no decimals to tell thousands from: write 1.234,00' : ''}`;
}

/** The last separator is the decimal one. */
function plainAmount(cell: string): string | null {
  const text = cell.replace(REAIS, '$1');
  if (!AMOUNT.test(text)) return null;
  const [, whole = '', cents] = /^(.*?)(?:[.,](\d{1,2}))?$/.exec(text) ?? [];
  const digits = whole.replace(/[.,]/g, '');
  return cents === undefined ? digits : `${digits}.${cents}`;
}

function plainDate(text: string): string | null {
  const { day, month, year, iso, plain } = DATE.exec(text)?.groups ?? {};
  return parseCivilDate(
    iso ?? plain?.replace(/^(....)(..)/, '$1-$2-') ?? `${year}-${month}-${day}`,
  );
}
