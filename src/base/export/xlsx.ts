import { InputError } from '../runtime/errors.ts';
import { daysBetween, parseCivilDate, toCivilDate } from '../values/business-day.ts';
import { isPlainDecimal } from '../values/decimal.ts';
import { CHUNK_LENGTH, type ColumnKind, type ExportColumn, type RowBatches } from './table.ts';
import { writeZip } from './zip.ts';

/** The row limit of an Excel sheet, less the header. */
const MAX_ROWS = 1_048_575;
/** Excel stores a number as a double and shows at most this many digits. */
const EXCEL_DIGITS = 15;
/** In UTF-16 units. Excel reports a file with a longer cell as damaged. */
const EXCEL_TEXT_LENGTH = 32_767;

export interface Sheet {
  /** Without markup and quotes, at most 31 characters. */
  readonly name: string;
  readonly columns: readonly ExportColumn[];
  readonly rows: RowBatches;
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * Encodes an Excel workbook (ECMA-376) of a sheet with a frozen header and an autofilter. Numbers and dates are typed,
 * identifiers are text, and no text becomes a formula.
 * @throws InputError at once when a sheet of Excel has no room for the rows
 */
export function writeXlsx(sheet: Sheet, rowCount: number): AsyncGenerator<Buffer> {
  if (rowCount > MAX_ROWS) {
    const problem = `a sheet of Excel has at most ${MAX_ROWS} rows: choose csv or fewer rows`;
    throw new InputError(problem, { context: { fault: 'file_rows' } });
  }
  const part = (path: string, xml: string) => ({ path, bytes: Buffer.from(XML + xml) });
  return writeZip([
    // The first entry, by which programs recognise the type of the file.
    part(
      '[Content_Types].xml',
      `<Types xmlns="${PACKAGE}/content-types">` +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        '<Default Extension="xml" ContentType="application/xml"/>' +
        `<Override PartName="/xl/workbook.xml" ContentType="${CONTENT}.sheet.main+xml"/>` +
        `<Override PartName="/xl/styles.xml" ContentType="${CONTENT}.styles+xml"/>` +
        `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${CONTENT}.worksheet+xml"/></Types>`,
    ),
    part('_rels/.rels', relationships({ officeDocument: 'xl/workbook.xml' })),
    part(
      'xl/workbook.xml',
      `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">` +
        `<sheets><sheet name="${sheet.name}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ),
    part(
      'xl/_rels/workbook.xml.rels',
      relationships({ worksheet: 'worksheets/sheet1.xml', styles: 'styles.xml' }),
    ),
    part('xl/styles.xml', STYLES),
    { path: 'xl/worksheets/sheet1.xml', bytes: () => sheetXml(sheet) },
  ]);
}

/** @param targets by the type of the relationship; the first has the id rId1 */
function relationships(targets: Readonly<Record<string, string>>): string {
  const each = Object.entries(targets).map(
    ([type, target], index) =>
      `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${each.join('')}</Relationships>`;
}

/** Indexes into the cell formats of `STYLES`. */
const STYLE = { header: 1, date: 2, amount: 3, decimal_text: 3, integer: 4, text: 5 } as const;

/** Format 14 is the short date of the reader's region. Format 49 is text, so an edited identifier stays text. */
const STYLES =
  `<styleSheet xmlns="${MAIN}">` +
  '<numFmts count="1"><numFmt numFmtId="164" formatCode="#,##0.00##########"/></numFmts>' +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font>' +
  '<font><b/><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill>' +
  '<fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  '<cellXfs count="6">' +
  [
    'numFmtId="0" fontId="0"',
    'numFmtId="49" fontId="1" applyNumberFormat="1" applyFont="1"',
    'numFmtId="14" fontId="0" applyNumberFormat="1"',
    'numFmtId="164" fontId="0" applyNumberFormat="1"',
    'numFmtId="1" fontId="0" applyNumberFormat="1"',
    'numFmtId="49" fontId="0" applyNumberFormat="1"',
  ]
    .map((format) => `<xf ${format} fillId="0" borderId="0" xfId="0"/>`)
    .join('') +
  '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>' +
  '</styleSheet>';

const LEAST_WIDTH = 18;

async function* sheetXml({ columns, rows }: Sheet): AsyncGenerator<Buffer> {
  const letters = columns.map((_, index) => columnLetters(index));
  const widths = columns.map(
    ({ name }, index) =>
      `<col min="${index + 1}" max="${index + 1}" width="${Math.max(LEAST_WIDTH, name.length + 4)}" customWidth="1"/>`,
  );
  const header = columns.map(({ name, heading = name }, index) =>
    textCell(`<c r="${letters[index]}1"`, heading, STYLE.header),
  );
  let xml =
    `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
    '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews>' +
    `<cols>${widths.join('')}</cols><sheetData><row r="1">${header.join('')}</row>`;
  let last = 1;
  for await (const batch of rows) {
    for (const row of batch) {
      last += 1;
      xml += `<row r="${last}">`;
      for (const [index, { kind }] of columns.entries()) {
        const cell = row[index] ?? null;
        if (cell === null) continue;
        xml += encodeCell(`<c r="${letters[index]}${last}"`, cell, kind);
      }
      xml += '</row>';
      if (xml.length >= CHUNK_LENGTH) {
        yield Buffer.from(xml);
        xml = '';
      }
    }
  }
  const range = `A1:${letters.at(-1)}${last}`;
  // Excel would warn about digits in text cells.
  yield Buffer.from(
    `${xml}</sheetData><autoFilter ref="${range}"/>` +
      `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors></worksheet>`,
  );
}

/** Returns `A` for 0, `AA` for 26. */
function columnLetters(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : columnLetters(Math.floor(index / 26) - 1) + letter;
}

function encodeCell(open: string, cell: string, kind: ColumnKind): string {
  if (kind === 'boolean') return `${open} t="b"><v>${cell === 'true' ? 1 : 0}</v></c>`;
  const isNumber = kind === 'amount' || kind === 'integer' || kind === 'decimal_text';
  if (isNumber && isExactInExcel(cell)) {
    return `${open} s="${STYLE[kind]}"><v>${cell}</v></c>`;
  }
  const serial = kind === 'date' ? toSerialDate(cell) : null;
  if (serial !== null) return `${open} s="${STYLE.date}"><v>${serial}</v></c>`;
  return textCell(open, cutText(cell), STYLE.text);
}

/**
 * Whether Excel keeps the plain decimal exactly. Zeros at either end do not count. The digits go
 * into the file unchanged, without a JavaScript number in between.
 */
function isExactInExcel(decimal: string): boolean {
  if (!isPlainDecimal(decimal)) return false;
  const digits = decimal.replace(/[-.]/g, '').replace(/^0+|0+$/g, '');
  return digits.length <= EXCEL_DIGITS;
}

const SERIAL_ORIGIN = toCivilDate('1899-12-30');
const FIRST_SERIAL_DATE = '1900-03-01';

/** Returns the day number of Excel, or null before 1 March 1900: its calendar has a 29 February 1900. */
function toSerialDate(text: string): number | null {
  const date = parseCivilDate(text);
  return date === null || date < FIRST_SERIAL_DATE ? null : daysBetween(SERIAL_ORIGIN, date);
}

/** Inline text, because a table of shared strings would have to be kept in memory. */
function textCell(open: string, text: string, style: number): string {
  const space = /^\s|\s$|[\t\n]/.test(text) ? ' xml:space="preserve"' : '';
  return `${open} t="inlineStr" s="${style}"><is><t${space}>${escapeText(text)}</t></is></c>`;
}

/** A text that is cut ends with `…`. CSV and JSONL files hold it completely. */
function cutText(text: string): string {
  if (text.length <= EXCEL_TEXT_LENGTH) return text;
  // Does not split a character outside the basic multilingual plane.
  return text.slice(0, EXCEL_TEXT_LENGTH - 1).replace(/[\uD800-\uDBFF]?$/, '…');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Markup, characters that XML cannot hold or would normalise, and the escapes of Excel. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into XML
const NEEDS_ESCAPE = /[&<>\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]|_(?=x[0-9A-Fa-f]{4}_)/g;

/** Characters outside XML as `_xHHHH_`, a literal escape's underscore as `_x005F_` (ECMA-376, ST_Xstring). */
function escapeText(text: string): string {
  return text.replace(
    NEEDS_ESCAPE,
    (character) =>
      ENTITIES[character] ??
      `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  );
}
