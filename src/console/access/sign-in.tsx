import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientAddress } from '../shell/client-address.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { cookieOptions, SESSION_LIMITS, sessionCookie, visitCookie } from '../shell/guard.ts';
import { type PageContext, textParameter } from '../shell/page-context.ts';
import { sendPage } from '../shell/send-page.ts';
import { type SignInProof, startSession } from './console-sessions.sql.ts';
import { LoginPage } from './login-page.tsx';
import { logSecurityEvent } from './security-events.ts';
import type { SignInLimit } from './sign-in-limits.sql.ts';

/** Tries from one address, counted separately for each way to sign in. */
export const PER_ADDRESS: SignInLimit = { max: 30, seconds: 60 };
/** Tries for one user from one address. */
export const PER_USER: SignInLimit = { max: 10, seconds: 600 };

/** Begins a session and replaces the visitor's cookie. */
export async function signIn(
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

export function showLogin(
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
export function showTooMany(
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
export function nextOf(request: FastifyRequest): string {
  const next = textParameter(request.body, 'next') ?? textParameter(request.query, 'next') ?? '/';
  // Browsers resolve `//host` and `/\host` to other hosts.
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/';
}
