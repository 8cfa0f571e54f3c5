import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InputError } from '../../base/runtime/errors.ts';
import {
  CONSOLE_ROLES,
  type ConsoleRole,
  KEY_DAYS,
  KEY_ROLES,
  KEY_SCOPES,
  PASSWORD_LINK_HOURS,
  parseUserName,
} from '../../base/values/role.ts';
import { resetFactor } from '../account/second-factor.sql.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { Field } from '../shell/layout.tsx';
import { type PageContext, textParameter, usePage } from '../shell/page-context.ts';
import { ActionForm, Card, Disclosure, Instant, Options, Submit } from '../shell/parts.tsx';
import { actorOf, idOfPath } from '../shell/path-parameters.ts';
import { ADMINISTER, forPeople } from '../shell/route-access.ts';
import { sendPage } from '../shell/send-page.ts';
import { type ApiKey, createApiKey, readApiKeys, revokeApiKey } from './api-keys.sql.ts';
import {
  addUser,
  type ConsoleUser,
  changeUser,
  createLink,
  readUsers,
} from './console-users.sql.ts';
import { logSecurityEvent } from './security-events.ts';

/** A secret that is shown only once: a link for a person, or a key for a script. */
interface NewSecret {
  readonly kind: 'link' | 'key';
  /** The name of the user or of the key. */
  readonly name: string;
  readonly text: string;
}

interface UsersPageData {
  readonly users: readonly ConsoleUser[];
  readonly keys: readonly ApiKey[];
  readonly secret: NewSecret | null;
  /** Why the action failed; null: there was no action, or it succeeded. */
  readonly error: string | null;
  readonly now: Date;
}

function UsersPage({ data }: { data: UsersPageData }) {
  const { text } = usePage();
  return (
    <>
      <h1>{text('users.title')}</h1>
      {data.error !== null && (
        <p class="error" role="alert">
          {data.error}
        </p>
      )}
      {data.secret !== null && <Secret secret={data.secret} />}
      <Card title={text('users.people')}>
        <ul class="timeline">
          {data.users.map((user) => (
            <User key={user.id} user={user} />
          ))}
        </ul>
        <Disclosure label={text('users.addUser')} class="primary">
          <ActionForm action="/users">
            <Field label={text('users.name')}>
              <input
                name="name"
                required
                maxLength={64}
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
              />
            </Field>
            <p class="quiet small">{text('users.nameHelp')}</p>
            <RoleField label={text('users.role')} roles={CONSOLE_ROLES} chosen="viewer" />
            <Field label={text('users.email')}>
              <input name="email" type="email" maxLength={254} autocomplete="off" />
            </Field>
            <p class="quiet small">{text('users.emailHelp')}</p>
            <Submit class="primary">{text('users.add')}</Submit>
          </ActionForm>
        </Disclosure>
      </Card>
      <KeysCard keys={data.keys} now={data.now} />
    </>
  );
}

function Secret({ secret }: { secret: NewSecret }) {
  const { text, formats } = usePage();
  const isLink = secret.kind === 'link';
  return (
    <section class="card secret" role="status">
      <h2>
        {isLink
          ? text('users.linkTitle', { name: secret.name })
          : text('users.keyTitle', { name: secret.name })}
      </h2>
      <p>
        {isLink
          ? text('users.linkHelp', { hours: formats.count(PASSWORD_LINK_HOURS) })
          : text('users.keyHelp')}
      </p>
      {isLink && secret.text.startsWith('/') ? (
        <>
          <p class="mono" data-path>
            {secret.text}
          </p>
          <p>{text('users.linkPathHelp')}</p>
        </>
      ) : (
        <p class="mono">{secret.text}</p>
      )}
    </section>
  );
}

function User({ user }: { user: ConsoleUser }) {
  const context = usePage();
  const { text, formats } = context;
  const isOwn = context.principal?.name === user.name;
  const state =
    user.disabledAt !== null
      ? 'disabled'
      : user.hasPassword || user.lastLoginAt !== null
        ? 'active'
        : 'fresh';
  const path = `/users/${encodeURIComponent(user.name)}`;
  return (
    <li>
      <div>
        <p>
          <strong class="anywhere">{user.name}</strong>
          {isOwn && <span class="quiet"> ({text('users.you')})</span>}
        </p>
        <p class="quiet small">{text(`roles.${user.role}`)}</p>
      </div>
      <div class="stack">
        <p>
          <span
            class={`tag ${{ active: 'is-inserted', fresh: 'is-changed', disabled: 'is-withdrawn' }[state]}`}
          >
            {text(`users.states.${state}`)}
          </span>{' '}
          <span class="quiet small">
            {user.lastLoginAt === null
              ? text('users.neverLogin')
              : text('users.lastLogin', { at: formats.instant(user.lastLoginAt) })}
            {user.email !== null && (
              <>
                {' · '}
                <span class="anywhere">{user.email}</span>
              </>
            )}
            {user.isBound && ` · ${text('users.bound')}`}
            {user.hasSecondFactor && ` · ${text('users.secondFactor')}`}
          </span>
        </p>
        <Disclosure label={text('users.change', { name: user.name })}>
          <div class="deeds">
            {isOwn ? (
              <p class="quiet small">{text('users.ownHelp')}</p>
            ) : (
              <>
                <ActionForm action={`${path}/role`}>
                  <RoleField label={text('users.role')} roles={CONSOLE_ROLES} chosen={user.role} />
                  <Submit>{text('users.saveRole')}</Submit>
                </ActionForm>
                <ActionForm action={`${path}/email`}>
                  <Field label={text('users.email')}>
                    <input
                      name="email"
                      type="email"
                      maxLength={254}
                      autocomplete="off"
                      value={user.email ?? ''}
                    />
                  </Field>
                  <p class="quiet small">{text('users.saveEmailHelp')}</p>
                  <Submit>{text('users.saveEmail')}</Submit>
                </ActionForm>
              </>
            )}
            {state !== 'disabled' && !isOwn && (
              <ActionForm action={`${path}/link`}>
                <Submit>{text('users.newLink')}</Submit>
                <p class="quiet small">{text('users.newLinkHelp')}</p>
              </ActionForm>
            )}
            {user.hasSecondFactor && !isOwn && (
              <ActionForm action={`${path}/reset-second-factor`}>
                <Submit class="danger">{text('users.resetFactor')}</Submit>
                <p class="quiet small">{text('users.resetFactorHelp')}</p>
              </ActionForm>
            )}
            {state === 'disabled' ? (
              <ActionForm action={`${path}/enable`}>
                <Submit>{text('users.enable')}</Submit>
              </ActionForm>
            ) : (
              !isOwn && (
                <ActionForm action={`${path}/disable`}>
                  <Submit class="danger">{text('users.disable')}</Submit>
                  <p class="quiet small">{text('users.disableHelp')}</p>
                </ActionForm>
              )
            )}
          </div>
        </Disclosure>
      </div>
    </li>
  );
}

