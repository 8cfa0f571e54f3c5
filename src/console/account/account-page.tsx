import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { renderSVG } from 'uqr';
import { recordAudit } from '../../base/audit/audit.ts';
import { hashToken } from '../../base/runtime/secrets.ts';
import { refusal } from '../../base/texts/texts.ts';
import { type Credentials, changeProven } from '../access/console-sessions.sql.ts';
import { findLoginUser, type LoginUser, NO_FACTOR } from '../access/console-users.sql.ts';
import {
  AGAIN,
  CHOSEN,
  CODE,
  giveSession,
  PasswordRule,
  PRESENT,
  UserName,
} from '../access/login-routes.tsx';
import { hashPassword, requireNewPassword } from '../access/password.ts';
import { logSecurityEvent } from '../access/security-events.ts';
import { checkSignIn } from '../access/sign-in-check.sql.ts';
import { asWritten, declareAction, declarePage } from '../declare.tsx';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { actorOf } from '../shell/guard.ts';
import { FormField } from '../shell/layout.tsx';
import { textParameter, usePage } from '../shell/page-context.ts';
import { Card, Disclosure } from '../shell/parts.tsx';
import { addressOfSecret, inGroups, newSecret, SECRET, stepOfCode } from './second-factor.ts';

/** Null: another administrator has just disabled the user. */
const ownUser = ({ database }: ConsoleParts, request: FastifyRequest) =>
  findLoginUser(database, actorOf(request));

interface AccountPageData {
  readonly user: LoginUser;
  readonly requiresSecondFactor: boolean;
  /** Of a second factor that the user may set up. */
  readonly secret: string;
}

/** The credentials and sessions of the person who is signed in. */
export const ACCOUNT = declarePage({
  path: '/account',
  active: null,
  isForEnrolment: true,
  input: {},
  read: async (parts, _, request): Promise<AccountPageData | null> => {
    const { requiresSecondFactor } = parts;
    const user = await ownUser(parts, request);
    // After a refusal the same one, so that the person need not scan the picture again.
    const shown = textParameter(request.body, 'secret') ?? '';
    const secret = SECRET.test(shown) ? shown : newSecret();
    return user && { user, requiresSecondFactor, secret };
  },
  title: (context) => context.text('account.title'),
  body: (data, { text, principal }) => {
    const { user } = data;
    const isDue = principal?.isEnrolmentDue === true;
    return (
      <>
        <h1>{text('account.title')}</h1>
        {user.passwordHash === null ? (
          <p>{text('account.noPassword')}</p>
        ) : (
          <>
            {!isDue && (
              <Card title={text('account.passwordTitle')}>
                <CHANGE_PASSWORD.Form
                  button={text('account.change')}
                  look="primary"
                  help={text('account.changeHelp')}
                  isFolded
                >
                  {user.totpSecret !== null && <FormField {...CODE} name="code" />}
                  <UserName name={user.name} />
                  <PasswordRule />
                </CHANGE_PASSWORD.Form>
              </Card>
            )}
            <FactorCard data={data} />
          </>
        )}
        {!isDue && (
          <Card title={text('account.sessionsTitle')}>
            <END_SESSIONS.Form button={text('account.endOthers')} />
          </Card>
        )}
      </>
    );
  },
});

const written = Type.Optional(Type.String());
const password = asWritten(Type.Optional(Type.String()));
const proof = { password, code: written };
type Proof = { readonly password?: string; readonly code?: string };

const ENTRIES = {
  password_changed: { action: 'user.own_password' },
  second_factor_set: { action: 'user.second_factor', details: { secondFactor: 'set' } },
  second_factor_removed: { action: 'user.second_factor', details: { secondFactor: 'removed' } },
} as const;

/**
 * Changes what the user signs in with. Afterwards the session has another token.
 * @returns false: the credentials or the session have changed meanwhile
 */
