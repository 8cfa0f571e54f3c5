import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../base/audit/audit.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { describeError } from '../../base/runtime/logger.ts';
import { LANGUAGES } from '../../base/texts/texts.ts';
import { parseUserName } from '../../base/values/role.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { faultSentence } from '../shell/error-page.tsx';
import {
  cookieOptions,
  isForeignLoad,
  SESSION_LIMITS,
  sessionCookie,
  visitCookie,
} from '../shell/guard.ts';
import { Field } from '../shell/layout.tsx';
import {
  LANGUAGE_COOKIE,
  type PageContext,
  pageContext,
  textParameter,
  usePage,
} from '../shell/page-context.ts';
import { FormFault, Submit } from '../shell/parts.tsx';
import { EVERYBODY, forEnrolment, forVisitors } from '../shell/route-access.ts';
import { sendPage } from '../shell/send-page.ts';
import { endSession, type SignInProof, startSession } from './console-sessions.sql.ts';
import { consumeLink, type LinkPurpose, readLink } from './console-users.sql.ts';
import { OIDC_CALLBACK_PATH, type OidcFault } from './oidc-client.ts';
import { beginOidcLogin, findOidcUser, takeOidcLogin } from './oidc-logins.sql.ts';
import { hashPassword, MIN_PASSWORD_LENGTH, requireNewPassword } from './password.ts';
import { clientAddress, clientNetwork, logSecurityEvent } from './security-events.ts';
import { checkSignIn, countAddress } from './sign-in-check.ts';
import { countTry, PER_ADDRESS } from './sign-in-limits.sql.ts';

const PREFERENCE_SECONDS = 365 * 86_400;

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
      .redirect(byOidc ? '/login?notice=account_remains' : '/login', 303);
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
    reply.setCookie(
      LANGUAGE_COOKIE,
      LANGUAGES.find((known) => known === language) ?? current,
      options,
    );
    return reply.redirect(nextOf(request), 303);
  });
}

async function signIn(
  reply: FastifyReply,
  { database, publicUrl, logger }: ConsoleParts,
  {
    user,
    next,
    proof,
  }: {
    readonly user: { readonly id: bigint; readonly name: string };
    readonly next: string;
    readonly proof: SignInProof;
  },
): Promise<FastifyReply> {
  const { request } = reply;
  const token = await startSession(database, user, SESSION_LIMITS, clientAddress(request), proof);
  if (token === null) {
    logSecurityEvent(logger, request, 'sign_in_failed', user.name);
    return reply.redirect('/login', 303);
  }
  logSecurityEvent(logger, request, 'sign_in_succeeded', user.name);
  return reply
    .setCookie(sessionCookie(publicUrl), token, cookieOptions(publicUrl))
    .clearCookie(visitCookie(publicUrl), cookieOptions(publicUrl))
    .redirect(next, 303);
}

function showLogin(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ConsoleParts,
  answer: {
    readonly status: number;
    readonly name?: string;
    readonly error?: (context: PageContext) => string;
  },
): Promise<FastifyReply> {
  return sendPage(request, reply, parts, (context) => ({
    title: context.text('login.title'),
    active: null,
    status: answer.status,
    body: (
      <LoginPage
        next={nextOf(request)}
        name={answer.name ?? ''}
        error={answer.error?.(context) ?? null}
        hasOidc={parts.oidc !== null}
      />
    ),
  }));
}

/** @param wait until the next try, in seconds */
function showTooMany(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ConsoleParts,
  wait: number,
): Promise<FastifyReply> {
  const seconds = String(wait);
  reply.header('retry-after', seconds);
  return showLogin(request, reply, parts, {
    status: 429,
    error: ({ text }) => text('faults.too_many_tries', { seconds }),
  });
}

/** Returns the path after the sign-in, which is always a path of this console. */
function nextOf(request: FastifyRequest): string {
  const next = textParameter(request.body, 'next') ?? textParameter(request.query, 'next') ?? '/';
  // Browsers resolve `//host` and `/\host` to other hosts.
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/';
}

function LoginPage(props: {
  readonly next: string;
  readonly name: string;
  readonly error: string | null;
  readonly hasOidc: boolean;
}) {
  const context = usePage();
  const { text } = context;
  return (
    <div class="narrow">
      <form method="post" action="/login" class="card stack">
        <h1>{text('login.title')}</h1>
        <FormFault fault={props.error} />
        {props.hasOidc && (
          <>
            <a
              class="button primary"
              href={`/login/oidc?${new URLSearchParams({ next: props.next })}`}
            >
              {text('login.oidc')}
            </a>
            <p class="or">{text('login.orPassword')}</p>
          </>
        )}
        <input type="hidden" name="_csrf" value={context.csrf} />
        <input type="hidden" name="next" value={props.next} />
        <Field label={text('login.name')}>
          <input
            name="name"
            required
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            value={props.name}
          />
        </Field>
        <Field label={text('login.password')}>
          <input name="password" type="password" required autocomplete="current-password" />
        </Field>
        <CodeField isRequired={false} />
        <button type="submit" class={props.hasOidc ? 'button' : 'button primary'}>
          {text('login.submit')}
        </button>
        <p class="quiet small">{text('login.help')}</p>
      </form>
    </div>
  );
}

