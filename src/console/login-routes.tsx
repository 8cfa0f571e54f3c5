import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseUserName } from '../domain/role.ts';
import { recordAudit } from '../staging/audit.ts';
import { endSession, startSession } from '../staging/console-sessions.ts';
import { consumeLink, findLoginUser, readLink } from '../staging/console-users.ts';
import type { ConsoleParts } from './console-parts.ts';
import { cookieOptions, SESSION_LIMITS, sessionCookie, visitCookie } from './guard.ts';
import {
  LANGUAGE_COOKIE,
  type PageContext,
  pageContext,
  THEME_COOKIE,
  THEMES,
  textParameter,
} from './page-context.ts';
import { LinkPage, LoginPage } from './pages/login-page.tsx';
import {
  hashPassword,
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
  verifyPassword,
} from './password.ts';
import { sendPage } from './send-page.ts';
import { LANGUAGES } from './text/language.ts';

/** Of one address, and against one name: whoever tries many names, and many machines that try one. */
const PER_ADDRESS = { max: 30, timeWindow: 60_000 };
const PER_NAME = { max: 10, timeWindow: 300_000 };
const PREFERENCE_SECONDS = 365 * 86_400;

/** Signing in and out, one-time links, and how the pages look. */
export function addLoginRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, publicUrl } = parts;
  const perAddress = server.createRateLimit({
    ...PER_ADDRESS,
    keyGenerator: (request) => `address ${request.ip}`,
  });
  const perName = server.createRateLimit({
    ...PER_NAME,
    keyGenerator: (request) => `name ${parseUserName(textParameter(request.body, 'name') ?? '')}`,
  });

  const signIn = async (
    reply: FastifyReply,
    user: { readonly id: bigint; readonly name: string },
    next: string,
  ) => {
    const token = await startSession(database, user, SESSION_LIMITS);
    return reply
      .setCookie(sessionCookie(publicUrl), token, cookieOptions(publicUrl))
      .clearCookie(visitCookie(publicUrl), cookieOptions(publicUrl))
      .redirect(next, 303);
  };

  const showLogin = (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: { status: number; name: string; error: (context: PageContext) => string | null },
  ) =>
    sendPage(request, reply, parts, (context) => ({
      title: context.text.login.title,
      active: null,
      status: answer.status,
      body: (
        <LoginPage
          context={context}
          next={nextOf(request)}
          name={answer.name}
          error={answer.error(context)}
        />
      ),
    }));

  server.get('/login', async (request, reply) =>
    request.principal === null
      ? showLogin(request, reply, { status: 200, name: '', error: () => null })
      : reply.redirect('/', 303),
  );

  server.post('/login', async (request, reply) => {
    for (const limit of [perAddress, perName]) {
      const allowed = await limit(request);
      if (!allowed.isAllowed && allowed.isExceeded) {
        const seconds = String(allowed.ttlInSeconds);
        reply.header('retry-after', seconds);
        return showLogin(request, reply, {
          status: 429,
          name: '',
          error: ({ text }) => text.login.tooMany(seconds),
        });
      }
    }
    const name = parseUserName(textParameter(request.body, 'name') ?? '') ?? '';
    const password = passwordOf(request.body, 'password') ?? '';
    const user = await findLoginUser(database, name);
    if (!(await verifyPassword(password, user?.passwordHash ?? null)) || user === null) {
      if (user !== null) {
        await recordAudit(database.prisma, { actor: user.name, action: 'session.refused' });
      }
      return showLogin(request, reply, {
        status: 401,
        name,
        error: ({ text }) => text.login.wrong,
      });
    }
    return signIn(reply, user, nextOf(request));
  });

  server.post('/logout', async (request, reply) => {
    const session = request.cookies[sessionCookie(publicUrl)];
    if (session !== undefined && request.principal !== null) {
      await endSession(database, session);
      await recordAudit(database.prisma, { actor: request.principal.name, action: 'session.end' });
    }
    return reply
      .clearCookie(sessionCookie(publicUrl), cookieOptions(publicUrl))
      .redirect('/login', 303);
  });

  const showLink = async (
    request: FastifyRequest<{ Params: { token: string } }>,
    reply: FastifyReply,
    error: ((context: PageContext) => string) | null,
  ) => {
    const link = await readLink(database, request.params.token);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text.link.passwordTitle,
      active: null,
      status: link === null ? 404 : error === null ? 200 : 400,
      body: (
        <LinkPage
          context={context}
          link={link}
          action={`/link/${encodeURIComponent(request.params.token)}`}
          error={error?.(context) ?? null}
        />
      ),
    }));
  };

  // Shown first and used by a button, because mail programs open links to see what they are.
  server.get<{ Params: { token: string } }>('/link/:token', (request, reply) =>
    showLink(request, reply, null),
  );

  server.post<{ Params: { token: string } }>('/link/:token', async (request, reply) => {
    const allowed = await perAddress(request);
    const { token } = request.params;
    const link = allowed.isAllowed || !allowed.isExceeded ? await readLink(database, token) : null;
    if (link === null) return showLink(request, reply, null);
    let hash: string | null = null;
    if (link.purpose === 'password') {
      const password = passwordOf(request.body, 'password') ?? '';
      if (password.length < MIN_PASSWORD_LENGTH) {
        return showLink(request, reply, ({ text, formats }) =>
          text.link.tooShort(formats.count(MIN_PASSWORD_LENGTH)),
        );
      }
      if (password !== passwordOf(request.body, 'again')) {
        return showLink(request, reply, ({ text }) => text.link.unequal);
      }
      hash = await hashPassword(password);
    }
    const used = await consumeLink(database, token, hash);
    if (used === null) return showLink(request, reply, null);
    return signIn(reply, { id: used.userId, name: used.name }, '/');
  });

  server.post('/preferences', async (request, reply) => {
    const options = { ...cookieOptions(publicUrl), maxAge: PREFERENCE_SECONDS };
    const { language: current } = pageContext(request, parts.timeZone);
    const language = textParameter(request.body, 'language');
    const theme = textParameter(request.body, 'theme');
    reply.setCookie(
      LANGUAGE_COOKIE,
      LANGUAGES.find((known) => known === language) ?? current,
      options,
    );
    reply.setCookie(THEME_COOKIE, THEMES.find((known) => known === theme) ?? 'auto', options);
    return reply.redirect(nextOf(request), 303);
  });
}

/** Where to go afterwards: a path of this console, whatever was asked for. */
function nextOf(request: FastifyRequest): string {
  const next = textParameter(request.body, 'next') ?? textParameter(request.query, 'next') ?? '/';
  // `//host` and `/\host` lead elsewhere.
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/';
}

/** As typed: a password may well begin with a blank. */
function passwordOf(body: unknown, name: string): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const value: unknown = Reflect.get(body, name);
  return typeof value === 'string' && value.length <= MAX_PASSWORD_LENGTH ? value : null;
}
