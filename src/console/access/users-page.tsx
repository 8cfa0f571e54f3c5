import type { ConsoleRole } from '../../base/values/role.ts';
import {
  CONSOLE_ROLES,
  KEY_DAYS,
  KEY_ROLES,
  KEY_SCOPES,
  PASSWORD_LINK_HOURS,
} from '../../base/values/role.ts';
import { Field } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { ActionForm, Card, Disclosure, Instant, Options, Submit } from '../shell/parts.tsx';
import type { ApiKey } from './api-keys.sql.ts';
import type { ConsoleUser } from './console-users.sql.ts';

/** A secret that is shown only once: a link for a person, or a key for a script. */
export interface NewSecret {
  readonly kind: 'link' | 'key';
  /** The name of the user or of the key. */
  readonly name: string;
  readonly text: string;
}

export interface UsersPageData {
  readonly users: readonly ConsoleUser[];
  readonly keys: readonly ApiKey[];
  readonly secret: NewSecret | null;
  /** Why the action failed; null: there was no action, or it succeeded. */
  readonly error: string | null;
  readonly now: Date;
}

export function UsersPage({ data }: { data: UsersPageData }) {
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
      <p class="mono">{secret.text}</p>
      {isLink && secret.text.startsWith('/') && <p>{text('users.linkPathHelp')}</p>}
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
