import type { ComponentChildren } from 'preact';
import { TableFrame } from './parts.tsx';

/** The head of a column. Figures are aligned to the right. */
export type ColumnHead = string | { readonly right: string };

export const right = (title: string): ColumnHead => ({ right: title });

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
                  {head.right}
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
