import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../base/audit/audit.ts';
import { readApiKeys } from '../access/api-keys.sql.ts';
import { endOtherSessions, readSessionsOf } from '../access/console-sessions.sql.ts';
import { changeOwnPassword, findLoginUser, type LoginUser } from '../access/console-users.sql.ts';
import { newPasswordFault } from '../access/new-password.ts';
import { hashPassword } from '../access/password.ts';
import { logSecurityEvent } from '../access/security-events.ts';
import { passwordOf, type SignInCheck } from '../access/sign-in-check.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { cookieOptions, SESSION_LIMITS, sessionCookie } from '../shell/guard.ts';
import { type PageContext, textParameter } from '../shell/page-context.ts';
import { actorOf } from '../shell/path-parameters.ts';
import { EVERYBODY, forEnrolment, forPeople, SECOND_FACTOR_PATH } from '../shell/route-access.ts';
import { sendPage } from '../shell/send-page.ts';
import { AccountPage, EnrolPage, RecoveryCodesPage } from './account-page.tsx';
import { enrol, offerSecret, removeFactor, renewRecoveryCodes } from './second-factor.sql.ts';

interface Refusal {
  readonly status: number;
  readonly error: (context: PageContext) => string;
}

/** Routes with which users change their own credentials and end their own sessions. */
export function addAccountRoutes(
  server: FastifyInstance,
  parts: ConsoleParts,
  signInCheck: SignInCheck,
): void {
  const { database, logger, publicUrl, requiresSecondFactor } = parts;

  /** Null: another administrator has just disabled the user. */
  const ownUser = (request: FastifyRequest) => findLoginUser(database, actorOf(request));

  /** Returns the user whose password, and code, the form has; otherwise the reason for a refusal. */
  const prove = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<LoginUser | Refusal> => {
    const checked = await signInCheck.check(request, actorOf(request));
    if (checked.outcome === 'right') return checked.user;
    if (checked.outcome === 'wrong')
      return { status: 401, error: ({ text }) => text('account.wrong') };
    const seconds = String(checked.wait);
    reply.header('retry-after', seconds);
    return { status: 429, error: ({ text }) => text('login.tooMany', { seconds }) };
  };

  /** Gives the browser the new token of its session. */
  const renew = (request: FastifyRequest, reply: FastifyReply, token: string) => {
    request.visit = token;
    return reply.setCookie(sessionCookie(publicUrl), token, cookieOptions(publicUrl));
  };

  const showAccount = async (
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: Refusal | null = null,
  ) => {
    const user = await ownUser(request);
    if (user === null) return reply.redirect('/login', 303);
    const sessions = await readSessionsOf(
      database,
      { id: user.id, token: request.visit },
      SESSION_LIMITS,
    );
    const keys = (await readApiKeys(database)).filter(
      (key) => key.user === user.name && key.revokedAt === null,
    );
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('account.title'),
      active: null,
      status: refusal?.status ?? 200,
      body: (
        <AccountPage
          data={{
            hasPassword: user.passwordHash !== null,
            recoveryCodesLeft: user.factor?.recoveryHashes.length ?? null,
            requiresSecondFactor,
            sessions,
            keys,
            error: refusal?.error(context) ?? null,
          }}
        />
      ),
    }));
  };

  const showEnrol = async (
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: Refusal | null = null,
  ) => {
    const user = await ownUser(request);
    if (user === null) return reply.redirect('/login', 303);
    if (user.factor !== null) return reply.redirect('/account', 303);
    const shown = textParameter(request.body, 'secret');
    const secret =
      user.passwordHash === null ? null : await offerSecret(database, request.visit, shown);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('account.enrolTitle'),
      active: null,
      status: refusal?.status ?? 200,
      body: <EnrolPage secret={secret} error={refusal?.error(context) ?? null} />,
    }));
  };

  const showCodes = (request: FastifyRequest, reply: FastifyReply, codes: readonly string[]) =>
    sendPage(request, reply, parts, (context) => ({
      title: context.text('account.codesTitle'),
      active: null,
      body: <RecoveryCodesPage codes={codes} />,
    }));

  server.get('/account', forPeople(EVERYBODY), (request, reply) => showAccount(request, reply));

  server.post('/account/password', forPeople(EVERYBODY), async (request, reply) => {
    const user = await prove(request, reply);
    if ('error' in user) return showAccount(request, reply, user);
    const password = passwordOf(request.body, 'newPassword') ?? '';
    const error = newPasswordFault(password, passwordOf(request.body, 'again'), user);
    if (error !== null) return showAccount(request, reply, { status: 400, error });
    const token = await changeOwnPassword(database, user, {
      passwordHash: await hashPassword(password),
      token: request.visit,
    });
    if (token === null) return reply.redirect('/account', 303);
    logSecurityEvent(logger, request, 'password_changed', user.name);
    return renew(request, reply, token).redirect('/account?notice=password_changed', 303);
  });

  server.get(SECOND_FACTOR_PATH, forEnrolment(EVERYBODY), (request, reply) =>
    showEnrol(request, reply),
  );

  server.post(SECOND_FACTOR_PATH, forEnrolment(EVERYBODY), async (request, reply) => {
    const present = await ownUser(request);
    // Otherwise the code of the form would be taken for one of the present second factor.
    if (present === null || present.factor !== null) return showEnrol(request, reply);
    const user = await prove(request, reply);
    if ('error' in user) return showEnrol(request, reply, user);
    const enrolled = await enrol(database, user, {
      token: request.visit,
      secret: textParameter(request.body, 'secret') ?? '',
      code: textParameter(request.body, 'code') ?? '',
    });
    if (enrolled.outcome === 'wrong_code') {
      return showEnrol(request, reply, {
        status: 400,
        error: ({ text }) => text('account.wrongCode'),
      });
    }
    if (enrolled.outcome === 'gone') return reply.redirect(SECOND_FACTOR_PATH, 303);
    logSecurityEvent(logger, request, 'second_factor_set', user.name);
    renew(request, reply, enrolled.token);
    if (request.principal !== null) {
      request.principal = { ...request.principal, isEnrolmentDue: false };
    }
    return showCodes(request, reply, enrolled.recoveryCodes);
  });

  server.post(`${SECOND_FACTOR_PATH}/remove`, forPeople(EVERYBODY), async (request, reply) => {
    const user = await prove(request, reply);
    if ('error' in user) return showAccount(request, reply, user);
    const token = await removeFactor(database, user, request.visit);
    if (token === null) return reply.redirect('/account', 303);
    logSecurityEvent(logger, request, 'second_factor_removed', user.name);
    return renew(request, reply, token).redirect('/account?notice=factor_removed', 303);
  });

  server.post('/account/recovery-codes', forPeople(EVERYBODY), async (request, reply) => {
    const user = await prove(request, reply);
    if ('error' in user) return showAccount(request, reply, user);
    const codes = await renewRecoveryCodes(database, user, request.visit);
    if (codes === null) return reply.redirect('/account', 303);
    logSecurityEvent(logger, request, 'recovery_codes_made', user.name);
    return showCodes(request, reply, codes);
  });

  server.post('/account/sessions/end', forPeople(EVERYBODY), async (request, reply) => {
    const user = await ownUser(request);
    if (user !== null) {
      await endOtherSessions(database.prisma, user.id, request.visit);
      await recordAudit(database.prisma, { actor: user.name, action: 'session.end_others' });
    }
    return reply.redirect('/account?notice=sessions_ended', 303);
  });
}
