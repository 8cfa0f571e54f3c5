import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { renderSVG } from 'uqr';
import { recordAudit } from '../../base/audit/audit.ts';
import { hashToken } from '../../base/runtime/secrets.ts';
import { changeOwnPassword, findLoginUser, type LoginUser } from '../access/console-users.sql.ts';
import { CodeField, giveSession, NewPasswordFields } from '../access/login-routes.tsx';
import { hashPassword, requireNewPassword } from '../access/password.ts';
import { logSecurityEvent, type SecurityEvent } from '../access/security-events.ts';
import { checkSignIn } from '../access/sign-in-check.sql.ts';
import { asWritten, declareAction, declarePage } from '../declare.tsx';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { actorOf } from '../shell/guard.ts';
import { Input } from '../shell/layout.tsx';
import { textParameter, usePage } from '../shell/page-context.ts';
import { Card, OnlyCard } from '../shell/parts.tsx';
import { SECOND_FACTOR_PATH } from '../shell/route-access.ts';
import { sendPage } from '../shell/send-page.tsx';
import { enrol, removeFactor } from './second-factor.sql.ts';
import { addressOfSecret, inGroups, newSecret, SECRET } from './second-factor.ts';

interface AccountPageData {
  readonly user: LoginUser;
  readonly requiresSecondFactor: boolean;
}

/** Null: another administrator has just disabled the user. */
const ownUser = ({ database }: ConsoleParts, request: FastifyRequest) =>
  findLoginUser(database, actorOf(request));

/** The credentials and sessions of the person who is signed in. */
export const ACCOUNT = declarePage({
  path: '/account',
  active: null,
  input: {},
  read: async (parts, _, request): Promise<AccountPageData | null> => {
    const { requiresSecondFactor } = parts;
    const user = await ownUser(parts, request);
    return user && { user, requiresSecondFactor };
  },
  title: (context) => context.text('account.title'),
  body: (data, { text }) => {
    const { user } = data;
    return (
      <>
        <h1>{text('account.title')}</h1>
        {user.passwordHash === null ? (
          <p>{text('account.noPassword')}</p>
        ) : (
          <>
            <Card title={text('account.passwordTitle')}>
              <CHANGE_PASSWORD.Form
                button={text('account.change')}
                look="primary"
                help={text('account.changeHelp')}
                isFolded
              >
                <ProofFields needsCode={user.factor !== null} />
                <NewPasswordFields name="newPassword" />
              </CHANGE_PASSWORD.Form>
            </Card>
            <FactorCard data={data} />
          </>
        )}
        <Card title={text('account.sessionsTitle')}>
          <END_SESSIONS.Form button={text('account.endOthers')} />
        </Card>
      </>
    );
  },
});

export const ENROLMENT = declarePage({
  path: SECOND_FACTOR_PATH,
  active: null,
  isForEnrolment: true,
  input: {},
  read: async (parts, _, request) => {
    const user = await ownUser(parts, request);
    if (user === null) return null;
    const isOpen = user.passwordHash !== null && user.factor === null;
    // After a refusal the same one, so that the person need not scan the picture again.
    const shown = textParameter(request.body, 'secret') ?? '';
    const secret = SECRET.test(shown) ? shown : newSecret();
    return { secret: isOpen ? secret : null, hasFactor: user.factor !== null };
  },
  elsewhere: ({ hasFactor }) => (hasFactor ? '/account' : null),
  title: (context) => context.text('account.enrolTitle'),
  body: ({ secret }, { text, principal }) => {
    if (secret === null) {
      return (
        <OnlyCard title={text('account.enrolTitle')}>
          <p>{text('account.noPassword')}</p>
        </OnlyCard>
      );
    }
    const uri = addressOfSecret(secret, principal?.name ?? '');
    // Dark on light in every colour scheme, because some readers need that, with the empty border of ISO/IEC 18004.
    const picture = encodeURIComponent(renderSVG(uri, { border: 4 }));
    return (
      <OnlyCard title={text('account.enrolTitle')}>
        {principal?.isEnrolmentDue === true && <p>{text('account.enrolRequired')}</p>}
        <p>{text('account.scan')}</p>
        <img
          class="qr"
          src={`data:image/svg+xml,${picture}`}
          alt={text('account.picture')}
          width="220"
          height="220"
        />
        <p>
          <span class="quiet small">{text('account.secret')}</span>
          <br />
          <span class="mono">{inGroups(secret)}</span>
        </p>
        <p>
          <a href={uri}>{text('account.open')}</a>
        </p>
        <ENROL.Form
          values={{ secret }}
          class="stack"
          button={text('account.confirm')}
          look="primary"
          help={text('account.confirmHelp')}
        >
          <Input
            label={text('account.code')}
            name="code"
            class="mono"
            required
            inputMode="numeric"
            maxLength={10}
            autocomplete="one-time-code"
          />
          <ProofFields needsCode={false} />
        </ENROL.Form>
      </OnlyCard>
    );
  },
});

