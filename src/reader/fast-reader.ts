/**
 * Reads titles of the usual kind, from their bytes in the response to their rows for COPY. `parseExactJson`
 * and `checkTitle` create an object and a string for every value; the fast reader finds the bytes of the
 * values, checks them in place, and copies them.
 *
 * The row of a title is the one that `encodeTitle` renders, byte for byte. The fast reader leaves every
 * unusual title to the exact reader (`ResponseReader`). docs/performance.md has the measurements.
 */
import type { CivilDate } from '../domain/business-day.ts';
import { parseDecimal } from '../domain/decimal.ts';
import { rawHash } from '../domain/known-titles.ts';
import { type NamedAccounts, PARTY_RUNS } from '../domain/named-accounts.ts';
import type { PullWindow } from '../domain/plan/pull-plan.ts';
import {
  digestOf,
  hash128,
  IDENTITY_COLUMNS,
  newestContentVersion,
  type Title,
  VALUE_COLUMNS,
  type ValueColumn,
} from '../domain/title.ts';
import { TitleFold, type TitleFolds } from '../domain/title-fold.ts';
import { COMMA, DIGIT_ZERO, MINUS_SIGN, QUOTE, toView } from './json-bytes.ts';
import type { KnownTexts } from './known-texts.ts';
import { TITLE_LAYOUT, ValueKind } from './title-layout.ts';
import { DEPARTS, EXPONENT, NO_POINT, TitleLocator } from './title-locator.ts';
import { rowStart, type TitleTarget } from './title-row.ts';
import type { TitleShortcut } from './title-stream.ts';

const COLUMNS = VALUE_COLUMNS.length;
const KINDS = Uint8Array.from(TITLE_LAYOUT, ({ kind }) => kind);
const IDENTITY = Int32Array.from(IDENTITY_COLUMNS, (column) => VALUE_COLUMNS.indexOf(column));

/**
 * For each kind of party, the first column that names the party and its account, and the column after the
 * last.
 */
const [PROVIDER_START, PROVIDER_END] = boundsOf(PARTY_RUNS.provider);
const [AGENT_START, AGENT_END] = boundsOf(PARTY_RUNS.financial_agent);

/** The fields whose values the interface enumerates, with their columns. */
const ENUMERATED = TITLE_LAYOUT.flatMap(({ only, column }, field) =>
  only === null || column === null ? [] : [[field, column] as const],
);

const HASH_DIGITS = 32;
/** The two hexadecimal digits of each byte, as a little-endian word. */
const DIGIT_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16LE(),
);
/** Room for two numbers, three hashes and a number, and for each value in quotes, with its comma. */
const MAX_ROW_BYTES = 240 + TITLE_LAYOUT.reduce((total, { maxBytes }) => total + maxBytes + 10, 0);
const BLOCK_BYTES = 256 * 1024;
/**
 * Blocks whose rows are stored, for the next response. Small responses would otherwise allocate blocks that
 * stay in memory for a long time, because little else triggers a garbage collection.
 */
const freeBlocks: Buffer<ArrayBuffer>[] = [];
const MAX_FREE_BLOCKS = 16;

const NEWLINE = 0x0a;
const POINT = 0x2e;
const EQUALS_SIGN = 0x3d;
const LETTER_F = 0x66;
const LETTER_T = 0x74;

/**
 * Reads the titles of one response. Their rows wait until `takeRows`. Titles of a date whose content hashes
 * have an older version are left to the exact reader.
 */
export class FastReader implements TitleShortcut {
  /** Null where the titles are only added to the folds. */
  readonly #known: KnownTexts | null;
  readonly #locator: TitleLocator;
  readonly #folds: TitleFolds;
  /** The fold of the date of the last title. */
  #fold = new TitleFold(0);
  #foldDate: CivilDate | null = null;
  readonly #newestVersion = newestContentVersion();
  readonly #rowStart: Buffer;
  /** Null where the rows are not for `title`. */
  readonly #loaded: Extract<TitleTarget, { table: 'title' }> | null;
  #titlesRead = 0;
  #chunk: Uint8Array = Buffer.alloc(0);
  /** Whether the locator has a copy of the chunk. Known titles are skipped without one. */
  #isOpen = false;

  /** The fields of a title as `canonicalFields` of domain/title.ts writes them, to be hashed. */
  readonly #canonical = Buffer.alloc(2 * MAX_ROW_BYTES);
  readonly #canonicalView = toView(this.#canonical);
  /** The start of each column in it, and the end of the last one. */
  readonly #columnStarts = new Int32Array(COLUMNS + 1);

  /**
   * The rows. A full block is replaced, never overwritten, because COPY may still send the rows taken from
   * it.
   */
  #block = Buffer.alloc(0);
  readonly #blocks: Buffer<ArrayBuffer>[] = [];
  #blockView = toView(this.#block);
  #taken = 0;
  #end = 0;

