import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { hashToken, newToken } from '../../base/runtime/secrets.ts';
import { refusal } from '../../base/texts/texts.ts';
import {
  type ConsoleRole,
  coversKey,
  KEY_DAYS,
  KEY_ROLES,
  type KeyRole,
  type KeyScope,
  parseUserName,
} from '../../base/values/role.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** Makes a key recognisable in a repository or a log. */
const KEY_PREFIX = 'conciliation_';
const MAX_NAME_LENGTH = 80;
const SHOWN_LENGTH = KEY_PREFIX.length + 6;

/** `keyStart` has its first characters; the owner is null for a key without one. */
export type ApiKey = Awaited<ReturnType<typeof readApiKeys>>[number];

/**
 * @returns the key, which is not stored, and its number
 * @throws InputError when the name or purpose of the key is missing or too long; when the owner
 * does not exist, is disabled or has fewer rights than the key
 */
export function createApiKey(
  database: Database,
  key: {
    readonly name: string;
    /** The owner, a console user; null for a key without one, which only a command can create. */
    readonly user: string | null;
    readonly role: KeyRole;
    readonly scopes: readonly KeyScope[];
    readonly validDays: number;
    readonly by: string;
  },
): Promise<{ readonly id: number; readonly key: string }> {
  const { user, role, scopes, validDays, by } = key;
  return database.prisma.$transaction(async (tx) => {
    const name = key.name.trim();
    if (name === '' || name.length > MAX_NAME_LENGTH || scopes.length === 0) {
      throw refusal('key', { days: KEY_DAYS.max });
    }
    const owner = user === null ? null : await requireOwner(tx, user, role);
    const text = KEY_PREFIX + newToken();
    const [{ id }] = await tx.$queryRaw<[{ id: number }]>`
      INSERT INTO conciliation.api_key
        (name, key_hash, key_start, user_id, role, scopes, created_by, expires_at)
      VALUES (${name}, ${hashToken(text)}, ${text.slice(0, SHOWN_LENGTH)}, ${owner},
              ${role}, ${[...scopes]}, ${by}, now() + make_interval(days => ${validDays}::int))
      RETURNING id::float8 AS id`;
    const details = { keyId: id, name, role, scopes, ...(user !== null && { user }) };
    await recordAudit(tx, { actor: by, action: 'key.add', details });
    return { id, key: text };
  });
}

/** Locks the owner, so that a change of the user revokes the new key too, or is seen here. */
async function requireOwner(tx: Transaction, user: string, role: KeyRole): Promise<bigint> {
  const [owner] = await tx.$queryRaw<[{ id: bigint; role: ConsoleRole }?]>`
    SELECT id, role FROM conciliation.console_user
    WHERE name = ${parseUserName(user) ?? ''} AND disabled_at IS NULL FOR SHARE`;
  if (owner === undefined) throw refusal('unknown_user');
  if (!coversKey(owner.role, role)) throw refusal('key_role');
  return owner.id;
}

/**
 * Revokes the keys of a user that a role does not cover. To be called in the transaction of the
 * user's change.
 */
export async function revokeKeysOf(
  tx: Transaction,
  user: { readonly id: bigint; readonly name: string },
  /** The new role of the user; null: the user is disabled. */
  role: ConsoleRole | null,
  by: string,
): Promise<void> {
  const lost = KEY_ROLES.filter((keyRole) => role === null || !coversKey(role, keyRole));
  const keys = Prisma.sql`user_id = ${user.id} AND role = ANY(${lost})`;
  await revokeKeys(tx, keys, by, { user: user.name });
}

/** @throws InputError when the key does not exist or is already revoked */
export function revokeApiKey(database: Database, id: bigint, by: string): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    const revoked = await revokeKeys(tx, Prisma.sql`id = ${id}`, by);
    if (revoked === 0) throw refusal('unknown_key');
  });
}

async function revokeKeys(tx: Transaction, keys: Prisma.Sql, by: string, about: object = {}) {
  const revoked = await tx.$queryRaw<{ keyId: number }[]>`
    UPDATE conciliation.api_key SET revoked_at = now(), revoked_by = ${by}
    WHERE ${keys} AND revoked_at IS NULL RETURNING id::float8 AS "keyId"`;
  for (const { keyId } of revoked) {
    await recordAudit(tx, { actor: by, action: 'key.revoke', details: { keyId, ...about } });
  }
  return revoked.length;
}

export async function readApiKeys(database: Database) {
  const keys = await database.prisma.apiKey.findMany({
    include: { user: { select: { name: true } } },
    where: { revokedAt: null },
    omit: { keyHash: true },
    orderBy: { id: 'asc' },
  });
  return keys.map((key) => ({
    ...key,
    id: Number(key.id),
    user: key.user?.name ?? null,
    role: key.role as KeyRole,
    scopes: key.scopes as KeyScope[],
  }));
}

interface ValidKey {
  readonly keyId: number;
  /** The author in the audit log. */
  readonly name: string;
  readonly role: KeyRole;
  readonly scopes: KeyScope[];
}

/**
 * Returns the data of a key; null for another text and for a key that is no longer valid. The owner
 * is checked at each use: a disabled owner, or one whose role does not cover the key, makes it
 * invalid.
 */
export async function findApiKey({ prisma }: Database, text: string): Promise<ValidKey | null> {
  const [found] = await prisma.$queryRaw<
    [(ValidKey & { ownerRole: ConsoleRole | null; isOld: boolean })?]
  >`
    SELECT key.id::float8 AS "keyId", key.role, key.scopes, owner.role AS "ownerRole",
           format('key %s%s: %s', key.id, ' of ' || owner.name, key.name) AS name,
           coalesce(key.last_used_at < now() - interval '1 minute', true) AS "isOld"
    FROM conciliation.api_key key
    LEFT JOIN conciliation.console_user owner ON owner.id = key.user_id
    WHERE key.key_hash = ${hashToken(text)} AND key.revoked_at IS NULL AND key.expires_at > now()
      AND owner.disabled_at IS NULL`;
  if (found === undefined) return null;
  const { ownerRole, isOld, ...key } = found;
  if (ownerRole !== null && !coversKey(ownerRole, key.role)) return null;
  if (isOld) {
    await prisma.$executeRaw`
      UPDATE conciliation.api_key SET last_used_at = now() WHERE id = ${key.keyId}`;
  }
  return key;
}
