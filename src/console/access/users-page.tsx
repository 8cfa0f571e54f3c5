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
import { type Column, TableCard } from '../list/columns.tsx';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { actorOf } from '../shell/guard.ts';
import { usePage } from '../shell/page-context.ts';
import { Disclosure } from '../shell/parts.tsx';
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
      <TableCard head="users.people" columns={USER_COLUMNS} rows={data.users}>
        <Disclosure label={text('users.addUser')} class="primary">
          <ADD_USER.Form values={{ role: 'viewer' }} button={text('users.add')} look="primary" />
        </Disclosure>
      </TableCard>
      <TableCard
        head="users.keys"
        help="users.keysHelp"
        none="users.keysNone"
        columns={KEY_COLUMNS}
        rows={data.keys}
      >
        <AddKey />
      </TableCard>
    </>
  ),
});

const role = words(CONSOLE_ROLES);
const action = { who: ADMINISTER, page: USERS } as const;

const asChoices = (roles: readonly ConsoleRole[]) =>
  roles.map((role) => [role, `roles.${role}`] as const);
const ROLE = { label: 'users.role', choices: asChoices(CONSOLE_ROLES) } as const;
const EMAIL = {
  label: 'users.email',
  help: 'users.emailHelp',
  html: { type: 'email', required: false, maxLength: 254, autocomplete: 'off' },
} as const;

async function newLink(parts: ConsoleParts, name: string, by: string): Promise<NewSecret> {
  const token = await createLink(parts.database, { name, by });
  // The host of the request is not used: a forged Host header would put the link's token on another host.
  return { kind: 'link', name, text: `${parts.publicUrl?.origin ?? ''}/link/${token}` };
}

// A secret is part of the answer itself: a redirect would put it into addresses and logs.
const ADD_USER = declareAction({
  ...action,
  path: '/users',
  input: { name: text, role, email: Type.Optional(text) },
  fields: {
    name: {
      label: 'users.name',
      help: 'users.nameHelp',
      html: { maxLength: 64, autocomplete: 'off', autocapitalize: 'none', spellcheck: false },
    },
    role: ROLE,
    email: EMAIL,
  },
  answer: async (request, reply, parts, { name, role, email = null }) => {
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
  fields: { role: ROLE },
  deed: ({ database }, { name, role }, by) => changeUser(database, { name, by, role }),
});

const CHANGE_EMAIL = declareAction({
  ...changed,
  path: '/users/:name/email',
  // An empty field removes the address; a form without the field is refused.
  input: { name: text, email: asWritten(Type.String()) },
  fields: { email: EMAIL },
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
    name: text,
    role: words(KEY_ROLES),
    days: Type.Integer({ minimum: 1, maximum: KEY_DAYS.max }),
    scopes: Type.Optional(Type.Array(words(KEY_SCOPES))),
  },
  fields: {
    name: {
      label: 'users.keyName',
      help: 'users.keyNameHelp',
      html: { maxLength: 80, autocomplete: 'off' },
    },
    role: { label: 'users.keyRole', choices: asChoices(KEY_ROLES) },
    days: { label: 'users.days' },
  },
  answer: async (request, reply, parts, { name, role, days, scopes = [] }) => {
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

const USER_COLUMNS: readonly Column<ConsoleUser>[] = [
  { name: 'name', head: 'users.name', isHead: true },
  { name: 'role', head: 'users.role', word: ({ role }) => `roles.${role}` },
  {
    name: 'state',
    head: 'users.state',
    word: ({ disabledAt }) => `users.states.${disabledAt === null ? 'active' : 'disabled'}`,
  },
  {
    name: 'email',
    head: 'users.email',
    note: ({ isBound }, { text }) => (isBound ? text('users.bound') : null),
  },
  {
    name: 'second_factor',
    head: 'account.factorTitle',
    word: ({ hasSecondFactor }) => (hasSecondFactor ? 'account.factorOn' : 'account.factorOff'),
  },
  { name: 'last_login_at', head: 'users.lastLogin', kind: 'instant' },
  {
    name: 'change',
    head: 'users.changes',
    only: 'page',
    cell: (user, { text }) => (
      <Disclosure label={text('users.change', { name: user.name })}>
        <Deeds user={user} />
      </Disclosure>
    ),
  },
];

function Deeds({ user }: { readonly user: ConsoleUser }) {
  const { text, principal } = usePage();
  const { name, disabledAt, hasSecondFactor } = user;
  if (principal?.name === name) return <p class="quiet small">{text('users.ownHelp')}</p>;
  const isOffered = {
    link: disabledAt === null,
    'reset-second-factor': hasSecondFactor,
    enable: disabledAt !== null,
    disable: disabledAt === null,
  };
  return (
    <div class="deeds">
      <CHANGE_ROLE.Form
        values={{ name, role: user.role }}
        button={text('users.deeds.role')}
        help={text('users.deedHelp.role')}
      />
      <CHANGE_EMAIL.Form
        values={{ name, email: user.email }}
        button={text('users.deeds.email')}
        help={text('users.deedHelp.email')}
      />
      {DEEDS.filter((deed) => isOffered[deed]).map((deed) => (
        <CHANGE_USER.Form
          key={deed}
          values={{ name, deed }}
          button={text(`users.deeds.${deed}`)}
          help={text(`users.deedHelp.${deed}`)}
          {...(DANGEROUS.has(deed) && { look: 'danger' })}
        />
      ))}
    </div>
  );
}

const KEY_COLUMNS: readonly Column<ApiKey>[] = [
  {
    name: 'name',
    head: 'users.keyName',
    note: ({ keyStart }) => `${keyStart}…`,
    isHead: true,
  },
  { name: 'role', head: 'users.keyRole', word: ({ role }) => `roles.${role}` },
  {
    name: 'scopes',
    head: 'users.scopes',
    value: ({ scopes }, { text }) =>
      scopes.map((scope) => text(`users.scopeNames.${scope}`)).join(' · '),
  },
  { name: 'user', head: 'users.owner' },
  { name: 'expires_at', head: 'users.expires', kind: 'instant' },
  { name: 'last_used_at', head: 'users.lastUsed', kind: 'instant' },
  {
    name: 'revoke',
    head: 'users.revoke',
    only: 'page',
    cell: ({ id, name }, { text }) => (
      <REVOKE_KEY.Form
        values={{ id }}
        button={text('users.revokeKey', { name })}
        look="danger"
        help={text('users.revokeHelp')}
        isFolded
      />
    ),
  },
];

function AddKey() {
  const { text } = usePage();
  return (
    <Disclosure label={text('users.addKey')} class="primary">
      <ADD_KEY.Form
        values={{ role: 'viewer', days: KEY_DAYS.default }}
        button={text('users.makeKey')}
        look="primary"
      >
        <fieldset class="choices">
          <legend>{text('users.scopes')}</legend>
          {KEY_SCOPES.map((scope) => (
            <label key={scope} class="check">
              <input type="checkbox" name="scopes" value={scope} checked={scope === 'read'} />
              {text(`users.scopeNames.${scope}`)}
            </label>
          ))}
        </fieldset>
      </ADD_KEY.Form>
    </Disclosure>
  );
}
