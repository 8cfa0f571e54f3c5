import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../audit/audit.ts';
import { parseUserName } from '../../domain/role.ts';
import { clientAddress, clientNetwork } from '../shell/client-address.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { cookieOptions, sessionCookie } from '../shell/guard.ts';
import { LANGUAGES } from '../shell/language.ts';
import {
  LANGUAGE_COOKIE,
  type PageContext,
  pageContext,
  THEME_COOKIE,
  THEMES,
  textParameter,
} from '../shell/page-context.ts';
import { sendPage } from '../shell/send-page.ts';
import { endSession } from './console-sessions.sql.ts';
import { consumeLink, findLoginUser, readLink } from './console-users.sql.ts';
import { LinkPage } from './login-page.tsx';
import { OIDC_SIGN_OUT_PATH } from './oidc-client.ts';
import {
  hashPassword,
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
  verifyPassword,
} from './password.ts';
import { logSecurityEvent } from './security-events.ts';
import { nextOf, PER_ADDRESS, showLogin, signIn } from './sign-in.tsx';
import { countDelayedTry, countTry, forgetTries } from './sign-in-limits.sql.ts';

/**
 * Limits for audit entries of refused sign-ins, so that a client cannot fill the audit log, which
 * is never erased.
 */
const AUDITED = {
  perAddress: { max: 5, seconds: 60 },
  overall: { max: 60, seconds: 60 },
};
const PREFERENCE_SECONDS = 365 * 86_400;

/** Routes to sign in and out and for one-time links. */
export function addLoginRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, publicUrl, logger } = parts;
  /** Always writes to the log, and to the audit log within the limits. */
  const noteRefusal = async (
    request: FastifyRequest,
    event: 'sign_in_failed' | 'sign_in_limited',
    /** Null for an unknown user: the typed name may be a password. */
    user: string | null,
  ) => {
    logSecurityEvent(logger, request, event, user);
    if (await countTry(database, `audit ${clientNetwork(request)}`, AUDITED.perAddress)) return;
    if (await countTry(database, 'audit', AUDITED.overall)) return;
    await recordAudit(database.prisma, {
      actor: user ?? 'visitor',
      action: event === 'sign_in_failed' ? 'session.refused' : 'session.limited',
      details: { address: clientAddress(request) },
    });
  };

  const showTooMany = (request: FastifyRequest, reply: FastifyReply, wait: number) => {
    const seconds = String(wait);
    reply.header('retry-after', seconds);
    return showLogin(request, reply, parts, {
      status: 429,
      error: ({ text }) => text.login.tooMany(seconds),
    });
  };

  server.get('/login', async (request, reply) =>
    request.principal === null
      ? showLogin(request, reply, parts, { status: 200 })
      : reply.redirect('/', 303),
  );

  server.post('/login', async (request, reply) => {
    const waitOfAddress = await countTry(database, addressKey(request), PER_ADDRESS);
    if (waitOfAddress > 0) {
      await noteRefusal(request, 'sign_in_limited', null);
      return showTooMany(request, reply, waitOfAddress);
    }
    const name = parseUserName(textParameter(request.body, 'name') ?? '') ?? '';
    const key = `user ${name} ${clientNetwork(request)}`;
    const user = await findLoginUser(database, name);
    const wait = await countDelayedTry(database, key);
    if (wait > 0) {
      await noteRefusal(request, 'sign_in_limited', user?.name ?? null);
      return showTooMany(request, reply, wait);
    }
    const password = passwordOf(request.body, 'password') ?? '';
    if (!(await verifyPassword(password, user?.passwordHash ?? null)) || user === null) {
      await noteRefusal(request, 'sign_in_failed', user?.name ?? null);
      return showLogin(request, reply, parts, {
        status: 401,
        name,
        error: ({ text }) => text.login.wrong,
      });
    }
    await forgetTries(database, key);
    return signIn(reply, parts, { user, next: nextOf(request) });
  });

  server.post('/logout', async (request, reply) => {
    const session = request.cookies[sessionCookie(publicUrl)];
    let byOidc = false;
    if (session !== undefined && request.principal !== null) {
      byOidc = await endSession(database, session);
      await recordAudit(database.prisma, { actor: request.principal.name, action: 'session.end' });
    }
    return reply
      .clearCookie(sessionCookie(publicUrl), cookieOptions(publicUrl))
      .redirect(byOidc ? OIDC_SIGN_OUT_PATH : '/login', 303);
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

  // A GET shows a page with a button, because mail programs open links. Only the button uses the link.
  server.get<{ Params: { token: string } }>('/link/:token', (request, reply) =>
    showLink(request, reply, null),
  );

  server.post<{ Params: { token: string } }>('/link/:token', async (request, reply) => {
    const { token } = request.params;
    const wait = await countTry(database, addressKey(request), PER_ADDRESS);
    const link = wait === 0 ? await readLink(database, token) : null;
    if (link === null) {
      logSecurityEvent(logger, request, 'sign_in_failed');
      return showLink(request, reply, null);
    }
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
    return signIn(reply, parts, { user: { id: used.userId, name: used.name }, next: '/' });
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

/** Passwords and links have one limit for each address. */
function addressKey(request: FastifyRequest): string {
  return `address ${clientNetwork(request)}`;
}

/** Not trimmed, because a password may begin with a blank. */
function passwordOf(body: unknown, name: string): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const value: unknown = Reflect.get(body, name);
  return typeof value === 'string' && value.length <= MAX_PASSWORD_LENGTH ? value : null;
}
