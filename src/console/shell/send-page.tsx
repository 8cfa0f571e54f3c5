import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { InputError } from '../../base/runtime/errors.ts';
import { parseCivilDate } from '../../base/values/business-day.ts';
import type { ConsoleParts } from './console-parts.ts';
import { type NavigationPath, renderPage } from './layout.tsx';
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

export interface PageAnswer {
  readonly title: string;
  readonly active: NavigationPath | null;
  readonly body: VNode;
  /** See `Page`. */
  readonly refreshSeconds?: number;
  readonly status?: number;
}

/** Sends the page that `render` returns for this reader. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ConsoleParts,
  render: (context: PageContext) => PageAnswer,
): Promise<FastifyReply> {
  const context = pageContext(request, parts.timeZone);
  const { status = 200, ...page } = render(context);
  return sendHtml(reply.code(status), renderPage(context, page));
}

/** Does not use the database, because its failure may be the error. */
export function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  timeZone: string,
  error: ErrorAnswer,
): FastifyReply {
  const context = pageContext(request, timeZone);
  return sendHtml(reply.code(error.status), renderErrorPage(context, error));
}

function sendHtml(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', PAGE_POLICY)
    .send(html);
}

export interface ErrorAnswer {
  readonly status: number;
  /** An error with a sentence for the user; null: the sentence for the status. */
  readonly fault: InputError | null;
  /** For status 503: the service is overloaded, and the database answers. */
  readonly isBusy?: boolean;
}

function renderErrorPage(
  context: PageContext,
  { status, fault, isBusy = false }: ErrorAnswer,
): string {
  const { text } = context;
  const message = fault === null ? null : faultSentence(context, fault);
  const [title, help] = {
    400:
      message === null
        ? [text('errors.badRequest'), text('errors.badRequestHelp')]
        : [text('errors.refused'), null],
    403: [text('errors.forbidden'), text('errors.forbiddenHelp')],
    404: [text('errors.notFound'), text('errors.notFoundHelp')],
    503: [
      isBusy ? text('errors.busy') : text('errors.unavailable'),
      text('errors.unavailableHelp'),
    ],
  }[status] ?? [text('errors.internal'), text('errors.internalHelp')];
  return renderPage(context, {
    title: title ?? text('errors.internal'),
    active: null,
    body: (
      <div class="narrow">
        <section class="card">
          <h1>{title}</h1>
          {message !== null && <p>{message}</p>}
          {help !== null && <p class="quiet">{help}</p>}
          <p>
            <a href="/" data-back>
              {text('errors.back')}
            </a>
          </p>
        </section>
      </div>
    ),
  });
}

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
  return text.find(`faults.${fault}`, Object.fromEntries(shown)) ?? error.message;
}
