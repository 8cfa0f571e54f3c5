import pg, { type ClientBase } from 'pg';
import { Prisma } from '../generated/prisma/client.ts';
import { getTypeParser, mapErrors, type Transaction } from './database.ts';

type SqlCall = readonly [query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]];

/**
 * Returns the transaction with its SQL statements sent by the driver, on the connection of the transaction. Typed calls,
 * BEGIN and COMMIT stay Prisma's. Prisma's client takes five to ten times the CPU time of the driver to pass on a
 * statement, and a merge has about twenty; see docs/performance.md.
 *
 * Results have the types that Prisma gives them, with one exception: a `date` is `YYYY-MM-DD` text.
 *
 * @param tx must not reach its time limit: Prisma would return the connection to the pool, and a statement that is sent
 *   afterwards would not belong to the transaction
 */
export function withDirectSql(tx: Transaction, connection: ClientBase): Transaction {
  const send = ([query, ...values]: SqlCall) => {
    const sql = query instanceof Prisma.Sql ? query : Prisma.sql(query, ...values);
    return mapErrors(connection.query({ text: sql.text, values: sql.values, types: PRISMA_TYPES }));
  };
  const direct = {
    $queryRaw: async (...call: SqlCall) => (await send(call)).rows,
    $executeRaw: async (...call: SqlCall) => (await send(call)).rowCount ?? 0,
  };
  return new Proxy(tx, {
    get: (target, name) => Reflect.get(name in direct ? direct : target, name),
  });
}

const { INT8, NUMERIC } = pg.types.builtins;

const PRISMA_TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return BigInt;
    if (oid === NUMERIC) return (text: string) => new Prisma.Decimal(text);
    return getTypeParser(oid, format);
  }) as pg.CustomTypesConfig['getTypeParser'],
};