/** The API keys of scripts, with a form for a new one. */
function KeysCard({ keys, now }: { readonly keys: readonly ApiKey[]; readonly now: Date }) {
  const { text } = usePage();
  return (
    <Card title={text('users.keys')}>
      <p class="quiet">{text('users.keysHelp')}</p>
      {keys.length === 0 ? (
        <p class="quiet">{text('users.keysNone')}</p>
      ) : (
        <ul class="timeline">
          {keys.map((key) => (
            <Key key={key.id} apiKey={key} now={now} />
          ))}
        </ul>
      )}
      <Disclosure label={text('users.addKey')} class="primary">
        <NewKeyForm />
      </Disclosure>
    </Card>
  );
}

function Key({ apiKey: key, now }: { readonly apiKey: ApiKey; readonly now: Date }) {
  const { text } = usePage();
  const state = key.revokedAt !== null ? 'revoked' : key.expiresAt <= now ? 'expired' : 'active';
  return (
    <li>
      <div>
        <p>
          <strong class="anywhere">{key.name}</strong>
        </p>
        <p class="quiet small">
          {text(`roles.${key.role}`)} · <span class="mono">{key.start}…</span> ·{' '}
          {key.user === null ? text('users.noOwner') : text('users.owner', { name: key.user })}
        </p>
      </div>
      <div class="stack">
        <p>
          <span class={`tag ${state === 'active' ? 'is-inserted' : 'is-withdrawn'}`}>
            {text(`users.keyStates.${state}`)}
          </span>{' '}
          <span class="quiet small">
            {key.scopes.map((scope) => text(`users.scopeNames.${scope}`)).join(' · ')}
          </span>
        </p>
        <p class="quiet small">
          {text('users.expires')} <Instant at={key.expiresAt} /> · {text('users.lastUsed')}{' '}
          <Instant at={key.lastUsedAt} />
        </p>
        {state === 'active' && (
          <Disclosure label={text('users.revokeKey', { name: key.name })}>
            <ActionForm action={`/keys/${key.id}/revoke`}>
              <p class="small">{text('users.revokeHelp')}</p>
              <Submit class="danger">{text('users.revoke')}</Submit>
            </ActionForm>
          </Disclosure>
        )}
      </div>
    </li>
  );
}

function NewKeyForm() {
  const { text } = usePage();
  return (
    <ActionForm action="/keys">
      <Field label={text('users.keyName')}>
        <input name="name" required maxLength={80} autocomplete="off" />
      </Field>
      <p class="quiet small">{text('users.keyNameHelp')}</p>
      <RoleField label={text('users.keyRole')} roles={KEY_ROLES} chosen="viewer" />
      <fieldset class="choices">
        <legend>{text('users.scopes')}</legend>
        {KEY_SCOPES.map((scope) => (
          <label key={scope} class="check">
            <input type="checkbox" name={`scope_${scope}`} value="on" checked={scope === 'read'} />
            {text(`users.scopeNames.${scope}`)}
          </label>
        ))}
      </fieldset>
      <Field label={text('users.days')}>
        <input
          name="days"
          type="number"
          required
          min={1}
          max={KEY_DAYS.max}
          value={KEY_DAYS.default}
        />
      </Field>
      <Submit class="primary">{text('users.makeKey')}</Submit>
    </ActionForm>
  );
}

function RoleField<Role extends ConsoleRole>(props: {
  readonly label: string;
  readonly roles: readonly Role[];
  readonly chosen: Role;
}) {
  const { text } = usePage();
  return (
    <Field label={props.label}>
      <select name="role">
        <Options
          values={props.roles}
          chosen={props.chosen}
          text={(role) => text(`roles.${role}`)}
        />
      </select>
    </Field>
  );
}

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
