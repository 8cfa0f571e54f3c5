import type { BackendFactory, ConnectionOptions, Queue, RedisQueueBackend, Worker } from 'bullmq';
import type { Logger } from '../runtime/logger.ts';
import { within } from '../runtime/within.ts';

/** Long enough for a promise that is already settled, in milliseconds. */
const SETTLED_MS = 100;

export interface BackendOptions {
  /** `redis://` or `rediss://`, with user, password and database number; null: the queue is on PostgreSQL. */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly logger: Logger;
}

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

/**
 * Ends the Redis connections of a queue or worker that was ready once, after a `close` that
 * succeeded or hung: BullMQ's close waits for an answer of the server.
 */
export async function cutConnections(owner: Queue | Worker): Promise<void> {
  const backend: Partial<RedisQueueBackend> = owner.getBackend();
  for (const client of [backend.client, backend.blockingClient]) {
    // If the client never became ready, `close` has disconnected it, and this promise stays pending.
    const ready = await within(SETTLED_MS, Promise.resolve(client)).catch(() => undefined);
    ready?.disconnect();
  }
}
