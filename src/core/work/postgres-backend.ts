import {
  assertSchemaCompatibility,
  type BackendFactory,
  createPostgresBackend,
  LATEST_SCHEMA_VERSION,
  type PostgresPoolConfig,
  type RedisQueueBackend,
  runMigrations,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
} from 'bullmq';
import { openDatabase, withSessionSettings } from '../../base/database/database.ts';
import { databaseErrorCode, toStagingError } from '../../base/database/database-error.ts';
import { ConfigError } from '../../base/runtime/errors.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import type { QueueBackend } from './redis-backend.ts';

/** The schema for BullMQ's tables and functions. BullMQ migrates it. */
const SCHEMA_NAME = 'conciliation_queue';
const APPLICATION_NAME = 'conciliation queue';

/** A worker has one additional connection for LISTEN. */
const MAX_CONNECTIONS = { queue: 2, worker: 4 };

const CONNECTION_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** The limit for a server that stops during an answer. The server's timeouts should be shorter. */
const ANSWER_TIMEOUT_MS = 15_000;

const INSUFFICIENT_PRIVILEGE = '42501';

export async function openPostgresBackend(
  databaseUrl: string,
  logger: Logger,
): Promise<QueueBackend> {
  await migrateQueue(databaseUrl, logger);
  const connectionString = withSessionSettings(databaseUrl, {
    applicationName: APPLICATION_NAME,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    searchPath: SCHEMA_NAME,
  });
  return {
    name: 'PostgreSQL',
    factory: createPostgresBackend as unknown as BackendFactory<RedisQueueBackend>,
    connectionFor: (role) =>
      ({
        connectionString,
        schema: SCHEMA_NAME,
        max: MAX_CONNECTIONS[role],
        connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
        query_timeout: ANSWER_TIMEOUT_MS,
        keepAlive: true,
      }) satisfies PostgresPoolConfig,
    toOpeningError,
  };
}

/**
 * @throws ConfigError
 * @throws StagingUnavailableError
 */
export async function migrateQueue(databaseUrl: string, logger: Logger): Promise<void> {
  const database = openDatabase({
    databaseUrl,
    applicationName: APPLICATION_NAME,
    maxConnections: 1,
    logger,
  });
  try {
    const client = await database.pool.connect();
    try {
      const version = await assertSchemaCompatibility(client, SCHEMA_NAME).catch((error) => {
        if (error instanceof SchemaMigrationRequiredError) return 0;
        throw error;
      });
      // Only if needed: creating a schema requires a right even if the schema exists.
      if (version < LATEST_SCHEMA_VERSION) {
        await runMigrations(client, SCHEMA_NAME);
        logger.info({ from: version, to: LATEST_SCHEMA_VERSION }, 'queue migrated');
      }
    } finally {
      client.release();
    }
  } catch (error) {
    throw toOpeningError(error);
  } finally {
    await database.close();
  }
}

function toOpeningError(error: unknown): unknown {
  if (error instanceof SchemaVersionMismatchError) {
    return new ConfigError([
      `DATABASE_URL: the schema ${SCHEMA_NAME} is of a newer version of this program; run that one`,
    ]);
  }
  if (databaseErrorCode(error) === INSUFFICIENT_PRIVILEGE) {
    return new ConfigError([
      `DATABASE_URL: its user may not create or use the schema ${SCHEMA_NAME}; run "conciliation migrate --roles" as its owner, grant it the right to, or set REDIS_URL`,
    ]);
  }
  return toStagingError(error);
}
