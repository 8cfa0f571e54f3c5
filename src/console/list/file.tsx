/** The files of a list: the columns of its table, over all rows that its filter selects. */
import { writeCsv } from '../../base/export/csv.ts';
import type { ColumnKind, RowBatches } from '../../base/export/table.ts';
import { type Sheet, writeXlsx } from '../../base/export/xlsx.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { textParameter, usePage } from '../shell/page-context.ts';
import { ActionForm } from '../shell/parts.tsx';
import { type Column, cellOf, type Words } from './columns.tsx';

const FILE_TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  jsonl: 'application/jsonl; charset=utf-8',
} as const;
export type FileFormat = keyof typeof FILE_TYPES;
export const fileTypeOf = (format: FileFormat): string => FILE_TYPES[format];

export const FILE_FORMATS = ['csv', 'xlsx'] as const;

const KINDS: Readonly<Record<Column<never>['kind'], ColumnKind>> = {
  text: 'text',
  date: 'date',
  amount: 'amount',
  count: 'integer',
  instant: 'text',
};

/** @throws InputError for a form without one of the formats */
export function fileFormatOf<Format extends FileFormat>(
  form: unknown,
  formats: readonly Format[],
): Format {
  const format = formats.find((known) => known === textParameter(form, 'format'));
  if (format !== undefined) return format;
  throw new InputError(`format: expected one of ${formats.join(', ')}`, {
    context: { fault: 'file_format' },
  });
}

/** Returns the content type and the bytes of a file. Its words and headings are in the language of the reader. */
export function encodeList<Row, Total>(
  list: {
    readonly columns: readonly Column<Row>[];
    readonly rows: AsyncIterable<readonly Row[]>;
    /** The number of rows in all batches. */
    readonly rowCount: number;
    readonly sheet: string;
    /** The last sheet of a workbook. Absent: there is none. */
    readonly totals?: {
      readonly columns: readonly Column<Total>[];
      readonly rows: readonly Total[];
      readonly sheet: string;
    };
  },
  format: (typeof FILE_FORMATS)[number],
  page: Words,
): { readonly type: string; readonly bytes: AsyncIterable<Uint8Array> } {
  const { totals } = list;
  const { columns, cellsOf } = tableOf(list.columns, page);
  const batches = (async function* (): RowBatches {
    for await (const rows of list.rows) yield rows.map(cellsOf);
  })();
  if (format === 'csv') {
    return { type: fileTypeOf(format), bytes: writeCsv(columns, batches, page.language) };
  }
  const sheets: Sheet[] = [{ name: list.sheet, columns, rows: batches }];
  if (totals !== undefined) {
    const last = tableOf(totals.columns, page);
    sheets.push({
      name: totals.sheet,
      columns: last.columns,
      rows: [totals.rows.map(last.cellsOf)],
    });
  }
  return { type: fileTypeOf(format), bytes: writeXlsx(sheets, list.rowCount) };
}

function tableOf<Row>(all: readonly Column<Row>[], page: Words) {
  const { language, text, formats } = page;
  const written = all.filter(({ only }) => only !== 'page');
  const asText = (cell: ReturnType<typeof cellOf>) => {
    if (!(cell instanceof Date)) return cell === null ? null : String(cell);
    return language === 'en' ? cell.toISOString() : formats.instant(cell);
  };
  return {
    columns: written.map(({ name, head, kind }) => ({
      name,
      kind: KINDS[kind],
      ...(language !== 'en' && { heading: text(head) }),
    })),
    cellsOf: (row: Row) => written.map((column) => asText(cellOf(column, row, page))),
  };
}

export function FileButtons(props: {
  readonly path: string;
  /** Of the filter. */
  readonly parameters: readonly (readonly [name: string, text: string])[];
  readonly formats?: readonly FileFormat[] | undefined;
}) {
  const { text } = usePage();
  return (
    <ActionForm action={`${props.path}/file`} class="buttons" isDownload>
      {props.parameters.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {(props.formats ?? FILE_FORMATS).map((format) => (
        <button key={format} type="submit" name="format" value={format} class="button">
          {text(`list.files.${format}`)}
        </button>
      ))}
    </ActionForm>
  );
}
