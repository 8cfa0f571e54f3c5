import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { refusal } from '../../base/texts/texts.ts';
import { stepOfCode } from '../account/second-factor.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { findLoginUser, type LoginUser } from './console-users.sql.ts';
import { verifyPassword } from './password.ts';
import { clientAddress, clientNetwork, logSecurityEvent } from './security-events.ts';

/**
 * Tries that are allowed within a time, counted from the first try. The tries of all processes of the
 * service count together.
 */
interface SignInLimit {
  readonly max: number;
  readonly seconds: number;
}

/** Tries from one address. */
export const PER_ADDRESS: SignInLimit = { max: 30, seconds: 60 };
/** Tries for one user from one address. */
export const PER_USER: SignInLimit = { max: 10, seconds: 600 };

/** More than one row is removed for each row that is added, so the table holds the tries of ten minutes. */
const REMOVED_AT_ONCE = 10;

/**
 * Counts a try.
 * @param key unlimited text; the database stores its hash, because a typed user name may be a password
 * @returns the seconds until the next try is allowed; 0: this try is allowed and is counted
 * @throws StagingUnavailableError
 */
export async function countTry(
  { prisma }: Database,
  key: string,
  limit: SignInLimit,
): Promise<number> {
  const hash = hashKey(key);
  // The row of the key, if its tries are forgotten, and a few other such rows.
  await prisma.$executeRaw`
    DELETE FROM conciliation.sign_in_limit
    WHERE forgotten_at <= clock_timestamp() AND key_hash = ANY (array_append(
      ARRAY(SELECT key_hash FROM conciliation.sign_in_limit WHERE forgotten_at <= clock_timestamp()
            ORDER BY forgotten_at LIMIT ${REMOVED_AT_ONCE}::int FOR UPDATE SKIP LOCKED),
      ${hash}::bytea))`;
  const counted = await prisma.$executeRaw`
    INSERT INTO conciliation.sign_in_limit AS kept (key_hash, tries, forgotten_at)
    VALUES (${hash}, 1, clock_timestamp() + make_interval(secs => ${limit.seconds}::int))
    ON CONFLICT (key_hash) DO UPDATE SET tries = kept.tries + 1
      WHERE kept.tries < ${limit.max}::int`;
  if (counted === 1) return 0;
  const [{ wait }] = await prisma.$queryRaw<[{ wait: number }]>`
    SELECT greatest(1, ceil(extract(epoch FROM max(forgotten_at) - clock_timestamp())))::int AS wait
    FROM conciliation.sign_in_limit WHERE key_hash = ${hash}`;
  return wait;
}

/**
 * Forgets the tries before a success.
 * @throws StagingUnavailableError
 */
export async function forgetTries({ prisma }: Database, key: string): Promise<void> {
  await prisma.signInLimit.deleteMany({ where: { keyHash: hashKey(key) } });
}

const hashKey = (key: string) => new Uint8Array(createHash('sha256').update(key, 'utf8').digest());

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

/** About the time in which the service hashes the passwords that wait. */
const BUSY_SECONDS = 5;

let underWay = 0;

/**
 * Checks the password and the code of a form for a user. A user with a second factor needs both. A right code is
 * used up, together with a right password only. Tries count towards the limits of the address and of the user, and
 * refusals are logged and audited.
 * @param fault of a wrong user, password or code; the answer does not say which
 * @throws InputError
 */
export async function checkSignIn(
  parts: ConsoleParts,
  reply: FastifyReply,
  name: string,
  { password = '', code = '' }: { readonly password?: string; readonly code?: string },
  fault: 'wrong_sign_in' | 'wrong_proof',
): Promise<LoginUser> {
  const { request } = reply;
  if (underWay >= MAX_UNDER_WAY) {
    logSecurityEvent(parts.logger, request, 'sign_in_limited');
    reply.header('retry-after', BUSY_SECONDS);
    throw refusal('sign_ins_busy');
  }
  underWay += 1;
  try {
    const { database } = parts;
    await requireAddressTry(parts, reply);
    const key = `user ${name} ${clientNetwork(request)}`;
    const user = await findLoginUser(database, name);
    await requireTry(parts, reply, key, PER_USER, user?.name ?? null);
    const isPassword = await verifyPassword(password, user?.passwordHash ?? null);
    const isRight = isPassword && user !== null && (await hasCode(parts.database, user, code));
    if (!isRight) {
      await noteRefusal(parts, request, 'sign_in_failed', user?.name ?? null);
      throw refusal(fault);
    }
    await forgetTries(database, key);
    return user;
  } finally {
    underWay -= 1;
  }
}

/**
 * Counts a try from the address of the request.
 * @throws InputError when it is one too many
 */
export const requireAddressTry = (parts: ConsoleParts, reply: FastifyReply): Promise<void> =>
  requireTry(parts, reply, `address ${clientNetwork(reply.request)}`, PER_ADDRESS, null);

async function requireTry(
  parts: ConsoleParts,
  reply: FastifyReply,
  key: string,
  limit: SignInLimit,
  user: string | null,
): Promise<void> {
  const seconds = await countTry(parts.database, key, limit);
  if (seconds === 0) return;
  await noteRefusal(parts, reply.request, 'sign_in_limited', user);
  reply.header('retry-after', seconds);
  throw refusal('too_many_tries', { seconds });
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

/**
 * Uses a code up. Of two concurrent calls with one code one returns false. A wrong code takes no more queries than a
 * wrong password, so that the time does not tell the two apart.
 */
async function hasCode(
  { prisma }: Database,
  { totpSecret, seconds, id }: LoginUser,
  code: string,
): Promise<boolean> {
  if (totpSecret === null) return true;
  const step = stepOfCode(totpSecret, code, seconds);
  if (step === null) return false;
  const used = await prisma.$executeRaw`
    UPDATE conciliation.console_user SET totp_step = ${step}::bigint
    WHERE id = ${id} AND totp_secret = ${totpSecret} AND totp_step < ${step}::bigint`;
  return used === 1;
}
