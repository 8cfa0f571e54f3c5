import { isIP } from 'node:net';
import {
  type BackendFactory,
  type ConnectionOptions,
  createRedisBackend,
  type RedisQueueBackend,
} from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { ConfigError, StagingUnavailableError } from '../../base/runtime/errors.ts';
import { within } from '../../base/runtime/timing.ts';

/** The server on which BullMQ keeps its jobs. */
export interface QueueBackend {
  /** For the log: `Redis` or `PostgreSQL`. */
  readonly name: string;
  /** Without a connection, a queue fails immediately and a worker waits. */
  connectionFor(role: 'queue' | 'worker'): ConnectionOptions;
  /** BullMQ's types are those of Redis by default. The differences do not matter here. */
  readonly factory: BackendFactory<RedisQueueBackend>;
  /** Returns the error class for a failure while opening. */
  toOpeningError(error: unknown): unknown;
}

/** Waiting time for a Redis that starts together with this process, in milliseconds. */
const PATIENCE_MS = 15_000;
const RETRY_INTERVAL_MS = 500;
const ANSWER_TIMEOUT_MS = 5_000;

/**
 * Refuses a Redis that BullMQ cannot use, before BullMQ connects.
 * @param address the name of the server in messages
 * @throws ConfigError naming REDIS_URL
 * @throws StagingUnavailableError when there is no answer
 */
export async function checkRedis(
  redisUrl: string,
  address: string,
  tls: Pick<RedisOptions, 'tls'> = {},
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  const client = new Redis(redisUrl, {
    ...tls,
    connectTimeout: ANSWER_TIMEOUT_MS,
    maxRetriesPerRequest: null,
    retryStrategy: () => (performance.now() < deadlineMs ? RETRY_INTERVAL_MS : null),
  });
  // The error of a command may say only that the connection was closed.
  let reason: Error | undefined;
  client.on('error', (error) => {
    reason = error;
    if (problemOf(error) !== null) client.disconnect();
  });
  try {
    // Selected explicitly, because ioredis would silently use database 0 after a refusal.
    const selected = client.select(client.options.db ?? 0);
    await within(patienceMs + ANSWER_TIMEOUT_MS, selected);
  } catch (error) {
    const isAnswer = (error as Error).name === 'ReplyError';
    const fault = (isAnswer ? error : (reason ?? error)) as NodeJS.ErrnoException;
    const problem = problemOf(fault);
    if (problem !== null) throw new ConfigError([`REDIS_URL: the server at ${address} ${problem}`]);
    throw new StagingUnavailableError(
      `the queue's Redis at ${address} cannot be reached (${fault.code ?? 'no answer'})`,
      { cause: fault },
    );
  } finally {
    client.disconnect();
  }
}

/** Describes a problem that only a person can solve; null: a later try may succeed. */
function problemOf({ name, message, code = '' }: NodeJS.ErrnoException): string | null {
  if (name !== 'ReplyError') {
    return /CERT|SIGNATURE|TLS|SSL/.test(code) ? `cannot be spoken to (${code})` : null;
  }
  if (/^(LOADING|BUSY|MASTERDOWN)/.test(message)) return null;
  if (/^(WRONGPASS|NOAUTH)/.test(message)) return 'refuses its user or password';
  if (/DB index/i.test(message)) return 'has no database of that number';
  return `refuses the connection (${/^[A-Z]*/.exec(message)})`;
}

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
const MAX_RECONNECT_DELAY_MS = 2_000;
const COMMAND_TIMEOUT_MS = 5_000;
/**
 * A server that does not answer within this time is disconnected. BullMQ's longest blocking call takes 10 s.
 */
const SOCKET_TIMEOUT_MS = 30_000;

/** @param address that the configuration has checked */
export async function openRedisBackend(
  address: string,
  patienceMs = PATIENCE_MS,
): Promise<QueueBackend> {
  const url = new URL(address);
  // As the parser of the configuration writes it. The driver would take REDISS:// for a plain connection.
  const redisUrl = url.href;
  const server = `${url.hostname}:${url.port === '' ? '6379' : url.port}`;
  const tls = url.protocol === 'rediss:' ? { tls: tlsOptions(url) } : {};
  await checkRedis(redisUrl, server, tls, patienceMs);
  const common = {
    url: redisUrl,
    ...tls,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: (times: number) => Math.min(times * 100, MAX_RECONNECT_DELAY_MS),
    // After a failover, the connection may lead to a server that is a replica now.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  };
  return {
    name: 'Redis',
    factory: createRedisBackend,
    connectionFor: (role) =>
      role === 'worker'
        ? { ...common, maxRetriesPerRequest: null }
        : {
            ...common,
            commandTimeout: COMMAND_TIMEOUT_MS,
            enableOfflineQueue: false,
            maxRetriesPerRequest: 0,
          },
    toOpeningError: (error) =>
      new StagingUnavailableError(`the connection to the queue's Redis at ${server} was lost`, {
        cause: error,
      }),
  };
}

function tlsOptions({ hostname }: URL) {
  return {
    // SNI accepts names only. The certificate is checked against the host in both cases.
    ...(isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && { servername: hostname }),
  };
}
