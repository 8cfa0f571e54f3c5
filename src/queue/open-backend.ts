import { openPostgresBackend } from './postgres-backend.ts';
import type { BackendOptions, QueueBackend } from './queue-backend.ts';
import { openRedisBackend } from './redis-backend.ts';

/** Reaches the server once and makes sure that it will do; see `openPullQueue` for what it throws. */
export function openBackend(options: BackendOptions): Promise<QueueBackend> {
  return options.redisUrl === null
    ? openPostgresBackend(options.databaseUrl, options.logger)
    : openRedisBackend(options.redisUrl, options.redisCaFile ?? null, options.logger);
}