  /**
   * @param rows the target of the rows, and the known titles, which get none; null: no title gets a row
   * @param folds every title that is read is added to the fold of its date
   */
  constructor(
    rows: { readonly target: TitleTarget; readonly known: KnownTexts } | null,
    window: PullWindow,
    folds: TitleFolds,
  ) {
    const target = rows?.target ?? null;
    this.#known = rows?.known ?? null;
    this.#locator = new TitleLocator(window);
    this.#folds = folds;
    this.#rowStart = Buffer.from(target === null ? '' : rowStart(target));
    this.#loaded = target?.table === 'title' ? target : null;
  }

  get titlesRead(): number {
    return this.#titlesRead;
  }

  openChunk(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#isOpen = false;
    this.#known?.openChunk(chunk);
  }

  readAt(from: number, ordinal: number): number {
    const skipped = this.#known?.skipAt(from) ?? -1;
    if (skipped !== -1) return skipped;
    if (!this.#isOpen) this.#locator.open(this.#chunk);
    this.#isOpen = true;
    const end = this.#locator.locate(from);
    if (end === DEPARTS) return DEPARTS;
    return this.#readText(this.#chunk.subarray(from, end), ordinal) ? end : DEPARTS;
  }

  readWhole(bytes: Uint8Array, ordinal: number): boolean {
    this.#isOpen = false;
    this.#locator.open(bytes);
    return this.#locator.locate(0) === bytes.length && this.#readText(bytes, ordinal);
  }

  #readText(text: Uint8Array, ordinal: number): boolean {
    const known = this.#known;
    if (known === null) return this.#addTitle(ordinal, null);
    const textHash = rawHash(text);
    return known.take(textHash) || this.#addTitle(ordinal, textHash.toString('hex'));
  }

  /**
   * Accepts the values of enumerations that a title with drift has. The drift of that title is reported, so
   * further titles with the same values need not be left to the exact reader.
   */
  admitDrift(title: Title): void {
    for (const [field, column] of ENUMERATED) {
      const value = title[column];
      if (typeof value === 'string') this.#locator.admit(field, value);
    }
  }

  /** The rows of the titles read since the last call, as `encodeTitle` renders them. */
  takeRows(): Buffer {
    const rows = this.#block.subarray(this.#taken, this.#end);
    this.#taken = this.#end;
    return rows;
  }

