import type { ExportColumn } from '../../base/export/table.ts';
import { type Language, textOf } from '../../base/texts/texts.ts';

/**
 * Returns the heading of a column. English files have the names of the data dictionary, for programs too.
 * @throws Error for a column without a heading
 */
export function headingOf(column: string, language: Language): string {
  const text = textOf(language);
  const summed = column.endsWith('_sum')
    ? text.find(`headings.${column.slice(0, -'_sum'.length)}`)
    : null;
  const heading =
    summed === null ? text.find(`headings.${column}`) : text('titleFile.sum', { column: summed });
  if (heading === null) throw new Error(`there is no heading for ${column}`);
  return heading;
}

/** Returns the columns with the headings of the language. */
export function withHeadings(
  columns: readonly ExportColumn[],
  language: Language,
): readonly ExportColumn[] {
  return columns.map((column) => ({ ...column, heading: headingOf(column.name, language) }));
}
