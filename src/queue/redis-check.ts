import { setTimeout as sleep } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import { ConfigError, StagingUnavailableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { within } from '../runtime/within.ts';

/** BullMQ accepts older versions with warnings. */
const OLDEST_VERSION = { major: 6, minor: 2 };

/** Waiting time for a Redis that starts together with this process, in milliseconds. */
const PATIENCE_MS = 15_000;
const RETRY_INTERVAL_MS = 500;
const ANSWER_TIMEOUT_MS = 5_000;

/** The options of a connection apart from its address. */
type TlsOptions = Pick<RedisOptions, 'tls'>;

const UNREACHABLE_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/**
 * Refuses a Redis that would lose jobs or that BullMQ cannot use, before BullMQ connects.
 * @param address the name of the server in messages
 * @returns whether the user may run INFO, which an ACL can forbid
 * @throws ConfigError naming REDIS_URL
 * @throws StagingUnavailableError when there is no answer
 */
export async function checkRedis(
  redisUrl: string,
  address: string,
  logger: Logger,
  patienceMs = PATIENCE_MS,
  tls: TlsOptions = {},
): Promise<{ readonly mayAskInfo: boolean }> {
  const client = await connect(redisUrl, tls, address, patienceMs);
  try {
    const info = await askUnlessForbidden(client.info());
    if (info !== null) refuseOldVersion(info, address);
    const policy = info?.match(/^maxmemory_policy:(\S+)/m)?.[1] ?? (await askForPolicy(client));
    if (policy === undefined) {
      logger.warn(
        { redis: address },
        'REDIS_URL: its user may ask neither INFO nor CONFIG GET; make sure that maxmemory-policy is noeviction',
      );
    } else if (policy !== 'noeviction') {
      throw new ConfigError([
        `REDIS_URL: the server at ${address} has maxmemory-policy ${policy} and would evict jobs; set it to noeviction`,
      ]);
    }
    return { mayAskInfo: info !== null };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new StagingUnavailableError(`the queue's Redis at ${address} gives no answer`, {
      cause: error,
    });
  } finally {
    client.disconnect();
  }
}

async function askForPolicy(client: Redis): Promise<string | undefined> {
  const answer = await askUnlessForbidden(client.config('GET', 'maxmemory-policy'));
  return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : undefined;
}

/** Returns null when an ACL, or a provider that hides the command, forbids it. */
async function askUnlessForbidden<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (replyCodeOf(error) === 'NOPERM' || /unknown command/i.test(String(error))) return null;
    throw error;
  }
}

function refuseOldVersion(info: string, address: string): void {
  const version = /^redis_version:(\d+)\.(\d+)/m.exec(info);
  if (version === null) return;
  const [major, minor] = [Number(version[1]), Number(version[2])];
  if (
    major > OLDEST_VERSION.major ||
    (major === OLDEST_VERSION.major && minor >= OLDEST_VERSION.minor)
  ) {
    return;
  }
  throw new ConfigError([
    `REDIS_URL: the server at ${address} is Redis ${major}.${minor}; it takes ${OLDEST_VERSION.major}.${OLDEST_VERSION.minor} or newer`,
  ]);
}

async function connect(
  redisUrl: string,
  tls: TlsOptions,
  address: string,
  patienceMs: number,
): Promise<Redis> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await connectOnce(redisUrl, tls);
    } catch (error) {
      const problem = problemOf(error);
      if (problem !== null)
        throw new ConfigError([`REDIS_URL: the server at ${address} ${problem}`]);
      if (performance.now() > deadlineMs) {
        throw new StagingUnavailableError(
          `the queue's Redis at ${address} cannot be reached (${codeOf(error) ?? 'no answer'})`,
          { cause: error },
        );
      }
      await sleep(RETRY_INTERVAL_MS);
    }
  }
}

async function connectOnce(redisUrl: string, tls: TlsOptions): Promise<Redis> {
  const client = new Redis(redisUrl, {
    ...tls,
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: ANSWER_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
  });
  // The error of `connect` says only that the connection was closed.
  let reason: Error | undefined;
  client.on('error', (error) => {
    reason ??= error;
  });
  try {
    await within(ANSWER_TIMEOUT_MS, client.connect());
    // Selected explicitly, because ioredis would silently use database 0 after a refusal.
    const { db = 0 } = client.options;
    await (db === 0 ? client.ping() : client.select(db));
    return client;
  } catch (error) {
    client.disconnect();
    throw replyCodeOf(error) === null ? (reason ?? error) : error;
  }
}

/** Describes a problem that only a person can solve; null: a later try may succeed. */
function problemOf(error: unknown): string | null {
  switch (replyCodeOf(error)) {
    case null:
      break;
    case 'WRONGPASS':
    case 'NOAUTH':
      return 'refuses its user or password';
    case 'NOPERM':
      return 'grants its user too few rights';
    case 'LOADING':
    case 'BUSY':
    case 'MASTERDOWN':
      return null;
    default:
      return /DB index/i.test(String(error))
        ? 'has no database of that number'
        : `refuses the connection (${replyCodeOf(error)})`;
  }
  const code = codeOf(error);
  if (code === null || UNREACHABLE_CODES.has(code)) return null;
  return `cannot be spoken to (${code})`;
}

/** Returns the first word of an error reply: `WRONGPASS`, `NOPERM`, `ERR`. */
function replyCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return null;
  return /^[A-Z]+/.exec(error.message)?.[0] ?? 'ERR';
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null;
}
