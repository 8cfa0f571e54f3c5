import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { boundedRun } from '../../../base/runtime/bounded-run.ts';
import { DAY_STATES } from '../../../core/ledger/day-state.ts';
import { PULL_ORIGINS, type PullOrigin } from '../../../core/planner/pull-plan.ts';
import { SYNC_STATES } from '../../providers/provider.ts';
import { ALERT_KINDS } from '../alerts.ts';
import type { LedgerGauges } from '../ledger-gauges.sql.ts';

/** The outcome of one attempt at a pull: the pull's new state, or the reason why it is still queued. */
const PULL_OUTCOMES = [
  'merged',
  'unchanged',
  'held',
  'superseded',
  'failed',
  'retry',
  'unauthorized',
] as const;
type PullOutcome = (typeof PULL_OUTCOMES)[number];

/**
 * The outcome of a request with a batch of providers: accepted or refused by the platform, or
 * undecided: to be retried, waiting for another token, or waiting for a person.
 */
const BATCH_OUTCOMES = ['taken', 'refused', 'retry', 'unauthorized', 'failed'] as const;
type BatchOutcome = (typeof BATCH_OUTCOMES)[number];

/** The outcome of one attempt at a sweep. */
const SWEEP_OUTCOMES = ['done', 'failed', 'unauthorized'] as const;
type SweepOutcome = (typeof SWEEP_OUTCOMES)[number];

const TITLE_CHANGES = [
  'inserted',
  'changed',
  'withdrawn',
  'restored',
  'unchanged',
  'rejected',
] as const;

/** The effects of a pull on the titles of merged dates. Held and superseded dates are not included. */
type TitleCounts = Readonly<Record<(typeof TITLE_CHANGES)[number], number>>;

export interface Metrics {
  readonly registry: Registry;
  /** @param counts null: nothing was merged */
  observePull(
    origin: PullOrigin,
    outcome: PullOutcome,
    durationMs: number,
    counts: TitleCounts | null,
  ): void;
  observeSweep(outcome: SweepOutcome): void;
  observeBatch(outcome: BatchOutcome): void;
  /**
   * @param status null: the platform sent none because of a failed connection, a timeout or a cut transfer
   */
  observePlatformResponse(status: number | null): void;
}

interface JobCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
}

/** The sources of values that are read at each scrape. */
export interface MetricSources {
  readonly readLedger: () => Promise<LedgerGauges>;
  /** By queue name. */
  readonly countJobs: () => Promise<Readonly<Record<string, JobCounts>>>;
}

/** Concurrent and frequent scrapes share one read within this time, in milliseconds. */
const SOURCE_KEEP_MS = 5_000;
/** Less than the 10 seconds that Prometheus allows for a scrape. */
const SOURCE_TIMEOUT_MS = 3_000;

/**
 * The metrics of one process, in a separate registry. If a source does not answer, the scrape
 * lacks its gauges, because an old value would look current, and `conciliation_source_up` is 0 for
 * it. All other metrics are served.
 */
