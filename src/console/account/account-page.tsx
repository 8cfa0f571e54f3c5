import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { encode } from 'uqr';
import { recordAudit } from '../../base/audit/audit.ts';
import { type ApiKey, readApiKeys } from '../access/api-keys.sql.ts';
import {
  endOtherSessions,
  type OpenSession,
  readSessionsOf,
} from '../access/console-sessions.sql.ts';
import { changeOwnPassword, findLoginUser, type LoginUser } from '../access/console-users.sql.ts';
import { CodeField, NewPasswordFields } from '../access/login-page.tsx';
import { hashPassword, newPasswordFault } from '../access/password.ts';
import { logSecurityEvent } from '../access/security-events.ts';
import { passwordOf, type SignInCheck } from '../access/sign-in-check.ts';
import { type Column, ListTable } from '../list/columns.tsx';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { cookieOptions, SESSION_LIMITS, sessionCookie } from '../shell/guard.ts';
import { Field } from '../shell/layout.tsx';
import { type PageContext, textParameter, usePage } from '../shell/page-context.ts';
import { ActionForm, Card, Disclosure, Instant, Submit } from '../shell/parts.tsx';
import { actorOf } from '../shell/path-parameters.ts';
import { EVERYBODY, forEnrolment, forPeople, SECOND_FACTOR_PATH } from '../shell/route-access.ts';
import { sendPage } from '../shell/send-page.ts';
import { enrol, offerSecret, removeFactor, renewRecoveryCodes } from './second-factor.sql.ts';
import { addressOfSecret, inGroups } from './second-factor.ts';

