import { textParameter, usePage } from './page-context.ts';

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

/** The place of the page in its list, and links to the pages before and after. */
export function Pager(props: {
  readonly label: string;
  readonly paging: Paging;
  readonly hrefOf: (page: number) => string;
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
              <a href={hrefOf(1)}>{text('titles.first')}</a>
              <a rel="prev" href={hrefOf(page - 1)}>
                ← {text('titles.previous')}
              </a>
            </>
          )}
          {page < pages && (
            <a rel="next" href={hrefOf(page + 1)}>
              {text('titles.next')} →
            </a>
          )}
        </nav>
      )}
    </>
  );
}
