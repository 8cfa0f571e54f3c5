import { CHUNK_LENGTH } from './chunk-length.ts';
import type { ExportColumn, ExportRow, RowBatches } from './export-columns.ts';
import { createRowEncoder, type XlsxLimits } from './sheet-cells.ts';
import {
  contentTypesXml,
  PACKAGE_RELATIONSHIPS_XML,
  type SheetPart,
  STYLES_XML,
  sheetHead,
  sheetPath,
  sheetTail,
  workbookRelationshipsXml,
  workbookXml,
} from './workbook-parts.ts';
import { writeZip } from './zip.ts';

/** The row limit of an Excel sheet, less the header. */
const MAX_ROWS_PER_SHEET = 1_048_575;

export interface WorkbookContent {
  readonly columns: readonly ExportColumn[];
  readonly batches: RowBatches;
  /** The number of rows in all batches. A workbook names its sheets and their ranges before the rows. */
  readonly rowCount: number;
  readonly totals: {
    readonly columns: readonly ExportColumn[];
    readonly rows: readonly ExportRow[];
  };
  /** The names of the sheets; absent: `titles` and `totals`. */
  readonly sheets?: { readonly titles: string; readonly totals: string };
  readonly maxRowsPerSheet?: number;
}

export interface Workbook {
  readonly bytes: AsyncGenerator<Buffer>;
  /** Complete after the last byte. */
  readonly limits: Readonly<XlsxLimits>;
}

/**
 * Encodes an Excel workbook: the rows on the sheet `sheetName` (then `titles 2` and so on) with an
 * autofilter, the totals on `totals`, each with a frozen header. Numbers and dates are typed,
 * identifiers are text, and no text becomes a formula.
 */
export function writeXlsx(content: WorkbookContent): Workbook {
  const limits: XlsxLimits = { amountsAsText: 0, textsCut: 0 };
  return { bytes: zipWorkbook(content, limits), limits };
}

async function* zipWorkbook(content: WorkbookContent, limits: XlsxLimits): AsyncGenerator<Buffer> {
  const titleSheets = planSheets(content);
  const totals = {
    name: content.sheets?.totals ?? 'totals',
    columns: content.totals.columns,
    rowCount: content.totals.rows.length,
    // A filter would sort the line with the overall total among the dates.
    hasFilter: false,
  };
  const sheets = [...titleSheets, totals];
  const feed = createRowFeed(content.batches);
  const part = (path: string, xml: string) => ({ path, bytes: Buffer.from(xml) });
  try {
    yield* writeZip([
      // The first entry, by which programs recognise the type of the file.
      part('[Content_Types].xml', contentTypesXml(sheets)),
      part('_rels/.rels', PACKAGE_RELATIONSHIPS_XML),
      part('xl/workbook.xml', workbookXml(sheets)),
      part('xl/_rels/workbook.xml.rels', workbookRelationshipsXml(sheets)),
      part('xl/styles.xml', STYLES_XML),
      ...titleSheets.map((sheet, index) => ({
        path: sheetPath(index),
        bytes: () => titleSheetXml(sheet, feed, limits, index === titleSheets.length - 1),
      })),
      {
        path: sheetPath(titleSheets.length),
        bytes: () => rowsXml(totals, [content.totals.rows], limits),
      },
    ]);
  } finally {
    await feed.close();
  }
}

function planSheets({ columns, rowCount, maxRowsPerSheet, sheets }: WorkbookContent): SheetPart[] {
  const name = sheets?.titles ?? 'titles';
  const limit = maxRowsPerSheet ?? MAX_ROWS_PER_SHEET;
  return Array.from({ length: Math.max(1, Math.ceil(rowCount / limit)) }, (_, index) => ({
    name: index === 0 ? name : `${name} ${index + 1}`,
    columns,
    rowCount: Math.min(limit, rowCount - index * limit),
    hasFilter: true,
  }));
}

async function* titleSheetXml(
  sheet: SheetPart,
  feed: RowFeed,
  limits: XlsxLimits,
  isLast: boolean,
): AsyncGenerator<Buffer> {
  yield* rowsXml(sheet, feed.take(sheet.rowCount), limits);
  if (isLast && !(await feed.isExhausted())) {
    throw new Error('there are more rows than announced');
  }
}

async function* rowsXml(
  sheet: SheetPart,
  batches: RowBatches | Iterable<readonly ExportRow[]>,
  limits: XlsxLimits,
): AsyncGenerator<Buffer> {
  const encodeRow = createRowEncoder(sheet.columns, limits);
  let rowNumber = 1;
  yield Buffer.from(sheetHead(sheet));
  let xml = '';
  for await (const rows of batches) {
    for (const row of rows) {
      rowNumber += 1;
      xml += encodeRow(row, rowNumber);
      if (xml.length >= CHUNK_LENGTH) {
        yield Buffer.from(xml);
        xml = '';
      }
    }
  }
  if (rowNumber !== sheet.rowCount + 1) {
    throw new Error('there are fewer rows than announced');
  }
  yield Buffer.from(xml + sheetTail(sheet));
}

/** Passes the batches on to the sheets, and splits a batch at the end of a sheet. */
interface RowFeed {
  take(count: number): RowBatches;
  isExhausted(): Promise<boolean>;
  /** Closes the source, also before its end. */
  close(): Promise<void>;
}

function createRowFeed(batches: RowBatches): RowFeed {
  const source = batches[Symbol.asyncIterator]();
  let rest: readonly ExportRow[] = [];
  const fill = async () => {
    while (rest.length === 0) {
      const next = await source.next();
      if (next.done === true) return false;
      rest = next.value;
    }
    return true;
  };
  return {
    async *take(count) {
      let missing = count;
      while (missing > 0 && (await fill())) {
        const taken = rest.slice(0, missing);
        rest = rest.slice(taken.length);
        missing -= taken.length;
        yield taken;
      }
    },
    isExhausted: async () => !(await fill()),
    close: async () => {
      await source.return?.();
    },
  };
}
