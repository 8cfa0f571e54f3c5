import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
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
  readonly fault?: string;
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
