import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { ConsoleParts } from './console-parts.ts';
import { type ErrorAnswer, renderErrorPage } from './error-page.tsx';
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
  readonly fault?: string;
  readonly status?: number;
}

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
