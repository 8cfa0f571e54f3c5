import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeError } from '../../base/runtime/logger.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { isForeignLoad } from '../shell/guard.ts';
import { textParameter } from '../shell/page-context.ts';
import { forVisitors } from '../shell/route-access.ts';
import { nextOf, showLogin, showTooMany, signIn } from './login-routes.tsx';
import { OIDC_CALLBACK_PATH, type OidcFault } from './oidc-client.ts';
import { beginOidcLogin, findOidcUser, takeOidcLogin } from './oidc-logins.sql.ts';
import { clientAddress, clientNetwork, logSecurityEvent } from './security-events.ts';
import { countTry, PER_ADDRESS } from './sign-in-limits.sql.ts';

const STATUS = {
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
  const show = (request: FastifyRequest, reply: FastifyReply, reason: keyof typeof STATUS) =>
    showLogin(request, reply, parts, {
      status: STATUS[reason],
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
