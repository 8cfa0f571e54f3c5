/**
 * Runs before the handler of every request: identifies the user or key, checks the right that the
 * route states, and, for a change authorized by a cookie, checks that the request comes from a page of the console.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { newToken } from '../../base/runtime/secrets.ts';
import type { ConsoleRole, KeyScope } from '../../base/values/role.ts';
import { findApiKey } from '../access/api-keys.sql.ts';
import { readSession } from '../access/console-sessions.sql.ts';
import { logSecurityEvent, type SecurityEvent } from '../access/security-events.ts';
import type { ConsoleParts } from './console-parts.ts';
import { addAccess } from './route-access.ts';

/** The author of a request: a signed-in person, or a script with a key. */
export interface Principal {
  /** The name as in the audit log. */
  readonly name: string;
  readonly role: ConsoleRole;
  /** Null for a person. */
  readonly scopes: readonly KeyScope[] | null;
  /** `api_key.id`; absent for a person. */
  readonly keyId?: number;
  /** Whether the user has to set up a second factor before anything else. */
  readonly isEnrolmentDue: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null without a sign-in. Never null on a route that requires a role. */
    principal: Principal | null;
    /** The cookie to which the forms of this visitor are tied. */
    visit: string;
  }
}

/** Returns the actor for the audit log. The guard has refused requests without one. */
export function actorOf({ principal }: FastifyRequest): string {
  if (principal === null) throw new Error('this route has no guard');
  return principal.name;
}

