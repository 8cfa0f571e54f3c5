import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../../base/database/database.ts';
import { boundedRun } from '../../base/runtime/timing.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { DAY_STATES, PULL_ORIGINS } from '../../core/ledger/states.ts';
import type { QueueCounts } from '../../core/work/job-queue.ts';
import type { ObservedAttempt } from '../../core/work/run-pull.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { SYNC_STATES } from '../providers/provider.ts';
import { ALERT_KINDS } from './alerts.sql.ts';

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

const TITLE_CHANGES = [
  'inserted',
  'changed',
  'withdrawn',
  'restored',
  'unchanged',
  'rejected',
] as const;

export type Metrics = ReturnType<typeof createMetrics>;

/** A gauge of the ledger: rows of a label and a value. A value that is null leaves the sample out. */
interface LedgerGauge {
  readonly name: string;
  readonly help: string;
  /** Absent: the gauge has one sample, and its rows have the label null. */
  readonly label?: string;
  /** Labels that are 0 without a row. */
  readonly known?: readonly string[];
  /** Over indexes and small tables, fast enough for every scrape. */
  readonly sql: (closed: CivilDate) => Prisma.Sql;
}

const GAUGES: readonly LedgerGauge[] = [
  {
    name: 'conciliation_checkpoint_lag_dates',
    help: 'Dates that are over and later than the checkpoint.',
    sql: (closed) => Prisma.sql`
      SELECT NULL, greatest(0, ${closed}::date - coalesce(last_reconciled_date, start_date - 1))
      FROM conciliation.checkpoint`,
  },
  {
    name: 'conciliation_oldest_due_age_seconds',
    help: 'How long the oldest queued pull has been due; 0 when no pull is queued.',
    sql: () => Prisma.sql`
      SELECT NULL, coalesce(extract(epoch FROM clock_timestamp() - min(coalesce(next_attempt_at, created_at))), 0)
      FROM conciliation.pull
      WHERE state = 'queued' AND coalesce(next_attempt_at, created_at) <= clock_timestamp()`,
  },
  {
    name: 'conciliation_dates',
    help: 'Dates of the ledger by state.',
    label: 'state',
    known: DAY_STATES,
    // Today is the day after the last closed date. Days after it are not counted.
    sql: (closed) => Prisma.sql`
      SELECT state, count(*) FROM conciliation.day WHERE date <= ${closed}::date + 1 GROUP BY state`,
  },
  {
    name: 'conciliation_alerts_open',
    help: 'Open alerts, by kind.',
    label: 'kind',
    known: ALERT_KINDS,
    sql: () => Prisma.sql`
      SELECT kind, count(*) FROM conciliation.alert WHERE resolved_at IS NULL GROUP BY kind`,
  },
  {
    name: 'conciliation_sweep_age_seconds',
    help: 'The time since the newest complete sweep sent its request; absent before the first complete sweep.',
    sql: () => Prisma.sql`
      SELECT NULL, extract(epoch FROM clock_timestamp() - max(started_at))
      FROM conciliation.sweep WHERE state = 'complete'`,
  },
  {
    name: 'conciliation_providers',
    help: "The ERP's providers, by state.",
    label: 'state',
    known: SYNC_STATES,
    sql: () =>
      Prisma.sql`SELECT sync_state, count(*) FROM conciliation.provider GROUP BY sync_state`,
  },
];

interface Sample {
  readonly gauge: string;
  readonly label: string | null;
  readonly value: number;
}

export function readLedgerGauges(
  { prisma }: Database,
  lastClosedDate: CivilDate,
): Promise<Sample[]> {
  const queries = GAUGES.map(
    ({ name, sql }) => Prisma.sql`
      SELECT ${name}::text AS gauge, label::text, value::float8
      FROM (${sql(lastClosedDate)}) AS found (label, value) WHERE value IS NOT NULL`,
  );
  return prisma.$queryRaw(Prisma.join(queries, ' UNION ALL '));
}

