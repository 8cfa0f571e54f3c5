import { Type } from 'typebox';
import {
  CONSOLE_ROLES,
  type ConsoleRole,
  KEY_DAYS,
  KEY_ROLES,
  KEY_SCOPES,
  PASSWORD_LINK_HOURS,
  parseUserName,
} from '../../base/values/role.ts';
import { id, text, words } from '../api/schema-parts.ts';
import { asWritten, declareAction, declarePage } from '../declare.tsx';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { actorOf } from '../shell/guard.ts';
import { Input, Select } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { Card, Disclosure, Instant } from '../shell/parts.tsx';
import { ADMINISTER } from '../shell/route-access.ts';
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
  readonly name: string;
  readonly text: string;
}

/** The users of the console and the keys of scripts. */
export const USERS = declarePage({
  path: '/users',
  who: ADMINISTER,
  active: '/users',
  input: {},
  read: async ({ database }) => {
    const [users, keys] = await Promise.all([readUsers(database), readApiKeys(database)]);
    return { users, keys };
  },
  title: (context) => context.text('users.title'),
  body: (data, { text }, { result: secret }: { readonly result: NewSecret | null }) => (
    <>
      <h1>{text('users.title')}</h1>
      {secret !== null && <Secret secret={secret} />}
      <Card title={text('users.people')}>
        <ul class="timeline">
          {data.users.map((user) => (
            <User key={user.name} user={user} />
          ))}
        </ul>
        <Disclosure label={text('users.addUser')} class="primary">
          <ADD_USER.Form button={text('users.add')} look="primary">
            <Input
              label={text('users.name')}
              name="name"
              required
              maxLength={64}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
            />
            <p class="quiet small">{text('users.nameHelp')}</p>
            <RoleField label={text('users.role')} values={CONSOLE_ROLES} chosen="viewer" />
            <EmailField />
            <p class="quiet small">{text('users.emailHelp')}</p>
          </ADD_USER.Form>
        </Disclosure>
      </Card>
      <KeysCard keys={data.keys} />
    </>
  ),
});

const written = Type.Optional(text);
const role = words(CONSOLE_ROLES);
const action = { who: ADMINISTER, page: USERS } as const;

async function newLink(parts: ConsoleParts, name: string, by: string): Promise<NewSecret> {
  const token = await createLink(parts.database, { name, by });
  // The host of the request is not used: a forged Host header would put the link's token on another host.
  return { kind: 'link', name, text: `${parts.publicUrl?.origin ?? ''}/link/${token}` };
}

// A secret is part of the answer itself: a redirect would put it into addresses and logs.
const ADD_USER = declareAction({
  ...action,
  path: '/users',
  input: { name: written, role, email: written },
  answer: async (request, reply, parts, { name = '', role, email = null }) => {
    const by = actorOf(request);
    await addUser(parts.database, { name, role, email, by });
    const result = await newLink(parts, name, by);
    return USERS.after(request, reply, parts, { status: 201, result });
  },
});

const changed = { ...action, next: () => '/users', notice: 'user_changed' } as const;

const CHANGE_ROLE = declareAction({
  ...changed,
  path: '/users/:name/role',
  input: { name: text, role },
  deed: ({ database }, { name, role }, by) => changeUser(database, { name, by, role }),
});

const CHANGE_EMAIL = declareAction({
  ...changed,
  path: '/users/:name/email',
  // An empty field removes the address; a form without the field is refused.
  input: { name: text, email: asWritten(text) },
  deed: ({ database }, { name, email }, by) =>
    changeUser(database, { name, by, email: email.trim() === '' ? null : email }),
});

/** What needs no field. */
const DEEDS = ['link', 'reset-second-factor', 'enable', 'disable'] as const;
const DANGEROUS: ReadonlySet<string> = new Set(['reset-second-factor', 'disable']);

const CHANGE_USER = declareAction({
  ...action,
  path: '/users/:name/:deed',
  input: { name: text, deed: words(DEEDS) },
  answer: async (request, reply, parts, { name, deed }) => {
    const { database, logger } = parts;
    const by = actorOf(request);
    if (deed === 'link') {
      const result = await newLink(parts, name, by);
      return USERS.after(request, reply, parts, { status: 201, result });
    }
    if (deed === 'reset-second-factor') {
      await changeUser(database, { name, by, losesFactor: true });
      logSecurityEvent(logger, request, 'second_factor_reset', parseUserName(name));
    } else await changeUser(database, { name, by, isDisabled: deed === 'disable' });
    return reply.redirect('/users?notice=user_changed', 303);
  },
});

const ADD_KEY = declareAction({
  ...action,
  path: '/keys',
  input: {
    name: written,
    role: words(KEY_ROLES),
    days: Type.Integer({ minimum: 1, maximum: KEY_DAYS.max }),
    scopes: Type.Optional(Type.Array(words(KEY_SCOPES))),
  },
  answer: async (request, reply, parts, { name = '', role, days, scopes = [] }) => {
    const by = actorOf(request);
    const wanted = { name, user: by, role, scopes, validDays: days, by };
    const { key } = await createApiKey(parts.database, wanted);
    const result = { kind: 'key', name, text: key } as const;
    return USERS.after(request, reply, parts, { status: 201, result });
  },
});

const REVOKE_KEY = declareAction({
  ...action,
  path: '/keys/:id/revoke',
  input: { id },
  deed: ({ database }, { id }, by) => revokeApiKey(database, BigInt(id), by),
  next: () => '/users',
  notice: 'key_revoked',
});

