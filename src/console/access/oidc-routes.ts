import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeError } from '../../runtime/logger.ts';
import { clientAddress, clientNetwork } from '../shell/client-address.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { textParameter } from '../shell/page-context.ts';
import type { Text } from '../shell/texts.ts';
import { OIDC_CALLBACK_PATH, type OidcFault } from './oidc-client.ts';
import { beginOidcLogin, findOidcUser, takeOidcLogin } from './oidc-logins.sql.ts';
import { logSecurityEvent } from './security-events.ts';
import { nextOf, PER_ADDRESS, showLogin, signIn } from './sign-in.tsx';

const STATUS: Readonly<Record<keyof Text['login']['oidcFaults'], number>> = {
  denied: 401,
  refused: 401,
  unavailable: 503,
  unknown: 403,
  unverified: 403,
  disabled: 403,
};

/**
 * Routes to sign in with an account of the identity provider: a link to the provider, and the
 * return from it. Without a provider, both answer 404.
 */
export function addOidcRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, oidc, logger } = parts;
  const perAddress = server.createRateLimit({
    ...PER_ADDRESS,
    keyGenerator: (request) => `oidc ${clientNetwork(request)}`,
  });

  const show = (
    request: FastifyRequest,
    reply: FastifyReply,
    reason: keyof Text['login']['oidcFaults'],
  ) =>
    showLogin(request, reply, parts, {
      status: STATUS[reason],
      error: ({ text }) => text.login.oidcFaults[reason],
    });

  const showFault = (
    request: FastifyRequest,
    reply: FastifyReply,
    { fault, cause, errorCode }: OidcFault,
  ) => {
    logger.warn(
      { fault, errorCode, err: describeError(cause) },
      'the sign-in at the identity provider failed',
    );
    return show(request, reply, fault);
  };

  const tooMany = async (request: FastifyRequest, reply: FastifyReply) => {
    const allowed = await perAddress(request);
    if (allowed.isAllowed || !allowed.isExceeded) return null;
    logSecurityEvent(logger, request, 'sign_in_limited');
    const seconds = String(allowed.ttlInSeconds);
    reply.header('retry-after', seconds);
    return showLogin(request, reply, parts, {
      status: 429,
      error: ({ text }) => text.login.tooMany(seconds),
    });
  };

  // A link, not a form: the form-action policy of browsers also applies to the redirect after a form.
  server.get('/login/oidc', async (request, reply) => {
    if (oidc === null) return reply.callNotFound();
    if (request.principal !== null) return reply.redirect('/', 303);
    const refused = await tooMany(request, reply);
    if (refused !== null) return refused;
    const begun = await oidc.begin();
    if ('fault' in begun) return showFault(request, reply, begun);
    await beginOidcLogin(database, { ...begun, visit: request.visit, next: nextOf(request) });
    return reply.redirect(begun.url.href, 303);
  });

  server.get(OIDC_CALLBACK_PATH, async (request, reply) => {
    if (oidc === null) return reply.callNotFound();
    // Another tab has already signed in.
    if (request.principal !== null) return reply.redirect('/', 303);
    const refused = await tooMany(request, reply);
    if (refused !== null) return refused;
    const state = textParameter(request.query, 'state') ?? '';
    const login = await takeOidcLogin(database, state, request.visit);
    if (login === null) return show(request, reply, 'refused');
    const { searchParams } = new URL(request.url, 'http://localhost');
    const identity = await oidc.finish(searchParams, { ...login, state });
    if ('fault' in identity) return showFault(request, reply, identity);
    const user = await findOidcUser(database, identity, clientAddress(request));
    if (user.outcome !== 'found') {
      logSecurityEvent(logger, request, 'sign_in_failed');
      return show(request, reply, user.outcome);
    }
    return signIn(reply, parts, { user, next: login.next, byOidc: true });
  });
}
