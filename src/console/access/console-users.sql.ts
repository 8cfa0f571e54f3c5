import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { hashToken, newToken } from '../../base/runtime/secrets.ts';
import { refusal } from '../../base/texts/texts.ts';
import {
  type ConsoleRole,
  PASSWORD_LINK_HOURS,
  PROGRAM_AUTHORS,
  parseEmailAddress,
  parseUserName,
} from '../../base/values/role.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { revokeKeysOf } from './api-keys.sql.ts';
import { endSessionsOf, type ProvenUser } from './console-sessions.sql.ts';

/** The data for a sign-in. A disabled user is not found. */
export interface LoginUser extends ProvenUser {
  readonly email: string | null;
  /** The time since 1970 by the clock of the database. */
  readonly seconds: number;
}

/** @throws InputError for an invalid or existing name or address */
export function addUser(
  database: Database,
  user: {
    readonly name: string;
    readonly role: ConsoleRole;
    readonly email?: string | null;
    readonly by: string;
  },
): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    const name = parseUserName(user.name);
    if (name === null) throw refusal('name_invalid');
    if (PROGRAM_AUTHORS.includes(name)) throw refusal('name_taken');
    const email = await requireFreeEmail(tx, user.email ?? null, name);
    const added = await tx.$executeRaw`
      INSERT INTO conciliation.console_user (name, role, email, created_by)
      VALUES (${name}, ${user.role}, ${email}, ${user.by}) ON CONFLICT (name) DO NOTHING`;
    if (added === 0) throw refusal('name_taken');
    await recordAudit(tx, {
      actor: user.by,
      action: 'user.add',
      details: { user: name, role: user.role, ...(email !== null && { hasEmail: true }) },
    });
  });
}

/**
 * Keeps a user's rights until the transaction ends.
 * @throws InputError when the user was disabled, or has another role than at the request
 */
export async function requireRights(
  tx: Transaction,
  { name, role }: { readonly name: string; readonly role: ConsoleRole },
): Promise<void> {
  const users = await tx.$queryRaw<unknown[]>`
    SELECT FROM conciliation.console_user
    WHERE name = ${name} AND role = ${role} AND disabled_at IS NULL FOR SHARE`;
  if (users.length === 0) throw refusal('rights_ended');
}

/**
 * Ends all sessions of the user and revokes the keys that the user may no longer have. A user who was an administrator
 * signs no date off that was open when the role changed. Setting the e-mail address, even to the same address, releases
 * the linked account of the identity provider.
 * @throws InputError: for an unknown user, for the last administrator, for the acting user, and for a user without the
 * second factor that is to be removed
 */
export function changeUser(
  database: Database,
  change: {
    readonly name: string;
    /** The acting user, who cannot disable their own account or change its role or address. */
    readonly by: string;
    readonly role?: ConsoleRole;
    readonly isDisabled?: boolean;
    /** Null: none. */
    readonly email?: string | null;
    /** Whether the second factor is removed, which the user lost. The password stays. */
    readonly losesFactor?: true;
  },
): Promise<void> {
  const { by, role = null, isDisabled = null } = change;
  return database.prisma.$transaction(async (tx) => {
    // Locked before the users are read, so that of two administrators who remove each other one is
    // refused.
    const admins = await tx.$queryRaw<{ name: string }[]>`
      SELECT name FROM conciliation.console_user
      WHERE role = 'admin' AND disabled_at IS NULL ORDER BY id FOR UPDATE`;
    const { id, name } = await requireUser(tx, change.name);
    const isDemoted = isDisabled === true || (role !== null && role !== 'admin');
    if (name === by && (isDisabled === true || role !== null)) throw refusal('own_user');
    // Otherwise a stolen session would sign in with a company account of the thief.
    if (name === by && change.email !== undefined) throw refusal('own_access');
    // Otherwise a stolen session would remove the second factor without a code.
    if (name === by && change.losesFactor) throw refusal('own_factor');
    if (isDemoted && admins.length === 1 && admins[0]?.name === name) {
      throw refusal('last_admin');
    }
    const [{ access }] = await tx.$queryRaw<[{ access: object }]>`
      UPDATE conciliation.console_user
      SET role = coalesce(${role}, role),
          -- Not the begin of the transaction: the administrator acted until the row was locked.
          decides_from = CASE WHEN ${role}::text IS NOT NULL AND (role = 'admin' OR decides_from IS NOT NULL)
                              THEN clock_timestamp() ELSE decides_from END,
          disabled_at = CASE WHEN ${isDisabled}::boolean IS NULL THEN disabled_at
                             WHEN ${isDisabled}::boolean THEN coalesce(disabled_at, now()) END
      WHERE id = ${id}
      RETURNING jsonb_build_object('role', role, 'isDisabled', disabled_at IS NOT NULL, 'decidesFrom', decides_from) AS access`;
    if (change.email !== undefined) {
      const email = await requireFreeEmail(tx, change.email, name);
      await tx.consoleUser.update({
        where: { id },
        data: { email, oidcIssuer: null, oidcSubject: null },
      });
    }
    if (change.losesFactor) {
      const where = { id, totpSecret: { not: null } };
      const { count } = await tx.consoleUser.updateMany({ where, data: { ...NO_FACTOR } });
      if (count === 0) throw refusal('no_factor');
    }
    await endSessionsOf(tx, id);
    if (isDisabled === true) {
      await tx.consoleUser.update({ where: { id }, data: { linkHash: null, linkExpiresAt: null } });
    }
    await recordAudit(tx, {
      actor: by,
      action: 'user.change',
      // The check of every date compares the rights of the user with the newest entry.
      details: {
        ...{ user: name, ...access },
        ...(change.email !== undefined && { hasEmail: change.email !== null }),
        ...(change.losesFactor && { secondFactor: 'reset' }),
      },
    });
    if (isDisabled === true || role !== null) {
      await revokeKeysOf(tx, { id, name }, isDisabled === true ? null : role, by);
    }
  });
}

