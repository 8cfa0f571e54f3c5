import { pino } from 'pino';
import { Gauge, Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { migrate, pendingMigrations } from '../../../src/base/database/migrate.ts';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
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
    expect(down.json()).toMatchObject({
      status: 'not ready',
      checks: [{ ok: false }, { ok: true }],
    });
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

test('the error of a check is neither returned nor logged, but the failure is logged once', async () => {
  const { logger, lines } = createTestLog();
  let fails = true;
  const run = async () => {
    if (fails) throw new Error('password canary of CANARY LTDA');
    return null;
  };
  const console = await startConsole({ logger, checks: [{ name: 'database', run }] });
  for (let asked = 0; asked < 3; asked += 1) {
    const answer = await console.get('/readyz');
    expect(answer.json()).toMatchObject({ checks: [{ ok: false, reason: 'failed' }] });
    expect(answer.text).not.toMatch(/canary/i);
  }
  fails = false;
  await console.get('/readyz');
  await console.get('/readyz');
  expect(lines().map(({ msg }) => msg)).toEqual(['console listening', 'not ready', 'ready again']);
  expect(JSON.stringify(lines())).not.toMatch(/canary/i);
});

test('a check that hangs is over when its time is, and is not asked a second time meanwhile', async () => {
  let asked = 0;
  const run = () => {
    asked += 1;
    return new Promise<never>(() => {});
  };
  const checks = [queueCheck(async () => true), { name: 'other', run }];
  const console = await startConsole({ checkTimeoutMs: 100, checks });
  const answers = await Promise.all([console.get('/readyz'), console.get('/readyz')]);
  for (const answer of answers) {
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({
      checks: [{ ok: true }, { ok: false, reason: 'no answer in 100 ms' }],
    });
  }
  expect(asked).toBe(1);
});

test('every answer carries the security headers, refusals too', async () => {
  const console = await startConsole();
  for (const path of ['/healthz', '/readyz', '/metrics', '/nothing']) {
    const { headers } = await console.get(path);
    expect(headers, path).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
  }
});

test('an error inside answers nothing of itself, and is logged without its message', async () => {
  const { logger, lines } = createTestLog();
  const registry = new Registry();
  new Gauge({
    name: 'broken',
    help: 'broken',
    registers: [registry],
    collect() {
      throw new Error('duplicate key (52998224725)');
    },
  });
  const console = await startConsole({ logger, registry });
  const answer = await console.get('/metrics');
  expect([answer.status, answer.json()]).toEqual([
    500,
    { code: 'INTERNAL', message: 'the request failed; the log has more' },
  ]);
  expect(lines()).toContainEqual(
    expect.objectContaining({ msg: 'request failed', route: '/metrics', method: 'GET' }),
  );
  expect(JSON.stringify(lines())).not.toContain('52998224725');
});

test('a port that is taken is a fault of the configuration', async () => {
  const console = await startConsole();
  const port = Number(new URL(console.url).port);
  await expect(startConsole({ port })).rejects.toThrow(ConfigError);
  await expect(startConsole({ port })).rejects.toThrow(
    `cannot listen on 127.0.0.1, port ${port} (EADDRINUSE)`,
  );
});
