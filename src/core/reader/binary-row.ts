/**
 * The rows of COPY in the binary format: the number of the values, then each value as its length in bytes and
 * its bytes, with the most significant byte first. The bytes of a value are those that the receive function
 * of its type reads. PostgreSQL reads a title in this format in four fifths of the time of csv, because it
 * parses no number, date or hash.
 *
 * Source: the PostgreSQL manual, COPY, "Binary Format"; `numeric_recv`, `date_recv` and `jsonb_recv` of
 * PostgreSQL.
 */
import { type CivilDate, daysBetween, toCivilDate } from '../../base/values/business-day.ts';
import { DIGIT_ZERO, MINUS_SIGN, toView } from './json-bytes.ts';

/** Before the first row: the signature, no flags, no extension. */
export const COPY_START = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** After the last row. */
export const COPY_END = Buffer.from([0xff, 0xff]);

/** In place of the length of a value. */
export const NULL_LENGTH = -1;
export const HASH_BYTES = 16;
export const DATE_BYTES = 4;

/** PostgreSQL counts days from this date. */
const FIRST_DAY = toCivilDate('2000-01-01');

/** The value of a `date`. */
export function toDateValue(date: CivilDate): number {
  return daysBetween(FIRST_DAY, date);
}

/** `numeric` has digits of base 10,000. */
const DIGITS_IN_GROUP = 4;
const NUMERIC_HEADER_BYTES = 8;
const NEGATIVE = 0x4000;

/**
 * Writes a decimal in plain notation as a `numeric` with its length. The scale is the number of digits after
 * the point, so no written digit is lost.
 *
 * @param text the decimal, `-?\d+(\.\d+)?`, from the index `from` up to `end`; it has about `MAX_DECIMAL_DIGITS`
 *   digits at most
 * @param point the index of the decimal point; a negative number: there is none
 * @returns the end of the value in `row`
 */
export function writeNumeric(
  row: DataView,
  start: number,
  text: Uint8Array,
  from: number,
  point: number,
  end: number,
): number {
  const isNegative = text[from] === MINUS_SIGN;
  const first = isNegative ? from + 1 : from;
  const whole = (point < 0 ? end : point) - first;
  const scale = point < 0 ? 0 : end - point - 1;
  const wholeGroups = Math.ceil(whole / DIGITS_IN_GROUP);
  const groups = wholeGroups + Math.ceil(scale / DIGITS_IN_GROUP);
  row.setInt32(start, NUMERIC_HEADER_BYTES + 2 * groups);
  row.setInt16(start + 4, groups);
  // The power of 10,000 of the first group. PostgreSQL removes groups of zeros at either end.
  row.setInt16(start + 6, wholeGroups - 1);
  row.setUint16(start + 8, isNegative ? NEGATIVE : 0);
  row.setInt16(start + 10, scale);

  let at = start + 4 + NUMERIC_HEADER_BYTES;
  let group = 0;
  // The groups begin at the point, so the first one may have fewer digits.
  let missing = whole - DIGITS_IN_GROUP * (wholeGroups - 1);
  for (let index = first; index < end; index++) {
    if (index === point) continue;
    group = 10 * group + (text[index] as number) - DIGIT_ZERO;
    missing--;
    if (missing > 0) continue;
    row.setInt16(at, group);
    at += 2;
    group = 0;
    missing = DIGITS_IN_GROUP;
  }
  if (missing < DIGITS_IN_GROUP) {
    for (; missing > 0; missing--) group *= 10;
    row.setInt16(at, group);
    at += 2;
  }
  return at;
}

const JSONB_VERSION = 1;

/** The bytes of a value; null: the value is null. */
export type BinaryValue = Buffer | null;

/** One row, or the beginning of one that has further values. */
export function toRow(values: readonly BinaryValue[], count = values.length): Buffer {
  const row = Buffer.allocUnsafe(values.reduce((size, value) => size + lengthOf(value), 2));
  row.writeInt16BE(count);
  let at = 2;
  for (const value of values) {
    row.writeInt32BE(value === null ? NULL_LENGTH : value.length, at);
    if (value !== null) row.set(value, at + 4);
    at += lengthOf(value);
  }
  return row;
}

const lengthOf = (value: BinaryValue) => 4 + (value?.length ?? 0);

export function integer(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function bigint(value: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/** @param digits 32 hexadecimal digits */
export const uuid = (digits: string): Buffer => Buffer.from(digits, 'hex');

/** @param json JSON text */
export const jsonb = (json: string): Buffer =>
  Buffer.concat([Buffer.of(JSONB_VERSION), Buffer.from(json)]);

/** @param plain a decimal in plain notation */
export function numeric(plain: string): Buffer {
  const text = Buffer.from(plain, 'latin1');
  const bytes = Buffer.alloc(4 + NUMERIC_HEADER_BYTES + text.length + DIGITS_IN_GROUP);
  const end = writeNumeric(toView(bytes), 0, text, 0, text.indexOf('.'), text.length);
  return bytes.subarray(4, end);
}