  /** False where the date's content hashes have an older version. */
  #turnToDate(): boolean {
    const date = this.#locator.acceptedDate;
    if (date !== this.#foldDate && date !== null) {
      this.#fold = this.#folds.at(date);
      this.#foldDate = date;
    }
    return this.#fold.version === this.#newestVersion;
  }

  /**
   * Writes the row of the located title, and adds the title to all that is kept of a response: the fold of
   * its date and, for a row of `title`, the occurrences and the bank accounts.
   *
   * @param textHash null: the title gets no row. The next title overwrites the bytes that were written.
   * @returns false for a title that is left to the exact reader: the date's content hashes have an older
   *   version, or an amount has too many digits without its exponent
   */
  #addTitle(ordinal: number, textHash: string | null): boolean {
    if (!this.#turnToDate()) return false;
    if (this.#block.length - this.#end < MAX_ROW_BYTES) this.#openBlock();
    let rowAt = this.#writeValues(ordinal);
    if (rowAt === -1) return false;
    const row = this.#block;
    const rowView = this.#blockView;
    const contentEnd = this.#columnStarts[COLUMNS] as number;

    const content = digestOf(this.#canonical.subarray(0, contentEnd));
    this.#fold.add(content);
    this.#titlesRead++;
    if (textHash === null) return true;

    const identity = this.#hashIdentity(contentEnd);
    rowAt = writeHash(row, rowAt, identity);
    row[rowAt++] = COMMA;
    for (let byte = 0; byte < HASH_DIGITS / 2; byte++, rowAt += 2) {
      rowView.setUint16(rowAt, DIGIT_PAIRS[content.charCodeAt(byte)] as number, true);
    }
    rowAt = writeHash(row, rowAt, textHash);
    if (this.#loaded !== null) {
      row[rowAt++] = COMMA;
      rowAt = writeInteger(row, rowAt, this.#loaded.occurrences.next(identity));
      this.#noteAccounts(this.#loaded.accounts);
    }
    row[rowAt++] = NEWLINE;
    this.#end = rowAt;
    return true;
  }

  /**
   * Writes the beginning of a row, up to the values, and the same values to `#canonical`.
   *
   * @returns the end of the values in the row; -1 where an amount has too many digits
   */
  #writeValues(ordinal: number): number {
    const { bytes, view, starts, ends, decoded } = this.#locator;
    const row = this.#block;
    const rowView = this.#blockView;
    const canonical = this.#canonical;
    const canonicalView = this.#canonicalView;
    const columnStarts = this.#columnStarts;

    let rowAt = this.#end;
    for (const byte of this.#rowStart) row[rowAt++] = byte;
    if (this.#loaded === null) rowAt = writeInteger(row, rowAt, ordinal);
    let at = 0;
    for (let column = 0; column < COLUMNS; column++) {
      columnStarts[column] = at;
      row[rowAt++] = COMMA;
      const start = starts[column] as number;
      if (start < 0) {
        canonical[at++] = 0;
        continue;
      }
      canonical[at++] = EQUALS_SIGN;
      const kind = KINDS[column];
      const text = decoded?.[column];
      if (kind === ValueKind.boolean) {
        const isTrue = bytes[start] === LETTER_T;
        row[rowAt++] = isTrue ? LETTER_T : LETTER_F;
        at += canonical.write(String(isTrue), at, 'latin1');
      } else if (text !== undefined) {
        rowAt += row.write(`"${text.replaceAll('"', '""')}"`, rowAt);
        at += canonical.write(text, at);
      } else {
        const length = (ends[column] as number) - start;
        if (kind !== ValueKind.amount) row[rowAt++] = QUOTE;
        // Word by word. Up to three bytes too many are copied, and overwritten by the next value.
        for (let index = 0; index < length; index += 4) {
          const word = view.getInt32(start + index, true);
          rowView.setInt32(rowAt + index, word, true);
          canonicalView.setInt32(at + index, word, true);
        }
        rowAt += length;
        at += length;
        if (kind !== ValueKind.amount) row[rowAt++] = QUOTE;
        else {
          at = this.#shortenAmount(column, at - length, at);
          if (at === -1) return -1;
        }
      }
      canonical[at++] = 0;
    }
    columnStarts[COLUMNS] = at;
    // `extra` is null: a title with undocumented fields is not of the usual kind.
    row[rowAt++] = COMMA;
    return rowAt;
  }

  /** Turns an amount from the form it was written in into `Decimal.canonical`. Returns its new end, or -1. */
  #shortenAmount(column: number, start: number, writtenEnd: number): number {
    const canonical = this.#canonical;
    const point = this.#locator.points[column];
    let end = writtenEnd;
    if (point === EXPONENT) {
      const decimal = parseDecimal(canonical.toString('latin1', start, end));
      return decimal === null ? -1 : start + canonical.write(decimal.canonical, start, 'latin1');
    }
    if (point !== NO_POINT) {
      while (canonical[end - 1] === DIGIT_ZERO) end--;
      if (canonical[end - 1] === POINT) end--;
    }
    const isZero = canonical[end - 1] === DIGIT_ZERO && canonical[end - 2] === MINUS_SIGN;
    if (!isZero) return end;
    canonical[start] = DIGIT_ZERO;
    return start + 1;
  }

  /** Hashes the identity columns, which it copies behind the content. */
  #hashIdentity(contentEnd: number): string {
    const canonical = this.#canonical;
    const view = this.#canonicalView;
    let at = contentEnd;
    for (let index = 0; index < IDENTITY.length; index++) {
      const column = IDENTITY[index] as number;
      const start = this.#columnStarts[column] as number;
      const length = (this.#columnStarts[column + 1] as number) - start;
      for (let offset = 0; offset < length; offset += 4) {
        view.setInt32(at + offset, view.getInt32(start + offset, true), true);
      }
      at += length;
    }
    return hash128(canonical.subarray(contentEnd, at));
  }

  #noteAccounts(accounts: NamedAccounts): void {
    const canonical = this.#canonical;
    const starts = this.#columnStarts;
    accounts.add(
      'provider',
      canonical.toString('latin1', starts[PROVIDER_START], starts[PROVIDER_END]),
    );
    accounts.add(
      'financial_agent',
      canonical.toString('latin1', starts[AGENT_START], starts[AGENT_END]),
    );
  }

  /** Gives the blocks back. The rows must be stored, and the reader is not used again. */
  release(): void {
    const room = MAX_FREE_BLOCKS - freeBlocks.length;
    const blocks = this.#blocks.filter(({ length }) => length === BLOCK_BYTES);
    freeBlocks.push(...blocks.slice(0, room));
    this.#blocks.length = 0;
    this.#block = Buffer.alloc(0);
  }

  /** Moves the rows that were not taken into a new block. */
  #openBlock(): void {
    const waiting = this.takeRows();
    const needed = 2 * waiting.length;
    const free = needed <= BLOCK_BYTES ? freeBlocks.pop() : undefined;
    this.#block = free ?? Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, needed));
    if (this.#blocks.length < MAX_FREE_BLOCKS) this.#blocks.push(this.#block);
    this.#blockView = toView(this.#block);
    this.#block.set(waiting);
    this.#taken = 0;
    this.#end = waiting.length;
  }
}

function boundsOf([first, last]: readonly [ValueColumn, ValueColumn]): [number, number] {
  return [VALUE_COLUMNS.indexOf(first), VALUE_COLUMNS.indexOf(last) + 1];
}

function writeHash(row: Buffer, from: number, digits: string): number {
  row[from] = COMMA;
  let at = from + 1;
  for (let index = 0; index < HASH_DIGITS; index++) row[at++] = digits.charCodeAt(index);
  return at;
}

function writeInteger(row: Buffer, from: number, value: number): number {
  let end = from + 1;
  for (let limit = 10; limit <= value; limit *= 10) end++;
  let rest = value;
  for (let at = end - 1; at >= from; at--) {
    const tens = Math.floor(rest / 10);
    row[at] = DIGIT_ZERO + rest - 10 * tens;
    rest = tens;
  }
  return end;
}
