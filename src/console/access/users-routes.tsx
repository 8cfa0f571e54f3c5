import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InputError } from '../../base/runtime/errors.ts';
import {
  CONSOLE_ROLES,
  KEY_DAYS,
  KEY_ROLES,
  KEY_SCOPES,
  PASSWORD_LINK_HOURS,
  parseUserName,
} from '../../base/values/role.ts';
import { resetFactor } from '../account/second-factor.sql.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { type PageContext, textParameter } from '../shell/page-context.ts';
import { actorOf, idOfPath } from '../shell/path-parameters.ts';
import { ADMINISTER, forPeople } from '../shell/route-access.ts';
import { sendPage } from '../shell/send-page.ts';
import { createApiKey, readApiKeys, revokeApiKey } from './api-keys.sql.ts';
import { addUser, changeUser, createLink, readUsers } from './console-users.sql.ts';
import { logSecurityEvent } from './security-events.ts';
import { type NewSecret, UsersPage } from './users-page.tsx';

/** The result of an action: a new secret, or the reason for a failure. */
interface Outcome {
  readonly secret?: NewSecret;
  readonly error?: (context: PageContext) => string;
}

/** Routes for the users of the console and the keys of scripts. */
export function addUsersRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, publicUrl } = parts;
  const now = () => parts.now?.() ?? new Date();

  const show = async (request: FastifyRequest, reply: FastifyReply, outcome: Outcome = {}) => {
    const [users, keys] = await Promise.all([readUsers(database), readApiKeys(database)]);
    const { secret = null, error = null } = outcome;
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('users.title'),
      active: '/users',
      status: error === null ? (secret === null ? 200 : 201) : 400,
      body: (
        <UsersPage data={{ users, keys, secret, error: error?.(context) ?? null, now: now() }} />
      ),
    }));
  };

  /** Shows the page with the sentence for a failed action. */
  const attempt = async (
    request: FastifyRequest,
    reply: FastifyReply,
    deed: () => Promise<FastifyReply>,
  ) => {
    try {
      return await deed();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return show(request, reply, { error: sentenceFor(error) });
    }
  };

  const showLink = async (request: FastifyRequest, reply: FastifyReply, name: string) => {
    const token = await createLink(database, {
      name,
      purpose: 'password',
      validMinutes: PASSWORD_LINK_HOURS * 60,
      by: actorOf(request),
    });
    // The host of the request is not used: a forged Host header would put the link's token on another host.
    const base = publicUrl?.origin ?? '';
    // Part of the response itself: a redirect would put the secret into addresses and logs.
    return show(request, reply, {
      secret: { kind: 'link', name, text: `${base}/link/${token}` },
    });
  };

  server.get('/users', forPeople(ADMINISTER), (request, reply) => show(request, reply));

  server.post('/users', forPeople(ADMINISTER), (request, reply) =>
    attempt(request, reply, async () => {
      const name = textParameter(request.body, 'name') ?? '';
      const role = roleOf(request);
      if (role === null)
        return show(request, reply, { error: ({ text }) => text('users.badRole') });
      const email = textParameter(request.body, 'email');
      await addUser(database, { name, role, email, by: actorOf(request) });
      return showLink(request, reply, name);
    }),
  );

  const change = (
    deed: 'role' | 'email' | 'disable' | 'enable',
    notice: string,
    changeOf: (request: FastifyRequest) => Omit<Parameters<typeof changeUser>[1], 'name' | 'by'>,
  ) =>
    server.post(`/users/:name/${deed}`, forPeople(ADMINISTER), (request, reply) =>
      attempt(request, reply, async () => {
        const by = actorOf(request);
        await changeUser(database, { ...changeOf(request), name: nameOfPath(request), by });
        return reply.redirect(`/users?notice=${notice}`, 303);
      }),
    );
  change('email', 'user_changed', (request) => ({ email: textParameter(request.body, 'email') }));
  change('disable', 'user_disabled', () => ({ isDisabled: true }));
  change('enable', 'user_enabled', () => ({ isDisabled: false }));
  change('role', 'user_changed', (request) => {
    const role = roleOf(request);
    if (role === null) throw new InputError('a role is needed', { context: { fault: 'role' } });
    return { role };
  });

  server.post('/users/:name/link', forPeople(ADMINISTER), (request, reply) =>
    attempt(request, reply, () => showLink(request, reply, nameOfPath(request))),
  );

  server.post('/users/:name/reset-second-factor', forPeople(ADMINISTER), (request, reply) =>
    attempt(request, reply, async () => {
      const name = nameOfPath(request);
      await resetFactor(database, { name, by: actorOf(request) });
      logSecurityEvent(parts.logger, request, 'second_factor_reset', parseUserName(name));
      return reply.redirect('/users?notice=factor_reset', 303);
    }),
  );

  server.post('/keys', forPeople(ADMINISTER), (request, reply) =>
    attempt(request, reply, async () => {
      const { body } = request;
      const name = textParameter(body, 'name') ?? '';
      const role = KEY_ROLES.find((known) => known === textParameter(body, 'role'));
      const scopes = KEY_SCOPES.filter((scope) => textParameter(body, `scope_${scope}`) !== null);
      const days = textParameter(body, 'days') ?? '';
      const validDays = /^\d{1,3}$/.test(days) ? Number(days) : 0;
      if (role === undefined || validDays < 1 || validDays > KEY_DAYS.max) {
        throw new InputError('the key needs a role and days', { context: { fault: 'key' } });
      }
      const by = actorOf(request);
      const { key } = await createApiKey(database, { name, user: by, role, scopes, validDays, by });
      return show(request, reply, { secret: { kind: 'key', name, text: key } });
    }),
  );

  server.post('/keys/:id/revoke', forPeople(ADMINISTER), async (request, reply) => {
    const id = idOfPath(request);
    if (id === null) return reply.callNotFound();
    return attempt(request, reply, async () => {
      await revokeApiKey(database, id, actorOf(request));
      return reply.redirect('/users?notice=key_revoked', 303);
    });
  });
}

/** Returns the console's sentence for each fault, in the language of the reader. */
function sentenceFor({ context: { fault }, message }: InputError) {
  return ({ text, formats }: PageContext): string => {
    if (fault === 'role') return text('users.badRole');
    if (fault === 'key') return text('users.badKey', { days: formats.count(KEY_DAYS.max) });
    if (fault === 'unknown_key') return text('users.unknownKey');
    return text.find(`users.faults.${fault}`) ?? message;
  };
}

function roleOf(request: FastifyRequest) {
  const text = textParameter(request.body, 'role');
  return CONSOLE_ROLES.find((role) => role === text) ?? null;
}

function nameOfPath(request: FastifyRequest): string {
  return textParameter(request.params, 'name') ?? '';
}
