/** The columns of a list, declared once for the table of the page and for files, and its numbered pages. */
import type { ComponentChildren } from 'preact';
import type { ColumnKind } from '../../base/export/table.ts';
import type { TextKey } from '../../base/texts/texts.ts';
import { parseCivilDate } from '../../base/values/business-day.ts';
import { type PageContext, textParameter, usePage } from '../shell/page-context.ts';
import { ActionForm, authorText, Card, DayLink, Instant } from '../shell/parts.tsx';

/** Words are in the language of the reader. */
type Value<Row> = (row: Row, page: Words) => Cell;
type Cell = string | number | Date | null;
type Word<Row> = (row: Row) => TextKey | null;

type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';
type CellName<Row> = { [Name in keyof Row]-?: Row[Name] extends Cell ? SnakeCase<Name> : never };

/**
 * The name is the heading in English files, and the key of the column's sum. The value is that in files, and on pages
 * where the column has no `cell`; absent: the text with the key `word`, or else the member of the row that the name says.
 */
export type Column<Row> = Look<Row> &
  (
    | { readonly name: string; readonly value: Value<Row> }
    | { readonly name: string; readonly value?: undefined; readonly word: Word<Row> }
    | { readonly name: string; readonly value?: undefined; readonly only: 'page' }
    | { readonly name: CellName<Row>[keyof Row]; readonly value?: undefined }
  );

interface Look<Row> {
  /** The heading on pages and in Portuguese files. Null: the name. */
  readonly head: TextKey | null;
  /**
   * Of the value; absent: text. Amounts are exact decimals as text. day: an accepted date, which links to its day.
   * author: who did something.
   */
  readonly kind?: ColumnKind | 'count' | 'instant' | 'day' | 'author';
  readonly word?: Word<Row>;
  readonly cell?: (row: Row, page: PageContext) => ComponentChildren;
  /** Where the content of a cell leads. Null: nowhere. */
  readonly href?: (row: Row) => string | null;
  /** What a page says below the content. Null or empty: nothing. */
  readonly note?: (row: Row, page: Words) => string | null;
  /** Whether the column names the row. */
  readonly isHead?: true;
  /** The word of the list's order by this column. Absent: the list has no such order. */
  readonly sort?: string;
  /** Absent: in both. */
  readonly only?: 'page' | 'file';
}

export const headingOf = (
  { head, name }: Pick<Look<never>, 'head'> & { readonly name: string },
  text: Words['text'],
): string => (head === null ? name : text(head));

export function cellOf<Row>(column: Column<Row>, row: Row, page: Words): Cell {
  const { name, kind, value, word } = column;
  const key = word?.(row);
  if (key !== undefined) return key && page.text(key);
  const member = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const stated =
    value === undefined ? (row as Readonly<Record<string, Cell>>)[member] : value(row, page);
  const cell = stated ?? null;
  return kind === 'author' && cell !== null ? authorText(page.text, String(cell)) : cell;
}

/** What a value may be written with. */
export type Words = Pick<PageContext, 'text' | 'formats' | 'language'>;

/** The sums of amounts and counts over all rows that the filter selects, by the name of the column. */
export type Sums = Readonly<Record<string, string | number>>;

const isNumber = ({ kind }: Look<never>) => kind === 'amount' || kind === 'count';

/** The order of the rows: the word of a column, with `-` in front if it descends. */
export interface Order {
  readonly by: string;
  readonly linkTo: (order: string) => Target;
}

