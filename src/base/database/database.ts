/**
 * The only access to the database: a pool of `pg` connections for Prisma and COPY. The startup packet configures every
 * session, and each session is checked once. Prisma's adapter reads and writes instants as if the session's time zone
 * were UTC; another time zone would shift every instant in the tables without an error.
 */

import { PrismaPg } from '@prisma/adapter-pg';
import type { ITXClientDenyList } from '@prisma/client/runtime/client';
import pg from 'pg';
import { PrismaClient } from '../../generated/prisma/client.ts';
import { DATE_FIELDS, JSON_FIELDS } from '../../generated/schema-fields.ts';
import { ConfigError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { type CivilDate, parseCivilDate } from '../values/business-day.ts';
import { describeDatabaseError, mapErrors } from './database-error.ts';

type DateFields = typeof DATE_FIELDS;

/**
 * The fields with `@db.Date`, for the `result` part of a client extension. Prisma returns such a field as a
 * `Date` at midnight UTC; the extension returns text. A row of these models is a proxy with an additional
 * symbol. Functions that return rows therefore copy the fields into plain objects.
 */
const CIVIL_DATES = Object.fromEntries(
  Object.entries(DATE_FIELDS).map(([model, fields]) => [
    model,
    Object.fromEntries(
      Object.keys(fields).map((field) => [
        field,
        {
          needs: { [field]: true },
          compute: (row: Record<string, Date | null>) =>
            row[field]?.toISOString().slice(0, 10) ?? null,
        },
      ]),
    ),
  ]),
) as {
  [Model in keyof DateFields]: {
    [Field in keyof DateFields[Model]]: {
      needs: Record<Field, true>;
      // Years 0001 to 9999, like every date in the tables.
      compute: () => CivilDate | (DateFields[Model][Field] extends 'optional' ? null : never);
    };
  };
};

const DATE_NAMES: ReadonlySet<string> = new Set(Object.values(DATE_FIELDS).flatMap(Object.keys));
/** The values of these fields may have any key. */
const JSON_NAMES: ReadonlySet<string> = new Set(JSON_FIELDS);

/**
 * Returns the arguments of a model's call with civil-date text replaced by the `Date` that Prisma
 * expects. Other text is left unchanged, and Prisma refuses it.
 */
function withPrismaDates(value: unknown, isDate = false): unknown {
  if (typeof value === 'string') {
    return isDate && parseCivilDate(value) !== null ? new Date(value) : value;
  }
  if (Array.isArray(value)) return value.map((each) => withPrismaDates(each, isDate));
  // Instants, decimals, buffers and Prisma's own values are not plain objects.
  if (value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value as object).map(([key, each]) => [
      key,
      JSON_NAMES.has(key) ? each : withPrismaDates(each, isDate || DATE_NAMES.has(key)),
    ]),
  );
}

export interface Database {
  /** Fields of type date are `CivilDate` text in results and arguments. A failure throws what `toStagingError` returns. */
  readonly prisma: DatabaseClient;
  /** For COPY and cursors. Dates arrive as `YYYY-MM-DD` text, int8 and numeric as text. */
  readonly pool: pg.Pool;
  /** Waits until all connections are returned. May be called more than once. */
  close(): Promise<void>;
}

type DatabaseClient = ReturnType<typeof extendClient>;

export type Transaction = Omit<DatabaseClient, ITXClientDenyList>;

/** What runs a reading statement, inside of a transaction or outside. */
export type QueryClient = Pick<Transaction, '$queryRaw'>;

export interface DatabaseOptions {
  readonly databaseUrl: string;
  /** The name of the connections in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly maxConnections?: number;
  /** Limit for a single statement. */
  readonly statementTimeoutMs?: number;
  readonly logger: Logger;
}

const MAX_CONNECTIONS = 10;
const STATEMENT_TIMEOUT_MS = 60_000;
const CONNECTION_TIMEOUT_MS = 10_000;
/** Releases the locks of a process that stops inside a transaction, or loses its connection to it. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
/** Statements name the schema of each table. So no object that another user has made can take the place of PostgreSQL's own. */
const SEARCH_PATH = 'pg_catalog,pg_temp';

