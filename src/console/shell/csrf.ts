import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/**
 * Returns the token of a form, derived from the cookie. A page of another site can make the browser
 * send the cookie, but can neither read nor set it.
 */
export function csrfTokenOf(cookie: string): string {
  return createHash('sha256').update(`csrf:${cookie}`, 'utf8').digest('base64url');
}

/** Whether `candidate` is the token of a form for this cookie. */
export function isCsrfToken(candidate: unknown, cookie: string): boolean {
  if (typeof candidate !== 'string') return false;
  const [given, wanted] = [Buffer.from(candidate), Buffer.from(csrfTokenOf(cookie))];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * Whether a page of another site loads the address in the background, such as an image or a frame. A link there is
 * a navigation of the whole window, as is the return from an identity provider.
 */
export function isForeignLoad({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return (
    (site === 'cross-site' || site === 'same-site') &&
    (headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document')
  );
}

/**
 * Whether the browser reports a request from a page of another site. Other programs send no such
 * header, and no cookie that could be abused.
 */
export function isForeign(request: FastifyRequest, publicUrl: URL | null): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') return true;
  const { origin } = request.headers;
  if (origin === undefined) return false;
  const own = publicUrl?.host ?? request.headers.host;
  return !URL.canParse(origin) || new URL(origin).host !== own;
}