export interface GuardOptions
  extends Pick<ConsoleParts, 'database' | 'publicUrl' | 'requiresSecondFactor' | 'logger'> {
  /** Answers 403. Programs get the message, people a page. */
  readonly refuse: (
    request: FastifyRequest,
    reply: FastifyReply,
    message: string,
  ) => FastifyReply | Promise<FastifyReply>;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The names and the options of the cookies. `__Host-` binds one to this host; browsers accept that over https only. */
export function cookiesOf(publicUrl: URL | null) {
  const secure = publicUrl?.protocol === 'https:';
  const session = `${secure ? '__Host-' : ''}conciliation`;
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  return { session, visit: `${session}-visit`, oidc: `${session}-oidc`, options };
}

/**
 * Must be called before any route is added. It applies to all routes.
 * @returns the routes as `METHOD path`, complete when the server is ready
 */
export function addGuard(server: FastifyInstance, options: GuardOptions): readonly string[] {
  const routes: string[] = [];
  const refuse = (
    request: FastifyRequest,
    reply: FastifyReply,
    event: SecurityEvent,
    message = 'no permission',
  ) => {
    logSecurityEvent(options.logger, request, event, subjectOf(request.principal));
    return options.refuse(request, reply, message);
  };
  server.decorateRequest('principal', null);
  server.decorateRequest('visit', '');
  server.addHook('onRoute', ({ method, url, config }) => {
    for (const name of [method].flat()) {
      addAccess(name, url, config?.access);
      routes.push(`${name} ${url}`);
    }
  });
  const authorize = async (request: FastifyRequest, reply: FastifyReply) => {
    const { access } = request.routeOptions.config;
    if (access === undefined || access.who === 'anyone') return undefined;
    await identify(request, reply, options, access.scope !== null);
    if (access.who === 'visitor') return undefined;
    const { principal } = request;
    if (principal === null) return askToSignIn(request, reply);
    if (principal.isEnrolmentDue && !access.isForEnrolment) return askToEnrol(request, reply);
    const { role, scopes } = principal;
    if (!access.who.includes(role)) {
      const message = `the role ${role} has no permission; expected ${access.who.join(' or ')}`;
      return refuse(request, reply, 'access_refused', message);
    }
    if (scopes !== null && (access.scope === null || !scopes.includes(access.scope))) {
      const message = `the key has no permission; expected the scope ${access.scope}`;
      return refuse(request, reply, 'access_refused', message);
    }
    return undefined;
  };
  server.addHook('onRequest', async (request, reply) => {
    const { url } = request.routeOptions;
    if (url === undefined) {
      // The page of an unknown address has the menu of a person who is signed in.
      const isSignedIn = request.cookies[cookiesOf(options.publicUrl).session] !== undefined;
      return isSignedIn && !isForPrograms(request)
        ? identify(request, reply, options, false)
        : undefined;
    }
    const { access } = request.routeOptions.config;
    if (access === undefined) return refuse(request, reply, 'access_refused');
    if (SAFE_METHODS.has(request.method)) return authorize(request, reply);
    // Before any lookup, so that the answer to a foreign request does not depend on the state of the service.
    return access.who !== 'anyone' && isForeign(request, options.publicUrl)
      ? refuse(request, reply, 'csrf_refused')
      : undefined;
  });
  // After the body was read: the session or the key may end while the body arrives.
  server.addHook('preValidation', async (request, reply) =>
    SAFE_METHODS.has(request.method) ? undefined : authorize(request, reply),
  );
  // After the body was read, because it holds the token of a form.
  server.addHook('preValidation', async (request, reply) => {
    const { url } = request.routeOptions;
    if (url === undefined || SAFE_METHODS.has(request.method)) return undefined;
    // A script sends its key on purpose. A browser sends its cookie for any page.
    if (request.principal !== null && request.principal.scopes !== null) return undefined;
    if (request.routeOptions.config.access?.who === 'anyone') return undefined;
    const candidate = request.headers['x-csrf-token'] ?? Object(request.body)._csrf;
    return isCsrfToken(candidate, request.visit)
      ? undefined
      : refuse(request, reply, 'csrf_refused');
  });
  return routes;
}

async function identify(
  request: FastifyRequest,
  reply: FastifyReply,
  { database, publicUrl, requiresSecondFactor, logger }: GuardOptions,
  takesKeys: boolean,
): Promise<void> {
  const { authorization } = request.headers;
  if (takesKeys && authorization !== undefined) {
    const key = /^Bearer (\S+)$/i.exec(authorization)?.[1];
    const found = key === undefined ? null : await findApiKey(database, key);
    request.principal = found === null ? null : { ...found, isEnrolmentDue: false };
    if (request.principal === null) logSecurityEvent(logger, request, 'key_refused');
    return;
  }
  const cookies = cookiesOf(publicUrl);
  const session = request.cookies[cookies.session];
  const user = session === undefined ? null : await readSession(database, session);
  if (session !== undefined && user !== null) {
    const { name, role } = user;
    // The identity provider decides about a second factor of its accounts.
    const isEnrolmentDue = requiresSecondFactor && !user.hasSecondFactor && !user.byOidc;
    request.principal = { name, role, isEnrolmentDue, scopes: null };
    request.visit = session;
    return;
  }
  // Visitors get a cookie too, so that the form of the sign-in page can be checked.
  const visit = request.cookies[cookies.visit];
  request.visit = visit ?? newToken();
  if (visit === undefined) reply.setCookie(cookies.visit, request.visit, cookies.options);
}

/** For a key only its number, because a person chose its name. */
const subjectOf = (principal: Principal | null): string | null =>
  principal?.keyId === undefined ? (principal?.name ?? null) : `key ${principal.keyId}`;

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

function askToEnrol(request: FastifyRequest, reply: FastifyReply) {
  if (isForPrograms(request)) {
    const message = 'set up a second factor in the console first';
    return reply.code(403).send({ code: 'SECOND_FACTOR_REQUIRED', message });
  }
  return reply.redirect('/account', 303);
}

/** Whether the answer has to be JSON, also for an error. */
export function isForPrograms(request: FastifyRequest): boolean {
  return request.url === '/api' || request.url.startsWith('/api/');
}

/**
 * Returns the token of a form, derived from the cookie. A page of another site can make the browser
 * send the cookie, but can neither read nor set it.
 */
export function csrfTokenOf(cookie: string): string {
  return createHash('sha256').update(`csrf:${cookie}`, 'utf8').digest('base64url');
}

/** Whether `candidate` is the token of a form for this cookie. */
function isCsrfToken(candidate: unknown, cookie: string): boolean {
  if (typeof candidate !== 'string') return false;
  const [given, wanted] = [Buffer.from(candidate), Buffer.from(csrfTokenOf(cookie))];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * Whether the browser reports a request from a page of another site. Other programs send no such
 * header, and no cookie that could be abused.
 */
function isForeign(request: FastifyRequest, publicUrl: URL | null): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') return true;
  const { origin } = request.headers;
  if (origin === undefined) return false;
  if (publicUrl !== null) return origin !== publicUrl.origin;
  return !URL.canParse(origin) || new URL(origin).host !== request.headers.host;
}
