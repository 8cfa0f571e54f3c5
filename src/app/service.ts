/**
 * The long-running service. The roles of a process decide which parts it has. The parts stop in the opposite order of
 * their start, so that the database is closed last.
 */

import { hostname } from 'node:os';
import { recordSettings } from '../base/audit/audit.ts';
import { auditedSettings, type Config, packageVersion } from '../base/config/config.ts';
import { findClockFault } from '../base/database/database.ts';
import { reachFaultPoint } from '../base/runtime/fault-points.ts';
import type { Logger } from '../base/runtime/logger.ts';
import { loop } from '../base/runtime/timing.ts';
import { lastClosedDate } from '../base/values/business-day.ts';
import { createOidcClient } from '../console/access/oidc-client.ts';
import { createConsole } from '../console/shell/server.ts';
import { discardStrayRows } from '../core/ledger/pull-ledger.sql.ts';
import { startTicker } from '../core/planner/planner.sql.ts';
import { alertPolicy } from '../features/alerts/deliveries.sql.ts';
import {
  databaseCheck,
  queueCheck,
  schedulerCheck,
  startFaultReports,
  tokenCheck,
} from '../features/alerts/health.sql.ts';
import { createMetrics, type Metrics, readLedgerGauges } from '../features/alerts/metrics.sql.ts';
import { moveBookings } from '../features/bookings/booking-start.sql.ts';
import { openCalendar } from '../features/calendar/own-holidays.ts';
import {
  type Engine,
  type EngineOverrides,
  openEngine,
  STOP_GRACE_MS,
  type Stop,
  startWorkers,
} from './engine.ts';
import { FEATURES } from './features.ts';
import { openStaging } from './parts.ts';

export const ROLES = ['scheduler', 'worker', 'console'] as const;
export type Role = (typeof ROLES)[number];

export interface ServiceOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly roles: ReadonlySet<Role>;
  readonly overrides?: ServiceOverrides;
}

export interface ServiceOverrides extends EngineOverrides {
  readonly tickMs?: number;
  /** Of the loops of features, by their names. */
  readonly everyMs?: Readonly<Record<string, number>>;
  readonly reports?: { readonly intervalMs?: number };
}

export interface Service {
  /** Null without the console. */
  readonly consoleUrl: string | null;
  /** Lets running merges work on for up to `graceMs`, then returns the other pulls to the queue. Idempotent. */
  stop(graceMs?: number): Promise<void>;
}

/** The parts that the roles of one process share. */
interface Shared extends Engine {
  readonly overrides: ServiceOverrides;
  readonly metrics: Metrics;
}

/** Starts the parts of `roles`. If one part cannot start, the parts before it are stopped again. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { logger, roles } = options;
  const stops: Stop[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (graceMs = STOP_GRACE_MS) => {
    stopping ??= stopAll(stops, graceMs, logger);
    return stopping;
  };
  try {
    const shared = await openShared(options, stops);
    const { database, config } = shared;
    // First, so that a start that is refused leaves the entry, too.
    const changes = await recordSettings(database, auditedSettings(config), hostname());
    if (changes.length > 0) {
      logger.warn({ changes }, 'settings differ from those of the last start');
    }
    if (roles.has('scheduler') || roles.has('console')) {
      await moveBookings(database, config.bookingsFrom);
      await openCalendar(database, config.businessDayRule);
    }
    startReports(shared, roles, stops);
    if (roles.has('worker')) {
      const workers = await startWorkers(shared, shared.metrics, shared.overrides);
      stops.push((graceMs) => workers.close(graceMs));
    }
    if (roles.has('scheduler')) startScheduler(shared, stops);
    const consoleUrl = roles.has('console') ? await startConsole(shared, roles, stops) : null;
    logger.info({ roles: [...roles], consoleUrl }, 'service started');
    return { consoleUrl, stop };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

async function openShared(options: ServiceOptions, stops: Stop[]): Promise<Shared> {
  const { config, logger, overrides = {} } = options;
  const staging = await openStaging(config, logger, true);
  stops.push(() => staging.close());
  const engine = await openEngine({ config, logger }, staging, stops, overrides);
  const { database, queues } = engine;
  const metrics = createMetrics({
    readLedger: () => readLedgerGauges(database, lastClosedDate(config.timezone, new Date())),
    countJobs: async () => ({
      pulls: await queues.pull.counts(),
      sweeps: await queues.sweep.counts(),
      pushes: await queues.push.counts(),
    }),
  });
  return { ...engine, overrides, metrics };
}

/** An outage of the database that is over within this time is no fault of the process. */
const UNRECORDED_MS = 60_000;

