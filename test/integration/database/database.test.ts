import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { inspect } from 'node:util';
import { PrismaPg } from '@prisma/adapter-pg';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type Database,
  openDatabase,
  type Transaction,
} from '../../../src/base/database/database.ts';
import {
  describeDatabaseError,
  toStagingError,
} from '../../../src/base/database/database-error.ts';
import {
  ConfigError,
  InputError,
  StagingUnavailableError,
} from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { PrismaClient } from '../../../src/generated/prisma/client.ts';
import { openAnother } from '../../support/database.ts';
import { forFile } from '../../support/for-tests.ts';
import { worldOfFile } from '../../support/pull-world.ts';

/** A value of a row, which no log may show. */
const SECRET = '39053344705';

const logLines: string[] = [];
const logger = pino({ level: 'debug' }, { write: (line) => logLines.push(line) });

const world = worldOfFile();
const common = { applicationName: 'conciliation test', logger };
const database = forFile(async () =>
  openDatabase({ ...common, databaseUrl: world.databaseUrl, statementTimeoutMs: 50_000 }),
);
const open = (options: Parameters<typeof openAnother>[1] = {}) =>
  openAnother(world.databaseUrl, { ...common, ...options });

afterEach(() => {
  logLines.length = 0;
});

async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  return work().then(
    () => {
      throw new Error('this was to fail');
    },
    (error: unknown) => error,
  );
}

describe('a session', () => {
  const readSettings = `SELECT name, setting FROM pg_settings WHERE name IN
    ('TimeZone', 'DateStyle', 'application_name', 'statement_timeout',
     'idle_in_transaction_session_timeout', 'search_path', 'jit') ORDER BY name`;
  const expected = [
    { name: 'application_name', setting: 'conciliation test' },
    { name: 'DateStyle', setting: expect.stringMatching(/^ISO/) },
    { name: 'idle_in_transaction_session_timeout', setting: '60000' },
    { name: 'jit', setting: 'off' },
    { name: 'search_path', setting: 'pg_catalog,pg_temp' },
    { name: 'statement_timeout', setting: '50000' },
    { name: 'TimeZone', setting: 'UTC' },
  ];

  test('has its settings in the first statement, for Prisma and for the pool alike', async () => {
    const { rows } = await database.pool.query(readSettings);
    expect(rows).toEqual(expect.arrayContaining(expected));
    const [{ time_zone }] = await database.prisma.$queryRaw<[{ time_zone: string }]>`
      SELECT current_setting('TimeZone') AS time_zone`;
    expect(time_zone).toBe('UTC');
  });

  test('keeps them for any URL, and the URL’s other settings', async () => {
    const url = new URL(world.databaseUrl);
    url.searchParams.set('options', '-c TimeZone=America/Sao_Paulo -c work_mem=8MB');
    url.searchParams.set('statement_timeout', '5');
    url.searchParams.set('application_name', 'somebody');
    const { pool } = open({ databaseUrl: url.href, statementTimeoutMs: 50_000 });
    const { rows } = await pool.query(readSettings);
    expect(rows).toEqual(expect.arrayContaining(expected));
    const memory = await pool.query('SHOW work_mem');
    expect(memory.rows).toEqual([{ work_mem: '8MB' }]);
  });

  test.each([
    ['TimeZone=UTC', 'TimeZone=PRC', 'TimeZone PRC'],
    ['pg_catalog,pg_temp', 'pg_catalog,my_temp', 'search_path pg_catalog,my_temp'],
  ])('is refused where something in between overrides %s', async (setting, other, message) => {
    const { url, close } = await startOverridingProxy(world.databaseUrl, setting, other);
    onTestFinished(close);
    const behindProxy = open({ databaseUrl: url });
    for (const work of [
      () => behindProxy.pool.query('SELECT 1'),
      () => behindProxy.prisma.$queryRaw`SELECT 1 AS one`,
      () => behindProxy.prisma.$transaction(async () => 1),
    ]) {
      const failure = toStagingError(await failureOf(work));
      expect(failure).toBeInstanceOf(ConfigError);
      expect(failure).toHaveProperty('message', expect.stringContaining(message));
    }
    await behindProxy.close();
  });
});

