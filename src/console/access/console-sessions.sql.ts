import { type AuditRecord, recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { hashToken, newToken } from '../../base/runtime/secrets.ts';
import type { ConsoleRole } from '../../base/values/role.ts';

export interface SessionUser {
  readonly name: string;
  readonly role: ConsoleRole;
  readonly hasSecondFactor: boolean;
  /** Whether the session began with an account of the identity provider. */
  readonly byOidc: boolean;
}

/**
 * The proof with which a user signs in. A password is given as the hash that was compared, with the secret of
 * the second factor (null: none), because both may be replaced while the comparison takes its time. So may the
 * company account of the user.
 */
export type SignInProof =
  | { readonly passwordHash: string; readonly totpSecret: string | null }
  | { readonly issuer: string; readonly subject: string };

const LIFETIME_MINUTES = 12 * 60;
const IDLE_MINUTES = 2 * 60;

/**
 * Starts a session with a new token, so that a token planted by an attacker has no value (session
 * fixation).
 * @param address of the client; null: unknown
 * @returns the token for the cookie, of which the database stores the hash; null: the user is disabled, or
 * `proof` is not valid any more
 */
export function startSession(
  database: Database,
  user: { readonly id: bigint; readonly name: string },
  address: string | null,
  proof: SignInProof,
): Promise<string | null> {
  const { passwordHash, totpSecret, issuer, subject } = {
    passwordHash: null,
    totpSecret: null,
    issuer: null,
    subject: null,
    ...proof,
  };
  return database.prisma.$transaction(async (tx) => {
    // A replacement of the password locks this row first and then deletes the sessions of the user: the
    // sign-in either sees the replacement, or its session is deleted.
    const isValid = await tx.$executeRaw`
      UPDATE conciliation.console_user SET last_login_at = now()
      WHERE id = ${user.id} AND disabled_at IS NULL
        AND ((password_hash = ${passwordHash} AND totp_secret IS NOT DISTINCT FROM ${totpSecret})
             OR (oidc_issuer = ${issuer} AND oidc_subject = ${subject}))`;
    if (isValid === 0) return null;
    const token = newToken();
    const session = hashToken(token);
    await tx.$executeRaw`DELETE FROM conciliation.console_session WHERE expires_at <= now()`;
    await tx.$executeRaw`
      INSERT INTO conciliation.console_session (token_hash, user_id, expires_at, by_oidc)
      VALUES (${session}, ${user.id},
              now() + make_interval(mins => ${LIFETIME_MINUTES}::int),
              ${issuer !== null})`;
    // With the session, so that no entry is that of another one.
    const details = { address, session };
    await recordAudit(tx, { actor: user.name, action: 'session.start', details });
    return token;
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

/** The user whose password, and code, a form had, as the user was when they were compared. */
export interface ProvenUser {
  readonly id: bigint;
  readonly name: string;
  readonly passwordHash: string | null;
  /** Null: a password was enough. */
  readonly factor: { readonly secret: string } | null;
}

export async function endSessionsOf(tx: Transaction, userId: bigint): Promise<void> {
  await tx.consoleSession.deleteMany({ where: { userId } });
}

export async function endOtherSessions(
  tx: Pick<Transaction, 'consoleSession'>,
  userId: bigint,
  token: string,
): Promise<void> {
  await tx.consoleSession.deleteMany({ where: { userId, tokenHash: { not: hashToken(token) } } });
}

/**
 * Changes what a user signs in with, records that, ends the other sessions of the user, and gives the session of the
 * token another one, so that the earlier token has no value. Locks the user and the session first: a password takes time
 * to compare; password, second factor and session may be replaced or end meanwhile.
 * @returns the new token; null: nothing has changed
 */
export function changeProven(
  { prisma }: Database,
  user: ProvenUser,
  token: string,
  { action, details }: Pick<AuditRecord, 'action' | 'details'>,
  change: (tx: Transaction) => Promise<void>,
): Promise<string | null> {
  return prisma.$transaction(async (tx) => {
    const owners = await tx.$queryRaw<unknown[]>`
      SELECT 1 AS found FROM conciliation.console_user
      WHERE id = ${user.id} AND disabled_at IS NULL AND password_hash = ${user.passwordHash}
        AND totp_secret IS NOT DISTINCT FROM ${user.factor?.secret ?? null}
      FOR UPDATE`;
    if (owners.length === 0) return null;
    const tokenHash = hashToken(token);
    const sessions = await tx.$queryRaw<unknown[]>`
      SELECT 1 AS found FROM conciliation.console_session
      WHERE token_hash = ${tokenHash} AND user_id = ${user.id} FOR UPDATE`;
    if (sessions.length === 0) return null;
    await change(tx);
    await endOtherSessions(tx, user.id, token);
    const renewed = newToken();
    const session = hashToken(renewed);
    await tx.consoleSession.updateMany({
      where: { userId: user.id, tokenHash },
      data: { tokenHash: session },
    });
    await recordAudit(tx, { actor: user.name, action, details: { ...details, session } });
    return renewed;
  });
}

/** @returns whether the session began with an account of the identity provider */
export async function endSession(database: Database, token: string): Promise<boolean> {
  const [ended] = await database.prisma.$queryRaw<[{ byOidc: boolean }?]>`
    DELETE FROM conciliation.console_session WHERE token_hash = ${hashToken(token)}
    RETURNING by_oidc AS "byOidc"`;
  return ended?.byOidc ?? false;
}