export const USER_ACTIONS = [ADD_USER, CHANGE_ROLE, CHANGE_EMAIL, CHANGE_USER, ADD_KEY, REVOKE_KEY];

function Secret({ secret }: { secret: NewSecret }) {
  const { text, formats } = usePage();
  const { kind, name } = secret;
  const isPath = secret.text.startsWith('/');
  return (
    <section class="card secret" role="status">
      <h2>{text(`users.${kind}Title`, { name })}</h2>
      <p>
        {kind === 'link'
          ? text('users.linkHelp', { hours: formats.count(PASSWORD_LINK_HOURS) })
          : text('users.keyHelp')}
      </p>
      <p class="mono" data-path={isPath ? '' : undefined}>
        {secret.text}
      </p>
      {isPath && <p>{text('users.linkPathHelp')}</p>}
    </section>
  );
}

function User({ user }: { user: ConsoleUser }) {
  const context = usePage();
  const { text, formats } = context;
  const { name } = user;
  const isOwn = context.principal?.name === name;
  const state = user.disabledAt === null ? 'active' : 'disabled';
  const isOffered = {
    link: state === 'active',
    'reset-second-factor': user.hasSecondFactor,
    enable: state === 'disabled',
    disable: state === 'active',
  };
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
          <span class={`tag ${state === 'active' ? 'is-inserted' : 'is-withdrawn'}`}>
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
                <CHANGE_ROLE.Form
                  values={{ name }}
                  button={text('users.deeds.role')}
                  help={text('users.deedHelp.role')}
                >
                  <RoleField label={text('users.role')} values={CONSOLE_ROLES} chosen={user.role} />
                </CHANGE_ROLE.Form>
                <CHANGE_EMAIL.Form
                  values={{ name }}
                  button={text('users.deeds.email')}
                  help={text('users.deedHelp.email')}
                >
                  <EmailField value={user.email ?? ''} />
                </CHANGE_EMAIL.Form>
                {DEEDS.filter((deed) => isOffered[deed]).map((deed) => (
                  <CHANGE_USER.Form
                    key={deed}
                    values={{ name, deed }}
                    button={text(`users.deeds.${deed}`)}
                    help={text(`users.deedHelp.${deed}`)}
                    {...(DANGEROUS.has(deed) && { look: 'danger' })}
                  />
                ))}
              </>
            )}
          </div>
        </Disclosure>
      </div>
    </li>
  );
}

/** The API keys of scripts, with a form for a new one. */
function KeysCard({ keys }: { readonly keys: readonly ApiKey[] }) {
  const { text } = usePage();
  return (
    <Card title={text('users.keys')}>
      <p class="quiet">{text('users.keysHelp')}</p>
      {keys.length === 0 ? (
        <p class="quiet">{text('users.keysNone')}</p>
      ) : (
        <ul class="timeline">
          {keys.map((key) => (
            <Key key={key.id} apiKey={key} />
          ))}
        </ul>
      )}
      <Disclosure label={text('users.addKey')} class="primary">
        <ADD_KEY.Form button={text('users.makeKey')} look="primary">
          <Input
            label={text('users.keyName')}
            name="name"
            required
            maxLength={80}
            autocomplete="off"
          />
          <p class="quiet small">{text('users.keyNameHelp')}</p>
          <RoleField label={text('users.keyRole')} values={KEY_ROLES} chosen="viewer" />
          <fieldset class="choices">
            <legend>{text('users.scopes')}</legend>
            {KEY_SCOPES.map((scope) => (
              <label key={scope} class="check">
                <input type="checkbox" name="scopes" value={scope} checked={scope === 'read'} />
                {text(`users.scopeNames.${scope}`)}
              </label>
            ))}
          </fieldset>
          <Input
            label={text('users.days')}
            name="days"
            type="number"
            required
            min={1}
            max={KEY_DAYS.max}
            value={KEY_DAYS.default}
          />
        </ADD_KEY.Form>
      </Disclosure>
    </Card>
  );
}

function Key({ apiKey: key }: { readonly apiKey: ApiKey }) {
  const { text } = usePage();
  return (
    <li>
      <div>
        <p>
          <strong class="anywhere">{key.name}</strong>
        </p>
        <p class="quiet small">
          {text(`roles.${key.role}`)} · <span class="mono">{key.keyStart}…</span> ·{' '}
          {key.user === null ? text('users.noOwner') : text('users.owner', { name: key.user })}
        </p>
      </div>
      <div class="stack">
        <p class="small">
          {key.scopes.map((scope) => text(`users.scopeNames.${scope}`)).join(' · ')}
        </p>
        <p class="quiet small">
          {text('users.expires')} <Instant at={key.expiresAt} /> · {text('users.lastUsed')}{' '}
          <Instant at={key.lastUsedAt} />
        </p>
        <Disclosure label={text('users.revokeKey', { name: key.name })}>
          <REVOKE_KEY.Form values={{ id: key.id }} button={text('users.revoke')} look="danger">
            <p class="small">{text('users.revokeHelp')}</p>
          </REVOKE_KEY.Form>
        </Disclosure>
      </div>
    </li>
  );
}

function RoleField<Role extends ConsoleRole>(props: {
  readonly label: string;
  readonly values: readonly Role[];
  readonly chosen: Role;
}) {
  const { text } = usePage();
  return <Select {...props} name="role" text={(role) => text(`roles.${role}`)} />;
}

function EmailField({ value }: { readonly value?: string }) {
  const { text } = usePage();
  return (
    <Input
      label={text('users.email')}
      name="email"
      type="email"
      maxLength={254}
      autocomplete="off"
      value={value}
    />
  );
}
