import { pipeline } from 'node:stream';
import { ReadableStream, TextEncoderStream } from 'node:stream/web';
import { type Options, parse } from 'csv-parse';
import { InputError } from '../runtime/errors.ts';

/** A row of a CSV file. */
export interface CsvRecord {
  /** The line of the file on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Of the file. */
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
 * @throws InputError when a row is too long, as after a missing closing quote
 */
export async function* readCsvRecords(
  texts: AsyncIterable<string>,
): AsyncGenerator<CsvRecord, void, undefined> {
  const rest = texts[Symbol.asyncIterator]();
  let head = '';
  // After a CR, the LF of the same line end may arrive in the next piece.
  while (!/\n|\r./s.test(head) && head.length < MAX_RECORD_BYTES) {
    const next = await rest.next();
    if (next.done === true) break;
    head += next.value;
  }
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
  const bytes = ReadableStream.from(concat(head.slice(separatorLine.length), rest)).pipeThrough(
    new TextEncoderStream(),
  );
  // The callback is required; the loop over the parser throws the error of any part.
  pipeline(bytes, parser, () => undefined);
  yield* parser as AsyncIterable<CsvRecord>;
  yield* unclosed;
}

async function* concat(head: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield head;
  yield* { [Symbol.asyncIterator]: () => rest };
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

/** Returns the violation of RFC 4180 that `relax_quotes` has accepted in a row, or null. */
function faultOf(raw: string, wholeCells: RegExp): string | null {
  if (!raw.includes('"')) return null;
  const next = raw.charAt(wholeCells.exec(raw)?.[0].length ?? 0);
  if (next === '"') return 'a quote in a cell that is not quoted';
  return next === '' || LINE_END.test(next) ? null : 'text follows the end of a quoted cell';
}
