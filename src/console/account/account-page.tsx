import { encode } from 'uqr';
import type { ApiKey } from '../access/api-keys.sql.ts';
import type { OpenSession } from '../access/console-sessions.sql.ts';
import { CodeField, NewPasswordFields } from '../access/login-page.tsx';
import { DataTable } from '../shell/data-table.tsx';
import { Field } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { ActionForm, Card, Disclosure, Instant, InstantCell, Submit } from '../shell/parts.tsx';
import { SECOND_FACTOR_PATH } from '../shell/route-access.ts';
import { addressOfSecret, inGroups } from './second-factor.ts';

export interface AccountPageData {
  readonly hasPassword: boolean;
  /** Null: the user has no second factor. */
  readonly recoveryCodesLeft: number | null;
  readonly requiresSecondFactor: boolean;
  readonly sessions: readonly OpenSession[];
  /** Those of the user that are not revoked. */
  readonly keys: readonly ApiKey[];
  /** Why the action failed; null: there was no action, or it succeeded. */
  readonly error: string | null;
}

export function AccountPage({ data }: { readonly data: AccountPageData }) {
  const { account } = usePage().text;
  return (
    <>
      <h1>{account.title}</h1>
      <ErrorLine error={data.error} />
      {data.hasPassword ? (
        <>
          <PasswordCard hasFactor={data.recoveryCodesLeft !== null} />
          <FactorCard data={data} />
        </>
      ) : (
        <p>{account.noPassword}</p>
      )}
      <SessionsCard sessions={data.sessions} />
      {data.keys.length > 0 && <OwnKeysCard keys={data.keys} />}
    </>
  );
}

function ErrorLine({ error }: { readonly error: string | null }) {
  return error === null ? null : (
    <p class="error" role="alert">
      {error}
    </p>
  );
}

function PasswordCard({ hasFactor }: { readonly hasFactor: boolean }) {
  const { account } = usePage().text;
  return (
    <Card title={account.passwordTitle}>
      <Disclosure label={account.change}>
        <ActionForm action="/account/password">
          <ProofFields needsCode={hasFactor} />
          <NewPasswordFields name="newPassword" />
          <Submit class="primary">{account.change}</Submit>
          <p class="quiet small">{account.changeHelp}</p>
        </ActionForm>
      </Disclosure>
    </Card>
  );
}

/** The present password, and a code if one is needed, as when signing in. */
function ProofFields({ needsCode }: { readonly needsCode: boolean }) {
  const context = usePage();
  const { account } = context.text;
  return (
    <>
      <input
        type="hidden"
        name="username"
        autocomplete="username"
        value={context.principal?.name ?? ''}
      />
      <Field label={account.present}>
        <input name="password" type="password" required autocomplete="current-password" />
      </Field>
      {needsCode && <CodeField isRequired />}
    </>
  );
}

function FactorCard({ data }: { data: AccountPageData }) {
  const { text, formats } = usePage();
  const { account } = text;
  const { recoveryCodesLeft: left } = data;
  return (
    <Card title={account.factorTitle}>
      <p class="quiet">{account.factorHelp}</p>
      {left === null ? (
        <>
          <p>
            <span class="tag is-changed">{account.factorOff}</span>
          </p>
          <p>
            <a class="button primary" href={SECOND_FACTOR_PATH}>
              {account.setUp}
            </a>
          </p>
        </>
      ) : (
        <>
          <p>
            <span class="tag is-inserted">{account.factorOn}</span>{' '}
            <span class="quiet small">{account.codesLeft(formats.count(left))}</span>
          </p>
          <div class="stack">
            <Disclosure label={account.newCodes}>
              <ActionForm action="/account/recovery-codes">
                <ProofFields needsCode />
                <Submit class="primary">{account.newCodes}</Submit>
                <p class="quiet small">{account.newCodesHelp}</p>
              </ActionForm>
            </Disclosure>
            <Disclosure label={account.remove}>
              <ActionForm action={`${SECOND_FACTOR_PATH}/remove`}>
                <ProofFields needsCode />
                <Submit class="danger">{account.remove}</Submit>
                <p class="quiet small">
                  {data.requiresSecondFactor ? account.removeRequiredHelp : account.removeHelp}
                </p>
              </ActionForm>
            </Disclosure>
          </div>
        </>
      )}
    </Card>
  );
}

