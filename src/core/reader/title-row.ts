/**
 * The staged rows of titles for COPY, in its binary format: the number of the values, then each value as its length in bytes and
 * its bytes, with the most significant byte first. `FastReader` writes the same rows. The bytes of a value are those that the receive function
 * of its type reads. PostgreSQL reads a title in this format in four fifths of the time of csv, because it
 * parses no number, date or hash.
 *
 * Source: the PostgreSQL manual, COPY, "Binary Format"; `numeric_recv`, `date_recv` and `jsonb_recv` of
 * PostgreSQL.
 */
import { type CivilDate, daysBetween, toCivilDate } from '../../base/values/business-day.ts';
import { toPlainDecimal } from '../../base/values/decimal.ts';
import { toJsonText } from '../../base/values/json-value.ts';
import {
  COLUMN_KINDS,
  contentHash,
  identityHash,
  TITLE_COLUMNS,
  type Title,
} from '../title/title.ts';
import { DIGIT_ZERO, MINUS_SIGN, toView } from './json-bytes.ts';

/** Before the first row: the signature, no flags, no extension. */
export const COPY_START = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** After the last row. */
export const COPY_END = Buffer.from([0xff, 0xff]);

/** In place of the length of a value. */
export const NULL_LENGTH = -1;
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
type BinaryValue = Buffer | null;

/** One row, or the beginning of one that has further values. */
function toRow(values: readonly BinaryValue[], count = values.length): Buffer {
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

function integer(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function bigint(value: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/** @param digits 32 hexadecimal digits */
const uuid = (digits: string): Buffer => Buffer.from(digits, 'hex');

/** @param json JSON text */
const jsonb = (json: string): Buffer =>
  Buffer.concat([Buffer.of(JSONB_VERSION), Buffer.from(json)]);

/** @param plain a decimal in plain notation */
function numeric(plain: string): Buffer {
  const text = Buffer.from(plain, 'latin1');
  const bytes = Buffer.alloc(4 + NUMERIC_HEADER_BYTES + text.length + DIGITS_IN_GROUP);
  const end = writeNumeric(toView(bytes), 0, text, 0, text.indexOf('.'), text.length);
  return bytes.subarray(4, end);
}

/** The columns of a row of `staged_title`. */
export const ROW_COLUMNS: readonly string[] = [
  ...['fence', 'ordinal'],
  ...TITLE_COLUMNS,
  ...['identity_hash', 'content_hash', 'raw_hash'],
];

/**
 * Returns the row of a title for COPY.
 *
 * @param raw the hash of the text that the title was read from; see `rawHash`
 * @param content 32 hexadecimal digits
 */
export function encodeTitle(
  fence: bigint,
  ordinal: number,
  title: Title,
  raw: string,
  content = contentHash(title),
): Buffer {
  const columns = TITLE_COLUMNS.map((column): BinaryValue => {
    if (column === 'extra') return title.extra && jsonb(toJsonText(title.extra));
    const value = title[column];
    if (value === null) return null;
    if (typeof value === 'boolean') return Buffer.of(value ? 1 : 0);
    if (typeof value !== 'string') return numeric(toPlainDecimal(value.written));
    return COLUMN_KINDS[column] === 'date'
      ? integer(toDateValue(value as CivilDate))
      : Buffer.from(value);
  });
  const hashes = [uuid(identityHash(title)), uuid(content), Buffer.from(raw, 'latin1')];
  return toRow([bigint(fence), integer(ordinal), ...columns, ...hashes]);
}

/** Begins the row of a title with the values that all rows of a response have. The title's ordinal follows. */
export function beginRow(fence: bigint): Buffer {
  return toRow([bigint(fence)], ROW_COLUMNS.length);
}

/** A title that broke the contract: its position, its text, and every reason. */
export interface RejectedTitle {
  /** Position in the response's `titles`, from 0. */
  readonly ordinal: number;
  /** order.uid; null where it cannot be read. */
  readonly orderUid: string | null;
  readonly reasons: readonly string[];
  /** The title's text, storable by PostgreSQL, cut to a bounded length. */
  readonly raw: string;
  /** Its whole length in the response, in bytes. */
  readonly rawBytes: number;
  /** SHA-256 of its bytes, first 128 bits in hexadecimal. */
  readonly rawHash: string;
}