/**
 * Checked first, because a violated constraint would end the transaction without a specific error.
 */
async function requireFreeEmail(
  tx: Transaction,
  text: string | null,
  owner: string,
): Promise<string | null> {
  if (text === null) return null;
  const email = parseEmailAddress(text);
  if (email === null) throw refusal('email_invalid');
  const others = await tx.consoleUser.count({ where: { email, name: { not: owner } } });
  if (others > 0) throw refusal('email_taken');
  return email;
}

export interface ConsoleUser {
  readonly name: string;
  readonly role: ConsoleRole;
  readonly email: string | null;
  readonly lastLoginAt: Date | null;
  readonly disabledAt: Date | null;
  /** Whether an account of the identity provider has signed in, so that only its subject counts. */
  readonly isBound: boolean;
  readonly hasSecondFactor: boolean;
}

/** Returns the users without their hashes and secrets. */
export const readUsers = ({ prisma }: Database): Promise<ConsoleUser[]> =>
  prisma.$queryRaw<ConsoleUser[]>`
    SELECT name, role, email, last_login_at AS "lastLoginAt", disabled_at AS "disabledAt",
           oidc_subject IS NOT NULL AS "isBound", totp_secret IS NOT NULL AS "hasSecondFactor"
    FROM conciliation.console_user ORDER BY name`;

export const findLoginUser = (database: Database, name: string) =>
  findUser(database, Prisma.sql`name = ${name}`);

/** Returns the user of a link while it is valid; null for any other text. */
export const readLink = (database: Database, token: string) =>
  findUser(database, Prisma.sql`link_hash = ${hashToken(token)} AND link_expires_at > now()`);

async function findUser({ prisma }: Database, which: Prisma.Sql): Promise<LoginUser | null> {
  const [user] = await prisma.$queryRaw<[LoginUser?]>`
    SELECT id, name, password_hash AS "passwordHash", email,
           totp_secret AS "totpSecret",
           extract(epoch FROM clock_timestamp())::float8 AS seconds
    FROM conciliation.console_user WHERE ${which} AND disabled_at IS NULL`;
  return user ?? null;
}

/**
 * Creates a link with which a user chooses a password, once, and ends the older link of the user.
 * @returns the token for the link, which is not stored
 * @throws InputError: for an unknown or disabled user, and for the acting user
 */
export function createLink(
  database: Database,
  link: { readonly by: string; readonly name: string },
): Promise<string> {
  return database.prisma.$transaction(async (tx) => {
    const { id, name, isDisabled } = await requireUser(tx, link.name);
    if (isDisabled) throw refusal('disabled_user');
    // Otherwise a stolen session would replace the password without knowing it.
    if (name === link.by) throw refusal('own_access');
    const token = newToken();
    await tx.$executeRaw`
      UPDATE conciliation.console_user
      SET link_hash = ${hashToken(token)},
          link_expires_at = now() + make_interval(hours => ${PASSWORD_LINK_HOURS}::int)
      WHERE id = ${id}`;
    await recordAudit(tx, { actor: link.by, action: 'user.link', details: { user: name } });
    return token;
  });
}

/**
 * Uses a link up and sets the password. Of two concurrent calls one returns false.
 * @returns false: the link is not valid any more
 */
export function consumeLink(
  { prisma }: Database,
  token: string,
  passwordHash: string,
): Promise<boolean> {
  return prisma.$transaction(async (tx) => {
    const [user] = await tx.$queryRaw<[{ id: bigint; name: string }?]>`
      UPDATE conciliation.console_user
      SET password_hash = ${passwordHash}, link_hash = NULL, link_expires_at = NULL
      WHERE link_hash = ${hashToken(token)} AND link_expires_at > now() AND disabled_at IS NULL
      RETURNING id, name`;
    if (user === undefined) return false;
    await endSessionsOf(tx, user.id);
    await recordAudit(tx, { actor: user.name, action: 'user.password' });
    return true;
  });
}

export const NO_FACTOR = { totpSecret: null, totpStep: null };

async function requireUser(
  tx: Transaction,
  text: string,
): Promise<{ id: bigint; name: string; isDisabled: boolean }> {
  const [user] = await tx.$queryRaw<[{ id: bigint; name: string; isDisabled: boolean }?]>`
    SELECT id, name, disabled_at IS NOT NULL AS "isDisabled" FROM conciliation.console_user
    WHERE name = ${parseUserName(text) ?? ''} FOR UPDATE`;
  if (user === undefined) throw refusal('unknown_user');
  return user;
}