export function createMetrics(
  sources: MetricSources,
  limits: { readonly keepMs: number; readonly timeoutMs: number } = {
    keepMs: SOURCE_KEEP_MS,
    timeoutMs: SOURCE_TIMEOUT_MS,
  },
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerSources(registry, sources, limits);

  const registers = [registry];
  const pulls = new Counter({
    name: 'conciliation_pulls_total',
    help: 'Attempts at pulls, by how they ended.',
    labelNames: ['origin', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'conciliation_pull_duration_seconds',
    help: 'Duration of attempts at pulls, from the request to the merge.',
    labelNames: ['origin'],
    buckets: [0.1, 0.3, 1, 3, 10, 30, 60, 120, 300, 600, 1800],
    registers,
  });
  const titles = new Counter({
    name: 'conciliation_titles_total',
    help: 'Titles of merged responses, by the effect of the merge.',
    labelNames: ['change'],
    registers,
  });
  const sweeps = new Counter({
    name: 'conciliation_sweeps_total',
    help: 'Attempts at sweeps, by how they ended.',
    labelNames: ['outcome'],
    registers,
  });
  const batches = new Counter({
    name: 'conciliation_provider_batches_total',
    help: 'Requests with a batch of providers, by how they ended.',
    labelNames: ['outcome'],
    registers,
  });
  const responses = new Counter({
    name: 'conciliation_platform_responses_total',
    help: 'Answers of the platform by HTTP status; "none" where there was no answer.',
    labelNames: ['status'],
    registers,
  });

  // A counter that appears with its first event shows no increase, so all counters start at zero.
  for (const origin of PULL_ORIGINS) {
    for (const outcome of PULL_OUTCOMES) pulls.inc({ origin, outcome }, 0);
  }
  for (const change of TITLE_CHANGES) titles.inc({ change }, 0);
  for (const outcome of SWEEP_OUTCOMES) sweeps.inc({ outcome }, 0);
  for (const outcome of BATCH_OUTCOMES) batches.inc({ outcome }, 0);

  return {
    registry,
    observePull(origin, outcome, durationMs, counts) {
      pulls.inc({ origin, outcome });
      durations.observe({ origin }, durationMs / 1000);
      if (counts === null) return;
      for (const change of TITLE_CHANGES) titles.inc({ change }, counts[change]);
    },
    observeSweep(outcome) {
      sweeps.inc({ outcome });
    },
    observeBatch(outcome) {
      batches.inc({ outcome });
    },
    observePlatformResponse(status) {
      responses.inc({ status: status === null ? 'none' : String(status) });
    },
  };
}

type LabelledValue = readonly [labels: Readonly<Record<string, string>>, value: number];

function registerSources(
  registry: Registry,
  sources: MetricSources,
  limits: { readonly keepMs: number; readonly timeoutMs: number },
): void {
  const readLedger = orNull(boundedRun(sources.readLedger, limits));
  const countJobs = orNull(boundedRun(sources.countJobs, limits));

  const gauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => Promise<readonly LabelledValue[]>,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const values = await read();
        // Synchronously after the wait, so that two concurrent scrapes both read complete values.
        if (labelNames.length === 0) this.remove();
        else this.reset();
        for (const [labels, value] of values) this.set(labels, value);
      },
    });
  const ledgerGauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    toValues: (ledger: LedgerGauges) => readonly LabelledValue[],
  ) =>
    gauge(name, help, labelNames, async () => {
      const ledger = await readLedger();
      return ledger === null ? [] : toValues(ledger);
    });

  ledgerGauge(
    'conciliation_checkpoint_lag_dates',
    'Dates that are over and later than the checkpoint.',
    [],
    ({ lagDays }) => (lagDays === null ? [] : [[{}, lagDays]]),
  );
  ledgerGauge(
    'conciliation_oldest_due_age_seconds',
    'How long the oldest queued pull has been due; 0 when no pull is queued.',
    [],
    ({ oldestDueAgeSeconds }) => [[{}, oldestDueAgeSeconds]],
  );
  ledgerGauge('conciliation_dates', 'Dates of the ledger by state.', ['state'], ({ days }) =>
    DAY_STATES.map((state) => [{ state }, days[state] ?? 0]),
  );
  ledgerGauge('conciliation_alerts_open', 'Open alerts, by kind.', ['kind'], ({ openAlerts }) =>
    ALERT_KINDS.map((kind) => [{ kind }, openAlerts[kind] ?? 0]),
  );
  ledgerGauge(
    'conciliation_sweep_age_seconds',
    'The time since the newest complete sweep sent its request; absent before the first complete sweep.',
    [],
    ({ sweepAgeSeconds }) => (sweepAgeSeconds === null ? [] : [[{}, sweepAgeSeconds]]),
  );
  ledgerGauge(
    'conciliation_sweep_dates',
    'Dates of the newest complete sweep, by result.',
    ['result'],
    ({ sweepDates }) =>
      sweepDates === null
        ? []
        : [
            [{ result: 'agreeing' }, sweepDates.compared - sweepDates.differing],
            [{ result: 'differing' }, sweepDates.differing],
          ],
  );
  ledgerGauge(
    'conciliation_providers',
    "The ERP's providers, by state.",
    ['state'],
    ({ providers }) => SYNC_STATES.map((state) => [{ state }, providers[state] ?? 0]),
  );
  ledgerGauge(
    'conciliation_oldest_pending_provider_age_seconds',
    'The time since the longest-waiting pending provider was written; 0 when no provider is pending.',
    [],
    ({ oldestPendingProviderAgeSeconds }) => [[{}, oldestPendingProviderAgeSeconds]],
  );
  ledgerGauge(
    'conciliation_account_changes_open',
    'Bank account changes without a decision.',
    [],
    ({ openAccountChanges }) => [[{}, openAccountChanges]],
  );
  gauge('conciliation_queue_jobs', 'Jobs by queue and state.', ['queue', 'state'], async () =>
    Object.entries((await countJobs()) ?? {}).flatMap(([queue, counts]) =>
      Object.entries(counts).map(([state, jobs]) => [{ queue, state }, jobs] as const),
    ),
  );
  gauge(
    'conciliation_source_up',
    'Whether the source of the gauges answered.',
    ['source'],
    async () => [
      [{ source: 'ledger' }, (await readLedger()) === null ? 0 : 1],
      [{ source: 'queue' }, (await countJobs()) === null ? 0 : 1],
    ],
  );
}

/** The scrape reports that a source is not available. The readiness check and the log report the reason. */
function orNull<T>(read: () => Promise<T>): () => Promise<T | null> {
  return () => read().catch(() => null);
}
