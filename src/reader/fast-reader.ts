/**
 * The short way of a title, from its bytes in the answer to its row for COPY. The ordinary way parses
 * the title, checks the values and renders them again; most of what that costs goes into objects and
 * strings that nobody keeps. Here the values' bytes are found, checked where they stand, and copied.
 *
 * What goes the short way gets the row that it would have got on the ordinary one, byte for byte; a
 * title that is in any way unusual does not go it at all. docs/performance.md says what it wins.
 *
 * A title whose text is known gets no row on either way.
 */
import type { CivilDate } from '../domain/business-day.ts';
import { parseDecimal } from '../domain/decimal.ts';
import { rawHash } from '../domain/known-titles.ts';
import { type NamedAccounts, PARTY_RUNS } from '../domain/named-accounts.ts';
import type { Occurrences } from '../domain/occurrences.ts';
import type { PullWindow } from '../domain/pull-plan.ts';
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
import { headOf, type TitleTarget } from './stage.ts';
import { TITLE_LAYOUT, ValueKind } from './title-layout.ts';
import { DEPARTS, EXPONENT, NO_POINT, TitleLocator } from './title-locator.ts';
import type { TitleShortcut } from './title-stream.ts';

const COLUMNS = VALUE_COLUMNS.length;
const KINDS = Uint8Array.from(TITLE_LAYOUT, ({ kind }) => kind);
const IDENTITY = Int32Array.from(IDENTITY_COLUMNS, (column) => VALUE_COLUMNS.indexOf(column));

/** Where what each party's account is known by begins and ends. */
const [PROVIDER_START, PROVIDER_END] = boundsOf(PARTY_RUNS.provider);
const [AGENT_START, AGENT_END] = boundsOf(PARTY_RUNS.financial_agent);

/** The fields whose values the interface enumerates, with their columns. */
const ENUMERATED = TITLE_LAYOUT.flatMap(({ only, column }, field) =>
  only === null || column === null ? [] : [[field, column] as const],
);

const HASH_DIGITS = 32;
/** The two digits of a byte, as a word that is written little-endian. */
const DIGIT_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16LE(),
);
/** Two numbers, three hashes, a number; of each value, at most its bytes and what is put around them. */
const MAX_ROW_BYTES = 240 + TITLE_LAYOUT.reduce((total, { maxBytes }) => total + maxBytes + 10, 0);
const BLOCK_BYTES = 256 * 1024;
/**
 * Blocks whose rows are stored. A small response takes no others, which would wait for a garbage
 * collection that hardly anything calls for.
 */
const freeBlocks: Buffer<ArrayBuffer>[] = [];
const MAX_FREE_BLOCKS = 16;

const NEWLINE = 0x0a;
const POINT = 0x2e;
const EQUALS_SIGN = 0x3d;
const LETTER_F = 0x66;
const LETTER_T = 0x74;

/**
 * Reads the titles of one answer. Their rows wait until they are taken. A title of a date whose content
 * hashes are of an older version goes the ordinary way.
 */
export class FastReader implements TitleShortcut {
  /** Null where titles are added up and get no row. */
  readonly #known: KnownTexts | null;
  readonly #locator: TitleLocator;
  readonly #folds: TitleFolds;
  /** Of the date of the title that was read last. */
  #fold = new TitleFold(0);
  #foldDate: CivilDate | null = null;
  readonly #newestVersion = newestContentVersion();
  readonly #head: Buffer;
  /** Null where rows have the title's ordinal instead. */
  readonly #occurrences: Occurrences | null;
  readonly #accounts: NamedAccounts | null;
  #titlesRead = 0;
  #chunk: Uint8Array = Buffer.alloc(0);
  /** Whether the locator has the chunk. It copies it, which known titles can do without. */
  #isOpen = false;
  #identityHash = '';

  /** What is hashed, by the word: as `canonicalFields` of domain/title.ts has it. */
  readonly #canonical = Buffer.alloc(2 * MAX_ROW_BYTES);
  readonly #canonicalView = toView(this.#canonical);
  /** Where in it each column begins. */
  readonly #columnStarts = new Int32Array(COLUMNS + 1);

