import type { ComponentChildren } from 'preact';
import { type Target, TargetLink } from './paging.tsx';
import { TableFrame } from './parts.tsx';

/** The head of a column. Figures are aligned to the right. */
export type ColumnHead =
  | string
  | {
      readonly title: string;
      readonly isRight?: boolean;
      /** The list in another order. */
      readonly link?: Target | undefined;
      readonly sorted?: 'ascending' | 'descending' | undefined;
    };

export const right = (title: string): ColumnHead => ({ title, isRight: true });

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
            {props.heads.map((head) => {
              const { title, isRight, link, sorted } =
                typeof head === 'string' ? { title: head } : head;
              return (
                <th
                  key={title}
                  scope="col"
                  class={isRight === true ? 'right' : undefined}
                  aria-sort={sorted}
                >
                  {link === undefined ? title : <TargetLink to={link}>{title}</TargetLink>}
                  {sorted !== undefined && (
                    <span aria-hidden="true"> {sorted === 'ascending' ? '↑' : '↓'}</span>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
        {props.foot !== undefined && <tfoot>{props.foot}</tfoot>}
      </table>
    </TableFrame>
  );
}
