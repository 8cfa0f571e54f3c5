import { beforeAll, expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { ensureCheckpoint } from '../../../src/core/ledger/day-ledger.sql.ts';
import type { ObservedAttempt } from '../../../src/core/work/run-pull.ts';
import { createMetrics, readLedgerGauges } from '../../../src/features/alerts/metrics.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { findProgram, runProgram } from '../../support/program.ts';
import { providerOf, writeProviders } from '../../support/provider-rows.ts';
import { pause } from '../../support/pull-world.ts';
import { startConsole } from './console-world.ts';

const world = worldOfFile();
// The ledger of the first tests has not begun.
beforeAll(() => world.database.prisma.checkpoint.deleteMany());

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

async function open(read = readLedger, limits = { keepMs: 0, timeoutMs: PATIENCE_MS }) {
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
  const { metrics, scrape } = await open();
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
  await ensureCheckpoint(world.database.prisma, toCivilDate('2026-03-01'));
  await world.database.prisma.$executeRaw`
    UPDATE conciliation.checkpoint SET last_reconciled_date = '2026-03-07'`;
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.day (date, state)
    VALUES ('2026-03-06', 'reconciled'), ('2026-03-07', 'reconciled'), ('2026-03-08', 'held')`;
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.pull (origin, date, requested_by, created_at, next_attempt_at, state)
    VALUES ('daily', '2026-03-08', 'test', now() - interval '90 seconds', NULL, 'queued'),
           ('daily', '2026-03-09', 'test', now() - interval '1 day', now() - interval '30 seconds', 'queued'),
           ('daily', '2026-03-10', 'test', now() - interval '1 day', now() + interval '1 hour', 'queued'),
           ('daily', '2026-03-07', 'test', now() - interval '1 day', NULL, 'merged')`;
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.sweep
      (from_date, slot_at, state, started_at, response_bytes, dates_compared, dates_differing)
    VALUES ('2026-02-01', now(), 'complete', now() - interval '8 days', 1, 30, 30),
           ('2026-02-01', now(), 'complete', now() - interval '1 day', 1, 45, 2),
           ('2026-02-01', now(), 'failed', now(), 1, NULL, NULL)`;
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.alert (kind, dedupe_key, message, message_pt)
    VALUES ('platform_auth', 'platform_auth', 'test', 'teste')`;
  const providers = [1, 2, 3, 4, 5].map((number) => providerOf(number));
  await writeProviders(world.database, providers);
  await world.database.prisma.$executeRaw`
    UPDATE conciliation.provider AS provider SET sync_state = state, changed_at = now() - interval '90 seconds'
    FROM (VALUES ('F000001', 'synced'), ('F000002', 'rejected'), ('F000003', 'invalid'), ('F000004', 'invalid'),
                 ('F000005', 'pending')) AS of (external_id, state)
    WHERE provider.external_id = of.external_id`;

  const { scrape } = await open();
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

const promtool = findProgram('promtool');

test.skipIf(promtool === null)(
  'promtool has no complaint about the names of the program (skipped without promtool)',
  async () => {
    const { console } = await open();
    const { text } = await console.get('/metrics');
    expect(text).toContain('conciliation_checkpoint_lag_dates 3\n');
    const checked = await runProgram(promtool ?? '', ['check', 'metrics'], { input: text });
    // The library that exports the metrics of the process names some gauges as counters.
    const lines = (checked.stdout + checked.stderr).split('\n');
    expect(lines.filter((line) => !/^nodejs_active_\w+_total /.test(line))).toEqual(['']);
  },
);

test.each(['fails', 'hangs'])(
  'where the database %s, a scrape answers with the rest, and not with old numbers',
  async (fault) => {
    const [until, breakConnection] = pause();
    if (fault === 'fails') breakConnection();
    const broken = async () => {
      await until;
      throw new Error('the connection broke');
    };
    let isDown = false;
    const limits = { keepMs: 0, timeoutMs: 1_000 };
    const { metrics, scrape } = await open(() => (isDown ? broken() : readLedger()), limits);
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
  },
);
