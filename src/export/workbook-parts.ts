import type { ColumnKind, ExportColumn } from './export-columns.ts';
import { columnLetters, encodeHeader } from './sheet-cells.ts';

/** The fixed parts of an Office Open XML workbook, ECMA-376 part 1, and the frame of a sheet. */

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** A sheet of the workbook. `name` has neither markup nor quotes and at most 31 characters. */
export interface SheetPart {
  readonly name: string;
  readonly columns: readonly ExportColumn[];
  /** Rows without the header. */
  readonly rowCount: number;
  readonly hasFilter: boolean;
}

export function sheetPath(index: number): string {
  return `xl/worksheets/sheet${index + 1}.xml`;
}

export function contentTypesXml(sheets: readonly SheetPart[]): string {
  const overrides = sheets.map(
    (_, index) =>
      `<Override PartName="/${sheetPath(index)}" ContentType="${CONTENT}.worksheet+xml"/>`,
  );
  return (
    `${XML}<Types xmlns="${PACKAGE}/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Default Extension="xml" ContentType="application/xml"/>' +
    `<Override PartName="/xl/workbook.xml" ContentType="${CONTENT}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${CONTENT}.styles+xml"/>` +
    `${overrides.join('')}</Types>`
  );
}

export const PACKAGE_RELATIONSHIPS_XML =
  `${XML}<Relationships xmlns="${PACKAGE}/relationships">` +
  `<Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;

export function workbookRelationshipsXml(sheets: readonly SheetPart[]): string {
  const targets = sheets.map(
    (_, index) =>
      `<Relationship Id="rId${index + 1}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${index + 1}.xml"/>`,
  );
  return (
    `${XML}<Relationships xmlns="${PACKAGE}/relationships">${targets.join('')}` +
    `<Relationship Id="rId${sheets.length + 1}" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`
  );
}

export function workbookXml(sheets: readonly SheetPart[]): string {
  const entries = sheets.map(
    ({ name }, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  );
  // Excel stores the range of an autofilter under this name as well.
  const filters = sheets.flatMap((sheet, index) =>
    sheet.hasFilter
      ? `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">` +
        `'${sheet.name}'!$A$1:$${lastColumn(sheet)}$${sheet.rowCount + 1}</definedName>`
      : [],
  );
  return (
    `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${entries.join('')}</sheets>` +
    `<definedNames>${filters.join('')}</definedNames></workbook>`
  );
}

/**
 * Number format 14 is the short date of the reader's region. Format 49 marks text, so that an
 * edited identifier stays text. An amount shows at least two decimals.
 */
export const STYLES_XML =
  `${XML}<styleSheet xmlns="${MAIN}">` +
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

const WIDTHS: Readonly<Record<ColumnKind, number>> = {
  text: 22,
  decimal_text: 22,
  date: 14,
  amount: 18,
  integer: 12,
  boolean: 12,
  json: 30,
};

/** Returns the XML before the rows of a sheet, including the frozen header row. */
export function sheetHead(sheet: SheetPart): string {
  const columns = sheet.columns.map(
    ({ name, kind }, index) =>
      `<col min="${index + 1}" max="${index + 1}" width="${Math.max(WIDTHS[kind], name.length + 4)}" customWidth="1"/>`,
  );
  return (
    `${XML}<worksheet xmlns="${MAIN}"><dimension ref="${rangeOf(sheet)}"/>` +
    '<sheetViews><sheetView workbookViewId="0">' +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
    '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews>' +
    `<cols>${columns.join('')}</cols><sheetData>${encodeHeader(sheet.columns)}`
  );
}

/** Returns the XML after the rows. It turns off Excel's warning about digits in text cells. */
export function sheetTail(sheet: SheetPart): string {
  const range = rangeOf(sheet);
  return (
    `</sheetData>${sheet.hasFilter ? `<autoFilter ref="${range}"/>` : ''}` +
    `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors></worksheet>`
  );
}

function rangeOf(sheet: SheetPart): string {
  return `A1:${lastColumn(sheet)}${sheet.rowCount + 1}`;
}

function lastColumn(sheet: SheetPart): string {
  return columnLetters(sheet.columns.length - 1);
}
