import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/**
 * The token that a form has to bring along: derived from the cookie, which another site's page can
 * make the browser send, but can neither read nor set.
 */
export function csrfTokenOf(cookie: string): string {
  return createHash('sha256').update(`csrf:${cookie}`, 'utf8').digest('base64url');
}

export function isCsrfToken(candidate: unknown, cookie: string): boolean {
  if (typeof candidate !== 'string') return false;
  const [given, wanted] = [Buffer.from(candidate), Buffer.from(csrfTokenOf(cookie))];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * Whether the browser says that the request comes from a page of another site. A program that is no
 * browser says nothing, and has no cookie to abuse.
 */
export function isForeign(request: FastifyRequest, publicUrl: URL | null): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') return true;
  const { origin } = request.headers;
  if (origin === undefined) return false;
  const own = publicUrl?.host ?? request.headers.host;
  return !URL.canParse(origin) || new URL(origin).host !== own;
}
