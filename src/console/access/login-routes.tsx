import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../base/audit/audit.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { LANGUAGES } from '../../base/texts/texts.ts';
import { parseUserName } from '../../base/values/role.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { faultSentence } from '../shell/error-page.tsx';
import { cookieOptions, sessionCookie } from '../shell/guard.ts';
import {
  LANGUAGE_COOKIE,
  pageContext,
  THEME_COOKIE,
  THEMES,
  textParameter,
} from '../shell/page-context.ts';
import { EVERYBODY, forEnrolment, forVisitors } from '../shell/route-access.ts';
import { sendPage } from '../shell/send-page.ts';
import { endSession } from './console-sessions.sql.ts';
import { consumeLink, readLink } from './console-users.sql.ts';
import { LinkPage } from './login-page.tsx';
import { OIDC_SIGN_OUT_PATH } from './oidc-client.ts';
import { hashPassword, requireNewPassword } from './password.ts';
import { logSecurityEvent } from './security-events.ts';
import { nextOf, showLogin, showTooMany, signIn } from './sign-in.tsx';
import { checkSignIn, countAddress } from './sign-in-check.ts';

const PREFERENCE_SECONDS = 365 * 86_400;

/** Routes to sign in and out and for one-time links. */
export function addLoginRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, publicUrl, logger } = parts;

  server.get('/login', forVisitors, async (request, reply) =>
    request.principal === null
      ? showLogin(request, reply, parts, { status: 200 })
      : reply.redirect('/', 303),
  );

  server.post('/login', forVisitors, async (request, reply) => {
    const name = parseUserName(textParameter(request.body, 'name') ?? '') ?? '';
    const checked = await checkSignIn(parts, request, name);
    if (checked.outcome === 'limited') return showTooMany(request, reply, parts, checked.wait);
    if (checked.outcome === 'wrong') {
      return showLogin(request, reply, parts, {
        status: 401,
        name,
        error: ({ text }) => text('login.wrong'),
      });
    }
    const { user, proof } = checked;
    return signIn(reply, parts, { user, next: nextOf(request), proof });
  });

  server.post('/logout', forEnrolment(EVERYBODY), async (request, reply) => {
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
    fault: InputError | null,
  ) => {
    const link = await readLink(database, request.params.token);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('link.passwordTitle'),
      active: null,
      status: link === null ? 404 : fault === null ? 200 : 400,
      body: (
        <LinkPage
          link={link}
          action={`/link/${encodeURIComponent(request.params.token)}`}
          fault={fault && faultSentence(context, fault)}
        />
      ),
    }));
  };

  // A GET shows a page with a button, because mail programs open links. Only the button uses the link.
  server.get<{ Params: { token: string } }>('/link/:token', forVisitors, (request, reply) =>
    showLink(request, reply, null),
  );

  server.post<{ Params: { token: string } }>(
    '/link/:token',
    forVisitors,
    async (request, reply) => {
      const { token } = request.params;
      const wait = await countAddress(parts, request);
      const link = wait === 0 ? await readLink(database, token) : null;
      if (link === null) {
        logSecurityEvent(logger, request, 'sign_in_failed');
        return showLink(request, reply, null);
      }
      let hash: string | null = null;
      if (link.purpose === 'password') {
        try {
          hash = await hashPassword(requireNewPassword(request.body, 'password', link));
        } catch (error) {
          if (!(error instanceof InputError)) throw error;
          return showLink(request, reply, error);
        }
      }
      const used = await consumeLink(database, token, hash);
      if (used === null) return showLink(request, reply, null);
      // The maker of the link must not sign in without the code.
      if (used.hasSecondFactor) return reply.redirect('/login?notice=password_saved', 303);
      const user = { id: used.userId, name: used.name };
      const proof = hash === null ? 'link' : { passwordHash: hash, totpSecret: null };
      return signIn(reply, parts, { user, next: '/', proof });
    },
  );

  server.post('/preferences', forVisitors, async (request, reply) => {
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
