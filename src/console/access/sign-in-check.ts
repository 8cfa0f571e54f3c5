import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../base/audit/audit.ts';
import type { InputError } from '../../base/runtime/errors.ts';
import { refusal } from '../../base/texts/texts.ts';
import { useCode } from '../account/second-factor.sql.ts';
import { matchCode } from '../account/second-factor.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import type { SignInProof } from './console-sessions.sql.ts';
import { findLoginUser, type LoginUser } from './console-users.sql.ts';
import { PasswordsBusyError, verifyPassword } from './password.ts';
import { clientAddress, clientNetwork, logSecurityEvent } from './security-events.ts';
import { countTry, forgetTries, PER_ADDRESS, PER_USER } from './sign-in-limits.sql.ts';

/**
 * Limits for audit entries of refused sign-ins, so that a client cannot fill the audit log, which
 * is never erased.
 */
const AUDITED = {
  perAddress: { max: 5, seconds: 60 },
  overall: { max: 60, seconds: 60 },
};

/** A flood beyond this is refused before the first query, so that pulls and pages keep their process. */
const MAX_UNDER_WAY = 20;

let underWay = 0;

/**
 * Checks the password and the code of a form for a user. A user with a second factor needs both. A right code is
 * used up, together with a right password only. Tries count towards the limits of the address and of the user, and
 * refusals are logged and audited.
 * @param fault of a wrong user, password or code; the answer does not say which
 * @throws InputError
 * @throws PasswordsBusyError
 */
export async function checkSignIn(
  parts: ConsoleParts,
  reply: FastifyReply,
  name: string,
  { password = '', code = '' }: { readonly password?: string; readonly code?: string },
  fault: 'wrong_sign_in' | 'wrong_proof',
) {
  if (underWay >= MAX_UNDER_WAY) throw new PasswordsBusyError();
  underWay += 1;
  try {
    const { database } = parts;
    const { request } = reply;
    const network = clientNetwork(request);
    const addressWait = await countTry(database, `address ${network}`, PER_ADDRESS);
    if (addressWait > 0) {
      await noteRefusal(parts, request, 'sign_in_limited', null);
      throw tooManyTries(reply, addressWait);
    }
    const key = `user ${name} ${network}`;
    const user = await findLoginUser(database, name);
    const wait = await countTry(database, key, PER_USER);
    if (wait > 0) {
      await noteRefusal(parts, request, 'sign_in_limited', user?.name ?? null);
      throw tooManyTries(reply, wait);
    }
    const passwordHash = user?.passwordHash ?? null;
    const isPassword = await verifyPassword(password, passwordHash);
    const isRight = isPassword && user !== null && (await hasCode(parts, request, user, code));
    if (!isRight || passwordHash === null) {
      await noteRefusal(parts, request, 'sign_in_failed', user?.name ?? null);
      throw refusal(fault);
    }
    await forgetTries(database, key);
    const proof: SignInProof = { passwordHash, totpSecret: user.factor?.secret ?? null };
    return { user, proof };
  } finally {
    underWay -= 1;
  }
}

/**
 * Counts a try from the address of the request.
 * @throws InputError when it is one too many
 */
export async function requireTry(
  { database, logger }: ConsoleParts,
  reply: FastifyReply,
  way: 'address' | 'oidc',
): Promise<void> {
  const { request } = reply;
  const wait = await countTry(database, `${way} ${clientNetwork(request)}`, PER_ADDRESS);
  if (wait === 0) return;
  logSecurityEvent(logger, request, 'sign_in_limited');
  throw tooManyTries(reply, wait);
}

function tooManyTries(reply: FastifyReply, seconds: number): InputError {
  reply.header('retry-after', seconds);
  return refusal('too_many_tries', { seconds });
}

/** Always writes to the log, and to the audit log within the limits. */
async function noteRefusal(
  { database, logger }: ConsoleParts,
  request: FastifyRequest,
  event: 'sign_in_failed' | 'sign_in_limited',
  /** Null for an unknown user: the typed name may be a password. */
  user: string | null,
): Promise<void> {
  logSecurityEvent(logger, request, event, user);
  if (await countTry(database, `audit ${clientNetwork(request)}`, AUDITED.perAddress)) return;
  if (await countTry(database, 'audit', AUDITED.overall)) return;
  await recordAudit(database.prisma, {
    actor: user ?? 'visitor',
    action: event === 'sign_in_failed' ? 'session.refused' : 'session.limited',
    details: { address: clientAddress(request) },
  });
}

/** A wrong code takes no more queries than a wrong password, so that the time does not tell the two apart. */
async function hasCode(
  { database, logger }: ConsoleParts,
  request: FastifyRequest,
  user: LoginUser,
  code: string,
): Promise<boolean> {
  const { factor, seconds, id, name } = user;
  if (factor === null) return true;
  const match = matchCode(factor, code, seconds);
  if (match === null || !(await useCode(database, { id, name, secret: factor.secret }, match))) {
    return false;
  }
  if ('recoveryHash' in match) logSecurityEvent(logger, request, 'recovery_code_used', name);
  return true;
}
