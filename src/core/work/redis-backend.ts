import { isIP } from 'node:net';
import { createRedisBackend } from 'bullmq';
import { ConfigError, StagingUnavailableError } from '../../base/runtime/errors.ts';
import type { QueueBackend } from './queue-backend.ts';
import { checkRedis } from './redis-check.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
const MAX_RECONNECT_DELAY_MS = 2_000;
const COMMAND_TIMEOUT_MS = 5_000;
/**
 * A server that does not answer within this time is disconnected. BullMQ's longest blocking call takes 10 s.
 */
const SOCKET_TIMEOUT_MS = 30_000;

export async function openRedisBackend(address: string): Promise<QueueBackend> {
  const url = parse(address);
  // As the parser of the configuration writes it. The driver would take REDISS:// for a plain connection.
  const redisUrl = url.href;
  const server = `${url.hostname}:${url.port === '' ? '6379' : url.port}`;
  const tls = url.protocol === 'rediss:' ? { tls: tlsOptions(url) } : {};
  await checkRedis(redisUrl, server, tls);
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

function parse(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || (url.protocol !== 'redis:' && url.protocol !== 'rediss:')) {
    throw new ConfigError(['REDIS_URL: expected redis://user:password@host:port/database']);
  }
  return url;
}
