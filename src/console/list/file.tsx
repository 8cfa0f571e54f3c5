/** The files of a list: the columns of its table, over all rows that its filter selects. */
import { type ColumnKind, type RowBatches, writeCsv, writeJsonl } from '../../base/export/table.ts';
import { writeXlsx } from '../../base/export/xlsx.ts';
import { type Language, refusal } from '../../base/texts/texts.ts';
import { textParameter, usePage } from '../shell/page-context.ts';
import { ActionForm } from '../shell/parts.tsx';
import { type Column, cellOf, headingOf, type Words } from './columns.tsx';

const FILE_TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  jsonl: 'application/jsonl; charset=utf-8',
} as const;
export type FileFormat = keyof typeof FILE_TYPES;
export const fileTypeOf = (format: FileFormat): string => FILE_TYPES[format];

export const FILE_FORMATS = ['csv', 'xlsx'] as const;

/** @throws InputError for a form without one of the formats */
export function fileFormatOf<Format extends FileFormat>(
  form: unknown,
  formats: readonly Format[],
): Format {
  const format = formats.find((known) => known === textParameter(form, 'format'));
  if (format !== undefined) return format;
  throw refusal('file_format');
}

/** Returns the content type and the bytes of a file. Its words and headings are in the language of the reader. */
export function encodeList<Row>(
  list: {
    readonly columns: readonly Column<Row>[];
    readonly rows: AsyncIterable<readonly Row[]>;
    /** The number of rows in all batches. */
    readonly rowCount: number;
    readonly sheet: string;
  },
  format: FileFormat,
  page: Words,
  /** The separators of a CSV file. */
  locale: Language = page.language,
): { readonly type: string; readonly bytes: AsyncIterable<Uint8Array> } {
  const { columns, cellsOf } = tableOf(list.columns, page);
  const rows = (async function* (): RowBatches {
    for await (const batch of list.rows) yield batch.map(cellsOf);
  })();
  const bytesOf = {
    csv: () => writeCsv(columns, rows, locale, page.language),
    jsonl: () => writeJsonl(columns, rows),
    xlsx: () => writeXlsx({ name: list.sheet, columns, rows }, list.rowCount),
  };
  return { type: fileTypeOf(format), bytes: bytesOf[format]() };
}

/** Instants are texts. In Portuguese, which is for people, flags are words. */
function tableOf<Row>(all: readonly Column<Row>[], { language, text, formats }: Words) {
  const page = { language, text, formats };
  const isForPeople = language !== 'en';
  const written = all.filter(({ only }) => only !== 'page');
  const kindOf = ({ kind = 'text' }: Column<Row>): ColumnKind => {
    if (kind === 'count') return 'integer';
    if (kind === 'day') return 'date';
    if (kind === 'instant' || kind === 'author' || (kind === 'boolean' && isForPeople))
      return 'text';
    return kind;
  };
  const cellIn = (column: Column<Row>, row: Row) => {
    const cell = cellOf(column, row, page);
    if (cell instanceof Date) return isForPeople ? formats.instant(cell) : cell.toISOString();
    if (cell === null) return null;
    if (column.kind !== 'boolean' || !isForPeople) return String(cell);
    return text(cell === 'true' ? 'title.yes' : 'title.no');
  };
  return {
    columns: written.map((column) => ({
      name: column.name,
      kind: kindOf(column),
      ...(isForPeople && { heading: headingOf(column, text) }),
    })),
    cellsOf: (row: Row) => written.map((column) => cellIn(column, row)),
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
