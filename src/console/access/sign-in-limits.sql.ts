import { createHash } from 'node:crypto';
import type { Database } from '../../base/database/database.ts';

/**
 * Tries that are allowed within a time, counted from the first try. The tries of all processes of the
 * service count together.
 */
interface SignInLimit {
  readonly max: number;
  readonly seconds: number;
}

/** Tries from one address, counted separately for each way to sign in. */
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
