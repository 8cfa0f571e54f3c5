import type { KeyRole, KeyScope } from '../domain/role.ts';
import { InputError } from '../errors.ts';
import { recordAudit } from './audit.ts';
import type { Database } from './database.ts';
import { inStaging } from './in-staging.ts';
import { hashToken, newToken } from './secret-token.ts';

/** So that a key which leaked into a repository or a log is recognised as one. */
const KEY_PREFIX = 'conciliation_';
const MAX_NAME_LENGTH = 80;
const SHOWN_LENGTH = KEY_PREFIX.length + 6;

export interface ApiKey {
  readonly id: number;
  readonly name: string;
  /** Its first characters. */
  readonly start: string;
  readonly role: KeyRole;
  readonly scopes: readonly KeyScope[];
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/**
 * @returns the key, which is kept nowhere
 * @throws InputError for a key without a name or a purpose, or with a book for a name
 */
export function createApiKey(
  database: Database,
  key: {
    readonly name: string;
    readonly role: KeyRole;
    readonly scopes: readonly KeyScope[];
    readonly validDays: number;
    readonly by: string;
  },
): Promise<string> {
  return inStaging(() =>
    database.prisma.$transaction(async (tx) => {
      const name = key.name.trim();
      if (name === '' || name.length > MAX_NAME_LENGTH || key.scopes.length === 0) {
        throw new InputError(
          `a key has a name of at most ${MAX_NAME_LENGTH} characters, and at least one scope`,
          { context: { fault: 'key' } },
        );
      }
      const text = KEY_PREFIX + newToken();
      const [row] = await tx.$queryRaw<[{ id: bigint }]>`
        INSERT INTO conciliation.api_key
          (name, key_hash, key_start, role, scopes, created_by, expires_at)
        VALUES (${name}, ${hashToken(text)}, ${text.slice(0, SHOWN_LENGTH)}, ${key.role},
                ${[...key.scopes]}, ${key.by}, now() + make_interval(days => ${key.validDays}::int))
        RETURNING id`;
      await recordAudit(tx, {
        actor: key.by,
        action: 'key.add',
        details: { keyId: Number(row.id), name, role: key.role, scopes: key.scopes },
      });
      return text;
    }),
  );
}

/** @throws InputError where there is no such key, or it was revoked before */
export function revokeApiKey(database: Database, id: bigint, by: string): Promise<void> {
  return inStaging(() =>
    database.prisma.$transaction(async (tx) => {
      const revoked = await tx.$executeRaw`
        UPDATE conciliation.api_key SET revoked_at = now(), revoked_by = ${by}
        WHERE id = ${id} AND revoked_at IS NULL`;
      if (revoked === 0) {
        throw new InputError(`key ${id} does not exist or is revoked already`, {
          context: { fault: 'unknown_key' },
        });
      }
      await recordAudit(tx, { actor: by, action: 'key.revoke', details: { keyId: Number(id) } });
    }),
  );
}

export function readApiKeys(database: Database): Promise<ApiKey[]> {
  return inStaging(
    () => database.prisma.$queryRaw<ApiKey[]>`
      SELECT id::float8 AS id, name, key_start AS start, role, scopes, created_by AS "createdBy",
             created_at AS "createdAt", expires_at AS "expiresAt", last_used_at AS "lastUsedAt",
             revoked_at AS "revokedAt"
      FROM conciliation.api_key ORDER BY id`,
  );
}

/** Whose key this is; null for a text that is none, or works no more. */
export function findApiKey(
  database: Database,
  text: string,
): Promise<{ name: string; role: KeyRole; scopes: KeyScope[] } | null> {
  return inStaging(async () => {
    const [key] = await database.prisma.$queryRaw<
      [{ id: bigint; name: string; role: KeyRole; scopes: KeyScope[]; isOld: boolean }?]
    >`
      SELECT id, name, role, scopes,
             coalesce(last_used_at < now() - interval '1 minute', true) AS "isOld"
      FROM conciliation.api_key
      WHERE key_hash = ${hashToken(text)} AND revoked_at IS NULL AND expires_at > now()`;
    if (key === undefined) return null;
    if (key.isOld) {
      await database.prisma.$executeRaw`
        UPDATE conciliation.api_key SET last_used_at = now() WHERE id = ${key.id}`;
    }
    return { name: `key ${key.id}: ${key.name}`, role: key.role, scopes: key.scopes };
  });
}
