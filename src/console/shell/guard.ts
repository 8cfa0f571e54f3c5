/**
 * What every request passes before its handler: who asks, whether the table lets them, and, where the
 * request changes something on the strength of a cookie, whether it comes from a page of ours.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import { newToken } from '../../database/secret-token.ts';
import type { Identity } from '../../domain/person.ts';
import type { ConsoleRole, KeyScope } from '../../domain/role.ts';
import type { Logger } from '../../runtime/logger.ts';
import { findApiKey } from '../access/api-keys.sql.ts';
import { readSession, type SessionLimits } from '../access/console-sessions.sql.ts';
import { logSecurityEvent, type SecurityEvent } from '../access/security-events.ts';
import { isCsrfToken, isForeign } from './csrf.ts';
import { accessOf } from './route-access.ts';

/** Who asks: a person who is signed in, or a script with a key. */
export interface Principal {
  /** As it stands in the audit log. */
  readonly name: string;
  readonly role: ConsoleRole;
  /** Null for a person. */
  readonly scopes: readonly KeyScope[] | null;
  readonly countsAs: Identity;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null where nobody is signed in; on a route that asks for a role it is never null. */
    principal: Principal | null;
    /** The cookie that forms of this visitor are tied to. */
    visit: string;
  }
}

export interface GuardOptions {
  readonly database: Database;
  readonly publicUrl: URL | null;
  readonly sessions: SessionLimits;
  readonly logger: Logger;
  /** Answers 403. */
  readonly refuse: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
}

export const SESSION_LIMITS: SessionLimits = { lifetimeMinutes: 12 * 60, idleMinutes: 2 * 60 };

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** `__Host-` binds a cookie to this very host; browsers take such a one over https alone. */
export function sessionCookie(publicUrl: URL | null): string {
  return publicUrl?.protocol === 'https:' ? '__Host-conciliation' : 'conciliation';
}

export function visitCookie(publicUrl: URL | null): string {
  return publicUrl?.protocol === 'https:' ? '__Host-conciliation-visit' : 'conciliation-visit';
}

export function cookieOptions(publicUrl: URL | null) {
  return {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: publicUrl?.protocol === 'https:',
  } as const;
}

/**
 * Must be added before any route, and then holds for all of them.
 *
 * @returns the routes, as `METHOD path`, complete once the server is ready
 */
export function addGuard(server: FastifyInstance, options: GuardOptions): readonly string[] {
  const routes: string[] = [];
  const refuse = (request: FastifyRequest, reply: FastifyReply, event: SecurityEvent) => {
    logSecurityEvent(options.logger, request, event, subjectOf(request.principal));
    return options.refuse(request, reply);
  };
  server.decorateRequest('principal', null);
  server.decorateRequest('visit', '');
  server.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) {
      if (accessOf(name, url) === null)
        throw new Error(`${name} ${url} is in no line of the table`);
      routes.push(`${name} ${url}`);
    }
  });
  server.addHook('onRequest', async (request, reply) => {
    const { url } = request.routeOptions;
    if (url === undefined) return undefined;
    const access = accessOf(request.method, url);
    if (access === null) return refuse(request, reply, 'access_refused');
    if (access.who === 'anyone') return undefined;
    // Before anything is looked up: what comes from elsewhere gets no answer that depends on us.
    const isUnsafe = !SAFE_METHODS.has(request.method);
    if (isUnsafe && isForeign(request, options.publicUrl)) {
      return refuse(request, reply, 'csrf_refused');
    }
    await identify(request, reply, options, access.scope !== null);
    if (access.who === 'visitor') return undefined;
    const { principal } = request;
    if (principal === null) return askToSignIn(request, reply);
    const isScoped =
      principal.scopes === null ||
      (access.scope !== null && principal.scopes.includes(access.scope));
    return access.who.includes(principal.role) && isScoped
      ? undefined
      : refuse(request, reply, 'access_refused');
  });
  // After the body was read, because a form carries its token there.
  server.addHook('preValidation', async (request, reply) => {
    const { url } = request.routeOptions;
    if (url === undefined || SAFE_METHODS.has(request.method)) return undefined;
    // A key is sent by a script on purpose; a cookie by the browser for anybody's page.
    if (request.principal !== null && request.principal.scopes !== null) return undefined;
    if (accessOf(request.method, url)?.who === 'anyone') return undefined;
    const candidate = request.headers['x-csrf-token'] ?? fieldOf(request.body, '_csrf');
    return isCsrfToken(candidate, request.visit)
      ? undefined
      : refuse(request, reply, 'csrf_refused');
  });
  return routes;
}

async function identify(
  request: FastifyRequest,
  reply: FastifyReply,
  { database, publicUrl, sessions, logger }: GuardOptions,
  takesKeys: boolean,
): Promise<void> {
  const { authorization } = request.headers;
  if (takesKeys && authorization !== undefined) {
    const key = /^Bearer (\S+)$/.exec(authorization)?.[1];
    request.principal = key === undefined ? null : await findApiKey(database, key);
    if (request.principal === null) logSecurityEvent(logger, request, 'key_refused');
    return;
  }
  const session = request.cookies[sessionCookie(publicUrl)];
  const user = session === undefined ? null : await readSession(database, session, sessions);
  if (session !== undefined && user !== null) {
    request.principal = { ...user, scopes: null };
    request.visit = session;
    return;
  }
  // Visitors get a cookie too, so that the form of the sign-in page is one of ours.
  const name = visitCookie(publicUrl);
  request.visit = request.cookies[name] ?? newToken();
  if (request.cookies[name] === undefined) {
    reply.setCookie(name, request.visit, cookieOptions(publicUrl));
  }
}

/** Of a key the number alone: its name is in the words of a person. */
function subjectOf(principal: Principal | null): string | null {
  if (principal === null) return null;
  return principal.scopes === null
    ? principal.name
    : (/^key \d+/.exec(principal.name)?.[0] ?? null);
}

function askToSignIn(request: FastifyRequest, reply: FastifyReply) {
  if (isForPrograms(request)) {
    return reply
      .code(401)
      .header('www-authenticate', 'Bearer')
      .send({ code: 'UNAUTHENTICATED', message: 'sign in, or send a key that works' });
  }
  const next = request.method === 'GET' ? `?next=${encodeURIComponent(request.url)}` : '';
  return reply.redirect(`/login${next}`, 303);
}

export function isForPrograms(request: FastifyRequest): boolean {
  return request.url === '/api' || request.url.startsWith('/api/');
}

function fieldOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}
