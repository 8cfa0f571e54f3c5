/** The files of a list: the columns of its table, over all rows that its filter selects. */
import { writeCsv } from '../../base/export/csv.ts';
import type { ColumnKind, RowBatches } from '../../base/export/table.ts';
import { writeXlsx } from '../../base/export/xlsx.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { textParameter, usePage } from '../shell/page-context.ts';
import { ActionForm } from '../shell/parts.tsx';
import type { Column, Words } from './columns.tsx';

const FILE_FORMATS = ['csv', 'xlsx'] as const;
type FileFormat = (typeof FILE_FORMATS)[number];

const FILE_TYPES: Readonly<Record<FileFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

const KINDS: Readonly<Record<Column<never>['kind'], ColumnKind>> = {
  text: 'text',
  date: 'date',
  amount: 'amount',
  count: 'integer',
  instant: 'text',
};

/** @throws InputError for a form without a format of files */
export function fileFormatOf(form: unknown): FileFormat {
  const format = FILE_FORMATS.find((known) => known === textParameter(form, 'format'));
  if (format !== undefined) return format;
  throw new InputError('format: expected one of csv, xlsx', { context: { fault: 'file_format' } });
}

/** Returns the content type and the bytes of a file. Its words and headings are in the language of the reader. */
export function encodeList<Row>(
  list: {
    readonly columns: readonly Column<Row>[];
    readonly rows: AsyncIterable<readonly Row[]>;
    /** The number of rows in all batches. */
    readonly rowCount: number;
    /** The name of the sheet of a workbook. */
    readonly sheet: string;
  },
  format: FileFormat,
  page: Words,
): { readonly type: string; readonly bytes: AsyncIterable<Uint8Array> } {
  const { language, text, formats } = page;
  const written = list.columns.filter(({ only }) => only !== 'page');
  const columns = written.map(({ name, head, kind }) => ({
    name,
    kind: KINDS[kind],
    ...(language !== 'en' && { heading: text(head) }),
  }));
  const cellOf = (cell: ReturnType<Column<Row>['value']>) => {
    if (!(cell instanceof Date)) return cell === null ? null : String(cell);
    return language === 'en' ? cell.toISOString() : formats.instant(cell);
  };
  const batches = (async function* (): RowBatches {
    for await (const rows of list.rows) {
      yield rows.map((row) => written.map(({ value }) => cellOf(value(row, page))));
    }
  })();
  const bytes =
    format === 'csv'
      ? writeCsv(columns, batches, language)
      : writeXlsx({ columns, batches, rowCount: list.rowCount, sheets: { titles: list.sheet } })
          .bytes;
  return { type: FILE_TYPES[format], bytes };
}

/** A button for each format. */
export function FileButtons(props: {
  readonly path: string;
  /** Of the filter. */
  readonly parameters: readonly (readonly [name: string, text: string])[];
}) {
  const { text } = usePage();
  return (
    <ActionForm action={`${props.path}/file`} class="buttons" isDownload>
      {props.parameters.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {FILE_FORMATS.map((format) => (
        <button key={format} type="submit" name="format" value={format} class="button">
          {text(`list.files.${format}`)}
        </button>
      ))}
    </ActionForm>
  );
}
