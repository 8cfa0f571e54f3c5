import type { ClientBase } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Database,
  openDatabase,
  type Transaction,
  type TransactionSession,
} from '../../../src/database/database.ts';
import { canPrepare, withDirectSql } from '../../../src/database/direct-sql.ts';
import { toCivilDate } from '../../../src/domain/business-day.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { StagingUnavailableError } from '../../../src/runtime/errors.ts';
import { createMigratedDatabase, type TestDatabase } from '../../support/database.ts';
import { startTransactionPooler } from '../../support/transaction-pooler.ts';

/** A value of a row, which no error may quote. */
const SECRET = '39053344705';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createMigratedDatabase();
  database = openDatabase({
    databaseUrl: testDatabase.url,
    applicationName: 'conciliation test',
    logger: pino({ level: 'silent' }),
  });
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

function inTransaction<T>(
  work: (both: { readonly prisma: Transaction; readonly direct: Transaction }) => Promise<T>,
  on: Database = database,
): Promise<T> {
  return on.prisma.$transaction(async (prisma) => {
    const [session] = await prisma.$queryRaw<[TransactionSession]>`
      SELECT pg_backend_pid() AS "serverPid", pg_current_xact_id()::text AS "transactionId"`;
    const connection = (await on.connectionOf(session)) as ClientBase;
    return work({
      prisma,
      direct: withDirectSql(prisma, connection, canPrepare(connection, session)),
    });
  });
}

test('a result has the values that Prisma gives', async () => {
  const query = Prisma.sql`
    SELECT 9007199254740993::int8 AS "int8", -7::int4 AS "int4", 0.5::float8 AS "float8", true AS "bool",
           3.90::numeric AS "numeric", 'ção'::text AS "text", NULL::text AS "null",
           '{"a": [1, null]}'::jsonb AS "jsonb", 'b3b1c8a0-0000-4000-8000-000000000001'::uuid AS "uuid",
           '2026-11-23 23:59:59.123+00'::timestamptz AS "timestamptz", ARRAY['a', 'b,c'] AS "texts",
           ARRAY[1, 2]::int4[] AS "int4s"`;
  const rows = await inTransaction(async ({ prisma, direct }) => ({
    prisma: await prisma.$queryRaw(query),
    direct: await direct.$queryRaw(query),
  }));
  expect(rows.direct).toEqual(rows.prisma);
  expect(rows.direct).toMatchObject([{ int8: 9007199254740993n, text: 'ção' }]);
});

test('a date is civil-date text', async () => {
  const rows = await inTransaction(
    ({ direct }) => direct.$queryRaw`SELECT '2026-11-23'::date AS date`,
  );
  expect(rows).toEqual([{ date: '2026-11-23' }]);
});

test('values reach PostgreSQL as Prisma sends them', async () => {
  const at = new Date('2026-11-23T02:03:04.005Z');
  const query = Prisma.sql`
    SELECT ${9007199254740993n}::int8::text AS "int8", ${0.1}::float8::text AS "float8", ${null}::text AS "null",
           ${'a\\b\'c"'}::text AS "text", ${['x', 'y,"z"', 'null']}::text[] AS "texts", ${[1, 2]}::int4[] AS "int4s",
           ${at}::timestamptz::text AS "at", ${false}::boolean AS "bool", ${JSON.stringify([{ a: 1 }])}::jsonb AS "jsonb"`;
  const rows = await inTransaction(async ({ prisma, direct }) => ({
    prisma: await prisma.$queryRaw(query),
    direct: await direct.$queryRaw(query),
  }));
  expect(rows.direct).toEqual(rows.prisma);
});

test('statements and typed calls are of one transaction, which an error rolls back', async () => {
  const date = toCivilDate('2026-01-05');
  const work = inTransaction(async ({ prisma, direct }) => {
    const rows =
      await direct.$executeRaw`INSERT INTO conciliation.day (date) VALUES (${date}::date)`;
    expect(rows).toBe(1);
    expect(await direct.day.count({ where: { date } })).toBe(1);
    expect(await prisma.day.count({ where: { date } })).toBe(1);
    throw new Error('roll back');
  });
  await expect(work).rejects.toThrow('roll back');
  expect(await database.prisma.day.count({ where: { date } })).toBe(0);
});

test('a statement is prepared once for a session of its own', async () => {
  const prepared = await inTransaction(async ({ direct }) => {
    for (const value of [1, 2, 3]) await direct.$executeRaw`SELECT ${value}::int AS one_statement`;
    return direct.$queryRaw<{ executions: bigint }[]>`
      SELECT generic_plans + custom_plans AS executions FROM pg_prepared_statements
      WHERE statement LIKE '%AS one_statement'`;
  });
  expect(prepared).toEqual([{ executions: 3n }]);
});

test.each([
  [
    'the type of a result column changes',
    'ALTER TABLE public.outdated ALTER COLUMN value TYPE bigint',
    '0A000',
  ],
  ['the statements of the session are removed', 'DEALLOCATE ALL', '26000'],
])('after %s, one transaction fails and the next succeeds', async (_, change, code) => {
  const one = openDatabase({
    databaseUrl: testDatabase.url,
    applicationName: 'conciliation test',
    logger: pino({ level: 'silent' }),
    maxConnections: 1,
  });
  const read = () =>
    inTransaction(
      ({ direct }) => direct.$queryRaw`SELECT value::text, value AS raw FROM public.outdated`,
      one,
    );
  try {
    await one.prisma.$executeRaw`CREATE TABLE public.outdated AS SELECT 7::int AS value`;
    expect(await read()).toEqual([{ value: '7', raw: 7 }]);
    await one.prisma.$executeRawUnsafe(change);
    const failure = await read().catch((error: unknown) => error);
    // A worker repeats a pull after this error.
    expect(failure).toBeInstanceOf(StagingUnavailableError);
    expect((failure as Error).message).toContain(code);
    expect(await read()).toMatchObject([{ value: '7' }]);
  } finally {
    await one.prisma.$executeRaw`DROP TABLE IF EXISTS public.outdated`;
    await one.close();
  }
});

test('a statement that the server refuses on each try is not taken for an outdated one', async () => {
  // `feature_not_supported`, like an outdated statement.
  const refused = inTransaction(
    ({ direct }) => direct.$queryRaw`SELECT 1 AS one GROUP BY 1 FOR UPDATE`,
  );
  const failure = await refused.catch((error: unknown) => error);
  expect(failure).not.toBeInstanceOf(StagingUnavailableError);
  expect((failure as Error).message).toContain('0A000');
});

test('no statement is prepared behind a pooler', async () => {
  const pooler = await startTransactionPooler(testDatabase.url);
  const behindPooler = openDatabase({
    databaseUrl: pooler.url,
    applicationName: 'conciliation test',
    logger: pino({ level: 'silent' }),
  });
  try {
    const prepared = await inTransaction(async ({ direct }) => {
      await direct.$executeRaw`SELECT ${1}::int AS pooled`;
      return direct.$queryRaw`
        SELECT name FROM pg_prepared_statements WHERE statement LIKE '%AS pooled'`;
    }, behindPooler);
    expect(prepared).toEqual([]);
  } finally {
    await behindPooler.close();
    await pooler.close();
  }
});

test('an error quotes no value of a row', async () => {
  const failure = await inTransaction(
    ({ direct }) => direct.$executeRaw`
      INSERT INTO conciliation.provider (external_id) VALUES (${SECRET}), (${SECRET})`,
  ).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect((failure as Error).message).toContain('23505');
  expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain(SECRET);
});
