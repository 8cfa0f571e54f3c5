/** The engine of a process: the queues, the planner, and the workers that make attempts and act on their outcomes. */
import type { Config } from '../base/config/config.ts';
import { latestSlot } from '../base/config/cron-schedule.ts';
import type { Database } from '../base/database/database.ts';
import { PlatformAuthError } from '../base/runtime/errors.ts';
import type { Logger } from '../base/runtime/logger.ts';
import { type Loop, loop } from '../base/runtime/timing.ts';
import {
  createPlanner,
  type OnlyJob,
  type Planner,
  type PlannerParts,
  startTicker,
} from '../core/planner/planner.sql.ts';
import {
  type Attempted,
  type AuthGate,
  createAuthGate,
  throughGate,
} from '../core/work/auth-gate.ts';
import { type JobKind, openQueues, type Queues } from '../core/work/job-queue.ts';
import {
  type JobHandler,
  type JobWorker,
  startJobWorker,
  UnrecordedJobs,
} from '../core/work/job-worker.ts';
import { type AttemptOutcome, type PullParts, runPull } from '../core/work/run-pull.ts';
import type { Metrics } from '../features/alerts/metrics.sql.ts';
import { readPushDelayMs } from '../features/providers/provider-batches.sql.ts';
import { type PushParts, type PushReport, pushOnce } from '../features/providers/push-providers.ts';
import { readDueSweep, runSweep, type SweepOutcome } from '../features/sweep/sweeps.sql.ts';
import { FEATURES } from './features.ts';
import { type OpenStaging, openPlatform, openPulls, openToken } from './parts.ts';

export interface Engine {
  readonly config: Config;
  readonly logger: Logger;
  readonly database: Database;
  readonly queues: Queues;
  readonly planner: Planner;
  readonly gate: AuthGate;
  readonly pulls: PullParts;
  readonly unrecorded: UnrecordedJobs;
}

/** Values that tests replace: the clock, and times that are too long for a test. */
export interface EngineOverrides {
  readonly clock?: { readonly now: () => Date };
  readonly planner?: Pick<PlannerParts, 'grace'>;
  readonly gate?: { readonly pollIntervalMs?: number; readonly patienceMs?: number };
  readonly worker?: { readonly lockMs?: number; readonly stagingRetryMs?: number };
}

export type Stop = (graceMs: number) => Promise<void>;

/** Opens the parts on a staging database, and adds what closes them to `stops`. */
export async function openEngine(
  options: { readonly config: Config; readonly logger: Logger; readonly onlyBackfills?: boolean },
  staging: OpenStaging,
  stops: Stop[],
  overrides: EngineOverrides,
): Promise<Engine> {
  const { config, logger, onlyBackfills = false } = options;
  const { database, databaseUrl } = staging;
  const token = openToken(config);
  const platform = openPlatform(config, token);
  stops.push(() => platform.close());
  const { clock } = overrides;
  const given = { platform, features: FEATURES, ...clock };
  const pulls = await openPulls(config, logger, staging, given);
  const queues = await openQueues({ redisUrl: config.redisUrl, databaseUrl, logger });
  stops.push(() => queues.close());
  const { timezone: timeZone, pullCron, lookbackDays, startDate } = config;
  const planner = createPlanner({
    ...{ database, features: FEATURES, queues, logger, onlyBackfills, limits: pulls },
    onlyJobs: onlyJobs(database, config),
    config: {
      ...{ timeZone, pullCron, lookbackDays, startDate },
      // One request is always reserved for the dates that are due today.
      maxOpenBackfillPulls: Math.max(1, config.platformConcurrency - 1),
    },
    ...clock,
    ...overrides.planner,
  });
  const gate = createAuthGate({ token, logger, ...overrides.gate });
  const unrecorded = new UnrecordedJobs();
  return { config, logger, database, queues, planner, gate, pulls, unrecorded };
}

type SweepTimes = Pick<Config, 'sweepCron' | 'timezone'>;

const readDue = (database: Database, { sweepCron, timezone }: SweepTimes, now: Date) =>
  readDueSweep(database, latestSlot(sweepCron, timezone, now), timezone);

/** What the planner wakes beside pulls. */
export const onlyJobs = (database: Database, times: SweepTimes): OnlyJob[] => [
  {
    kind: 'sweep',
    readDelayMs: async (now) => (await readDue(database, times, now))?.delayMs ?? null,
  },
  { kind: 'push', readDelayMs: () => readPushDelayMs(database) },
];

/**
 * Starts the worker of each kind. A kind that hangs delays no other. All are closed at the same time.
 * @param metrics null: the process has none, and makes pulls only
 */