export interface MetricSources {
  readonly readLedger: () => Promise<readonly Sample[]>;
  /** By queue name. */
  readonly countJobs: () => Promise<Readonly<Record<string, QueueCounts>>>;
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
) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges with the suffix of a counter, which promtool refuses. Those without it count the same by type.
  for (const what of ['handles', 'requests', 'resources']) {
    registry.removeSingleMetric(`nodejs_active_${what}_total`);
  }
  registerSources(registry, sources, limits);

  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const pulls = counter(
    'conciliation_pulls_total',
    'Attempts at pulls, by how they ended.',
    'origin',
    'outcome',
  );
  const durations = new Histogram({
    name: 'conciliation_pull_duration_seconds',
    help: 'Duration of attempts at pulls, from the request to the merge.',
    labelNames: ['origin'],
    buckets: [0.1, 0.3, 1, 3, 10, 30, 60, 120, 300, 600, 1800],
    registers,
  });
  const titles = counter(
    'conciliation_titles_total',
    'Titles of merged responses, by the effect of the merge.',
    'change',
  );
  const responses = counter(
    'conciliation_platform_responses_total',
    'Answers of the platform by HTTP status; "none" where there was no answer.',
    'status',
  );

  // A counter that appears with its first event shows no increase, so all counters start at zero.
  for (const origin of PULL_ORIGINS) {
    for (const outcome of PULL_OUTCOMES) pulls.inc({ origin, outcome }, 0);
  }
  for (const change of TITLE_CHANGES) titles.inc({ change }, 0);

  /** @param status null: the platform sent none because of a failed connection, a timeout or a cut transfer */
  const observePlatformResponse = (status: number | null) =>
    responses.inc({ status: status === null ? 'none' : String(status) });
  return {
    registry,
    observePlatformResponse,
    observeAttempt({ attempt, outcome, durationMs, httpStatus }: ObservedAttempt): void {
      const { origin } = attempt;
      observePlatformResponse(httpStatus);
      const report = outcome.kind === 'done' ? outcome.report : null;
      pulls.inc({ origin, outcome: report?.state ?? outcome.kind });
      durations.observe({ origin }, durationMs / 1000);
      if (report === null) return;
      // A held or superseded response has changed no title. Its rejected titles are kept.
      const isMerged = report.state === 'merged' || report.state === 'unchanged';
      for (const change of isMerged ? TITLE_CHANGES : (['rejected'] as const)) {
        titles.inc({ change }, report[change]);
      }
    },
  };
}

function registerSources(
  registry: Registry,
  sources: MetricSources,
  limits: { readonly keepMs: number; readonly timeoutMs: number },
): void {
  const readLedger = orNull(boundedRun(sources.readLedger, limits));
  const countJobs = orNull(boundedRun(sources.countJobs, limits));

  type Labelled = readonly [labels: Readonly<Record<string, string>>, value: number];
  const gauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => Promise<readonly Labelled[]>,
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

  for (const { name, help, label, known = [] } of GAUGES) {
    gauge(name, help, label === undefined ? [] : [label], async () => {
      const found = (await readLedger())?.filter((sample) => sample.gauge === name);
      if (found === undefined) return [];
      const zeros = known.map((word) => ({ label: word, value: 0 }));
      return [...zeros, ...found].map(({ label: word, value }) => [
        label === undefined || word === null ? {} : { [label]: word },
        value,
      ]);
    });
  }
  gauge('conciliation_queue_jobs', 'Jobs by queue and state.', ['queue', 'state'], async () =>
    Object.entries((await countJobs()) ?? {}).flatMap(([queue, counts]) =>
      Object.entries(counts).map(([state, jobs]) => [{ queue, state }, jobs] as const),
    ),
  );
  const help = 'Whether the source of the gauges answered.';
  gauge('conciliation_source_up', help, ['source'], async () => [
    [{ source: 'ledger' }, (await readLedger()) === null ? 0 : 1],
    [{ source: 'queue' }, (await countJobs()) === null ? 0 : 1],
  ]);
}

/** The scrape reports that a source is not available. The readiness check and the log report the reason. */
function orNull<T>(read: () => Promise<T>): () => Promise<T | null> {
  return () => read().catch(() => null);
}
