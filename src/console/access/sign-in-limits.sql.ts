import { createHash } from 'node:crypto';
import type { Database } from '../../database/database.ts';

/**
 * Tries that are allowed within a time, counted from the first try. The tries of all processes of the
 * service count together.
 */
export interface SignInLimit {
  readonly max: number;
  readonly seconds: number;
}

/** The first tries have no delay, because people mistype. */
const FREE_TRIES = 4;
const MAX_DELAY_SECONDS = 60;
/** Counted from the end of the delay. */
const FORGOTTEN_AFTER_SECONDS = 15 * 60;
/** More than one row is removed for each row that is added, so the table holds the tries of 15 minutes. */
const REMOVED_AT_ONCE = 10;

/**
 * Counts a try.
 * @param key unlimited text; the database stores its hash, because a typed user name may be a password
 * @returns the seconds until the next try is allowed; 0: this try is allowed and is counted
 * @throws StagingUnavailableError
 */
export async function countTry(
  database: Database,
  key: string,
  limit: SignInLimit,
): Promise<number> {
  const hash = hashKey(key);
  await removeForgotten(database, hash);
  const counted = await database.prisma.$executeRaw`
    INSERT INTO conciliation.sign_in_limit AS kept (key_hash, tries, allowed_at, forgotten_at)
    SELECT ${hash}, 1, CASE WHEN ${limit.max}::int > 1 THEN at ELSE at + span END, at + span
    FROM (SELECT clock_timestamp() AS at, make_interval(secs => ${limit.seconds}::int) AS span) AS given
    ON CONFLICT (key_hash) DO UPDATE
      SET tries = kept.tries + 1,
          allowed_at =
            CASE WHEN kept.tries + 1 < ${limit.max}::int THEN kept.allowed_at ELSE kept.forgotten_at END
      WHERE kept.allowed_at <= clock_timestamp()`;
  return counted === 1 ? 0 : secondsToWait(database, hash);
}

/**
 * Counts a try for one user from one address. After the free tries the next one is delayed by one
 * second, and by twice as long after each further try, up to a minute. A refused try does not
 * count.
 * @param key user and address; the same user at another address has no delay
 * @returns the seconds until the next try is allowed; 0: this try is allowed and is counted
 * @throws StagingUnavailableError
 */
export async function countDelayedTry(database: Database, key: string): Promise<number> {
  const hash = hashKey(key);
  await removeForgotten(database, hash);
  const counted = await database.prisma.$executeRaw`
    INSERT INTO conciliation.sign_in_limit AS kept (key_hash, tries, allowed_at, forgotten_at)
    SELECT ${hash}, 1, at, at + make_interval(secs => ${FORGOTTEN_AFTER_SECONDS}::int)
    FROM (SELECT clock_timestamp() AS at) AS given
    ON CONFLICT (key_hash) DO UPDATE
      SET (tries, allowed_at, forgotten_at) = (
        SELECT kept.tries + 1, next, next + make_interval(secs => ${FORGOTTEN_AFTER_SECONDS}::int)
        FROM (
          SELECT clock_timestamp() + make_interval(secs =>
            CASE WHEN kept.tries + 1 < ${FREE_TRIES}::int THEN 0
                 ELSE least(2 ^ least(kept.tries + 1 - ${FREE_TRIES}::int, 30), ${MAX_DELAY_SECONDS}::int)
            END) AS next
        ) AS delayed
      )
      WHERE kept.allowed_at <= clock_timestamp()`;
  return counted === 1 ? 0 : secondsToWait(database, hash);
}

/**
 * Forgets the tries before a success.
 * @throws StagingUnavailableError
 */
export async function forgetTries(database: Database, key: string): Promise<void> {
  await database.prisma.signInLimit.deleteMany({ where: { keyHash: hashKey(key) } });
}

/** Removes the row of the key if its tries are forgotten, and a few other such rows. */
async function removeForgotten(database: Database, hash: Uint8Array<ArrayBuffer>): Promise<void> {
  await database.prisma.$executeRaw`
    DELETE FROM conciliation.sign_in_limit
    WHERE forgotten_at <= clock_timestamp() AND key_hash = ANY (array_append(
      ARRAY(SELECT key_hash FROM conciliation.sign_in_limit WHERE forgotten_at <= clock_timestamp()
            ORDER BY forgotten_at LIMIT ${REMOVED_AT_ONCE}::int FOR UPDATE SKIP LOCKED),
      ${hash}::bytea))`;
}

/** Returns at least one second: the row may have been removed, or its time may have come, since it refused a try. */
async function secondsToWait(database: Database, hash: Uint8Array<ArrayBuffer>): Promise<number> {
  const [{ seconds }] = await database.prisma.$queryRaw<[{ seconds: number }]>`
    SELECT greatest(1, ceil(extract(epoch FROM max(allowed_at) - clock_timestamp())))::int AS seconds
    FROM conciliation.sign_in_limit WHERE key_hash = ${hash}`;
  return seconds;
}

function hashKey(key: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(key, 'utf8').digest());
}
