import { daysBetween, parseCivilDate, toCivilDate } from '../domain/business-day.ts';
import type { ColumnKind, ExportColumn, ExportRow } from './export-columns.ts';

/** Indexes into the cell formats of `STYLES` in workbook-parts.ts. */
const STYLE = { header: 1, date: 2, amount: 3, integer: 4, text: 5 } as const;

/** Excel stores a number as a double and shows at most this many digits. */
const EXCEL_DIGITS = 15;
/** In UTF-16 units. Excel reports a file with a longer cell as damaged. */
const EXCEL_TEXT_LENGTH = 32_767;

/** The values that a workbook cannot hold unchanged. The counts grow while the file is written. */
export interface XlsxLimits {
  /** Amounts with more digits than Excel keeps, written as text. */
  amountsAsText: number;
  /** Texts that were cut to the limit of a cell. CSV and JSONL files hold them completely. */
  textsCut: number;
}

/** Returns `A` for 0, `AA` for 26. */
export function columnLetters(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : columnLetters(Math.floor(index / 26) - 1) + letter;
}

/** Returns an encoder for rows of these columns to XML. Null cells are left out. */
export function createRowEncoder(
  columns: readonly ExportColumn[],
  limits: XlsxLimits,
): (row: ExportRow, rowNumber: number) => string {
  const places = columns.map((column, index) => ({
    kind: column.kind,
    letters: columnLetters(index),
  }));
  return (row, rowNumber) => {
    let xml = `<row r="${rowNumber}">`;
    for (const [index, { kind, letters }] of places.entries()) {
      const cell = row[index] ?? null;
      if (cell !== null) xml += encodeCell(`<c r="${letters}${rowNumber}"`, cell, kind, limits);
    }
    return `${xml}</row>`;
  };
}

export function encodeHeader(columns: readonly ExportColumn[]): string {
  const cells = columns.map(({ name, heading = name }, index) =>
    textCell(`<c r="${columnLetters(index)}1"`, heading, STYLE.header),
  );
  return `<row r="1">${cells.join('')}</row>`;
}

function encodeCell(open: string, cell: string, kind: ColumnKind, limits: XlsxLimits): string {
  switch (kind) {
    case 'amount':
      if (isExactInExcel(cell)) return `${open} s="${STYLE.amount}"><v>${cell}</v></c>`;
      limits.amountsAsText += 1;
      break;
    case 'integer':
      if (isExactInExcel(cell)) return `${open} s="${STYLE.integer}"><v>${cell}</v></c>`;
      break;
    case 'boolean':
      return `${open} t="b"><v>${cell === 'true' ? 1 : 0}</v></c>`;
    case 'date': {
      const serial = toSerialDate(cell);
      if (serial !== null) return `${open} s="${STYLE.date}"><v>${serial}</v></c>`;
      break;
    }
    case 'text':
    case 'decimal_text':
    case 'json':
      break;
  }
  if (cell.length <= EXCEL_TEXT_LENGTH) return textCell(open, cell, STYLE.text);
  limits.textsCut += 1;
  return textCell(open, cutText(cell), STYLE.text);
}

/**
 * Whether Excel keeps the plain decimal exactly. Zeros at either end do not count. The digits go
 * into the file unchanged, without a JavaScript number in between.
 */
function isExactInExcel(decimal: string): boolean {
  if (!/^-?\d+(?:\.\d+)?$/.test(decimal)) return false;
  const digits = decimal.replace(/[-.]/g, '').replace(/^0+|0+$/g, '');
  return digits.length <= EXCEL_DIGITS;
}

const SERIAL_ORIGIN = toCivilDate('1899-12-30');
const FIRST_SERIAL_DATE = '1900-03-01';

/**
 * Returns the day number of Excel's calendar, or null for a date before 1 March 1900: Excel's
 * calendar has a 29 February 1900, so earlier dates would be off by one.
 */
function toSerialDate(text: string): number | null {
  const date = parseCivilDate(text);
  return date === null || date < FIRST_SERIAL_DATE ? null : daysBetween(SERIAL_ORIGIN, date);
}

/** Inline text, because a table of shared strings would have to be kept in memory. */
function textCell(open: string, text: string, style: number): string {
  const space = /^\s|\s$|[\t\n]/.test(text) ? ' xml:space="preserve"' : '';
  return `${open} t="inlineStr" s="${style}"><is><t${space}>${escapeText(text)}</t></is></c>`;
}

function cutText(text: string): string {
  const cut = text.slice(0, EXCEL_TEXT_LENGTH);
  // Does not split a character outside the basic multilingual plane.
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Markup, characters that XML cannot hold or would normalise, and the escapes of Excel. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into XML
const NEEDS_ESCAPE = /[&<>\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]|_(?=x[0-9A-Fa-f]{4}_)/g;

/**
 * Escapes characters outside XML as `_xHHHH_`, and a literal escape's underscore as `_x005F_`
 * (ECMA-376, ST_Xstring).
 */
function escapeText(text: string): string {
  return text.replace(
    NEEDS_ESCAPE,
    (character) =>
      ENTITIES[character] ??
      `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  );
}