describe('the typed client', () => {
  const DATE = toCivilDate('2026-03-01');

  test('gives civil dates as text, and takes them in every argument', async () => {
    const { prisma } = database;
    const [first, last] = [toCivilDate('0001-01-01'), toCivilDate('9999-12-31')];
    await prisma.day.create({ data: { date: DATE, latestDueDate: first } });
    const select = { date: true, latestDueDate: true };
    const all = { date: { in: [DATE], gte: DATE, lt: last }, NOT: [{ latestDueDate: DATE }] };
    const day = { date: '2026-03-01', latestDueDate: '0001-01-01' };
    expect(await prisma.day.findMany({ where: all, select })).toMatchObject([day]);
    const where = { date: DATE };
    const data = { latestDueDate: { set: last } };
    const updated = { ...day, latestDueDate: '9999-12-31' };
    expect(await prisma.day.update({ where, data, select })).toMatchObject(updated);
    await prisma.$transaction(async (tx) => {
      await tx.day.updateMany({ where, data: { latestDueDate: null } });
      const found = await tx.day.findUnique({ where, select });
      expect(found).toMatchObject({ ...day, latestDueDate: null });
    });
    const { rows } = await database.pool.query(`
      SELECT date FROM conciliation.day WHERE date = '2026-03-01'`);
    expect(rows).toEqual([{ date: '2026-03-01' }]);
  });

  test('leaves dates in JSON values alone', async () => {
    const details = { date: '2026-03-01', acceptedDate: ['2026-03-02'] };
    const { id } = await database.prisma.auditEntry.create({
      data: { actor: 'test', action: 'test', date: DATE, details },
    });
    const entry = await database.prisma.auditEntry.findUniqueOrThrow({ where: { id } });
    expect(entry).toMatchObject({ date: '2026-03-01', details });
  });

  test('writes defaults of the database, not of the clock of the process', async () => {
    const { rows } = await database.pool.query('SELECT clock_timestamp() AS before');
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2001-01-01T00:00:00Z') });
    onTestFinished(() => void vi.useRealTimers());
    const user = await database.prisma.consoleUser.create({
      data: { name: 'clock', role: 'viewer', createdBy: 'test' },
    });
    expect(user.createdAt.getTime()).toBeGreaterThanOrEqual(rows[0].before.getTime());
  });
});

describe('losing a connection', () => {
  const terminate = (pid: number) => database.pool.query('SELECT pg_terminate_backend($1)', [pid]);

  test('that is checked out and idle does not end the process, and is logged without a message', async () => {
    const client = await database.pool.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const lost = new Promise((resolve) => client.once('end', resolve));
    await terminate(rows[0]?.pid ?? 0);
    await lost;
    expect(toStagingError(await failureOf(() => client.query('SELECT 1')))).toBeInstanceOf(
      StagingUnavailableError,
    );
    client.release(true);
    expect(logLines.map((line) => JSON.parse(line).reason)).toEqual(['SQLSTATE 57P01']);
    const { rows: alive } = await database.pool.query('SELECT 1 AS one');
    expect(alive).toEqual([{ one: 1 }]);
  });

  test.each(['before a statement', 'before the commit'])(
    'in a transaction, %s, is a reason to try again later',
    async (moment) => {
      const failure = await failureOf(() =>
        database.prisma.$transaction(async (tx) => {
          const [{ pid }] = await tx.$queryRaw<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
          await terminate(pid);
          await expect.poll(() => logLines.length).toBe(1);
          if (moment === 'before a statement') await tx.$queryRaw`SELECT 1 AS one`;
        }),
      );
      expect(toStagingError(failure)).toBeInstanceOf(StagingUnavailableError);
    },
  );
});

describe('errors that pass by themselves become StagingUnavailableError', () => {
  const expectUnavailable = async (work: () => Promise<unknown>, code: string) => {
    const failure = toStagingError(await failureOf(work));
    expect(failure).toBeInstanceOf(StagingUnavailableError);
    expect(failure).toHaveProperty('context', { code });
    return failure;
  };

  test('a statement that ran out of time', async () => {
    const impatient = open({ statementTimeoutMs: 50 });
    await expectUnavailable(() => impatient.prisma.$queryRaw`SELECT pg_sleep(5)::text`, '57014');
    await expectUnavailable(() => impatient.pool.query('SELECT pg_sleep(5)'), '57014');
  });

  test.each([
    ['40P01', 'SQLSTATE 40P01'],
    ['53200', 'SQLSTATE 53200'],
    ['53100', 'the disk of the server is full (SQLSTATE 53100)'],
    ['53300', 'the server has no free connection; max_connections is its limit (SQLSTATE 53300)'],
    ['55P03', 'another session has kept a lock for too long; end that session (SQLSTATE 55P03)'],
  ])('%s, and where an operator has to know the cause, it is named: %s', async (code, cause) => {
    const statement = `DO $$ BEGIN RAISE SQLSTATE '${code}'; END $$`;
    for (const work of [
      () => database.pool.query(statement),
      () => database.prisma.$executeRawUnsafe(statement),
      () => database.prisma.$transaction((tx) => tx.$executeRawUnsafe(statement)),
    ]) {
      const failure = await expectUnavailable(work, code);
      expect(failure).toHaveProperty('message', `the database is not available: ${cause}`);
    }
  });

  test('a server that is not there is named by host and port', async () => {
    for (const [host, named] of [
      ['127.0.0.1:1', '127.0.0.1:1'],
      ['localhost:1', /^(127\.0\.0\.1|\[::1\]):1$/],
      ['no-such-host.invalid:1', 'no-such-host.invalid'],
    ] as const) {
      const away = open({ databaseUrl: `postgresql://user:password@${host}/none` });
      const { message } = (await failureOf(() => away.prisma.day.findMany())) as Error;
      const [reason, address] = message.split(' at ');
      expect(reason).toMatch(/^the database is not available: \w+$/);
      if (typeof named === 'string') expect(address).toBe(named);
      else expect(address).toMatch(named);
    }
  });

  test('a transaction that got no connection, or outlived its time', async () => {
    const narrow = open({ maxConnections: 1 });
    const client = await narrow.pool.connect();
    await expectUnavailable(
      () => narrow.prisma.$transaction(async () => 1, { maxWait: 50 }),
      'P2028',
    );
    client.release();
    await expectUnavailable(
      () =>
        narrow.prisma.$transaction(async (tx) => await tx.$queryRaw`SELECT pg_sleep(0.2)::text`, {
          timeout: 50,
        }),
      'P2028',
    );
  });
});