  /** Rows that were taken stay as they are, so a full block is replaced and never overwritten. */
  #block = Buffer.alloc(0);
  readonly #blocks: Buffer<ArrayBuffer>[] = [];
  #blockView = toView(this.#block);
  #taken = 0;
  #end = 0;

  /**
   * @param rows what the rows are for, and which titles need none; null: no title gets a row
   * @param folds get every title that is read here
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
    this.#head = Buffer.from(target === null ? '' : headOf(target));
    this.#occurrences = target?.table === 'title' ? target.occurrences : null;
    this.#accounts = target?.table === 'title' ? target.accounts : null;
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
   * A title with drift was read and its drift reported. Where that is a new value of an enumeration,
   * it may stand in every other title of the answer, and these need not go the ordinary way for it.
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

  /** False where the date's hashes are of an older version. */
  #turnToDate(): boolean {
    const date = this.#locator.acceptedDate;
    if (date !== this.#foldDate && date !== null) {
      this.#fold = this.#folds.at(date);
      this.#foldDate = date;
    }
    return this.#fold.version === this.#newestVersion;
  }

  /**
   * False where the date's hashes are of an older version, and where an amount has too many digits when it
   * is written out.
   *
   * @param textHash null: the title gets no row. What has been written of one is overwritten by the next.
   */
  #addTitle(ordinal: number, textHash: string | null): boolean {
    if (!this.#turnToDate()) return false;
    if (this.#block.length - this.#end < MAX_ROW_BYTES) this.#openBlock();
    const { bytes, view, starts, ends, decoded } = this.#locator;
    const row = this.#block;
    const rowView = this.#blockView;
    const canonical = this.#canonical;
    const canonicalView = this.#canonicalView;
    const columnStarts = this.#columnStarts;

    let rowAt = this.#end;
    for (const byte of this.#head) row[rowAt++] = byte;
    if (this.#occurrences === null) rowAt = writeInteger(row, rowAt, ordinal);
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
        // By the word, so that up to three bytes are copied too many, to be overwritten.
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
          if (at === -1) return false;
        }
      }
      canonical[at++] = 0;
    }
    columnStarts[COLUMNS] = at;
    // `extra`, which no title has that comes this way.
    row[rowAt++] = COMMA;

    const content = digestOf(canonical.subarray(0, at));
    this.#fold.add(content);
    this.#titlesRead++;
    if (textHash === null) return true;

    this.#hashIdentity(at);
    rowAt = writeHash(row, rowAt, this.#identityHash);
    row[rowAt++] = COMMA;
    for (let byte = 0; byte < HASH_DIGITS / 2; byte++, rowAt += 2) {
      rowView.setUint16(rowAt, DIGIT_PAIRS[content.charCodeAt(byte)] as number, true);
    }
    rowAt = writeHash(row, rowAt, textHash);
    if (this.#occurrences !== null) {
      row[rowAt++] = COMMA;
      rowAt = writeInteger(row, rowAt, this.#occurrences.next(this.#identityHash));
    }
    if (this.#accounts !== null) this.#noteAccounts(this.#accounts);
    row[rowAt++] = NEWLINE;
    this.#end = rowAt;
    return true;
  }

  /** Makes the amount that was copied as it is written `Decimal.canonical`. Returns its new end. */
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

  #hashIdentity(contentEnd: number): void {
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
    this.#identityHash = hash128(canonical.subarray(contentEnd, at));
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

  /** Nobody needs the rows any more, nor the reader. */
  release(): void {
    const room = MAX_FREE_BLOCKS - freeBlocks.length;
    const blocks = this.#blocks.filter(({ length }) => length === BLOCK_BYTES);
    freeBlocks.push(...blocks.slice(0, room));
    this.#blocks.length = 0;
    this.#block = Buffer.alloc(0);
  }

  /** Rows that wait move along. */
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
