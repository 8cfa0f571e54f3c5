import type { BackendFactory, ConnectionOptions, Queue, RedisQueueBackend, Worker } from 'bullmq';
import type { Logger } from '../runtime/logger.ts';
import { within } from '../runtime/within.ts';

/** Long enough for a promise that is settled already. */
const SETTLED_MS = 100;

export interface BackendOptions {
  /** `redis://` or `rediss://`, with user, password and database number; null: on PostgreSQL. */
  readonly redisUrl: string | null;
  /** PEM file of the authority that vouches for a `rediss://` server; null: those that Node trusts. */
  readonly redisCaFile?: string | null;
  readonly databaseUrl: string;
  readonly logger: Logger;
}

/** Where BullMQ keeps its jobs, and how it gets there. */
export interface QueueBackend {
  /** For the log: `Redis` or `PostgreSQL`. */
  readonly name: string;
  /** A queue fails at once where it cannot speak to the server, a worker waits until it can. */
  connectionFor(role: 'queue' | 'worker'): ConnectionOptions;
  /**
   * BullMQ's types name Redis wherever a backend is not said otherwise, and Bull Board takes no other;
   * what differs at run time is never touched here.
   */
  readonly factory: BackendFactory<RedisQueueBackend>;
  readonly skipVersionCheck: boolean;
  /** Gives a failure while opening the class that fits it. */
  toOpeningError(error: unknown): unknown;
}

/**
 * Ends the Redis connections of something that was ready once, whether its own `close` succeeded or
 * hung: BullMQ says goodbye to the server, and without a server it waits for an answer.
 */
export async function cutConnections(owner: Queue | Worker): Promise<void> {
  const backend: Partial<RedisQueueBackend> = owner.getBackend();
  for (const client of [backend.client, backend.blockingClient]) {
    // Where it never became ready, `close` has cut it off itself, and this promise stays pending.
    const ready = await within(SETTLED_MS, Promise.resolve(client)).catch(() => undefined);
    ready?.disconnect();
  }
}
