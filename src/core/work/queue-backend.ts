import type { BackendFactory, ConnectionOptions, RedisQueueBackend } from 'bullmq';

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
