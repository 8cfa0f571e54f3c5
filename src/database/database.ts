/**
 * The one way to the database: a pool of `pg` connections that Prisma and COPY share. Every session
 * is set up by the startup packet, before any statement can run, and checked once: Prisma's adapter
 * reads and writes instants as if the session's time zone were UTC, so any other would shift every
 * instant in the tables without an error.
 */
import { PrismaPg } from '@prisma/adapter-pg';
import type { ITXClientDenyList } from '@prisma/client/runtime/client';
import pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.ts';
import { ConciliationError, ConfigError, StagingUnavailableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { CIVIL_DATES, withPrismaDates } from './civil-dates.ts';
import {
  databaseErrorCode,
  describeDatabaseError,
  isDatabaseError,
  isUnavailable,
  withoutRowValues,
} from './database-error.ts';

export interface Database {
  /**
   * Dates of fields are `CivilDate` text, in results and arguments. Every call, statement and transaction
   * throws what `toStagingError` makes of a failure.
   */
  readonly prisma: DatabaseClient;
  /** For COPY and cursors. Dates arrive as `YYYY-MM-DD` text, int8 and numeric as text. */
  readonly pool: pg.Pool;
  /** A connection of the pool, to be released. @throws StagingUnavailableError, ConfigError */
  connect(): Promise<pg.PoolClient>;
  /**
   * The connection that a transaction runs on, for a COPY inside of it. Null where that cannot be told
   * for certain: behind a pooler that changes servers from transaction to transaction.
   */
  connectionOf(session: TransactionSession): Promise<pg.ClientBase | null>;
  /** Waits for connections in use to be given back. May be called more than once. */
  close(): Promise<void>;
}

type DatabaseClient = ReturnType<typeof extendClient>;

/** The client inside of a transaction. */
export type Transaction = Omit<DatabaseClient, ITXClientDenyList>;

/** What PostgreSQL calls a running transaction. */
export interface TransactionSession {
  /** `pg_backend_pid()` */
  readonly serverPid: number;
  /** `pg_current_xact_id()` */
  readonly transactionId: string;
}

export interface DatabaseOptions {
  readonly databaseUrl: string;
  /** What the connections are called in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly maxConnections?: number;
  /** No single statement runs longer. */
  readonly statementTimeoutMs?: number;
  readonly logger: Logger;
}

const MAX_CONNECTIONS = 10;
const STATEMENT_TIMEOUT_MS = 60_000;
const CONNECTION_TIMEOUT_MS = 10_000;
/** A process that stops in mid-transaction, or is cut off from it, gives up its locks after this. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;

/** Connects lazily: whether the database is there shows in the first query. */
export function openDatabase(options: DatabaseOptions): Database {
  const { logger, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const connections = new Map<number, pg.ClientBase>();
  const pool = new pg.Pool({
    connectionString: withSessionSettings(options.databaseUrl, {
      applicationName: options.applicationName,
      statementTimeoutMs,
    }),
    max: options.maxConnections ?? MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser },
    onConnect: async (client) => {
      const { serverPid } = await checkSession(client).catch((error: unknown) => {
        // Prisma replaces an error that has a code by one of its own; in a cause it survives.
        throw error instanceof ConfigError ? new Error('session refused', { cause: error }) : error;
      });
      connections.set(serverPid, client);
    },
  });
  pool.on('remove', (client) => {
    for (const [pid, connected] of connections) if (connected === client) connections.delete(pid);
  });
  const logLoss = (error: Error) => {
    logger.warn({ reason: describeDatabaseError(error) }, 'database connection lost');
  };
  // A connection that dies between two statements tells only its own listeners while it is checked
  // out, and those of the pool too while it is idle; an `error` that nobody hears ends the process.
  pool.on('connect', (client) => client.once('error', logLoss).on('error', () => {}));
  pool.on('error', () => {});

  const client = new PrismaClient({
    adapter: new PrismaPg(pool),
    errorFormat: 'minimal',
    // Prisma's clock runs over the whole transaction, PostgreSQL's over each statement. Prisma's
    // must be the patient one: it can only roll back once the running statement has ended.
    transactionOptions: { maxWait: CONNECTION_TIMEOUT_MS, timeout: 10 * statementTimeoutMs },
  });
  const prisma = withMappedTransactions(extendClient(client));

  let closing: Promise<void> | undefined;
  return {
    prisma,
    pool,
    connect: () => mapErrors(pool.connect()),
    async connectionOf({ serverPid, transactionId }) {
      const connection = connections.get(serverPid);
      const same = await connection?.query(
        'SELECT FROM pg_current_xact_id() AS id WHERE id::text = $1',
        [transactionId],
      );
      return same?.rowCount === 1 ? (connection ?? null) : null;
    },
    close: () => {
      closing ??= prisma.$disconnect().then(() => pool.end());
      return closing;
    },
  };
}

/** Adds civil dates as text, and the mapping of errors of calls and statements. */
function extendClient(client: PrismaClient) {
  return client.$extends({
    query: {
      $allModels: {
        $allOperations: ({ args, query }) => query(withPrismaDates(args)),
      },
      $allOperations: ({ args, query }) => mapErrors(query(args)),
    },
    result: CIVIL_DATES,
  });
}

/** Adds the mapping of errors of BEGIN and COMMIT, which are no operations of an extension. */
function withMappedTransactions(client: DatabaseClient): DatabaseClient {
  const transact = client.$transaction.bind(client) as (
    ...parameters: unknown[]
  ) => Promise<unknown>;
  const $transaction = (...parameters: unknown[]) => mapErrors(transact(...parameters));
  return client.$extends({
    client: { $transaction: $transaction as DatabaseClient['$transaction'] },
  });
}

/**
 * For work on a connection of the pool.
 *
 * @throws what `toStagingError` makes of the failure of `work`
 */
export async function mapErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toStagingError(error);
  }
}