async function changeOwn(
  parts: ConsoleParts,
  reply: FastifyReply,
  given: Proof,
  event: keyof typeof ENTRIES,
  changeOf: (user: LoginUser) => Credentials | Promise<Credentials>,
): Promise<boolean> {
  const { request } = reply;
  const { database, logger } = parts;
  const user = await checkSignIn(parts, reply, actorOf(request), given, 'wrong_proof');
  const data = await changeOf(user);
  const token = await changeProven(database, user, request.visit, ENTRIES[event], data);
  if (token === null) return false;
  logSecurityEvent(logger, request, event, user.name);
  giveSession(reply, parts, token);
  return true;
}

const CHANGE_PASSWORD = declareAction({
  path: '/account/password',
  page: ACCOUNT,
  input: { ...proof, newPassword: password, again: password },
  fields: { password: PRESENT, newPassword: CHOSEN, again: AGAIN },
  deed: (parts, { newPassword, again, ...given }, _, reply) =>
    changeOwn(parts, reply, given, 'password_changed', async (user) => {
      const passwordHash = await hashPassword(
        requireNewPassword({ password: newPassword, again }, user),
      );
      return { passwordHash, linkHash: null, linkExpiresAt: null };
    }),
  next: (_, hasChanged) => (hasChanged ? '/account?notice=password_changed' : '/account'),
});

const REMOVE_FACTOR = declareAction({
  path: '/account/second-factor/remove',
  page: ACCOUNT,
  input: proof,
  fields: { password: PRESENT, code: CODE },
  deed: (parts, given, _, reply) =>
    changeOwn(parts, reply, given, 'second_factor_removed', () => NO_FACTOR),
  next: (_, hasChanged) => (hasChanged ? '/account?notice=factor_removed' : '/account'),
});

const ENROL = declareAction({
  path: '/account/second-factor',
  page: ACCOUNT,
  isForEnrolment: true,
  input: { ...proof, secret: Type.String({ pattern: SECRET.source }) },
  fields: { code: CODE, password: PRESENT },
  deed: async (parts, { secret, ...given }, _, reply) => {
    // Otherwise the code of the form would be taken for one of the present second factor.
    if ((await ownUser(parts, reply.request))?.totpSecret !== null) return false;
    return changeOwn(parts, reply, given, 'second_factor_set', ({ seconds }) => {
      const totpStep = stepOfCode(secret, given.code ?? '', seconds);
      if (totpStep === null) throw refusal('wrong_code');
      return { totpSecret: secret, totpStep };
    });
  },
  next: (_, isSet) => (isSet ? '/account?notice=factor_set' : '/account'),
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

function FactorCard({ data }: { readonly data: AccountPageData }) {
  const { text, principal } = usePage();
  const { requiresSecondFactor, user } = data;
  return (
    <Card title={text('account.factorTitle')}>
      <p class="quiet">{text('account.factorHelp')}</p>
      {user.totpSecret !== null ? (
        <>
          <p>
            <span class="tag is-inserted">{text('account.factorOn')}</span>
          </p>
          <REMOVE_FACTOR.Form
            button={text('account.remove')}
            look="danger"
            help={text(requiresSecondFactor ? 'account.removeRequiredHelp' : 'account.removeHelp')}
            isFolded
          >
            <UserName name={user.name} />
          </REMOVE_FACTOR.Form>
        </>
      ) : principal?.isEnrolmentDue === true ? (
        <>
          <p>{text('account.enrolRequired')}</p>
          <Enrolment data={data} />
        </>
      ) : (
        <>
          <p>
            <span class="tag is-changed">{text('account.factorOff')}</span>
          </p>
          <Disclosure label={text('account.setUp')} class="primary">
            <Enrolment data={data} />
          </Disclosure>
        </>
      )}
    </Card>
  );
}

function Enrolment({ data: { secret, user } }: { readonly data: AccountPageData }) {
  const { text } = usePage();
  const uri = addressOfSecret(secret, user.name);
  // Dark on light in every colour scheme, because some readers need that, with the empty border of ISO/IEC 18004.
  const picture = encodeURIComponent(renderSVG(uri, { border: 4 }));
  return (
    <div class="stack">
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
        <UserName name={user.name} />
      </ENROL.Form>
    </div>
  );
}
