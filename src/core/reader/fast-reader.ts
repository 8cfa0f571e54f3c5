/**
 * Reads titles of the usual kind, from their bytes in the response to their rows for COPY. `readExactTitle`
 * creates an object and a string for every value; the fast reader finds the bytes of the
 * values, checks them in place, and copies them.
 *
 * The row of a title is the one that `encodeTitle` writes, byte for byte. The fast reader leaves every
 * unusual title to the exact reader (`ResponseReader`). docs/performance.md has the measurements.
 */

import type { CivilDate } from '../../base/values/business-day.ts';
import { parseDecimal, toPlainDecimal } from '../../base/values/decimal.ts';
import {
  digestOf,
  IDENTITY_COLUMNS,
  TitleFold,
  type TitleFolds,
  VALUE_COLUMNS,
} from '../title/title.ts';
import type { PullWindow } from '../title/title-contract.ts';
import { TITLE_FIELDS, ValueKind } from '../title/title-schema.ts';
import type { TitleShortcut } from './cutter.ts';
import { DIGIT_ZERO, MINUS_SIGN, OPEN_BRACE, toView } from './json-bytes.ts';
import { HASH_BYTES, type KnownTexts, rawHash } from './known-texts.ts';
import { DEPARTS, EXPONENT, NO_POINT, TitleLocator } from './title-locator.ts';
import { beginRow, DATE_BYTES, NULL_LENGTH, writeNumeric } from './title-row.ts';

const COLUMNS = VALUE_COLUMNS.length;
const KINDS = Uint8Array.from(TITLE_FIELDS, ({ kind }) => kind);
const LAST_OF_IDENTITY = IDENTITY_COLUMNS.length - 1;

/**
 * Room for the number of values, two numbers, three hashes and a number, and for each value with its length. A
 * `numeric` of `MAX_DECIMAL_DIGITS` takes less than the longest text of an amount.
 */
const MAX_ROW_BYTES =
  240 + TITLE_FIELDS.reduce((total, { maxLength }) => total + maxLength + 20, 0);
/** More than the rows of one chunk of a response. */
const ROWS_BYTES = 128 * 1024;

/** Between two titles, where the platform writes no white space. */
const BOUNDARY = Buffer.from('},{"');

const POINT = 0x2e;
const EQUALS_SIGN = 0x3d;
const LETTER_T = 0x74;

/**
 * Reads the titles of one response. Their rows wait until `takeRows`.
 */
export class FastReader implements TitleShortcut {
  /** Null where the titles are only added to the folds. */
  readonly #known: KnownTexts | null;
  readonly #locator: TitleLocator;
  readonly #folds: TitleFolds;
  /** The fold of the date of the last title. */
  #fold = new TitleFold();
  #foldDate: CivilDate | null = null;
  /** Of the window's first date, which the known titles have. */
  readonly #knownFold: TitleFold;
  readonly #rowStart: Buffer;
  #titlesRead = 0;
  #window: Buffer = Buffer.alloc(0);
  /** Whether the last title was known, and the rest of the window has a boundary. */
  #mayBeKnown = false;

  /** The fields of a title as `canonicalFields` of core/title/title.ts writes them, to be hashed. */
  readonly #canonical = Buffer.alloc(MAX_ROW_BYTES);
  readonly #canonicalView = toView(this.#canonical);
  /** The end of the columns in it that identify the title, and of all columns. */
  #identityEnd = 0;
  #contentEnd = 0;

  /** The rows that were not taken, up to `#end`. */
  #rows = Buffer.allocUnsafeSlow(ROWS_BYTES);
  #rowsView = toView(this.#rows);
  #end = 0;

  /**
   * @param rows the fence of the rows, and the known titles, which get none; null: no title gets a row
   * @param folds every title that is read is added to the fold of its date
   */
  constructor(
    rows: { readonly fence: bigint; readonly known: KnownTexts } | null,
    window: PullWindow,
    folds: TitleFolds,
  ) {
    this.#known = rows?.known ?? null;
    this.#locator = new TitleLocator(window);
    this.#folds = folds;
    this.#knownFold = folds.at(window.from);
    this.#rowStart = rows === null ? Buffer.alloc(0) : beginRow(rows.fence);
  }

