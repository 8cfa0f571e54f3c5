import { isUtf8 } from 'node:buffer';
import { readFile as readBytes, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { pipeline } from 'node:stream';
import { type Options, parse } from 'csv-parse';
import { InputError, ShutdownError } from '../runtime/errors.ts';
import {
  type FieldFault,
  isObject,
  isStorableText,
  MAX_TEXT_CHARACTERS,
  TEXT_EXPECTATION,
} from '../values/field-fault.ts';

export interface CsvRecord {
  /** The line of the file on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  readonly separator: string;
  /** The violation of RFC 4180 that makes the cells unreliable; null: none. */
  readonly fault: string | null;
}

const MAX_RECORD_BYTES = 1024 * 1024;
const LINE_END = /\r\n|\r|\n/;

/** The first of those that are equally frequent in the first line is taken. */
const SEPARATORS = [';', ',', '\t'] as const;
/** The line in which Excel is told the separator. */
const SEPARATOR_LINE = /^sep=([;,\t])(?:\r\n|\r|\n)/i;

/**
 * Reads CSV (RFC 4180) row by row: cells may be quoted, a quote in a quoted cell is doubled, lines
 * end in LF, CRLF or CR. The separator is `;`, `,` or a tab: the one that a first line `sep=;` names, otherwise the
 * most frequent one of the first line. Blanks belong to their cell. Empty rows are left out.
 * @param bytes in UTF-8
 * @throws InputError when a row is too long, as after a missing closing quote
 */
export async function* readCsvRecords(bytes: Buffer): AsyncGenerator<CsvRecord, void, undefined> {
  const head = bytes.toString('utf8', 0, MAX_RECORD_BYTES);
  const [separatorLine = '', stated] = SEPARATOR_LINE.exec(head) ?? [];
  const separator = stated ?? separatorOf(head);
  const wholeCells = wholeCellsPattern(separator);
  let line = separatorLine === '' ? 1 : 2;
  const unclosed: CsvRecord[] = [];
  const options: Options<CsvRecord, { readonly record: string[]; readonly raw: string }> = {
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // A row with a misplaced quote ends with its line, and the rows after it are read.
    relax_quotes: true,
    max_record_size: MAX_RECORD_BYTES,
    raw: true,
    on_record: ({ record: cells, raw }) => {
      const record = { line, cells, separator, fault: faultOf(raw, wholeCells) };
      // csv-parse itself counts a CRLF within a cell as two lines.
      line += raw.split(LINE_END).length - 1;
      const isEmpty = record.fault === null && cells.every((cell) => cell.trim() === '');
      return isEmpty ? null : record;
    },
    // An error that ends the stream discards the records that are not yet taken from it.
    skip_records_with_error: true,
    on_skip: (error, raw = '') => {
      if (error?.code !== 'CSV_QUOTE_NOT_CLOSED') {
        throw new InputError(
          `line ${line}: the row is longer than any can be; is a quote left open?`,
        );
      }
      unclosed.push({ line, cells: [raw], separator, fault: 'a quote is opened and never closed' });
    },
  };
  // Without `columns`, the type of `parse` knows only rows of text.
  const parser = parse(options as unknown as Options);
  // The callback is required; the loop over the parser throws the error of any part.
  pipeline(piecesOf(bytes.subarray(separatorLine.length)), parser, () => undefined);
  yield* parser as AsyncIterable<CsvRecord>;
  yield* unclosed;
}

const PIECE_BYTES = 64 * 1024;

/** In pieces, because the parser makes all records of a piece at once. */
function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

function separatorOf(head: string): string {
  const [line = ''] = head.split(LINE_END, 1);
  const count = (separator: string) => line.split(separator).length;
  return SEPARATORS.reduce((best, next) => (count(next) > count(best) ? next : best));
}

/** Matches the cells at the begin of a row up to the first violation of RFC 4180. */
function wholeCellsPattern(separator: string): RegExp {
  const cell = `(?:"[^"]*(?:""[^"]*)*"|[^"${separator}\\r\\n]*)`;
  return new RegExp(`^${cell}(?:${separator}${cell})*`);
}

/** Returns the violation that `relax_quotes` has accepted in a row, or null. */
function faultOf(raw: string, wholeCells: RegExp): string | null {
  if (!raw.includes('"')) return null;
  const next = raw.charAt(wholeCells.exec(raw)?.[0].length ?? 0);
  if (next === '"') return 'a quote in a cell that is not quoted';
  return next === '' || LINE_END.test(next) ? null : 'text follows the end of a quoted cell';
}

/** ISO-8859-1 is a part of Windows-1252. */
export const ENCODINGS = ['utf-8', 'windows-1252'] as const;

export interface FileReading {
  readonly path: string;
  /**
   * `windows-1252` permits that a file is not UTF-8. The bytes alone do not decide: an old code page such as CP850 and a
   * UTF-8 text that was cut within a letter look the same, and names would be wrong without a word.
   */
  readonly encoding: (typeof ENCODINGS)[number];
  /** Set when the file is read: the line of the totals that end the file, which are left out; null: there are none. */
  totalsLine?: number | null;
}

export interface FileShape {
  /** The name of the list in JSON, such as `payables`. */
  readonly list: string;
  readonly columns: readonly string[];
  readonly required: readonly string[];
  /** The columns for people; absent: the columns. */
  readonly columnsText?: string;
}

export interface FileRecord {
  /** The line of a CSV file on which it begins, or its place in a JSON list; both from 1. */
  readonly at: number;
  /** Of JSON: the item. Of CSV: the texts of its columns without surrounding blanks; blank ones are absent. */
  readonly value: unknown;
  readonly isCsv: boolean;
  /** What makes a row of CSV unreadable. */
  readonly fault: FieldFault | null;
  /** The row or the item as it was written. Personal data. */
  readonly raw: string;
}

/** A file is read into memory. As JSON, this is about half a million records. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

export function formatOf(path: string): 'csv' | 'json' {
  const extension = extname(path).toLowerCase();
  if (extension === '.csv') return 'csv';
  if (extension === '.json') return 'json';
  throw new InputError('the name of the file must end in .csv or .json');
}

/**
 * Reads the records of a file and checks each of them. Left out is a last row of totals: a row that the check refuses,
 * with the word "total" in one cell, and nothing but numbers in the others.
 * @param check has to refuse a record with a fault
 * @throws InputError when the file cannot be read, or does not have the format of its name
 */
export async function* readFile<Item extends { readonly faults: readonly FieldFault[] }>(
  reading: FileReading,
  shape: FileShape,
  check: (record: FileRecord) => Item,
): AsyncGenerator<Item> {
  if (formatOf(reading.path) === 'json') {
    const list = listIn(parseJson(await readUtf8(reading)), shape.list);
    for (const [index, value] of list.entries()) {
      yield check({ at: index + 1, value, isCsv: false, fault: null, raw: JSON.stringify(value) });
    }
    return;
  }
  let read: ((row: CsvRecord) => FileRecord) | null = null;
  let totals: { readonly line: number; readonly item: Item } | null = null;
  for await (const row of readCsvRecords(await readUtf8(reading))) {
    if (read === null) {
      read = readerOf(row, shape);
      continue;
    }
    if (totals !== null) yield totals.item;
    totals = null;
    const item = check(read(row));
    if (item.faults.length > 0 && isTotals(row.cells)) totals = { line: row.line, item };
    else yield item;
  }
  if (read === null) throw new InputError('the file is empty');
  reading.totalsLine = totals?.line ?? null;
}

/** Who imports a file, and how. */
export interface FileImport {
  readonly actor: string;
  /** The import is rolled back. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  /** Receives the number of records read so far. */
  readonly onProgress?: (read: number) => void;
}

/** The faults of a file that are reported. */
export const MAX_REPORTED_FAULTS = 1000;
/** Records that one statement writes. */
export const RECORDS_AT_ONCE = 1000;

/** @throws ShutdownError when the signal of the import is aborted */
export async function* inBatches<Item>(
  items: AsyncIterable<Item>,
  { signal, onProgress }: Pick<FileImport, 'signal' | 'onProgress'>,
): AsyncGenerator<Item[]> {
  let batch: Item[] = [];
  let read = 0;
  for await (const item of items) {
    if (signal.aborted) throw new ShutdownError('the import was interrupted');
    batch.push(item);
    if (batch.length < RECORDS_AT_ONCE) continue;
    read += batch.length;
    onProgress?.(read);
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Returns what reads the rows under a header.
 * @throws InputError when the first row is not a header of known columns without repetitions
 */
function readerOf(header: CsvRecord, shape: FileShape): (row: CsvRecord) => FileRecord {
  const refuse = (problem: string) => new InputError(`line ${header.line}: ${problem}`);
  if (header.fault !== null) throw refuse(header.fault);
  const last = header.cells.findLastIndex((cell) => cell.trim() !== '');
  const plain = (name: string) => name.trim().replaceAll('_', '').toLowerCase();
  const columns = header.cells
    .slice(0, last + 1)
    .map((cell) => shape.columns.find((name) => plain(name) === plain(cell)));
  const unknown = columns.flatMap((column, index) => (column === undefined ? [index + 1] : []));
  // The text may be data of a record instead of a column's name, so it is not quoted.
  if (unknown.length > 0) {
    const expected = shape.columnsText ?? shape.columns.join(', ');
    throw refuse(
      `no known name in column ${unknown.join(', ')}; expected ${expected}, with ";", "," or a tab between them`,
    );
  }
  const missing = shape.required.filter((column) => !columns.includes(column));
  if (missing.length > 0) throw refuse(`the header lacks ${missing.join(', ')}`);
  const repeated = columns.find((column, at) => columns.indexOf(column) !== at);
  if (repeated !== undefined) throw refuse(`the column ${repeated} occurs twice`);
  // The number of cells of every row. A comma may also be the decimal sign of an amount without quotes, which makes one
  // more cell. Otherwise a row may end with separators that the header lacks, and the other way round, if every row does
  // as the first.
  let width = header.separator === ',' ? header.cells.length : null;
  return ({ line: at, cells, fault }) => {
    const surplus = cells.slice(columns.length);
    const isEnded = cells.length >= columns.length && surplus.every((cell) => cell.trim() === '');
    if (fault === null && isEnded) width ??= cells.length;
    const expected = width ?? columns.length;
    const problem =
      fault ??
      (isEnded && cells.length === expected
        ? null
        : `expected ${expected} cells, got ${cells.length}`);
    const texts = columns.map((column, index) => [column, cells[index]?.trim() ?? '']);
    return {
      ...{ at, isCsv: true, raw: JSON.stringify(cells) },
      value: Object.fromEntries(texts.filter(([, text]) => text !== '')),
      fault: problem === null ? null : { field: '(row)', expected: problem },
    };
  };
}

const TOTALS_WORD = /^(?:sub)?tota(?:l|is)(?: (?:geral|general|de t[ií]tulos))?[\s\d:.,]*$/i;
const NUMBER = /^(?:R\$)?[\s\d.,-]*$/i;

function isTotals(cells: readonly string[]): boolean {
  const others = cells.map((cell) => cell.trim()).filter((cell) => !NUMBER.test(cell));
  return others.length === 1 && others.every((cell) => TOTALS_WORD.test(cell));
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list: unknown = isObject(value) ? value[name] : value;
  if (Array.isArray(list)) return list;
  throw new InputError(`expected {"${name}": [...]} or a list of ${name}`);
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Returns the file in UTF-8 without a byte order mark. */
async function readUtf8({ path, encoding }: FileReading): Promise<Buffer> {
  const cannotRead = (error: NodeJS.ErrnoException): never => {
    throw new InputError(`the file cannot be read (${error.code})`, { cause: error });
  };
  const { size } = await stat(path).catch(cannotRead);
  if (size > MAX_FILE_BYTES) throw new InputError('the file is larger than 256 MiB; split it');
  const bytes = await readBytes(path).catch(cannotRead);
  if (/^(fffe|feff)/.test(bytes.toString('hex', 0, 2))) {
    throw new InputError('the file is UTF-16, by its byte order mark; save it as "CSV UTF-8"');
  }
  if (isUtf8(bytes)) {
    return bytes.toString('utf8', 0, 3) === BYTE_ORDER_MARK ? bytes.subarray(3) : bytes;
  }
  if (encoding === 'utf-8') {
    throw new InputError(
      'the file is not UTF-8; if it is ISO-8859-1 or Windows-1252, add --encoding windows-1252',
    );
  }
  // Some letters are UTF-8 and others are not, so that each reading makes some of them wrong.
  if (/[^\0-\x7F\uFFFD]/.test(bytes.toString())) {
    throw new InputError('the file mixes UTF-8 with another encoding');
  }
  // Without `stream`, Node 20 reads Windows-1252 as ISO-8859-1.
  const text = new TextDecoder(encoding).decode(bytes, { stream: true });
  // Bytes without a letter, which every other text of the encoding is free of.
  if (/[\x7F-\x9F]/.test(text)) throw new InputError(`the file is not ${encoding}`);
  return Buffer.from(text);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    // The parser's message quotes the text.
    const place = /at position \d+|end of JSON/.exec(String(error))?.[0];
    const where = place === 'end of JSON' ? 'the file ends too early' : place;
    throw new InputError(`the file is not JSON${where === undefined ? '' : ` (${where})`}`);
  }
}

/** A spreadsheet has rounded a key or an account, as in `1,23E+05`, or writes an error, as `#REF!` and `#N/D`. */
const DAMAGED = /^\s*(?:-?\d(?:[.,]\d+)?E\+\d+|#(?:N\/[AD]|[\p{L}/0]+[!?]))\s*$/iu;
const DAMAGED_EXPECTATION =
  'expected the text as the ERP writes it, got a number that a spreadsheet has rounded, or its error; give the column the format text';

/** Returns what was expected in place of a value that is no text, or none that can be stored; null: it is one. */
export function textFault(value: unknown, maxLength = MAX_TEXT_CHARACTERS): string | null {
  if (typeof value !== 'string') return 'expected text';
  if ([...value.slice(0, 2 * maxLength + 1)].length > maxLength) {
    return `expected at most ${maxLength} characters`;
  }
  if (DAMAGED.test(value)) return DAMAGED_EXPECTATION;
  return isStorableText(value) ? null : TEXT_EXPECTATION;
}

/** An unknown field is probably misspelled, and its content would be lost. */
export const unknownField = (name: string, path = ''): FieldFault => ({
  // A name that is not an identifier may be content of another field.
  field: path + (/^[A-Za-z_]\w{0,39}$/.test(name) ? name : '(another field)'),
  expected: 'not a field of the interface',
});