/** Only a worker uses the token, and only the scheduler plans again after a failure. */
function startReports(shared: Shared, roles: ReadonlySet<Role>, stops: Stop[]): void {
  const { logger, overrides, database, gate, planner, unrecorded } = shared;
  const reports = startFaultReports({
    database,
    logger,
    async read() {
      const tokenFault = roles.has('worker') ? await gate.findFault() : null;
      const isClockWrong = (await findClockFault(database)) !== null;
      // Without the scheduler, a process plans only now and then, and a run that failed is not repeated.
      const isPlanningFailed = roles.has('scheduler') && !isClockWrong && planner.isFailing();
      return [
        tokenFault,
        isClockWrong ? ('clock_skew' as const) : null,
        isPlanningFailed ? ('planning_failed' as const) : null,
        unrecorded.areOlderThan(UNRECORDED_MS) ? ('work_unrecorded' as const) : null,
      ].filter((reported) => reported !== null);
    },
    ...overrides.reports,
  });
  stops.push(() => reports.stop());
}

function startScheduler(shared: Shared, stops: Stop[]): void {
  const { config, logger, overrides, database, planner } = shared;
  const parts = [
    startTicker(planner, overrides.tickMs),
    // The rows that killed processes left in the staging tables.
    loop({
      everyMs: CLEAN_INTERVAL_MS,
      run: async () => {
        const titles = await discardStrayRows(database);
        if (titles > 0) logger.info({ titles }, 'removed the staged rows of a killed process');
      },
      failure: { logger, message: 'the staging tables were not cleared' },
    }),
    ...FEATURES.flatMap(({ name, loops }) => {
      const everyMs = overrides.everyMs?.[name];
      return loops?.({ database, logger, config, everyMs }) ?? [];
    }),
  ];
  stops.push(...parts.map((part) => () => part.stop()));
}

const CLEAN_INTERVAL_MS = 3_600_000;

async function startConsole(
  shared: Shared,
  roles: ReadonlySet<Role>,
  stops: Stop[],
): Promise<string> {
  const { config, logger, database, queues, metrics } = shared;
  const checks = [
    databaseCheck(database),
    queueCheck(() => queues.pull.isReachable()),
    { name: 'clock', run: () => findClockFault(database) },
    ...(roles.has('worker') ? [tokenCheck(() => shared.gate.findFault())] : []),
    ...(roles.has('scheduler') ? [schedulerCheck(() => shared.planner.lastDoneAt())] : []),
  ];
  const webConsole = createConsole({
    host: config.consoleHost,
    port: config.consolePort,
    trustedProxies: config.trustedProxies,
    checks,
    registry: metrics.registry,
    parts: {
      database,
      logger,
      features: FEATURES,
      version: packageVersion(),
      ...alertPolicy(config),
      fourEyes: config.signOffFourEyes,
      businessDayRule: config.businessDayRule,
      bookingsFrom: config.bookingsFrom,
      requiresChecks: true,
      requiresSecondFactor: config.consoleSecondFactor === 'required',
      publicUrl: config.consolePublicUrl,
      oidc: config.oidc === null ? null : createOidcClient(config.oidc),
      wake: (pullId) => queues.pull.enqueue(pullId),
      plan: () => void shared.planner.runOnce(),
    },
  });
  stops.push(() => webConsole.close());
  const { url } = await webConsole.start();
  if ((await database.prisma.consoleUser.count()) === 0) {
    logger.warn('there is no console user yet: conciliation user add <name> --role admin');
  }
  return url;
}

/** A part that cannot be stopped must not keep the database open. */
async function stopAll(stops: readonly Stop[], graceMs: number, logger: Logger): Promise<void> {
  reachFaultPoint('shutdown');
  for (const stop of stops.toReversed()) {
    await stop(graceMs).catch((error: unknown) => {
      logger.error({ err: error }, 'a part could not be stopped');
    });
  }
  logger.info('service stopped');
}
