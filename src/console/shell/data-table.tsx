import { type ComponentChildren, Fragment } from 'preact';
import type { AmountColumn } from '../../export/export-titles.sql.ts';
import type { PageContext } from './page-context.ts';
import { Amount, TableFrame } from './parts.tsx';

/** The head of a column. Figures are aligned to the right. */
export type ColumnHead = string | { readonly right: string };

export const right = (title: string): ColumnHead => ({ right: title });

/** A name of the interface, such as `platformDiscountedValue`, in a narrow column. */
export function Breakable({ text }: { text: string }) {
  return (
    <>
      {text.split(/(?<=[a-z])(?=[A-Z])/).map((part, index) => (
        <Fragment key={part}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  );
}

/** A table that scrolls horizontally on a narrow page. The children are its rows, `foot` the row of sums. */
export function DataTable(props: {
  readonly label: string;
  readonly heads: readonly ColumnHead[];
  readonly foot?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <TableFrame label={props.label}>
      <table class="data">
        <thead>
          <tr>
            {props.heads.map((head) =>
              typeof head === 'string' ? (
                <th key={head} scope="col">
                  {head}
                </th>
              ) : (
                <th key={head.right} scope="col" class="right">
                  <Breakable text={head.right} />
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
        {props.foot !== undefined && <tfoot>{props.foot}</tfoot>}
      </table>
    </TableFrame>
  );
}

/** The sums for tables without room for every amount. */
const MAIN_AMOUNTS = [
  'original_value',
  'platform_discounted_value',
  'financial_discounted_value',
] as const satisfies readonly AmountColumn[];

export function mainAmountHeads({ text }: PageContext): readonly ColumnHead[] {
  return MAIN_AMOUNTS.map((column) => right(text.amounts[column]));
}

export function MainAmountCells(props: { readonly sums: Readonly<Record<AmountColumn, string>> }) {
  return (
    <>
      {MAIN_AMOUNTS.map((column) => (
        <td key={column} class="right">
          <Amount value={props.sums[column]} />
        </td>
      ))}
    </>
  );
}