function SessionsCard({ sessions }: { readonly sessions: readonly OpenSession[] }) {
  const { account } = usePage().text;
  return (
    <Card title={account.sessionsTitle}>
      <DataTable
        label={account.sessionsTitle}
        heads={[account.signedIn, account.lastSeen, account.address, account.way]}
      >
        {sessions.map((session) => (
          <tr key={session.createdAt.toISOString()}>
            <td>
              <Instant at={session.createdAt} />
              {session.isOwn && <span class="quiet"> ({account.own})</span>}
            </td>
            <InstantCell at={session.lastSeenAt} />
            <td>{session.address ?? '–'}</td>
            <td>{session.byOidc ? account.ways.company : account.ways.password}</td>
          </tr>
        ))}
      </DataTable>
      {sessions.length > 1 && (
        <ActionForm action="/account/sessions/end">
          <Submit>{account.endOthers}</Submit>
        </ActionForm>
      )}
    </Card>
  );
}

function OwnKeysCard({ keys }: { readonly keys: readonly ApiKey[] }) {
  const { account, users } = usePage().text;
  return (
    <Card title={users.keys}>
      <p class="quiet">{account.keysHelp}</p>
      <DataTable
        label={users.keys}
        heads={[users.keyName, users.begins, users.expires, users.lastUsed]}
      >
        {keys.map((key) => (
          <tr key={key.id}>
            <td class="anywhere">{key.name}</td>
            <td class="mono">{key.start}…</td>
            <InstantCell at={key.expiresAt} />
            <InstantCell at={key.lastUsedAt} />
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

/** The secret of a second factor, with the form that confirms it. */
export function EnrolPage(props: {
  /** In base32; null: the user has no password. */
  readonly secret: string | null;
  readonly error: string | null;
}) {
  const context = usePage();
  const { secret, error } = props;
  const { account } = context.text;
  const { principal } = context;
  if (secret === null) {
    return (
      <div class="narrow">
        <section class="card stack">
          <h1>{account.enrolTitle}</h1>
          <p>{account.noPassword}</p>
        </section>
      </div>
    );
  }
  const uri = addressOfSecret(secret, principal?.name ?? '');
  return (
    <div class="narrow">
      <section class="card stack">
        <h1>{account.enrolTitle}</h1>
        {principal?.isEnrolmentDue === true && <p>{account.enrolRequired}</p>}
        <ErrorLine error={error} />
        <p>{account.scan}</p>
        <QrCode text={uri} label={account.picture} />
        <p>
          <span class="quiet small">{account.secret}</span>
          <br />
          <span class="mono">{inGroups(secret)}</span>
        </p>
        <p>
          <a href={uri}>{account.open}</a>
        </p>
        <ActionForm action={SECOND_FACTOR_PATH} class="stack">
          <input type="hidden" name="secret" value={secret} />
          <Field label={account.code}>
            <input
              name="code"
              class="mono"
              required
              inputMode="numeric"
              maxLength={10}
              autocomplete="one-time-code"
            />
          </Field>
          <ProofFields needsCode={false} />
          <Submit class="primary">{account.confirm}</Submit>
          <p class="quiet small">{account.confirmHelp}</p>
        </ActionForm>
      </section>
    </div>
  );
}

/** Modules around the picture that have to be empty (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/** Dark on light in every colour scheme, because some readers need that. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(text, { border: QUIET_ZONE });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      width="220"
      height="220"
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

/** New recovery codes, which no later page shows. */
export function RecoveryCodesPage({ codes }: { readonly codes: readonly string[] }) {
  const { account } = usePage().text;
  return (
    <div class="narrow">
      <section class="card stack">
        <h1>{account.codesTitle}</h1>
        <p>{account.codesHelp}</p>
        <ol class="recovery-codes mono">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        <p>
          <a class="button primary" href="/account">
            {account.codesDone}
          </a>
        </p>
      </section>
    </div>
  );
}
