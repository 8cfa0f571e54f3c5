import { amountText } from '../../base/texts/texts.ts';

interface Column {
  readonly title: string;
  /** By default `left`. */
  readonly align?: 'left' | 'right';
}

export const right = (title: string): Column => ({ title, align: 'right' });

/** Formats rows as columns. A text is the title of a column that is aligned to the left. */
export function renderTable(
  heads: readonly (string | Column)[],
  rows: readonly (readonly string[])[],
): string {
  const columns = heads.map((head): Column => (typeof head === 'string' ? { title: head } : head));
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    columns
      .map((column, index) => {
        const cell = cells[index] ?? '';
        const width = widths[index] ?? 0;
        return column.align === 'right' ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width));
  return [line(columns.map((column) => column.title)), line(rule), ...rows.map(line)].join('\n');
}

/** Groups the digits of an exact decimal: `1234567.5` becomes `1,234,567.50`. No digit is dropped. */
export function formatAmount(decimal: string): string {
  return amountText(decimal, 'en');
}

export function formatCount(count: number): string {
  return formatAmount(String(count)).replace(/\.00$/, '');
}