export async function startWorkers(
  engine: Engine,
  metrics: Metrics | null,
  overrides: EngineOverrides,
): Promise<JobWorker> {
  const { config, queues, planner, logger, unrecorded } = engine;
  // Plans after each ended pull. Otherwise a backfill would wait up to a minute for its next date.
  const planning = loop({ run: () => planner.runOnce() });
  // More workers of pulls than concurrent requests would only wait.
  const concurrency = { pull: config.platformConcurrency, sweep: 1, push: 1 };
  const handlers: [JobKind, JobHandler][] = [['pull', pullHandler(engine, metrics, planning)]];
  if (metrics !== null) {
    handlers.push(['sweep', sweepHandler(engine, metrics)], ['push', pushHandler(engine, metrics)]);
  }
  const started: JobWorker[] = [];
  const close = async (graceMs: number) => {
    await Promise.all(started.map((worker) => worker.close(graceMs)));
    await planning.stop();
  };
  const common = { logger, unrecorded, ...overrides.worker };
  try {
    for (const [kind, handle] of handlers) {
      const parts = { queue: queues[kind], concurrency: concurrency[kind], handle, ...common };
      started.push(await startJobWorker(parts));
    }
    return { close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/** Lets this process plan backfills, and make pulls of any kind, as a service does, until `work` has ended. */
export async function withBackfillEngine<T>(
  options: { readonly config: Config; readonly logger: Logger },
  staging: OpenStaging,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const stops: Stop[] = [];
  try {
    const engine = await openEngine({ ...options, onlyBackfills: true }, staging, stops, {});
    const worker = await startWorkers(engine, null, {});
    stops.push((graceMs) => worker.close(graceMs));
    const ticker = startTicker(engine.planner);
    stops.push(() => ticker.stop());
    return await work(engine);
  } finally {
    for (const stop of stops.toReversed()) await stop(STOP_GRACE_MS);
  }
}

/** The usual grace period of container platforms, less the time of the other steps of a stop. */
export const STOP_GRACE_MS = 30_000;

/** A stop aborts requests immediately. A merge does not listen to the signal and may use the grace period. */
function pullHandler({ gate, pulls }: Engine, metrics: Metrics | null, planning: Loop): JobHandler {
  const observed: PullParts = {
    ...pulls,
    onOutcome: (outcome) => {
      metrics?.observeAttempt(outcome);
      if (outcome.attempt.origin === 'backfill') planning.notify();
    },
  };
  return throughGate(gate, async (pullId, _signal, stopping) =>
    ofOutcome(await runPull(observed, pullId, stopping)),
  );
}

/** The tables are read first: a job may come too early or twice. A sweep that starts again loses nothing. */
function sweepHandler({ config, database, gate, pulls }: Engine, metrics: Metrics): JobHandler {
  const readNow = () => readDue(database, config, pulls.now?.() ?? new Date());
  return throughGate(gate, async (_id, _signal, stopping) => {
    const due = await readNow();
    if (due === null || due.delayMs > 0)
      return { isRefused: false, retryInMs: due?.delayMs ?? null };
    const outcome = await runSweep(pulls, due, stopping);
    metrics.observePlatformResponse(outcome.httpStatus);
    const { isRefused, retryInMs } = ofOutcome(outcome);
    // The next attempt after a failure is due when the tables say so.
    return { isRefused, retryInMs: retryInMs ?? (await readNow())?.delayMs ?? null };
  });
}

/**
 * The tables are read before every request: a job may come too early, too late or twice. A request under way may
 * finish within the grace period, because the platform might apply an aborted request nevertheless.
 */
function pushHandler(
  { database, logger, gate, pulls: { platform, retry } }: Engine,
  metrics: Metrics,
): JobHandler {
  const parts: PushParts = {
    ...{ database, logger, platform, retry },
    onRequest: (httpStatus) => metrics.observePlatformResponse(httpStatus),
  };
  return throughGate(gate, async (_id, signal, stopping) => {
    const delayMs = await readPushDelayMs(database);
    if (delayMs === null || delayMs > 0) return { isRefused: false, retryInMs: delayMs };
    return ofPush(await pushOnce(parts, signal, stopping));
  });
}

/** An unauthorized job returns immediately and then waits at the gate. */
export function ofOutcome(outcome: AttemptOutcome | SweepOutcome): Attempted {
  switch (outcome.kind) {
    case 'done':
    case 'failed':
      return { isRefused: false, retryInMs: null };
    case 'retry':
      return { isRefused: false, retryInMs: outcome.delayMs };
    case 'unauthorized':
      return { isRefused: outcome.error instanceof PlatformAuthError, retryInMs: 0 };
  }
}

/**
 * After a batch that decided something, the next is looked for. A batch without a decision, because the ERP holds
 * locks on its rows, waits for the planner, and so does one of another process that is pushing.
 */
export function ofPush(report: PushReport): Attempted {
  const { kind, synced, rejected, invalid, unchanged, relieved } = report;
  if (kind === 'busy') return { isRefused: false, retryInMs: null };
  if (kind === 'done') {
    const decided = synced + rejected + invalid + unchanged + relieved;
    return { isRefused: false, retryInMs: decided > 0 ? 0 : null };
  }
  const isRefused = kind === 'unauthorized' && report.error instanceof PlatformAuthError;
  return { isRefused, retryInMs: report.delayMs };
}
