import { createHash } from 'node:crypto';
import pg, { type ClientBase } from 'pg';
import { Prisma } from '../generated/prisma/client.ts';
import { StagingUnavailableError } from '../runtime/errors.ts';
import { getTypeParser, mapErrors, type Transaction, type TransactionSession } from './database.ts';
import { describeDatabaseError } from './database-error.ts';

type SqlCall = readonly [query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]];

/**
 * Returns the transaction with its SQL statements sent by the driver, on the connection of the transaction. Typed calls,
 * BEGIN and COMMIT stay Prisma's. Prisma's client takes five to ten times the CPU time of the driver to pass on a
 * statement, and a merge has about twenty; see docs/performance.md.
 *
 * Prepared statements must have few texts, so a list of values must be one parameter, an array.
 *
 * Results have the types that Prisma gives them, with one exception: a `date` is `YYYY-MM-DD` text.
 *
 * A statement throws a `StagingUnavailableError` when its prepared form is outdated; see `canPrepare`.
 *
 * @param tx must not reach its time limit: Prisma would return the connection to the pool, and a statement that is sent
 *   afterwards would not belong to the transaction
 * @param isPrepared whether the statements are prepared; see `canPrepare`
 */
export function withDirectSql(
  tx: Transaction,
  connection: ClientBase,
  isPrepared: boolean,
): Transaction {
  const send = ([query, ...values]: SqlCall) => {
    const sql = query instanceof Prisma.Sql ? query : Prisma.sql(query, ...values);
    const name = isPrepared ? { name: statementName(sql.text) } : {};
    return mapErrors(
      connection
        .query({ ...name, text: sql.text, values: sql.values, types: PRISMA_TYPES })
        .catch((error: unknown) => {
          if (!isPrepared || !isOutdated(error)) throw error;
          unpreparable.add(connection);
          throw new StagingUnavailableError(
            `a prepared statement is outdated: ${describeDatabaseError(error)}`,
            { cause: error },
          );
        }),
    );
  };
  const direct = {
    $queryRaw: async (...call: SqlCall) => (await send(call)).rows,
    $executeRaw: async (...call: SqlCall) => (await send(call)).rowCount ?? 0,
  };
  return new Proxy(tx, {
    get: (target, name) => Reflect.get(name in direct ? direct : target, name),
  });
}

/**
 * Whether statements can be prepared on the connection.
 *
 * They cannot behind a pooler, because the statements of its clients meet in the sessions of the server. A pooler tells
 * the driver a session number of its own.
 *
 * Nor can they after a prepared statement of the connection was refused as outdated: a retry would be refused as well.
 */
export function canPrepare(connection: ClientBase, { serverPid }: TransactionSession): boolean {
  const hasOwnSession = (connection as { processID?: number | null }).processID === serverPid;
  return hasOwnSession && !unpreparable.has(connection);
}

const unpreparable = new WeakSet<ClientBase>();

/**
 * Whether the server refuses a prepared statement that an unprepared one would replace: a migration changed the type of
 * a result column (`feature_not_supported`), or DEALLOCATE or DISCARD removed the statement
 * (`invalid_sql_statement_name`).
 */
function isOutdated(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  // Other statements are refused with 0A000 as well, for example an upsert of a table with a rule, and on each retry.
  return (
    error.code === '26000' || (error.code === '0A000' && error.routine === 'RevalidateCachedQuery')
  );
}

/** PostgreSQL truncates names after 63 bytes. */
function statementName(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

const { INT8, NUMERIC } = pg.types.builtins;

const PRISMA_TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return BigInt;
    if (oid === NUMERIC) return (text: string) => new Prisma.Decimal(text);
    return getTypeParser(oid, format);
  }) as pg.CustomTypesConfig['getTypeParser'],
};
