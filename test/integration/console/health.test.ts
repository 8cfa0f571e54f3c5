import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { migrate, pendingMigrations } from '../../../src/base/database/migrate.ts';
import {
  databaseCheck,
  migrationsCheck,
  queueCheck,
  schedulerCheck,
} from '../../../src/features/alerts/health.sql.ts';
import { startTcpProxy } from '../../faults/tcp-proxy.ts';
import { createTestDatabase, openAnother } from '../../support/database.ts';
import { forFile } from '../../support/for-tests.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { createTestLog, startConsole } from './console-world.ts';

const testDatabase = forFile(async () => {
  const created = await createTestDatabase();
  return { ...created, close: () => created.drop() };
});
const proxy = forFile(async () => {
  const url = new URL(testDatabase.url);
  const opened = await startTcpProxy(Number(url.port));
  url.hostname = '127.0.0.1';
  url.port = String(opened.port);
  return { ...opened, url: url.href };
});
afterEach(() => proxy.set('pass'));

const reasons = (answer: { json: () => unknown }) => {
  const { checks } = answer.json() as { checks: { name: string; reason: string | null }[] };
  return Object.fromEntries(checks.map(({ name, reason }) => [name, reason]));
};

test('a database without its migrations is reachable and not ready, until they are applied', async () => {
  const database = openAnother(proxy.url);
  const console = await startConsole({
    checks: [databaseCheck(database), migrationsCheck(() => pendingMigrations(proxy.url))],
  });
  const gauges = async () => (await console.get('/metrics')).text;
  expect(await gauges()).toContain('conciliation_ready{check="database"} 1\n');
  expect(await gauges()).toContain('conciliation_ready{check="migrations"} 0\n');
  const before = await console.get('/readyz');
  expect(before.status).toBe(503);
  expect(reasons(before)).toEqual({
    database: null,
    migrations: expect.stringMatching(/^\d+ not applied$/),
  });
  await migrate({ databaseUrl: testDatabase.url, logger: pino({ level: 'silent' }) });
  expect((await console.get('/readyz')).status).toBe(200);
  expect(await gauges()).toContain('conciliation_ready{check="migrations"} 1\n');
});

test('a database that takes no writes is reported', async () => {
  const url = new URL(testDatabase.url);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  expect(await databaseCheck(openAnother(url.href)).run()).toBe('takes no writes');
  expect(await databaseCheck(openAnother(testDatabase.url)).run()).toBeNull();
});

test('a COMMIT without an answer is reported while it lasts', async () => {
  const database = openAnother(testDatabase.url);
  // At COMMIT, like the wait for a synchronous standby.
  await database.pool.query(`
      CREATE TABLE public.slow (id int);
      CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON public.slow
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.wait()`);
  const console = await startConsole({ checks: [databaseCheck(database, 500)] });
  const standby = await database.pool.connect();
  await standby.query('SELECT pg_advisory_lock(1)');
  const committed = database.prisma.$transaction(
    (tx) => tx.$executeRaw`INSERT INTO public.slow VALUES (1)`,
  );
  try {
    await expect
      .poll(async () => reasons(await console.get('/readyz')))
      .toEqual({ database: '1 COMMIT(s) without an answer for 0.5 s' });
  } finally {
    await standby.query('SELECT pg_advisory_unlock(1)');
    standby.release();
  }
  await committed;
  expect((await console.get('/readyz')).status).toBe(200);
});

test.each(['refuse', 'hang'] as const)(
  'a database that is down (%s) is reported within the time limit, and so is its return',
  async (fault) => {
    const { logger, lines } = createTestLog();
    const database = openAnother(proxy.url, { logger });
    const console = await startConsole({
      logger,
      // A database that hangs has its time. One that refuses answers, however long that takes.
      checkTimeoutMs: fault === 'hang' ? 1_000 : PATIENCE_MS,
      checks: [databaseCheck(database), queueCheck(async () => true)],
    });
    await expect.poll(async () => (await console.get('/readyz')).status).toBe(200);

    proxy.set(fault);
    const down = await console.get('/readyz');
    expect(down.status).toBe(503);
    expect(reasons(down)).toEqual({
      database: fault === 'hang' ? 'no answer in 1000 ms' : 'STAGING_UNAVAILABLE',
      queue: null,
    });
    expect((await console.get('/healthz')).status).toBe(200);

    const { password, port } = new URL(proxy.url);
    for (const secret of [password, port].filter((text) => text !== '')) {
      expect(down.text).not.toContain(secret);
      expect(
        JSON.stringify(lines().filter(({ msg }) => msg !== 'console listening')),
      ).not.toContain(secret);
    }

    // The blocked request gets no answer; its connection has to break.
    proxy.set('refuse');
    proxy.set('pass');
    await expect.poll(async () => (await console.get('/readyz')).status).toBe(200);
  },
);

test('a queue is ready while it can be reached', async () => {
  expect(await queueCheck(async () => true).run()).toBeNull();
  expect(await queueCheck(async () => false).run()).toBe('not reachable');
});

test('a scheduler is ready from its first tick until it misses three', async () => {
  const tickAt = new Date('2026-03-02T09:00:00Z');
  const after = (seconds: number, last: Date | null = tickAt) =>
    schedulerCheck(
      () => last,
      () => new Date(tickAt.getTime() + seconds * 1000),
    ).run();
  expect(await after(0, null)).toBe('no tick yet');
  expect(await after(179)).toBeNull();
  expect(await after(180)).toBe('last tick 180 s ago');
});
