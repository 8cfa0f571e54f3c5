/** How a person begins and ends a session: with a password, a link, or an account of the identity provider. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { recordAudit } from '../../base/audit/audit.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { LANGUAGES, refusal } from '../../base/texts/texts.ts';
import { parseUserName } from '../../base/values/role.ts';
import { text } from '../api/schema-parts.ts';
import { asWritten, declareAction, declarePage } from '../declare.tsx';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { actorOf, cookiesOf } from '../shell/guard.ts';
import { LANGUAGE_COOKIE, pageContext, textParameter, usePage } from '../shell/page-context.ts';
import { forVisitors } from '../shell/route-access.ts';
import { statusOf } from '../shell/send-page.tsx';
import { endSession, startOidcSession, startSession } from './console-sessions.sql.ts';
import { consumeLink, readLink } from './console-users.sql.ts';
import { OIDC_CALLBACK_PATH, type OidcClient, OidcError } from './oidc-client.ts';
import { hashPassword, MIN_PASSWORD_LENGTH, requireNewPassword } from './password.ts';
import { clientAddress, logSecurityEvent } from './security-events.ts';
import { checkSignIn, requireAddressTry } from './sign-in-check.sql.ts';

const PREFERENCE_SECONDS = 365 * 86_400;

export const LOGIN = declarePage({
  path: '/login',
  who: 'visitor',
  active: null,
  input: {},
  read: async ({ oidc }, _, request) => ({
    next: nextOf(request),
    name: textParameter(request.body, 'name') ?? '',
    hasOidc: oidc !== null,
    isSignedIn: request.principal !== null,
  }),
  elsewhere: ({ isSignedIn }) => (isSignedIn ? '/' : null),
  title: ({ text }) => text('login.title'),
  body: ({ next, name, hasOidc }, { text }) => (
    <div class="narrow card stack">
      <h1>{text('login.title')}</h1>
      {hasOidc && (
        <>
          <a class="button primary" href={`/login/oidc?${new URLSearchParams({ next })}`}>
            {text('login.oidc')}
          </a>
          <p class="or">{text('login.orPassword')}</p>
        </>
      )}
      <SIGN_IN.Form
        values={{ next, name }}
        class="stack"
        button={text('login.submit')}
        {...(!hasOidc && { look: 'primary' })}
        help={text('login.help')}
      />
    </div>
  ),
});

const optional = Type.Optional(text);
const written = asWritten(Type.Optional(text));

const secret = (autocomplete: 'current-password' | 'new-password') => ({
  type: 'password',
  required: true,
  autocomplete,
});
/** A code of the second factor. */
export const CODE = {
  label: 'account.code',
  html: {
    ...{ class: 'mono', inputMode: 'numeric', maxLength: 10 },
    ...{ required: true, autocomplete: 'one-time-code' },
  },
} as const;
export const PRESENT = { label: 'account.present', html: secret('current-password') } as const;
export const CHOSEN = {
  label: 'link.password',
  html: { ...secret('new-password'), minLength: MIN_PASSWORD_LENGTH },
} as const;
export const AGAIN = { label: 'link.again', html: secret('new-password') } as const;

const SIGN_IN = declareAction({
  path: '/login',
  who: 'visitor',
  page: LOGIN,
  input: { name: optional, password: written, code: optional, next: optional },
  fields: {
    name: {
      label: 'login.name',
      html: {
        ...{ required: true, autocomplete: 'username' },
        ...{ autocapitalize: 'none', spellcheck: false },
      },
    },
    password: { ...PRESENT, label: 'login.password' },
    code: { label: 'login.codeIfSet', html: { ...CODE.html, required: false } },
  },
  answer: async (request, reply, parts, { name = '', ...given }) => {
    const known = parseUserName(name) ?? '';
    const user = await checkSignIn(parts, reply, known, given, 'wrong_sign_in');
    const token = await startSession(parts.database, user, clientAddress(request));
    return enter(reply, parts, user.name, token, nextOf(request));
  },
});

const SIGN_OUT = declareAction({
  path: '/logout',
  isForEnrolment: true,
  input: {},
  answer: async (request, reply, { database, publicUrl }) => {
    const byOidc = await endSession(database, request.visit);
    await recordAudit(database.prisma, { actor: actorOf(request), action: 'session.end' });
    const { session, options } = cookiesOf(publicUrl);
    return reply
      .clearCookie(session, options)
      .redirect(byOidc ? '/login?notice=account_remains' : '/login', 303);
  },
});

/** Has a button, because mail programs open links. Only the button uses the link. */
export const LINK = declarePage({
  path: '/link/:token',
  who: 'visitor',
  active: null,
  input: { token: text },
  read: async ({ database }, { token }) => {
    const link = await readLink(database, token);
    if (link === null) throw refusal('link_gone');
    return link;
  },
  title: ({ text }) => text('link.passwordTitle'),
  body: ({ name }, { text }, { input: { token } }) => (
    <div class="narrow card stack">
      <h1>{text('link.passwordTitle')}</h1>
      <p>{text('link.choose', { name })}</p>
      <USE_LINK.Form values={{ token }} class="stack" button={text('link.save')} look="primary">
        <UserName name={name} />
        <PasswordRule />
      </USE_LINK.Form>
    </div>
  ),
});