/**
 * The URL with the session's settings in it. They go into the URL because `pg` lets what stands there
 * win over every other option; settings of the URL that are not ours are kept.
 */
export function withSessionSettings(
  databaseUrl: string,
  settings: {
    readonly applicationName: string;
    readonly statementTimeoutMs: number;
    readonly searchPath?: string;
  },
): string {
  const queryAt = databaseUrl.indexOf('?');
  const base = queryAt === -1 ? databaseUrl : databaseUrl.slice(0, queryAt);
  const parameters = new URLSearchParams(queryAt === -1 ? '' : databaseUrl.slice(queryAt + 1));
  const startup = [
    parameters.get('options'),
    '-c TimeZone=UTC',
    '-c DateStyle=ISO',
    `-c statement_timeout=${settings.statementTimeoutMs}`,
    `-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_TIMEOUT_MS}`,
    settings.searchPath === undefined ? null : `-c search_path=${settings.searchPath}`,
  ];
  // As parameters of their own these would win over `options`.
  parameters.delete('statement_timeout');
  parameters.delete('idle_in_transaction_session_timeout');
  parameters.set('application_name', settings.applicationName);
  parameters.set('options', startup.filter((setting) => setting !== null).join(' '));
  return `${base}?${parameters}`;
}

/**
 * Refuses a session that is not what was asked for: a pooler between here and PostgreSQL may drop the
 * startup settings or put its own in their place.
 */
export async function checkSession(client: pg.ClientBase): Promise<{ readonly serverPid: number }> {
  const { rows } = await client.query<{ time_zone: string; date_style: string; pid: number }>(
    `SELECT current_setting('TimeZone') AS time_zone, current_setting('DateStyle') AS date_style,
            pg_backend_pid() AS pid`,
  );
  const [session] = rows;
  if (session?.time_zone === 'UTC' && session.date_style.startsWith('ISO')) {
    return { serverPid: session.pid };
  }
  throw new ConfigError([
    `DATABASE_URL leads to sessions with TimeZone ${session?.time_zone} and DateStyle ${session?.date_style}, ` +
      'although UTC and ISO were asked for: a connection pooler in between overrides them; ' +
      'connect to PostgreSQL itself, or let the pooler pass startup options on',
  ]);
}

const { builtins } = pg.types;
const DATE_ARRAY_OID: number = 1182;
const TEXT_ARRAY_OID: number = 1009;

/** Dates stay text: as a JavaScript Date a civil date would become an instant in the local zone. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === builtins.DATE) return pg.types.getTypeParser(builtins.TEXT, format);
  if (oid === DATE_ARRAY_OID) return pg.types.getTypeParser(TEXT_ARRAY_OID, format);
  return pg.types.getTypeParser(oid, format);
}

/**
 * What the rest of the program is to see of an error in the database or on the way to it.
 *
 * @returns a StagingUnavailableError where the same work may succeed later, its cause kept; for any
 *   other error of the database one that says what `describeDatabaseError` says and has its code,
 *   because the original quotes rows and whoever prints an error prints its causes too; everything
 *   else as it is
 */
export function toStagingError(error: unknown): unknown {
  if (error instanceof ConciliationError) return error;
  if (error instanceof Error && error.cause instanceof ConfigError) return error.cause;
  if (isUnavailable(error)) {
    const code = databaseErrorCode(error);
    return new StagingUnavailableError(
      `the database is not available: ${describeDatabaseError(error)}`,
      { cause: error, context: code === null ? {} : { code } },
    );
  }
  return error instanceof Error && isDatabaseError(error) ? withoutRowValues(error) : error;
}