  get titlesRead(): number {
    return this.#titlesRead;
  }

  open(window: Buffer): void {
    this.#window = window;
    this.#locator.open(window);
  }

  readAt(from: number, ordinal: number): number {
    // After a known title, the next one is not even scanned. It probably ends at the next boundary. If the bytes up to
    // there are a known text, they are a whole JSON object, and no shorter prefix of them is one.
    if (this.#mayBeKnown && this.#window[from] === OPEN_BRACE) {
      const end = this.#window.indexOf(BOUNDARY, from) + 1;
      this.#mayBeKnown = end > 0;
      if (end > 0 && this.takeKnown(rawHash(this.#window.subarray(from, end)))) return end;
    }
    const end = this.#locator.locate(from);
    if (end === DEPARTS) return DEPARTS;
    const textHash = this.#known === null ? null : rawHash(this.#window.subarray(from, end));
    const isRead =
      (textHash !== null && this.takeKnown(textHash)) || this.#addTitle(ordinal, textHash);
    return isRead ? end : DEPARTS;
  }

  /** Whether the date has the title, which is added to its fold, in the same text. */
  takeKnown(textHash: string): boolean {
    const contentHash = this.#known?.take(textHash) ?? null;
    this.#mayBeKnown = contentHash !== null;
    if (contentHash !== null) this.#knownFold.add(contentHash);
    return contentHash !== null;
  }

  /** The rows of the titles read since the last call, as `encodeTitle` writes them. */
  takeRows(): Buffer {
    const rows = Buffer.from(this.#rows.subarray(0, this.#end));
    this.#end = 0;
    return rows;
  }

  /**
   * Writes the row of the located title, and adds the title to the fold of its date.
   *
   * @param textHash null: the title gets no row. The next title overwrites the bytes that were written.
   * @returns false for a title that is left to the exact reader: an amount has too many digits without its exponent
   */
  #addTitle(ordinal: number, textHash: string | null): boolean {
    if (this.#rows.length - this.#end < MAX_ROW_BYTES) this.#grow();
    let rowAt = this.#writeValues(ordinal);
    if (rowAt === -1) return false;
    const date = this.#locator.acceptedDate;
    if (date !== this.#foldDate && date !== null) {
      this.#fold = this.#folds.at(date);
      this.#foldDate = date;
    }
    const row = this.#rows;
    const rowView = this.#rowsView;

    const content = digestOf(this.#canonical.subarray(0, this.#contentEnd));
    this.#fold.add(content);
    this.#titlesRead++;
    if (textHash === null) return true;

    const identity = digestOf(this.#canonical.subarray(0, this.#identityEnd));
    rowAt = writeHash(row, rowView, rowAt, identity);
    rowAt = writeHash(row, rowView, rowAt, content);
    this.#end = writeHash(row, rowView, rowAt, textHash);
    return true;
  }

  /**
   * Writes the beginning of a row, up to the values, and the same values to `#canonical`.
   *
   * @returns the end of the values in the row; -1 where an amount has too many digits
   */
  #writeValues(ordinal: number): number {
    const { bytes, view, starts, ends, points, dateValues, decoded } = this.#locator;
    const row = this.#rows;
    const rowView = this.#rowsView;
    const canonical = this.#canonical;
    const canonicalView = this.#canonicalView;

    let rowAt = this.#end;
    for (const byte of this.#rowStart) row[rowAt++] = byte;
    rowAt = writeInteger(rowView, rowAt, ordinal);
    let at = 0;
    for (let column = 0; column < COLUMNS; column++) {
      const start = starts[column] as number;
      if (start < 0) {
        rowView.setInt32(rowAt, NULL_LENGTH);
        rowAt += 4;
        canonical[at++] = 0;
        continue;
      }
      canonical[at++] = EQUALS_SIGN;
      const kind = KINDS[column];
      const text = decoded?.[column];
      if (kind === ValueKind.boolean) {
        const isTrue = bytes[start] === LETTER_T;
        rowView.setInt32(rowAt, 1);
        row[rowAt + 4] = isTrue ? 1 : 0;
        rowAt += 5;
        at += canonical.write(String(isTrue), at, 'latin1');
      } else if (text !== undefined) {
        const length = row.write(text, rowAt + 4);
        rowView.setInt32(rowAt, length);
        rowAt += 4 + length;
        at += canonical.write(text, at);
      } else if (kind === ValueKind.text) {
        const length = (ends[column] as number) - start;
        rowView.setInt32(rowAt, length);
        rowAt += 4;
        // Word by word. Up to three bytes too many are copied, and overwritten by the next value.
        for (let index = 0; index < length; index += 4) {
          const word = view.getInt32(start + index, true);
          rowView.setInt32(rowAt + index, word, true);
          canonicalView.setInt32(at + index, word, true);
        }
        rowAt += length;
        at += length;
      } else {
        const end = ends[column] as number;
        const length = end - start;
        for (let index = 0; index < length; index += 4) {
          canonicalView.setInt32(at + index, view.getInt32(start + index, true), true);
        }
        if (kind === ValueKind.date) {
          rowView.setInt32(rowAt, DATE_BYTES);
          rowView.setInt32(rowAt + 4, dateValues[column] as number);
          rowAt += 4 + DATE_BYTES;
          at += length;
        } else {
          const point = points[column] as number;
          if (point !== EXPONENT) {
            rowAt = writeNumeric(rowView, rowAt, bytes, start, point, end);
            at = this.#shortenAmount(at, point, at + length);
          } else {
            const decimal = parseDecimal(canonical.toString('latin1', at, at + length));
            if (decimal === null) return -1;
            rowAt = writePlain(rowView, rowAt, toPlainDecimal(decimal.written));
            at += canonical.write(decimal.canonical, at, 'latin1');
          }
        }
      }
      canonical[at++] = 0;
      // The last column of an identity is required.
      if (column === LAST_OF_IDENTITY) this.#identityEnd = at;
    }
    this.#contentEnd = at;
    // `extra` is null: a title with undocumented fields is not of the usual kind.
    rowView.setInt32(rowAt, NULL_LENGTH);
    return rowAt + 4;
  }

  /** Turns an amount without an exponent into `Decimal.canonical`. Returns its new end. */
  #shortenAmount(start: number, point: number, writtenEnd: number): number {
    const canonical = this.#canonical;
    let end = writtenEnd;
    if (point !== NO_POINT) {
      while (canonical[end - 1] === DIGIT_ZERO) end--;
      if (canonical[end - 1] === POINT) end--;
    }
    const isZero = canonical[end - 1] === DIGIT_ZERO && canonical[end - 2] === MINUS_SIGN;
    if (!isZero) return end;
    canonical[start] = DIGIT_ZERO;
    return start + 1;
  }

  #grow(): void {
    const rows = Buffer.allocUnsafeSlow(2 * this.#rows.length);
    this.#rows.copy(rows, 0, 0, this.#end);
    this.#rows = rows;
    this.#rowsView = toView(rows);
  }
}

/** @param digest a character for each byte */
function writeHash(row: Buffer, view: DataView, from: number, digest: string): number {
  view.setInt32(from, HASH_BYTES);
  let at = from + 4;
  for (let byte = 0; byte < HASH_BYTES; byte++) row[at++] = digest.charCodeAt(byte);
  return at;
}

function writeInteger(view: DataView, from: number, value: number): number {
  view.setInt32(from, 4);
  view.setInt32(from + 4, value);
  return from + 8;
}

function writePlain(view: DataView, from: number, plain: string): number {
  const text = Buffer.from(plain, 'latin1');
  return writeNumeric(view, from, text, 0, text.indexOf(POINT), text.length);
}