const written = Type.Optional(Type.String());
const password = asWritten(Type.Optional(Type.String()));
const proof = { password, code: written };

/** An action after which the session has another token. Null: the credentials or the session have changed meanwhile. */
const changeOfCredentials = (
  path: `/${string}`,
  event: SecurityEvent & ('password_changed' | 'second_factor_removed'),
  change: (
    parts: ConsoleParts,
    user: LoginUser,
    token: string,
    given: { readonly newPassword?: string; readonly again?: string },
  ) => Promise<string | null>,
) =>
  declareAction({
    path,
    page: ACCOUNT,
    input: { ...proof, newPassword: password, again: password },
    deed: async (parts, given, actor, reply) => {
      const user = await checkSignIn(parts, reply, actor, given, 'wrong_proof');
      const token = await change(parts, user, reply.request.visit, given);
      if (token === null) return '/account';
      logSecurityEvent(parts.logger, reply.request, event, user.name);
      giveSession(reply, parts, token);
      const notice = event === 'password_changed' ? event : 'factor_removed';
      return `/account?notice=${notice}`;
    },
    next: (_, address) => address,
  });

const CHANGE_PASSWORD = changeOfCredentials(
  '/account/password',
  'password_changed',
  async ({ database }, user, token, { newPassword: password, again }) => {
    const passwordHash = await hashPassword(requireNewPassword({ password, again }, user));
    return changeOwnPassword(database, user, { passwordHash, token });
  },
);

const REMOVE_FACTOR = changeOfCredentials(
  `${SECOND_FACTOR_PATH}/remove`,
  'second_factor_removed',
  ({ database }, user, token) => removeFactor(database, user, token),
);

const ENROL = declareAction({
  path: SECOND_FACTOR_PATH,
  page: ENROLMENT,
  isForEnrolment: true,
  input: { ...proof, secret: Type.String({ pattern: SECRET.source }) },
  answer: async (request, reply, parts, { secret, ...given }) => {
    // Otherwise the code of the form would be taken for one of the present second factor.
    if ((await ownUser(parts, request))?.factor !== null) return reply.redirect('/account', 303);
    const user = await checkSignIn(parts, reply, actorOf(request), given, 'wrong_proof');
    const { code = '' } = given;
    const enrolled = await enrol(parts.database, user, { token: request.visit, secret, code });
    if (enrolled === null) return reply.redirect(SECOND_FACTOR_PATH, 303);
    logSecurityEvent(parts.logger, request, 'second_factor_set', user.name);
    giveSession(reply, parts, enrolled.token);
    if (request.principal !== null) {
      request.principal = { ...request.principal, isEnrolmentDue: false };
    }
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('account.codesTitle'),
      active: null,
      body: <RecoveryCodes codes={enrolled.recoveryCodes} />,
    }));
  },
});

const END_SESSIONS = declareAction({
  path: '/account/sessions/end',
  input: {},
  deed: async ({ database: { prisma } }, _, actor, { request }) => {
    const tokenHash = { not: hashToken(request.visit) };
    await prisma.consoleSession.deleteMany({ where: { user: { name: actor }, tokenHash } });
    await recordAudit(prisma, { actor, action: 'session.end_others' });
  },
  next: () => '/account',
  notice: 'sessions_ended',
});

export const ACCOUNT_ACTIONS = [CHANGE_PASSWORD, REMOVE_FACTOR, ENROL, END_SESSIONS];

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
      <Input
        label={text('account.present')}
        name="password"
        type="password"
        required
        autocomplete="current-password"
      />
      {needsCode && <CodeField isRequired />}
    </>
  );
}

function FactorCard({ data }: { readonly data: AccountPageData }) {
  const { text, formats } = usePage();
  const { requiresSecondFactor, user } = data;
  return (
    <Card title={text('account.factorTitle')}>
      <p class="quiet">{text('account.factorHelp')}</p>
      {user.factor === null ? (
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
              {text('account.codesLeft', {
                count: formats.count(user.factor.recoveryHashes.length),
              })}
            </span>
          </p>
          <REMOVE_FACTOR.Form
            button={text('account.remove')}
            look="danger"
            help={text(requiresSecondFactor ? 'account.removeRequiredHelp' : 'account.removeHelp')}
            isFolded
          >
            <ProofFields needsCode />
          </REMOVE_FACTOR.Form>
        </>
      )}
    </Card>
  );
}

/** No later page shows them. */
function RecoveryCodes({ codes }: { readonly codes: readonly string[] }) {
  const { text } = usePage();
  return (
    <OnlyCard title={text('account.codesTitle')}>
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
    </OnlyCard>
  );
}