/** Opens no connection: an unreachable database is reported by the first query. */
export function openDatabase(options: DatabaseOptions): Database {
  const { logger, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const pool = new pg.Pool({
    connectionString: withSessionSettings(options.databaseUrl, {
      applicationName: options.applicationName,
      statementTimeoutMs,
    }),
    max: options.maxConnections ?? MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser },
    onConnect: (client) =>
      checkSession(client).catch((error: unknown) => {
        // Prisma replaces an error that has a code with its own error, but keeps a cause.
        throw error instanceof ConfigError ? new Error('session refused', { cause: error }) : error;
      }),
  });
  const logLoss = (error: Error) => {
    logger.warn({ reason: describeDatabaseError(error) }, 'database connection lost');
  };
  // A checked-out connection reports its loss to its own listeners, an idle one also to those of the pool. An `error`
  // event without a listener ends the process.
  pool.on('connect', (client) => client.once('error', logLoss).on('error', () => {}));
  pool.on('error', () => {});

  const client = new PrismaClient({
    adapter: new PrismaPg(pool),
    errorFormat: 'minimal',
    // Of the whole transaction. Longer than that of a statement, because Prisma rolls back only after a statement's end.
    transactionOptions: { maxWait: CONNECTION_TIMEOUT_MS, timeout: 10 * statementTimeoutMs },
  });
  // An extension does not see the errors of BEGIN and COMMIT.
  const prisma = withTransactions(extendClient(client), (transact) => {
    return (work, limits) => mapErrors(transact(work, limits));
  });

  let closing: Promise<void> | undefined;
  return {
    prisma,
    pool,
    close: () => {
      closing ??= prisma.$disconnect().then(() => pool.end());
      return closing;
    },
  };
}

/** Returns civil dates as text and maps the errors of calls and statements. */
function extendClient(client: PrismaClient) {
  return client.$extends({
    query: {
      $allModels: {
        $allOperations: ({ args, query }) => query(withPrismaDates(args) as typeof args),
      },
      $allOperations: ({ args, query }) => mapErrors(query(args)),
    },
    result: CIVIL_DATES,
  });
}

type Transact = (work: (tx: Transaction) => Promise<unknown>, limits?: object) => Promise<unknown>;

/** Returns the client with a `$transaction` that is made of the present one. */
function withTransactions(
  client: DatabaseClient,
  make: (transact: Transact) => Transact,
): DatabaseClient {
  const $transaction = make(client.$transaction.bind(client)) as DatabaseClient['$transaction'];
  return client.$extends({ client: { $transaction } });
}

/** Returns the database with transactions that end with `check`, and are rolled back when `check` throws. */
export const withFinalCheck = (
  database: Database,
  check: (tx: Transaction) => Promise<void>,
): Database => ({
  ...database,
  prisma: withTransactions(
    database.prisma,
    (transact) => (work, limits) =>
      transact(async (tx) => {
        const result = await work(tx);
        await check(tx);
        return result;
      }, limits),
  ),
});

/** Ends a dry run. Prisma rolls a transaction back when its callback throws. */
class DryRunEnd extends Error {}

/** Runs `work` in one transaction. That of a dry run is rolled back. */
export async function inTransaction<T>(
  database: Database,
  options: { readonly isDryRun: boolean; readonly timeout: number; readonly maxWait: number },
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { isDryRun, ...limits } = options;
  const done: { result?: { readonly of: T } } = {};
  await database.prisma
    .$transaction(async (tx) => {
      done.result = { of: await work(tx) };
      if (isDryRun) throw new DryRunEnd();
    }, limits)
    .catch((error: unknown) => {
      if (!(error instanceof DryRunEnd)) throw error;
    });
  if (done.result === undefined) throw new Error('a transaction ended without a result');
  return done.result.of;
}

