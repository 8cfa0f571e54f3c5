/**
 * The always-on service: which parts a process has by its roles, in the order in which they start.
 * They stop in the opposite order, so that the database goes last.
 */
import { startAlertLoop } from './alerts/alert-loop.ts';
import { openPlatform, openPulls, openStaging, openToken } from './app.ts';
import type { Config } from './config.ts';
import { databaseCheck, migrationsCheck, queueCheck, schedulerCheck } from './console/health.ts';
import { createMetrics, type Metrics } from './console/metrics.ts';
import { createConsole } from './console/server.ts';
import { platformAuthAlert, STALENESS_LIMITS } from './domain/alert.ts';
import { lastClosedDate } from './domain/business-day.ts';
import { ConfigError } from './errors.ts';
import { describeError, type Logger } from './logger.ts';
import type { ObservedAttempt, PullParts } from './pull/pull-parts.ts';
import { runPull } from './pull/run-pull.ts';
import { type AuthGate, createAuthGate } from './queue/auth-gate.ts';
import { createPullHandler } from './queue/pull-handler.ts';
import { type OpenPullQueue, openPullQueue } from './queue/pull-queue.ts';
import { startPullWorker } from './queue/pull-worker.ts';
import { startWatchdog } from './queue/watchdog.ts';
import { cronFault } from './scheduler/cron-slot.ts';
import { startHousekeeping } from './scheduler/housekeeping.ts';
import { createNudge } from './scheduler/nudge.ts';
import { createPlanner, type Planner } from './scheduler/planner-loop.ts';
import { startTicker, type Ticker } from './scheduler/tick.ts';
import { raiseAlert, resolveAlerts } from './staging/alerts.ts';
import type { Database } from './staging/database.ts';
import { readLedgerGauges } from './staging/ledger-gauges.ts';
import { pendingMigrations } from './staging/migrate.ts';
import type { WakeGrace } from './staging/plan-ledger.ts';

export const ROLES = ['scheduler', 'worker', 'console'] as const;
export type Role = (typeof ROLES)[number];

export interface ServiceOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly roles: ReadonlySet<Role>;
  readonly overrides?: ServiceOverrides;
}

/** What tests replace: the clock that says what is due, and times too long to be waited for. */
export interface ServiceOverrides {
  readonly clock?: { readonly now: () => Date };
  readonly tickExpression?: string;
  readonly planner?: { readonly grace: WakeGrace };
  readonly worker?: { readonly lockMs: number };
  readonly handler?: { readonly stagingRetryMs: number };
  readonly gate?: { readonly pollIntervalMs: number };
  readonly alerts?: { readonly intervalMs: number };
}

export interface Service {
  /** Null without the console. */
  readonly consoleUrl: string | null;
  /** Settles when the service finds that it cannot go on and should be restarted. */
  readonly stuck: Promise<void>;
  /** Gives running merges `graceMs`, then hands the other pulls back. May be called more than once. */
  stop(graceMs?: number): Promise<void>;
}

type Stop = (graceMs: number) => Promise<void>;

/** What the parts of one process share. */
interface Shared {
  readonly config: Config;
  readonly logger: Logger;
  readonly overrides: ServiceOverrides;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly queue: OpenPullQueue;
  readonly planner: Planner;
  readonly gate: AuthGate;
  readonly metrics: Metrics;
  readonly pulls: PullParts;
}

/** As long as container platforms commonly wait, less what the rest of the stop takes. */
const STOP_GRACE_MS = 30_000;

/**
 * Starts the parts of `roles`. Whatever has started is stopped again when a later part cannot start.
 *
 * @throws ConfigError, StagingUnavailableError
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, logger, roles } = options;
  requireSchedules(config);
  const stops: Stop[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (graceMs = STOP_GRACE_MS) => {
    stopping ??= stopAll(stops, graceMs, logger);
    return stopping;
  };
  let onStuck = () => {};
  const stuck = new Promise<void>((resolve) => {
    onStuck = resolve;
  });
  try {
    const shared = await openShared(options, stops);
    if (roles.has('worker')) await startWorker(shared, onStuck, stops);
    const ticker = roles.has('scheduler') ? startScheduler(shared, stops) : null;
    const consoleUrl = roles.has('console') ? await startConsole(shared, ticker, stops) : null;
    logger.info({ roles: [...roles], consoleUrl }, 'service started');
    return { consoleUrl, stuck, stop };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

function requireSchedules(config: Config): void {
  const problems = [
    ['PULL_CRON', config.pullCron],
    ['SWEEP_CRON', config.sweepCron],
  ].flatMap(([name = '', expression = '']) => {
    const fault = cronFault(expression);
    return fault === null ? [] : [`${name}: got ${JSON.stringify(expression)}, expected ${fault}`];
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

async function openShared(options: ServiceOptions, stops: Stop[]): Promise<Shared> {
  const { config, logger, overrides = {} } = options;
  const staging = await openStaging(config, logger, { migrate: true, exclusive: true });
  stops.push(() => staging.close());
  const token = openToken(config);
  const platform = openPlatform(config, token);
  stops.push(() => platform.close());
  const pulls = {
    ...(await openPulls(config, logger, staging, platform)),
    ...overrides.clock,
  };
  const { database, databaseUrl } = staging;
  const queue = await openPullQueue({ redisUrl: config.redisUrl, databaseUrl, logger });
  stops.push(() => queue.close());
  const planner = createPlanner({
    database,
    queue,
    logger,
    config: {
      timeZone: config.timeZone,
      pullCron: config.pullCron,
      lookbackDays: config.lookbackDays,
      sweepCron: config.sweepCron,
      sweepDays: config.sweepDays,
      startDate: config.startDate,
      // One request is always left for what is due today.
      maxOpenBackfillPulls: Math.max(1, workerConcurrency(config) - 1),
    },
    ...overrides.clock,
    ...overrides.planner,
  });
  const metrics = createMetrics({
    readLedger: () => readLedgerGauges(database, lastClosedDate(config.timeZone, new Date())),
    countJobs: async () => ({ ...(await queue.counts()) }),
  });
  const gate = createAuthGate({ token, logger, ...overrides.gate });
  return { config, logger, overrides, database, databaseUrl, queue, planner, gate, metrics, pulls };
}

/** A worker beyond the requests that may be made at once would only wait. */
function workerConcurrency(config: Config): number {
  return config.platform?.concurrency ?? 1;
}

