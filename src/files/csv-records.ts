import { InputError } from '../runtime/errors.ts';

/** A row of a CSV file. */
export interface CsvRecord {
  /** The line of the file on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** The violation of RFC 4180 that makes the cells unreliable; null: none. */
  readonly fault: string | null;
}

const MAX_RECORD_CHARACTERS = 1024 * 1024;

type State = 'cell start' | 'plain' | 'quoted' | 'quote in quoted';

/**
 * Reads CSV (RFC 4180) row by row: cells may be quoted, a quote in a quoted cell is doubled, lines
 * end in LF, CRLF or CR. The separator is `;` or `,`, whichever is more frequent in the first line.
 * Blanks belong to their cell. Empty rows are left out.
 * @throws InputError when a row is too long, as after a missing closing quote
 */
export async function* readCsvRecords(
  texts: AsyncIterable<string>,
): AsyncGenerator<CsvRecord, void, undefined> {
  let head = '';
  let reader: CsvReader | null = null;
  for await (const text of texts) {
    if (reader !== null) {
      yield* reader.read(text);
      continue;
    }
    head += text;
    const headEnd = /[\r\n]/.exec(head)?.index;
    if (headEnd === undefined && head.length < MAX_RECORD_CHARACTERS) continue;
    reader = new CsvReader(separatorOf(head.slice(0, headEnd)));
    yield* reader.read(head);
  }
  if (reader === null) {
    reader = new CsvReader(separatorOf(head));
    yield* reader.read(head);
  }
  yield* reader.end();
}

function separatorOf(line: string): string {
  const count = (separator: string) => line.split(separator).length;
  return count(',') > count(';') ? ',' : ';';
}

class CsvReader {
  readonly #separator: string;
  #state: State = 'cell start';
  #cells: string[] = [];
  #cell = '';
  #fault: string | null = null;
  #line = 1;
  #recordLine = 1;
  #recordCharacters = 0;
  #isAfterReturn = false;

  constructor(separator: string) {
    this.#separator = separator;
  }

  *read(text: string): Generator<CsvRecord, void, undefined> {
    for (const character of text) {
      const isSecondHalf = this.#isAfterReturn && character === '\n';
      this.#isAfterReturn = character === '\r';
      if (isSecondHalf && this.#state !== 'quoted') continue;
      if ((character === '\n' && !isSecondHalf) || character === '\r') this.#line += 1;
      const record = this.#take(character);
      if (record !== null) yield record;
    }
  }

  *end(): Generator<CsvRecord, void, undefined> {
    if (this.#state === 'quoted') this.#fault ??= 'a quote is opened and never closed';
    const record = this.#endRecord();
    if (record !== null) yield record;
  }

  #take(character: string): CsvRecord | null {
    this.#recordCharacters += 1;
    if (this.#recordCharacters > MAX_RECORD_CHARACTERS) {
      throw new InputError(
        `line ${this.#recordLine}: the row is longer than any can be; is a quote left open?`,
      );
    }
    if (this.#state === 'quoted') {
      if (character === '"') this.#state = 'quote in quoted';
      else this.#cell += character;
      return null;
    }
    if (character === '"') return this.#takeQuote();
    if (character === this.#separator) {
      this.#endCell();
      return null;
    }
    if (character === '\n' || character === '\r') return this.#endRecord();
    if (this.#state === 'quote in quoted') this.#fault ??= 'text follows the end of a quoted cell';
    this.#state = 'plain';
    this.#cell += character;
    return null;
  }

  #takeQuote(): null {
    if (this.#state === 'cell start') this.#state = 'quoted';
    else if (this.#state === 'quote in quoted') {
      this.#state = 'quoted';
      this.#cell += '"';
    } else {
      this.#fault ??= 'a quote in a cell that is not quoted';
      this.#cell += '"';
    }
    return null;
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = '';
    this.#state = 'cell start';
  }

  #endRecord(): CsvRecord | null {
    this.#endCell();
    const record = { line: this.#recordLine, cells: this.#cells, fault: this.#fault };
    this.#cells = [];
    this.#fault = null;
    this.#recordLine = this.#line;
    this.#recordCharacters = 0;
    const isEmpty = record.fault === null && record.cells.every((cell) => cell.trim() === '');
    return isEmpty ? null : record;
  }
}