describe('errors of the program stay errors, and say nothing of a row', () => {
  const insert = `INSERT INTO conciliation.provider (external_id, name) VALUES ('${SECRET}', '${SECRET}')`;
  type Client = { readonly pool: Database['pool']; readonly prisma: Transaction };
  /** Throws what Prisma throws. */
  let unmapped: Transaction;

  beforeAll(() => {
    unmapped = new PrismaClient({ adapter: new PrismaPg(database.pool) }) as unknown as Transaction;
  });

  const mistakes: [string, (client: Client) => Promise<unknown>, string][] = [
    [
      'a duplicate, by the pool',
      ({ pool }) => pool.query(`${insert}; ${insert}`),
      'SQLSTATE 23505, constraint provider_pkey',
    ],
    [
      'a violated check, by the pool',
      ({ pool }) =>
        pool.query(`INSERT INTO conciliation.day (date, state) VALUES (now(), '${SECRET}')`),
      'SQLSTATE 23514, table day, constraint day_state_check',
    ],
    [
      'a violated check, by SQL through Prisma',
      ({ prisma }) =>
        prisma.$executeRaw`INSERT INTO conciliation.day (date, state) VALUES (now(), ${SECRET})`,
      'SQLSTATE 23514, table day, constraint day_state_check',
    ],
    [
      'a missing right, by the pool',
      ({ pool }) =>
        pool.query(`
          DO $$ BEGIN RAISE 'permission denied for table title' USING ERRCODE = '42501', DETAIL = '${SECRET}'; END $$`),
      'the database user lacks a right; as the owner of the schema, run "conciliation migrate --roles" (SQLSTATE 42501, table title)',
    ],
    [
      'a value that is no number, by SQL through Prisma',
      ({ prisma }) => prisma.$queryRaw`SELECT ${`x${SECRET}`}::text::int AS number`,
      'SQLSTATE 22P02',
    ],
    [
      'a call that Prisma itself refuses',
      ({ prisma }) => prisma.provider.create({ data: { externalId: SECRET, name: 1 } as never }),
      'PrismaClientValidationError',
    ],
  ];

  test.each(mistakes)('%s', async (_, make, description) => {
    const original = await failureOf(() => make({ pool: database.pool, prisma: unmapped }));
    const failure = toStagingError(original);
    expect(failure).toBeInstanceOf(Error);
    expect(failure).not.toBeInstanceOf(StagingUnavailableError);
    expect(describeDatabaseError(original)).toBe(description);
    expect(failure).toHaveProperty('message', description);
    expect(failure).toHaveProperty('stack', expect.stringContaining('    at '));
    // A logger that prints an error prints its properties and causes too.
    expect(inspect(original, { depth: 10 })).toContain(SECRET);
    expect(inspect(failure, { depth: 10 })).not.toContain(SECRET);
  });

  test.each(mistakes.filter(([name]) => name.includes('Prisma')))(
    'the database object gives no other error for %s, in a transaction and outside',
    async (_, make, description) => {
      for (const failure of [
        await failureOf(() => make(database)),
        await failureOf(() =>
          database.prisma.$transaction((prisma) => make({ pool: database.pool, prisma })),
        ),
      ]) {
        expect(failure).toHaveProperty('message', description);
        expect(toStagingError(failure)).toBe(failure);
        expect(inspect(failure, { depth: 10 })).not.toContain(SECRET);
      }
    },
  );

  test('an error of the work in a transaction passes through unchanged', async () => {
    const refusal = new InputError('no such pull');
    const failure = await failureOf(() =>
      database.prisma.$transaction(async (tx) => {
        await tx.day.count();
        throw refusal;
      }),
    );
    expect(failure).toBe(refusal);
  });
});

/** A connection pooler that replaces a setting of the startup packet by another one of the same length. */
async function startOverridingProxy(databaseUrl: string, setting: string, other: string) {
  const target = new URL(databaseUrl);
  const server: Server = createServer((downstream) => {
    const upstream = connect(Number(target.port), target.hostname);
    upstream.on('error', () => downstream.destroy());
    downstream.on('error', () => upstream.destroy());
    downstream.on('data', (chunk) => {
      upstream.write(chunk.toString('latin1').replace(setting, other), 'latin1');
    });
    upstream.pipe(downstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { url: url.href, close };
}