/** @param onStuck called when due work makes no progress here */
async function startWorker(shared: Shared, onStuck: () => void, stops: Stop[]): Promise<void> {
  const { config, logger, database, queue, gate, metrics } = shared;
  const watchdog = startWatchdog({
    logger,
    onStuck,
    read: async () => {
      const ledger = await readLedgerGauges(database, lastClosedDate(config.timeZone, new Date()));
      const isBlocked = !gate.isOpen() || !(await queue.isReachable());
      return { oldestDueAgeMs: ledger.oldestDueAgeSeconds * 1000, isBlocked };
    },
  });
  const nudge = createNudge(shared.planner);
  const inBackground = (work: Promise<unknown>) =>
    work.catch((error: unknown) => {
      logger.warn({ err: describeError(error) }, 'an alert could not be recorded');
    });

  const parts: PullParts = {
    ...shared.pulls,
    onProgress: () => watchdog.progress(),
    onOutcome: (observed) => {
      watchdog.progress();
      observe(metrics, observed);
      if (observed.outcome.kind === 'done') {
        void inBackground(resolveAlerts(database, platformAuthAlert(null).dedupeKey));
      }
      if (observed.attempt.origin === 'backfill') nudge.plan();
    },
  };
  const handle = createPullHandler({
    runPull: (pullId, signal) => {
      watchdog.progress();
      return runPull(parts, pullId, signal);
    },
    gate,
    onUnauthorized: () => void inBackground(raiseAlert(database, platformAuthAlert(null))),
    logger,
    ...shared.overrides.handler,
  });
  const worker = await startPullWorker({
    queue,
    // What is still being fetched is given up at once; a merge listens to no signal and has the grace.
    handle: (pullId, _signal, stopping) => handle(pullId, stopping, stopping),
    logger,
    concurrency: workerConcurrency(config),
    ...shared.overrides.worker,
  });
  stops.push(async (graceMs) => {
    watchdog.stop();
    await worker.close(graceMs);
    await nudge.stop();
  });
}

function observe(metrics: Metrics, { attempt, outcome, durationMs, httpStatus }: ObservedAttempt) {
  metrics.observePlatformResponse(httpStatus);
  if (outcome.kind !== 'done') {
    metrics.observePull(attempt.origin, outcome.kind, durationMs, null);
    return;
  }
  const { report } = outcome;
  const merged = report.dates.filter(({ outcome: of }) => of === 'merged' || of === 'unchanged');
  const sum = (field: 'inserted' | 'changed' | 'withdrawn' | 'restored' | 'unchanged') =>
    merged.reduce((total, date) => total + date[field], 0);
  const state = report.state as 'merged' | 'unchanged' | 'held' | 'superseded';
  metrics.observePull(attempt.origin, state, durationMs, {
    inserted: sum('inserted'),
    changed: sum('changed'),
    withdrawn: sum('withdrawn'),
    restored: sum('restored'),
    unchanged: sum('unchanged'),
    rejected: report.rejected,
  });
}

function startScheduler(shared: Shared, stops: Stop[]): Ticker {
  const { config, logger, overrides, database, planner } = shared;
  const ticker = startTicker(planner, undefined, overrides.tickExpression);
  stops.push(() => ticker.stop());
  const alerts = startAlertLoop({
    database,
    logger,
    webhookUrl: config.alertWebhookUrl,
    policy: { ...STALENESS_LIMITS, timeZone: config.timeZone },
    ...overrides.alerts,
  });
  stops.push(() => alerts.stop());
  const housekeeping = startHousekeeping({ database, logger });
  stops.push(() => housekeeping.stop());
  return ticker;
}

async function startConsole(shared: Shared, ticker: Ticker | null, stops: Stop[]): Promise<string> {
  const { config, logger, database, databaseUrl, queue, metrics } = shared;
  const checks = [
    databaseCheck(database),
    migrationsCheck(() => pendingMigrations(databaseUrl)),
    queueCheck(() => queue.isReachable()),
    ...(ticker === null ? [] : [schedulerCheck(() => ticker.lastTickAt())]),
  ];
  const webConsole = createConsole({
    host: config.consoleHost,
    port: config.consolePort,
    checks,
    registry: metrics.registry,
    queues: [queue.bullQueue],
    logger,
  });
  stops.push(() => webConsole.close());
  return (await webConsole.start()).url;
}

/** One part that cannot be stopped must not keep the database from being stopped. */
async function stopAll(stops: readonly Stop[], graceMs: number, logger: Logger): Promise<void> {
  for (const stop of stops.toReversed()) {
    await stop(graceMs).catch((error: unknown) => {
      logger.error({ err: describeError(error) }, 'a part could not be stopped');
    });
  }
  logger.info('service stopped');
}