interface AccountPageData {
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

function AccountPage({ data }: { readonly data: AccountPageData }) {
  const { text } = usePage();
  return (
    <>
      <h1>{text('account.title')}</h1>
      <ErrorLine error={data.error} />
      {data.hasPassword ? (
        <>
          <PasswordCard hasFactor={data.recoveryCodesLeft !== null} />
          <FactorCard data={data} />
        </>
      ) : (
        <p>{text('account.noPassword')}</p>
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
  const { text } = usePage();
  return (
    <Card title={text('account.passwordTitle')}>
      <Disclosure label={text('account.change')}>
        <ActionForm action="/account/password">
          <ProofFields needsCode={hasFactor} />
          <NewPasswordFields name="newPassword" />
          <Submit class="primary">{text('account.change')}</Submit>
          <p class="quiet small">{text('account.changeHelp')}</p>
        </ActionForm>
      </Disclosure>
    </Card>
  );
}

/** The present password, and a code if one is needed, as when signing in. */
function ProofFields({ needsCode }: { readonly needsCode: boolean }) {
  const context = usePage();
  const { text } = context;
  return (
    <>
      <input
        type="hidden"
        name="username"
        autocomplete="username"
        value={context.principal?.name ?? ''}
      />
      <Field label={text('account.present')}>
        <input name="password" type="password" required autocomplete="current-password" />
      </Field>
      {needsCode && <CodeField isRequired />}
    </>
  );
}

function FactorCard({ data }: { data: AccountPageData }) {
  const { text, formats } = usePage();
  const { recoveryCodesLeft: left } = data;
  return (
    <Card title={text('account.factorTitle')}>
      <p class="quiet">{text('account.factorHelp')}</p>
      {left === null ? (
        <>
          <p>
            <span class="tag is-changed">{text('account.factorOff')}</span>
          </p>
          <p>
            <a class="button primary" href={SECOND_FACTOR_PATH}>
              {text('account.setUp')}
            </a>
          </p>
        </>
      ) : (
        <>
          <p>
            <span class="tag is-inserted">{text('account.factorOn')}</span>{' '}
            <span class="quiet small">
              {text('account.codesLeft', { count: formats.count(left) })}
            </span>
          </p>
          <div class="stack">
            <Disclosure label={text('account.newCodes')}>
              <ActionForm action="/account/recovery-codes">
                <ProofFields needsCode />
                <Submit class="primary">{text('account.newCodes')}</Submit>
                <p class="quiet small">{text('account.newCodesHelp')}</p>
              </ActionForm>
            </Disclosure>
            <Disclosure label={text('account.remove')}>
              <ActionForm action={`${SECOND_FACTOR_PATH}/remove`}>
                <ProofFields needsCode />
                <Submit class="danger">{text('account.remove')}</Submit>
                <p class="quiet small">
                  {data.requiresSecondFactor
                    ? text('account.removeRequiredHelp')
                    : text('account.removeHelp')}
                </p>
              </ActionForm>
            </Disclosure>
          </div>
        </>
      )}
    </Card>
  );
}

const SESSION_COLUMNS: readonly Column<OpenSession>[] = [
  {
    name: 'signed_in',
    head: 'account.signedIn',
    kind: 'instant',
    value: ({ createdAt }) => createdAt,
    cell: ({ createdAt, isOwn }, { text }) => (
      <>
        <Instant at={createdAt} />
        {isOwn && <span class="quiet"> ({text('account.own')})</span>}
      </>
    ),
  },
  {
    name: 'last_seen',
    head: 'account.lastSeen',
    kind: 'instant',
    value: ({ lastSeenAt }) => lastSeenAt,
  },
  { name: 'address', head: 'account.address', kind: 'text', value: ({ address }) => address },
  {
    name: 'way',
    head: 'account.way',
    kind: 'text',
    value: ({ byOidc }, { text }) =>
      text(byOidc ? 'account.ways.company' : 'account.ways.password'),
  },
];

function SessionsCard({ sessions }: { readonly sessions: readonly OpenSession[] }) {
  const { text } = usePage();
  return (
    <Card title={text('account.sessionsTitle')}>
      <ListTable label={text('account.sessionsTitle')} columns={SESSION_COLUMNS} rows={sessions} />
      {sessions.length > 1 && (
        <ActionForm action="/account/sessions/end">
          <Submit>{text('account.endOthers')}</Submit>
        </ActionForm>
      )}
    </Card>
  );
}

const KEY_COLUMNS: readonly Column<ApiKey>[] = [
  { name: 'name', head: 'users.keyName', kind: 'text', value: ({ name }) => name },
  { name: 'begins', head: 'users.begins', kind: 'text', value: ({ start }) => `${start}…` },
  { name: 'expires', head: 'users.expires', kind: 'instant', value: ({ expiresAt }) => expiresAt },
  {
    name: 'last_used',
    head: 'users.lastUsed',
    kind: 'instant',
    value: ({ lastUsedAt }) => lastUsedAt,
  },
];

function OwnKeysCard({ keys }: { readonly keys: readonly ApiKey[] }) {
  const { text } = usePage();
  return (
    <Card title={text('users.keys')}>
      <p class="quiet">{text('account.keysHelp')}</p>
      <ListTable label={text('users.keys')} columns={KEY_COLUMNS} rows={keys} />
    </Card>
  );
}

/** The secret of a second factor, with the form that confirms it. */
function EnrolPage(props: {
  /** In base32; null: the user has no password. */
  readonly secret: string | null;
  readonly error: string | null;
}) {
  const context = usePage();
  const { secret, error } = props;
  const { text } = context;
  const { principal } = context;
  if (secret === null) {
    return (
      <div class="narrow">
        <section class="card stack">
          <h1>{text('account.enrolTitle')}</h1>
          <p>{text('account.noPassword')}</p>
        </section>
      </div>
    );
  }
  const uri = addressOfSecret(secret, principal?.name ?? '');
  return (
    <div class="narrow">
      <section class="card stack">
        <h1>{text('account.enrolTitle')}</h1>
        {principal?.isEnrolmentDue === true && <p>{text('account.enrolRequired')}</p>}
        <ErrorLine error={error} />
        <p>{text('account.scan')}</p>
        <QrCode text={uri} label={text('account.picture')} />
        <p>
          <span class="quiet small">{text('account.secret')}</span>
          <br />
          <span class="mono">{inGroups(secret)}</span>
        </p>
        <p>
          <a href={uri}>{text('account.open')}</a>
        </p>
        <ActionForm action={SECOND_FACTOR_PATH} class="stack">
          <input type="hidden" name="secret" value={secret} />
          <Field label={text('account.code')}>
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
          <Submit class="primary">{text('account.confirm')}</Submit>
          <p class="quiet small">{text('account.confirmHelp')}</p>
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
function RecoveryCodesPage({ codes }: { readonly codes: readonly string[] }) {
  const { text } = usePage();
  return (
    <div class="narrow">
      <section class="card stack">
        <h1>{text('account.codesTitle')}</h1>
        <p>{text('account.codesHelp')}</p>
        <ol class="recovery-codes mono">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        <p>
          <a class="button primary" href="/account">
            {text('account.codesDone')}
          </a>
        </p>
      </section>
    </div>
  );
}

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