/** The rows of a list, or of a part of a page. The table scrolls horizontally on a narrow page, also by keyboard. */
export function ListTable<Row>(props: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly sums?: Sums | undefined;
  readonly order?: Order | undefined;
}) {
  const { rows, sums, order } = props;
  const page = usePage();
  const columns = props.columns.filter(({ only }) => only !== 'file');
  const head = (column: Column<Row>) => {
    const { sort } = column;
    const by = sort !== undefined && order?.by.replace('-', '') === sort ? order.by : null;
    const heading = headingOf(column, page.text);
    return (
      <th
        key={column.name}
        scope="col"
        class={isNumber(column) ? 'right' : undefined}
        aria-sort={by === null ? undefined : by === sort ? 'ascending' : 'descending'}
      >
        {order === undefined || sort === undefined ? (
          heading
        ) : (
          <TargetLink to={order.linkTo(by === sort ? `-${sort}` : sort)}>{heading}</TargetLink>
        )}
        {by !== null && <span aria-hidden="true"> {by === sort ? '↑' : '↓'}</span>}
      </th>
    );
  };
  const cell = (column: Column<Row>, content: ComponentChildren) => (
    <td
      key={column.name}
      class={isNumber(column) ? 'right number' : undefined}
      data-label={headingOf(column, page.text)}
    >
      {content}
    </td>
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a section would be read out as one more chapter
    <div class="frame" role="group" aria-label={props.label} tabIndex={0}>
      <table class="data">
        <thead>
          <tr>{columns.map(head)}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map((column) => {
                const content = <Content column={column} row={row} />;
                if (column.isHead !== true) return cell(column, content);
                return (
                  <th key={column.name} scope="row">
                    {content}
                  </th>
                );
              })}
            </tr>
          ))}
        </tbody>
        {sums !== undefined && (
          <tfoot>
            <tr>
              {columns.map((column, index) =>
                cell(
                  column,
                  index === 0
                    ? page.text('list.sum')
                    : shown(sums[column.name] ?? '', column, page),
                ),
              )}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

function Content<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  const page = usePage();
  const content = column.cell?.(row, page) ?? shown(cellOf(column, row, page), column, page);
  const href = column.href?.(row) ?? null;
  const note = column.note?.(row, page) ?? '';
  return (
    <>
      {href === null ? content : <a href={href}>{content}</a>}
      {note !== '' && <p class="quiet small anywhere">{note}</p>}
    </>
  );
}

/** A table that is a part of a page. Without rows there is none, or a sentence. */
export function TableCard<Row>(props: {
  readonly id?: string;
  readonly head: TextKey;
  readonly help?: TextKey;
  readonly none?: TextKey;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly sums?: Sums;
  /** Below the table. */
  readonly children?: ComponentChildren;
}) {
  const { id, head, help, none, children, ...table } = props;
  const { text } = usePage();
  if (table.rows.length === 0 && none === undefined) return null;
  return (
    <Card title={text(head)} class="stack" {...(id !== undefined && { id })}>
      {help !== undefined && <p class="quiet">{text(help)}</p>}
      {table.rows.length === 0 && none !== undefined ? (
        <p class="quiet">{text(none)}</p>
      ) : (
        <ListTable label={text(head)} {...table} />
      )}
      {children}
    </Card>
  );
}

function shown(
  value: Cell,
  { kind }: Pick<Look<never>, 'kind'>,
  { formats }: Words,
): ComponentChildren {
  if (value === null) return '–';
  if (value instanceof Date) return <Instant at={value} />;
  if (typeof value === 'number') return formats.count(value);
  if (value === '') return '';
  if (kind === 'amount') return formats.amount(value);
  const date = kind === 'date' || kind === 'day' ? parseCivilDate(value) : null;
  if (date === null) return value;
  if (kind === 'day') return <DayLink date={date} />;
  return <span class="tight">{formats.date(date)}</span>;
}

/** An address, or a form for parameters that must not get into one. */
export type Target =
  | string
  | {
      readonly action: string;
      readonly parameters: readonly (readonly [name: string, text: string])[];
    };

function TargetLink(props: {
  readonly to: Target;
  readonly rel?: 'prev' | 'next';
  readonly children: ComponentChildren;
}) {
  const { to, rel, children } = props;
  return typeof to === 'string' ? (
    <a rel={rel} href={to}>
      {children}
    </a>
  ) : (
    <ActionForm action={to.action}>
      {to.parameters.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class="link">
        {children}
      </button>
    </ActionForm>
  );
}

/** Returns the page that the parameter asks for, from 1, or the nearest page of the list. */
export function pagingOf(query: unknown, total: number, limit: number) {
  const text = textParameter(query, 'page') ?? '1';
  const wanted = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1;
  const pages = Math.max(1, Math.ceil(total / limit));
  const page = Math.min(wanted, pages);
  return { page, pages, total, limit, offset: (page - 1) * limit };
}

/** The place of the page in its list, and links to the pages before and after. */
export function Pager(props: {
  readonly label: string;
  readonly paging: ReturnType<typeof pagingOf>;
  readonly hrefOf: (page: number) => Target;
}) {
  const { paging, hrefOf } = props;
  const { text, formats } = usePage();
  const { page, pages, total, limit, offset } = paging;
  return (
    <>
      <p class="quiet small">
        {text('paging.shown', {
          from: formats.count(offset + 1),
          to: formats.count(Math.min(offset + limit, total)),
          total: formats.count(total),
        })}
      </p>
      {pages > 1 && (
        <nav class="pager" aria-label={props.label}>
          {page > 1 && (
            <>
              <TargetLink to={hrefOf(1)}>{text('paging.first')}</TargetLink>
              <TargetLink rel="prev" to={hrefOf(page - 1)}>
                ← {text('paging.previous')}
              </TargetLink>
            </>
          )}
          {page < pages && (
            <TargetLink rel="next" to={hrefOf(page + 1)}>
              {text('paging.next')} →
            </TargetLink>
          )}
        </nav>
      )}
    </>
  );
}
