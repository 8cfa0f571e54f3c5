import { openPostgresBackend } from './postgres-backend.ts';
import type { BackendOptions, QueueBackend } from './queue-backend.ts';
import { openRedisBackend } from './redis-backend.ts';

/** Connects to the server once and checks that it is suitable. Throws as `openPullQueue` does. */
export function openBackend(options: BackendOptions): Promise<QueueBackend> {
  return options.redisUrl === null
    ? openPostgresBackend(options.databaseUrl, options.logger)
    : openRedisBackend(options.redisUrl);
}