/** Returns the URL with the settings of the session. In `pg` the parameters of the URL override every other option. */
export function withSessionSettings(
  databaseUrl: string,
  settings: {
    readonly applicationName: string;
    readonly statementTimeoutMs: number;
    /** Default: `SEARCH_PATH`. */
    readonly searchPath?: string;
  },
): string {
  // The parser of the configuration, so that the driver gets the address that was checked.
  const url = new URL(databaseUrl);
  const parameters = url.searchParams;
  const startup = [
    parameters.get('options'),
    '-c TimeZone=UTC',
    '-c DateStyle=ISO',
    // To compile a statement takes longer than to run it, also under the lock that all merges share.
    '-c jit=off',
    `-c statement_timeout=${settings.statementTimeoutMs}`,
    `-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_TIMEOUT_MS}`,
    `-c search_path=${settings.searchPath ?? SEARCH_PATH}`,
  ];
  // As separate parameters these would override `options`.
  parameters.delete('statement_timeout');
  parameters.delete('idle_in_transaction_session_timeout');
  parameters.set('application_name', settings.applicationName);
  parameters.set('options', startup.filter((setting) => setting !== null).join(' '));
  return url.href;
}

/** Refuses a session with other settings than the requested ones: a pooler may drop or replace them. */
export async function checkSession(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ time_zone: string; date_style: string; path: string }>(
    `SELECT current_setting('TimeZone') AS time_zone, current_setting('DateStyle') AS date_style,
            replace(current_setting('search_path'), ' ', '') AS path`,
  );
  const [session] = rows;
  if (
    session?.time_zone === 'UTC' &&
    session.date_style.startsWith('ISO') &&
    session.path === SEARCH_PATH
  )
    return;
  throw new ConfigError([
    `DATABASE_URL leads to sessions with TimeZone ${session?.time_zone}, DateStyle ${session?.date_style} and search_path ${session?.path}, ` +
      `although UTC, ISO and ${SEARCH_PATH} were asked for: a connection pooler in between overrides them; ` +
      'connect to PostgreSQL itself, or let the pooler pass startup options on',
  ]);
}

/** The types `date` and `date[]`, and those that are read in their place. */
const READ_AS = new Map<number, number>([
  [pg.types.builtins.DATE, pg.types.builtins.TEXT],
  [1182, 1009],
]);

/** Keeps dates as text. A JavaScript Date would turn a civil date into an instant in the local time zone. */
const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  pg.types.getTypeParser(READ_AS.get(oid) ?? oid, format);

/** By the clock of the database. */
export async function readClock(database: Database): Promise<Date> {
  const [row] = await database.prisma.$queryRaw<[{ now: Date }]>`SELECT clock_timestamp() AS now`;
  return row.now;
}

/** Returns the fault of this process's clock, see `clockFault`. */
export async function findClockFault(database: Database): Promise<string | null> {
  const beforeMs = Date.now();
  const now = await readClock(database);
  return clockFault(beforeMs, now.getTime(), Date.now());
}

/**
 * For work that depends on which dates are over.
 * @throws ConfigError when this process's clock differs from the database's
 */
export async function requireSameClock(database: Database): Promise<void> {
  const fault = await findClockFault(database);
  if (fault === null) return;
  throw new ConfigError([`the clock of this machine is ${fault}: let NTP set both`]);
}

const CLOCK_TOLERANCE_MS = 120_000;

/**
 * Returns how far a process's clock is from the database's, as part of a sentence; null: it is within the tolerance. The
 * database's time was read between two readings of the process's clock; a difference within them does not count.
 */
export function clockFault(beforeMs: number, databaseMs: number, afterMs: number): string | null {
  const aheadMs = beforeMs - databaseMs;
  const apartMs = Math.max(aheadMs, databaseMs - afterMs);
  if (apartMs <= CLOCK_TOLERANCE_MS) return null;
  const side = aheadMs > 0 ? 'ahead of' : 'behind';
  return `${Math.round(apartMs / 1000)} s ${side} the clock of the database`;
}
