/** What machines ask the console for: readiness and metrics. */
import { Gauge, Registry } from 'prom-client';
import { afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { ensureCheckpoint } from '../../../src/core/ledger/pull-requests.sql.ts';
import type { ObservedAttempt } from '../../../src/core/work/run-pull.ts';
import {
  databaseCheck,
  queueCheck,
  schedulerCheck,
} from '../../../src/features/alerts/health.sql.ts';
import { createMetrics, readLedgerGauges } from '../../../src/features/alerts/metrics.sql.ts';
import { startTcpProxy } from '../../faults/tcp-proxy.ts';
import { openConsole } from '../../support/console-client.ts';
import { createTestDatabase, openAnother } from '../../support/database.ts';
import { forFile } from '../../support/for-tests.ts';
import { recordingLogger } from '../../support/logger.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { providerOf, writeProviders } from '../../support/provider-rows.ts';
import { pause, worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();

/** A console until the end of the test. */
async function startConsole(options: Parameters<typeof openConsole>[1] = {}) {
  const console = await openConsole(world.database, options);
  onTestFinished(() => console.close());
  const client = console.visitor();
  return { url: console.url, get: (path: string) => client.get(path, { accept: '*/*' }) };
}

const testDatabase = forFile(createTestDatabase);
const proxy = forFile(async () => {
  const url = new URL(testDatabase.url);
  const opened = await startTcpProxy(Number(url.port));
  url.host = `127.0.0.1:${opened.port}`;
  return { ...opened, url: url.href };
});
afterEach(() => proxy.set('pass'));

const reasons = (answer: { json: () => unknown }) => {
  const { checks } = answer.json() as { checks: { name: string; reason: string | null }[] };
  return Object.fromEntries(checks.map(({ name, reason }) => [name, reason]));
};

test('the process is not ready while one of its checks fails', async () => {
  let fault: string | null = 'gone';
  const checks = [databaseCheck(openAnother(proxy.url)), { name: 'other', run: async () => fault }];
  const console = await startConsole({ checks });
  const gauges = async () => (await console.get('/metrics')).text;
  expect(await gauges()).toContain('conciliation_ready{check="database"} 1\n');
  expect(await gauges()).toContain('conciliation_ready{check="other"} 0\n');
  const before = await console.get('/readyz');
  expect(before.status).toBe(503);
  expect(reasons(before)).toEqual({ database: null, other: 'gone' });
  fault = null;
  expect((await console.get('/readyz')).status).toBe(200);
  expect(await gauges()).toContain('conciliation_ready{check="other"} 1\n');
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

// Within the time limit.
test.each(['refuse', 'hang'] as const)('a lost database, and its return: %s', async (fault) => {
  const { logger, log } = recordingLogger();
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
  expect(down.json()).toMatchObject({ status: 'not ready', checks: [{ ok: false }, { ok: true }] });
  expect(reasons(down)).toEqual({
    database: fault === 'hang' ? 'no answer in 1000 ms' : 'STAGING_UNAVAILABLE',
    queue: null,
  });
  expect((await console.get('/healthz')).status).toBe(200);

  const { password, port } = new URL(proxy.url);
  const logged = JSON.stringify(log.filter(({ msg }) => msg !== 'console listening'));
  for (const secret of [password, port].filter((text) => text !== '')) {
    expect(down.text + logged).not.toContain(secret);
  }

  // The blocked request gets no answer; its connection has to break.
  proxy.set('refuse');
  proxy.set('pass');
  await expect.poll(async () => (await console.get('/readyz')).status).toBe(200);
});

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
  const { logger, log } = recordingLogger();
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
  expect(log.map(({ msg }) => msg)).toEqual(['console listening', 'not ready', 'ready again']);
  expect(JSON.stringify(log)).not.toMatch(/canary/i);
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
  for (const path of ['/healthz', '/readyz', '/metrics', '/nothing', '/users/%FF']) {
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
  const { logger, log } = recordingLogger();
  const registry = new Registry();
  const collect = () => {
    throw new Error('duplicate key (52998224725)');
  };
  new Gauge({ name: 'broken', help: 'broken', registers: [registry], collect });
  const console = await startConsole({ logger, registry });
  const answer = await console.get('/metrics');
  const told = { code: 'INTERNAL', message: 'the request failed; the log has more' };
  expect([answer.status, answer.json()]).toEqual([500, told]);
  const logged = { msg: 'request failed', route: '/metrics', method: 'GET' };
  expect(log).toContainEqual(expect.objectContaining(logged));
  expect(JSON.stringify(log)).not.toContain('52998224725');
});

test('a port that is taken is a fault of the configuration', async () => {
  const console = await startConsole();
  const port = Number(new URL(console.url).port);
  const refused = startConsole({ port });
  await expect(refused).rejects.toThrow(ConfigError);
  await expect(refused).rejects.toThrow(`cannot listen on 127.0.0.1, port ${port} (EADDRINUSE)`);
});

// The ledger of the first tests has not begun.
beforeAll(() => world.prisma.checkpoint.deleteMany());

const CLOSED = toCivilDate('2026-03-10');
const JOBS = {
  pulls: { waiting: 1, active: 2, delayed: 3 },
  sweeps: { waiting: 0, active: 0, delayed: 1 },
  pushes: { waiting: 0, active: 1, delayed: 0 },
};

/** An attempt, as far as it is counted. */
const observed = (
  ...[origin, outcome, durationMs, httpStatus]: [string, object, number, number | null]
) => ({ attempt: { origin }, outcome, durationMs, httpStatus }) as unknown as ObservedAttempt;

const readLedger = () => readLedgerGauges(world.database, CLOSED);

async function openMetrics(read = readLedger, limits = { keepMs: 0, timeoutMs: PATIENCE_MS }) {
  const metrics = createMetrics({ readLedger: read, countJobs: async () => JOBS }, limits);
  const console = await startConsole({ registry: metrics.registry });
  return {
    metrics,
    console,
    /** Every sample of the scrape by its name and labels, as they are written. */
    async scrape() {
      const answer = await console.get('/metrics');
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
      return parseScrape(answer.text);
    },
  };
}

const parseScrape = (text: string) =>
  new Map(
    [...text.matchAll(/^([^#\n].*) (\S+)$/gm)].map(([, series = '', value]) => [
      series,
      Number(value),
    ]),
  );

test('the reports of the worker are counted, and all counters start at zero', async () => {
  const { metrics, scrape } = await openMetrics();
  const before = await scrape();
  expect(before.get('conciliation_pulls_total{origin="sweep",outcome="unauthorized"}')).toBe(0);
  expect(before.get('conciliation_titles_total{change="withdrawn"}')).toBe(0);

  const counts = { inserted: 5, changed: 4, withdrawn: 3, restored: 2, unchanged: 1, rejected: 6 };
  const outcome = { kind: 'done', report: { state: 'merged', ...counts } };
  metrics.observeAttempt(observed('daily', outcome, 2_500, 200));
  metrics.observeAttempt(observed('daily', outcome, 500, 503));
  metrics.observeAttempt(observed('sweep', { kind: 'retry' }, 40, null));

  const after = await scrape();
  expect(Object.fromEntries(after)).toMatchObject({
    'conciliation_pulls_total{origin="daily",outcome="merged"}': 2,
    'conciliation_pulls_total{origin="sweep",outcome="retry"}': 1,
    'conciliation_pull_duration_seconds_bucket{le="1",origin="daily"}': 1,
    'conciliation_titles_total{change="inserted"}': 10,
    'conciliation_platform_responses_total{status="200"}': 1,
    'conciliation_platform_responses_total{status="503"}': 1,
    'conciliation_platform_responses_total{status="none"}': 1,
  });
});

test('the gauges of the ledger and the queue are read when they are asked for', async () => {
  await ensureCheckpoint(world.prisma, toCivilDate('2026-03-01'));
  await world.prisma.$executeRaw`
    UPDATE conciliation.checkpoint SET last_reconciled_date = '2026-03-07'`;
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.day (date, state)
    VALUES ('2026-03-06', 'reconciled'), ('2026-03-07', 'reconciled'), ('2026-03-08', 'held')`;
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.pull (origin, date, requested_by, created_at, next_attempt_at, state)
    VALUES ('daily', '2026-03-08', 'test', now() - interval '90 seconds', NULL, 'queued'),
           ('daily', '2026-03-09', 'test', now() - interval '1 day', now() - interval '30 seconds', 'queued'),
           ('daily', '2026-03-10', 'test', now() - interval '1 day', now() + interval '1 hour', 'queued'),
           ('daily', '2026-03-07', 'test', now() - interval '1 day', NULL, 'merged')`;
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.sweep
      (from_date, slot_at, state, started_at, response_bytes, dates_compared, dates_differing)
    VALUES ('2026-02-01', now(), 'complete', now() - interval '8 days', 1, 30, 30),
           ('2026-02-01', now(), 'complete', now() - interval '1 day', 1, 45, 2),
           ('2026-02-01', now(), 'failed', now(), 1, NULL, NULL)`;
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.alert (kind, dedupe_key, message, message_pt)
    VALUES ('platform_auth', 'platform_auth', 'test', 'teste')`;
  const providers = [1, 2, 3, 4, 5].map((number) => providerOf(number));
  await writeProviders(world.database, providers);
  await world.prisma.$executeRaw`
    UPDATE conciliation.provider AS provider SET sync_state = state, changed_at = now() - interval '90 seconds'
    FROM (VALUES ('F000001', 'synced'), ('F000002', 'rejected'), ('F000003', 'invalid'), ('F000004', 'invalid'),
                 ('F000005', 'pending')) AS of (external_id, state)
    WHERE provider.external_id = of.external_id`;

  const { scrape } = await openMetrics();
  const samples = await scrape();
  expect(Object.fromEntries(samples)).toMatchObject({
    conciliation_checkpoint_lag_dates: 3,
    'conciliation_dates{state="reconciled"}': 2,
    'conciliation_dates{state="held"}': 1,
    'conciliation_dates{state="failed"}': 0,
    'conciliation_queue_jobs{queue="pulls",state="waiting"}': 1,
    'conciliation_queue_jobs{queue="pulls",state="delayed"}': 3,
    'conciliation_queue_jobs{queue="pushes",state="active"}': 1,
    'conciliation_providers{state="pending"}': 1,
    'conciliation_providers{state="synced"}': 1,
    'conciliation_providers{state="rejected"}': 1,
    'conciliation_providers{state="invalid"}': 2,
    'conciliation_queue_jobs{queue="sweeps",state="delayed"}': 1,
    'conciliation_alerts_open{kind="platform_auth"}': 1,
    'conciliation_alerts_open{kind="pull_failed"}': 0,
    'conciliation_source_up{source="queue"}': 1,
  });
  const age = samples.get('conciliation_oldest_due_age_seconds') ?? 0;
  expect(age).toBeGreaterThanOrEqual(90);
  const sweepAge = samples.get('conciliation_sweep_age_seconds') ?? 0;
  expect(Math.round(sweepAge / 3600)).toBe(24);
});

// And no old numbers.
test.each(['fails', 'hangs'])('a scrape has the rest where the database %s', async (fault) => {
  const [until, breakConnection] = pause();
  if (fault === 'fails') breakConnection();
  const broken = async () => {
    await until;
    throw new Error('the connection broke');
  };
  let isDown = false;
  const limits = { keepMs: 0, timeoutMs: 1_000 };
  const { metrics, scrape } = await openMetrics(() => (isDown ? broken() : readLedger()), limits);
  const lag = async () => (await scrape()).get('conciliation_checkpoint_lag_dates');
  await expect.poll(lag).toBe(3);
  metrics.observeAttempt(observed('manual', { kind: 'retry' }, 10, null));
  isDown = true;
  const samples = await scrape();
  const ofLedger = [...samples.keys()].filter((series) =>
    /^conciliation_(checkpoint|oldest|dates|alerts|providers|account|sweep_)/.test(series),
  );
  expect(ofLedger).toEqual([]);
  expect(Object.fromEntries(samples)).toMatchObject({
    'conciliation_source_up{source="ledger"}': 0,
    'conciliation_source_up{source="queue"}': 1,
    'conciliation_queue_jobs{queue="pulls",state="active"}': 2,
    'conciliation_pulls_total{origin="manual",outcome="retry"}': 1,
  });
  isDown = false;
  breakConnection();
  await expect.poll(lag).toBe(3);
});
