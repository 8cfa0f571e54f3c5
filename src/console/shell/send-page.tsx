import type { FastifyReply, FastifyRequest } from 'fastify';
import type { InputError } from '../../base/runtime/errors.ts';
import { type Fault, faultText } from '../../base/texts/texts.ts';
import { parseCivilDate } from '../../base/values/business-day.ts';
import type { ConsoleParts } from './console-parts.ts';
import { type Page, renderPage } from './layout.tsx';
import { type PageContext, pageContext } from './page-context.ts';

/** Allows only files of this server, and neither scripts nor styles inside the page. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface PageAnswer extends Page {
  readonly status?: number;
}

/** Does not use the database, because its failure may be what the page says. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { timeZone }: Pick<ConsoleParts, 'timeZone'>,
  render: (context: PageContext) => PageAnswer,
): Promise<FastifyReply> {
  const context = pageContext(request, timeZone);
  const { status = 200, ...page } = render(context);
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('content-security-policy', PAGE_POLICY)
    .send(renderPage(context, page));
}

/** What a program gets. A person gets a page. */
export interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Of a feed: where to read again from. */
  readonly position?: unknown;
  /** Has a sentence for the person. Absent: the sentence for the status. */
  readonly fault?: InputError;
}

const PAGES: Readonly<Record<number, 'badRequest' | 'forbidden' | 'notFound' | 'unavailable'>> = {
  400: 'badRequest',
  403: 'forbidden',
  404: 'notFound',
  503: 'unavailable',
};

export function errorPage(context: PageContext, { status, fault }: ErrorAnswer): PageAnswer {
  const { text } = context;
  const page = PAGES[status] ?? 'internal';
  const title = text(fault === undefined ? `errors.${page}` : 'errors.refused');
  return {
    title,
    active: null,
    status,
    body: (
      <div class="narrow">
        <section class="card stack">
          <h1>{title}</h1>
          {fault === undefined ? (
            <p class="quiet">{text(`errors.${page}Help`)}</p>
          ) : (
            <p>{faultSentence(context, fault)}</p>
          )}
          <p>
            <a href="/" data-back>
              {text('errors.back')}
            </a>
          </p>
        </section>
      </div>
    ),
  };
}

/** The status of a fault that is not that of a bad request. */
const STATUS: ReadonlyMap<unknown, number> = new Map<Fault, number>([
  ['wrong_sign_in', 401],
  ['wrong_proof', 401],
  ['oidc_denied', 401],
  ['oidc_refused', 401],
  ['oidc_unknown', 403],
  ['oidc_unverified', 403],
  ['oidc_disabled', 403],
  ['rights_ended', 403],
  ['link_gone', 404],
  // A day that is not ready for a sign-off.
  ['payment_held', 409],
  ['not_checked', 409],
  ['altered', 409],
  ['too_many_tries', 429],
  ['oidc_unavailable', 503],
  ['sign_ins_busy', 503],
]);

export const statusOf = ({ context: { fault } }: InputError): number => STATUS.get(fault) ?? 400;

/**
 * Returns the sentence of an error in the language of the reader. Its dates and numbers are those of
 * the error's context. An error without a known fault keeps its English message.
 */
export function faultSentence({ text, formats }: PageContext, error: InputError): string {
  const { fault, ...values } = error.context;
  const shown = Object.entries(values).map(([name, value]) => {
    const date = typeof value === 'string' ? parseCivilDate(value) : null;
    if (date !== null) return [name, formats.date(date)];
    if (name === 'month') return [name, formats.month(String(value))];
    return [name, typeof value === 'number' ? formats.count(value) : String(value)];
  });
  return faultText(text, fault, Object.fromEntries(shown)) ?? error.message;
}
