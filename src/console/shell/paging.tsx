import type { ComponentChildren } from 'preact';
import { textParameter, usePage } from './page-context.ts';
import { ActionForm } from './parts.tsx';

/** A numbered page of a list. */
export interface Paging {
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** Returns the page that the parameter asks for, or the nearest page of the list. */
export function pagingOf(query: unknown, name: string, total: number, limit: number): Paging {
  const text = textParameter(query, name) ?? '1';
  const wanted = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1;
  const pages = Math.max(1, Math.ceil(total / limit));
  const page = Math.min(wanted, pages);
  return { page, pages, total, limit, offset: (page - 1) * limit };
}

/** An address, or a form for parameters that must not get into one. */
export type Target =
  | string
  | {
      readonly action: string;
      readonly parameters: readonly (readonly [name: string, text: string])[];
    };

export function TargetLink(props: {
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

/** The place of the page in its list, and links to the pages before and after. */
export function Pager(props: {
  readonly label: string;
  readonly paging: Paging;
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
