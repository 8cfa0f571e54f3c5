import type { Language } from '../texts/texts.ts';
import { isPlainDecimal } from '../values/decimal.ts';

/** The type of a cell, which each format encodes in its own way. */
export type ColumnKind =
  | 'text'
  | 'date'
  | 'amount'
  /** Text in the interface that may be a plain decimal. */
  | 'decimal_text'
  | 'integer'
  | 'boolean'
  | 'json';

export interface ExportColumn {
  /** The column's name in the data dictionary. */
  readonly name: string;
  readonly kind: ColumnKind;
  /** The text above the column in CSV and XLSX files; absent: its name. */
  readonly heading?: string;
}

/**
 * The cells of a row in the order of its columns, as PostgreSQL writes them: exact decimals, dates
 * as `YYYY-MM-DD`, `true` and `false`, JSON text.
 */
export type ExportRow = readonly (string | null)[];

/** In batches, because a promise for each row would slow down an export of a million rows. */
export type RowBatches = AsyncIterable<readonly ExportRow[]>;

/**
 * The length of a chunk of output in UTF-16 units. Much longer texts are large objects to V8, and
 * buffers in queues outlive its minor collections. Both then wait for a major collection, and an
 * export of a million rows would hold tens of megabytes of garbage.
 */
export const CHUNK_LENGTH = 32_768;

const SEPARATOR: Readonly<Record<Language, string>> = { 'pt-BR': ';', en: ',' };

/** Without it, Excel reads UTF-8 as the code page of the machine. */
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Matches text that a spreadsheet would run as a formula (OWASP, CSV Injection): `=`, `+`, `-` or `@` or
 * their full-width forms, also after blanks, control characters or quotes, which some programs remove; and
 * text that begins with a tab or a line break, which moves the rest into another cell.
 */
const FORMULA_START = /^(?:'*[\t\r\n]|[\s\p{Cc}"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/u;

/**
 * Matches text that a spreadsheet would turn into a number, a date or a time, such as `00007`, `12E-3`, `(5)`, `R$ 5`,
 * `1-2` or `12MAR`, and with it change an identifier.
 */
const VALUE_LIKE =
  /^(?=.*\d)(?:(?:[\d.,:/%()$€ \u00A0-]|R\$)+(?:e[+-]?\d+[ )]*)?|\d{0,4}[ /-]?(?:jan|fe[bv]|mar|a[bp]r|ma[iy]|ju[nl]|a[gu][og]|se[tp]|o[cu]t|nov|de[cz])\p{L}*[ /-]?\d{0,4})$/iu;

/** Both separators and the tab, because a reader with another separator must not find additional cells. */
const NEEDS_QUOTES = /[";,\t\r\n]|^\s|\s$/;

/**
 * Encodes rows as UTF-8 with a byte order mark, CRLF and a header with the column names (RFC 4180).
 * Null is an empty cell, empty text is `""`. Amounts, and texts that are plain decimals, keep every stored digit.
 * Text that a spreadsheet would run as a formula gets a leading `'`. To restore the data, remove a leading `'` if the
 * text after it is a formula.
 * @param locale the separators of cells and decimals
 * @param language `en`: for programs, dates are `YYYY-MM-DD` and text is as it is. `pt-BR`: for a person with Excel,
 * dates are `dd/mm/aaaa`, and text that Excel would turn into a number or date is `="text"`, which Excel shows as it is
 */
export function writeCsv(
  columns: readonly ExportColumn[],
  batches: RowBatches,
  locale: Language,
  language: Language = locale,
): AsyncGenerator<Buffer> {
  const separator = SEPARATOR[locale];
  const header = columns.map(({ name, heading }) => heading ?? name).join(separator);
  return writeLines(`${BYTE_ORDER_MARK}${header}\r\n`, batches, (row) => {
    let line = '';
    for (const [index, { kind }] of columns.entries()) {
      if (index > 0) line += separator;
      const cell = row[index] ?? null;
      if (cell !== null) line += encodeCell(cell, kind, locale, language === 'pt-BR');
    }
    return `${line}\r\n`;
  });
}

function encodeCell(cell: string, kind: ColumnKind, locale: Language, isForExcel: boolean): string {
  if (kind === 'amount' || (kind === 'decimal_text' && isPlainDecimal(cell))) {
    return locale === 'en' ? cell : cell.replace('.', ',');
  }
  if (kind === 'date' && isForExcel) return cell.split('-').reverse().join('/');
  if (kind !== 'text' && kind !== 'decimal_text' && kind !== 'json') return cell;
  if (kind === 'text' && isForExcel && VALUE_LIKE.test(cell)) return `"=""${cell}"""`;
  const text = FORMULA_START.test(cell) ? `'${cell}` : cell;
  return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Encodes rows as one JSON object a line (https://jsonlines.org), UTF-8, with every column in every
 * object and null for missing values. Amounts are strings with the exact decimal, because most JSON
 * parsers would round a number to a double. `id` and `occurrence` are numbers, dates `YYYY-MM-DD`
 * strings, `extra` is the stored JSON.
 */
export function writeJsonl(
  columns: readonly ExportColumn[],
  batches: RowBatches,
): AsyncGenerator<Buffer> {
  const fields = columns.map((column, index) => ({
    kind: column.kind,
    key: `${index === 0 ? '{' : ','}${JSON.stringify(column.name)}:`,
  }));
  return writeLines('', batches, (row) => {
    let line = '';
    for (const [index, field] of fields.entries()) {
      line += field.key + encodeValue(row[index] ?? null, field.kind);
    }
    return `${line}}\n`;
  });
}

/** PostgreSQL's text of integers, booleans and json is valid JSON. */
function encodeValue(cell: string | null, kind: ColumnKind): string {
  if (cell === null) return 'null';
  return kind === 'integer' || kind === 'boolean' || kind === 'json' ? cell : JSON.stringify(cell);
}

async function* writeLines(
  head: string,
  batches: RowBatches,
  lineOf: (row: ExportRow) => string,
): AsyncGenerator<Buffer> {
  let lines = head;
  for await (const rows of batches) {
    for (const row of rows) {
      lines += lineOf(row);
      if (lines.length >= CHUNK_LENGTH) {
        yield Buffer.from(lines);
        lines = '';
      }
    }
  }
  yield Buffer.from(lines);
}