/** A code of the second factor, of an app or a recovery code. */
export function CodeField(props: { readonly isRequired: boolean }) {
  const { text } = usePage();
  return (
    <Field label={props.isRequired ? text('login.code') : text('login.codeIfSet')}>
      <input
        name="code"
        class="mono"
        required={props.isRequired}
        maxLength={40}
        autocomplete="one-time-code"
        autocapitalize="characters"
        spellcheck={false}
      />
    </Field>
  );
}

function LinkPage(props: {
  readonly link: { readonly name: string; readonly purpose: LinkPurpose } | null;
  readonly action: string;
  readonly fault: string | null;
}) {
  const context = usePage();
  const { link } = props;
  const { text } = context;
  if (link === null) {
    return (
      <div class="narrow">
        <section class="card stack">
          <h1>{text('link.goneTitle')}</h1>
          <p>{text('link.gone')}</p>
          <p>
            <a href="/login">{context.text('login.title')}</a>
          </p>
        </section>
      </div>
    );
  }
  return (
    <div class="narrow">
      <form method="post" action={props.action} class="card stack">
        <input type="hidden" name="_csrf" value={context.csrf} />
        <FormFault fault={props.fault} />
        {link.purpose === 'sign_in' ? (
          <>
            <h1>{text('link.signInTitle')}</h1>
            <p>{text('link.signIn', { name: link.name })}</p>
            <Submit class="primary">{text('link.open')}</Submit>
          </>
        ) : (
          <>
            <h1>{text('link.passwordTitle')}</h1>
            <p>{text('link.choose', { name: link.name })}</p>
            <input type="hidden" name="username" autocomplete="username" value={link.name} />
            <NewPasswordFields name="password" />
            <Submit class="primary">{text('link.save')}</Submit>
          </>
        )}
      </form>
    </div>
  );
}

export function NewPasswordFields(props: { readonly name: string }) {
  const context = usePage();
  const { text } = context;
  return (
    <>
      <Field label={text('link.password')}>
        <input
          name={props.name}
          type="password"
          required
          minLength={MIN_PASSWORD_LENGTH}
          autocomplete="new-password"
        />
      </Field>
      <Field label={text('link.again')}>
        <input name="again" type="password" required autocomplete="new-password" />
      </Field>
      <p class="quiet small">
        {text('link.rule', { min: context.formats.count(MIN_PASSWORD_LENGTH) })}
      </p>
    </>
  );
}

const OIDC_STATUS = {
  denied: 401,
  refused: 401,
  unavailable: 503,
  unknown: 403,
  unverified: 403,
  disabled: 403,
};

/** Routes for accounts of the identity provider: a link to it and the return. Without a provider, both answer 404. */
export function addOidcRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, oidc, logger } = parts;
  const show = (request: FastifyRequest, reply: FastifyReply, reason: keyof typeof OIDC_STATUS) =>
    showLogin(request, reply, parts, {
      status: OIDC_STATUS[reason],
      error: ({ text }) => text(`login.oidcFaults.${reason}`),
    });

  const showFault = (
    request: FastifyRequest,
    reply: FastifyReply,
    { fault, cause, errorCode }: OidcFault,
  ) => {
    const err = describeError(cause);
    logger.warn({ fault, errorCode, err }, 'the sign-in at the identity provider failed');
    return show(request, reply, fault);
  };

  const refusal = async (request: FastifyRequest, reply: FastifyReply) => {
    // Before the count, so that pages of other sites do not use up the tries of an address.
    if (isForeignLoad(request)) {
      logSecurityEvent(logger, request, 'csrf_refused');
      return show(request, reply, 'refused');
    }
    const wait = await countTry(database, `oidc ${clientNetwork(request)}`, PER_ADDRESS);
    if (wait === 0) return null;
    logSecurityEvent(logger, request, 'sign_in_limited');
    return showTooMany(request, reply, parts, wait);
  };

  // A link, not a form: the form-action policy of browsers also applies to the redirect after a form.
  server.get('/login/oidc', forVisitors, async (request, reply) => {
    if (oidc === null) return reply.callNotFound();
    if (request.principal !== null) return reply.redirect('/', 303);
    const refused = await refusal(request, reply);
    if (refused !== null) return refused;
    const begun = await oidc.begin();
    if ('fault' in begun) return showFault(request, reply, begun);
    await beginOidcLogin(database, { ...begun, visit: request.visit, next: nextOf(request) });
    return reply.redirect(begun.url.href, 303);
  });

  server.get(OIDC_CALLBACK_PATH, forVisitors, async (request, reply) => {
    if (oidc === null) return reply.callNotFound();
    // Another tab has already signed in.
    if (request.principal !== null) return reply.redirect('/', 303);
    const state = textParameter(request.query, 'state') ?? '';
    const login = await takeOidcLogin(database, state, request.visit);
    if (login === null) return show(request, reply, 'refused');
    const refused = await refusal(request, reply);
    if (refused !== null) return refused;
    const { searchParams } = new URL(request.url, 'http://localhost');
    const identity = await oidc.finish(searchParams, { ...login, state });
    if ('fault' in identity) return showFault(request, reply, identity);
    const user = await findOidcUser(database, identity, clientAddress(request));
    if (user.outcome !== 'found') {
      logSecurityEvent(logger, request, 'sign_in_failed');
      return show(request, reply, user.outcome);
    }
    const { issuer, subject } = identity;
    return signIn(reply, parts, { user, next: login.next, proof: { issuer, subject } });
  });
}
