import { type AuditRecord, recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { hashToken, newToken } from '../../base/runtime/secrets.ts';
import { type ConsoleRole, parseEmailAddress } from '../../base/values/role.ts';
import type { Prisma } from '../../generated/prisma/client.ts';

export interface SessionUser {
  readonly name: string;
  readonly role: ConsoleRole;
  readonly hasSecondFactor: boolean;
  /** Whether the session began with an account of the identity provider. */
  readonly byOidc: boolean;
}

const LIFETIME_MINUTES = 12 * 60;
const IDLE_MINUTES = 2 * 60;

/** The user whose password, and code, a form had, as the user was when they were compared. */
export interface ProvenUser {
  readonly id: bigint;
  readonly name: string;
  readonly passwordHash: string | null;
  /** Null: a password was enough. */
  readonly totpSecret: string | null;
}

type Entry = Pick<AuditRecord, 'action' | 'details'>;

/** What a user signs in with. */
export type Credentials = Prisma.ConsoleUserUpdateInput;

/**
 * Begins a session with a new token, so that a token planted by an attacker has no value (session
 * fixation).
 * @returns the token for the cookie, of which the database stores the hash
 */
async function beginSession(
  tx: Transaction,
  { id, name }: Pick<ProvenUser, 'id' | 'name'>,
  byOidc: boolean,
  { action, details }: Entry,
): Promise<string> {
  const token = newToken();
  const session = hashToken(token);
  await tx.$executeRaw`
    INSERT INTO conciliation.console_session (token_hash, user_id, expires_at, by_oidc)
    VALUES (${session}, ${id}, now() + make_interval(mins => ${LIFETIME_MINUTES}::int), ${byOidc})`;
  // With the session, so that no entry is that of another one.
  await recordAudit(tx, { actor: name, action, details: { ...details, session } });
  return token;
}

/**
 * Acts for a user and begins a session. Locks the user first: a password takes time to compare, and password and second
 * factor may be replaced meanwhile, or the user be disabled.
 * @param act returns false: nothing is to change
 * @returns the token of the session; null: nothing has changed
 */
function actAsProven(
  { prisma }: Database,
  user: ProvenUser,
  entry: Entry,
  act: (tx: Transaction) => Promise<boolean>,
): Promise<string | null> {
  return prisma.$transaction(async (tx) => {
    const owners = await tx.$queryRaw<unknown[]>`
      SELECT 1 AS found FROM conciliation.console_user
      WHERE id = ${user.id} AND disabled_at IS NULL AND password_hash = ${user.passwordHash}
        AND totp_secret IS NOT DISTINCT FROM ${user.totpSecret}
      FOR UPDATE`;
    if (owners.length === 0) return null;
    return (await act(tx)) ? beginSession(tx, user, false, entry) : null;
  });
}

/** @param address of the client; null: unknown */
export const startSession = (database: Database, user: ProvenUser, address: string | null) =>
  actAsProven(database, user, { action: 'session.start', details: { address } }, async (tx) => {
    await noteLogin(tx, user.id);
    return true;
  });

/**
 * Changes what a user signs in with, and records that. Every session of the user ends, and a new one takes the place of
 * the one with the token.
 * @returns the new token; null: password, second factor or session are not as they were, and nothing has changed
 */
export const changeProven = (
  database: Database,
  user: ProvenUser,
  token: string,
  entry: Entry,
  credentials: Credentials,
) =>
  actAsProven(database, user, entry, async (tx) => {
    const ended = await tx.consoleSession.deleteMany({
      where: { userId: user.id, tokenHash: hashToken(token) },
    });
    if (ended.count === 0) return false;
    await tx.consoleUser.update({ where: { id: user.id }, data: { ...credentials } });
    await endSessionsOf(tx, user.id);
    return true;
  });

async function noteLogin(tx: Transaction, userId: bigint): Promise<void> {
  await tx.$executeRaw`DELETE FROM conciliation.console_session WHERE expires_at <= now()`;
  await tx.$executeRaw`
    UPDATE conciliation.console_user SET last_login_at = now() WHERE id = ${userId}`;
}

export interface OidcIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Null: there is no address, or it is not verified. */
  readonly verifiedEmail: string | null;
}

/**
 * Starts a session of the user of an account. An account without an earlier sign-in is linked to the user with
 * its verified e-mail address. From then on only the subject counts, so that a later owner of the
 * address gets no access. No user is created. Refusals of verified accounts are audited here.
 */
export function startOidcSession(database: Database, identity: OidcIdentity, address: string) {
  const { issuer, subject } = identity;
  const email = parseEmailAddress(identity.verifiedEmail ?? '');
  return database.prisma.$transaction(async (tx) => {
    const [user] = await tx.$queryRaw<
      [{ id: bigint; name: string; isDisabled: boolean; isBound: boolean }?]
    >`
      SELECT id, name, disabled_at IS NOT NULL AS "isDisabled",
             oidc_subject IS NOT NULL AS "isBound"
      FROM conciliation.console_user
      WHERE (oidc_issuer = ${issuer} AND oidc_subject = ${subject})
         OR (oidc_subject IS NULL AND email = ${email})
      ORDER BY oidc_subject IS NULL LIMIT 1 FOR UPDATE`;
    if (user === undefined || user.isDisabled) {
      const refused = user !== undefined ? 'disabled' : email === null ? 'unverified' : 'unknown';
      await recordAudit(tx, {
        actor: user?.name ?? 'identity provider',
        action: 'session.refused_account',
        details: { reason: refused, address },
      });
      return { refused } as const;
    }
    if (!user.isBound) {
      await tx.consoleUser.update({
        where: { id: user.id },
        data: { oidcIssuer: issuer, oidcSubject: subject },
      });
      await recordAudit(tx, { actor: user.name, action: 'user.bind', details: { issuer } });
    }
    await noteLogin(tx, user.id);
    const entry = { action: 'session.start', details: { address } } as const;
    return { refused: null, name: user.name, token: await beginSession(tx, user, true, entry) };
  });
}

/** Returns the user of a token; null: there is no session, or it has ended. */
export async function readSession(database: Database, token: string): Promise<SessionUser | null> {
  const hash = hashToken(token);
  const [session] = await database.prisma.$queryRaw<[(SessionUser & { isOld: boolean })?]>`
    SELECT owner.name, owner.role,
           owner.totp_secret IS NOT NULL AS "hasSecondFactor", session.by_oidc AS "byOidc",
           session.last_seen_at < now() - interval '1 minute' AS "isOld"
    FROM conciliation.console_session session
    JOIN conciliation.console_user owner ON owner.id = session.user_id
    WHERE session.token_hash = ${hash} AND session.expires_at > now()
      AND session.last_seen_at > now() - make_interval(mins => ${IDLE_MINUTES}::int)
      AND owner.disabled_at IS NULL`;
  if (session === undefined) return null;
  if (session.isOld) {
    await database.prisma.$executeRaw`
      UPDATE conciliation.console_session SET last_seen_at = now() WHERE token_hash = ${hash}`;
  }
  const { isOld: _, ...user } = session;
  return user;
}

export async function endSessionsOf(tx: Transaction, userId: bigint): Promise<void> {
  await tx.consoleSession.deleteMany({ where: { userId } });
}

/** @returns whether the session began with an account of the identity provider */
export async function endSession(database: Database, token: string): Promise<boolean> {
  const [ended] = await database.prisma.$queryRaw<[{ byOidc: boolean }?]>`
    DELETE FROM conciliation.console_session WHERE token_hash = ${hashToken(token)}
    RETURNING by_oidc AS "byOidc"`;
  return ended?.byOidc ?? false;
}