const USE_LINK = declareAction({
  path: '/link/:token',
  who: 'visitor',
  page: LINK,
  input: { token: text, password: written, again: written },
  fields: { password: CHOSEN, again: AGAIN },
  answer: async (request, reply, parts, { token, ...given }) => {
    const { database, logger } = parts;
    await requireAddressTry(parts, reply);
    const link = await readLink(database, token);
    if (link === null) {
      logSecurityEvent(logger, request, 'sign_in_failed');
      throw refusal('link_gone');
    }
    const passwordHash = await hashPassword(requireNewPassword(given, link));
    if (!(await consumeLink(database, token, passwordHash))) throw refusal('link_gone');
    // The maker of the link must not sign in without the code.
    if (link.totpSecret !== null) return reply.redirect('/login?notice=password_saved', 303);
    const session = await startSession(database, { ...link, passwordHash }, clientAddress(request));
    return enter(reply, parts, link.name, session, '/');
  },
});

const CHOOSE_LANGUAGE = declareAction({
  path: '/preferences',
  who: 'visitor',
  input: { language: optional, next: optional },
  answer: async (request, reply, { publicUrl, timeZone }, { language: chosen }) => {
    const options = { ...cookiesOf(publicUrl).options, maxAge: PREFERENCE_SECONDS };
    const { language: current } = pageContext(request, timeZone);
    const language = LANGUAGES.find((known) => known === chosen) ?? current;
    return reply.setCookie(LANGUAGE_COOKIE, language, options).redirect(nextOf(request), 303);
  },
});

export const LOGIN_ACTIONS = [SIGN_IN, SIGN_OUT, USE_LINK, CHOOSE_LANGUAGE];

/** @param token null: the user, or what the user signed in with, has changed meanwhile */
async function enter(
  reply: FastifyReply,
  parts: ConsoleParts,
  name: string,
  token: string | null,
  next: string,
): Promise<FastifyReply> {
  const { request } = reply;
  if (token === null) {
    logSecurityEvent(parts.logger, request, 'sign_in_failed', name);
    return reply.redirect('/login', 303);
  }
  logSecurityEvent(parts.logger, request, 'sign_in_succeeded', name);
  // The browser forgets the cookie of a session that was still open.
  await endSession(parts.database, request.visit);
  return giveSession(reply, parts, token).redirect(next, 303);
}

/** Gives the browser the token of its new session. */
export function giveSession(
  reply: FastifyReply,
  { publicUrl }: ConsoleParts,
  token: string,
): FastifyReply {
  reply.request.visit = token;
  const { session, visit, options } = cookiesOf(publicUrl);
  return reply.setCookie(session, token, options).clearCookie(visit, options);
}

/** Returns the path after the sign-in, which is always a path of this console. */
function nextOf(request: FastifyRequest): string {
  const next = textParameter(request.body, 'next') ?? textParameter(request.query, 'next') ?? '/';
  return OWN_PATH.test(next) ? next : '/';
}

/** Browsers resolve `//host` and `/\host` to other hosts. */
const OWN_PATH = /^\/(?![/\\])[\x21-\x7e]*$/;

/** Whose password a form has, for the programs that keep passwords. */
export const UserName = ({ name }: { readonly name: string }) => (
  <input type="hidden" name="username" autocomplete="username" value={name} />
);

export function PasswordRule() {
  const { text, formats } = usePage();
  return (
    <p class="quiet small">{text('link.rule', { min: formats.count(MIN_PASSWORD_LENGTH) })}</p>
  );
}

/** The time for a sign-in at the provider, with a second factor. */
const OIDC_SECONDS = 600;

/**
 * The routes for accounts of the identity provider: a link to it and the return. Without a provider, both answer 404.
 * What the return needs waits in a cookie, so that no other browser can use the answer, and this one only once.
 */
export function addOidcRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, logger } = parts;
  const cookies = cookiesOf(parts.publicUrl);
  const add = (
    path: string,
    answer: (
      oidc: OidcClient,
      request: FastifyRequest,
      reply: FastifyReply,
    ) => Promise<FastifyReply>,
  ) =>
    server.get(path, forVisitors, async (request, reply) => {
      if (parts.oidc === null) return reply.callNotFound();
      // Another tab has already signed in.
      if (request.principal !== null) return reply.redirect('/', 303);
      try {
        return await answer(parts.oidc, request, reply);
      } catch (fault) {
        if (!(fault instanceof InputError)) throw fault;
        if (fault instanceof OidcError) {
          const fields = { ...fault.context, err: fault.cause };
          logger.warn(fields, 'the sign-in at the identity provider failed');
        }
        return LOGIN.after(request, reply, parts, { fault, status: statusOf(fault) });
      }
    });

  // A link, not a form: the form-action policy of browsers also applies to the redirect after a form.
  add('/login/oidc', async (oidc, request, reply) => {
    const { url, state, nonce, codeVerifier } = await oidc.begin();
    const login = [state, nonce, codeVerifier, nextOf(request)].join(' ');
    reply.setCookie(cookies.oidc, login, { ...cookies.options, maxAge: OIDC_SECONDS });
    return reply.redirect(url.href, 303);
  });

  add(OIDC_CALLBACK_PATH, async (oidc, request, reply) => {
    const [state = '', nonce = '', codeVerifier = '', next = ''] =
      request.cookies[cookies.oidc]?.split(' ') ?? [];
    const isOwn = state !== '' && textParameter(request.query, 'state') === state;
    if (!isOwn || !OWN_PATH.test(next)) throw refusal('oidc_refused');
    await requireAddressTry(parts, reply);
    reply.clearCookie(cookies.oidc, cookies.options);
    const { searchParams } = new URL(request.url, 'http://localhost');
    const identity = await oidc.finish(searchParams, { state, nonce, codeVerifier });
    const session = await startOidcSession(database, identity, clientAddress(request));
    if (session.refused !== null) {
      logSecurityEvent(logger, request, 'sign_in_failed');
      throw refusal(`oidc_${session.refused}`);
    }
    return enter(reply, parts, session.name, session.token, next);
  });
}
