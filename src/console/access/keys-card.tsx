import { KEY_DAYS, KEY_ROLES, KEY_SCOPES } from '../../base/values/role.ts';
import { Field } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { ActionForm, Card, Disclosure, Instant, Submit } from '../shell/parts.tsx';
import type { ApiKey } from './api-keys.sql.ts';
import { RoleField } from './role-field.tsx';

/** The API keys of scripts, with a form for a new one. */
export function KeysCard({ keys, now }: { readonly keys: readonly ApiKey[]; readonly now: Date }) {
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
