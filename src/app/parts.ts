/** Builds the parts of a process from its configuration. The database is opened first and closed last. */
import type { Config, PlatformConfig } from '../base/config/config.ts';
import { slotBefore } from '../base/config/cron-schedule.ts';
import { readClock, requireSameClock } from '../base/database/clock.ts';
import { type Database, openDatabase } from '../base/database/database.ts';
import { migrate, pendingMigrations } from '../base/database/migrate.ts';
import { openEmbeddedPostgres } from '../base/embedded/embedded-postgres.ts';
import { ConfigError } from '../base/runtime/errors.ts';
import type { Logger } from '../base/runtime/logger.ts';
import { packageVersion } from '../base/runtime/package-version.ts';
import { lastClosedDate } from '../base/values/business-day.ts';
import type { AlertPolicy } from '../console/alert-entry.ts';
import { ensureCheckpoint } from '../core/ledger/day-ledger.sql.ts';
import { MAX_ANSWER_MINUTES } from '../core/platform/answer-body.ts';
import { createPlatformClient, type PlatformClient } from '../core/platform/conciliation-client.ts';
import { fileToken, fixedToken, type TokenSource } from '../core/platform/token.ts';
import type { PullParts } from '../core/work/pull-parts.ts';

/** The staging database, migrated and ready. Without a DATABASE_URL it is on the embedded server. */
export interface OpenStaging {
  readonly database: Database;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

export interface StagingOptions {
  /** Whether a server named by DATABASE_URL is migrated too. */
  readonly migrate?: boolean;
  /** Whether to refuse an embedded database that another service uses exclusively. */
  readonly exclusive?: boolean;
}

/** Covers the longest step of a merge: a day of millions of titles on a slow disk. */
const STATEMENT_TIMEOUT_MS = 15 * 60_000;

/**
 * Opens the staging database of the configuration.
 * @throws ConfigError when the database is not usable or not migrated
 * @throws StagingUnavailableError when the database is not available
 */
export async function openStaging(
  config: Config,
  logger: Logger,
  options: StagingOptions = {},
): Promise<OpenStaging> {
  const embedded =
    config.databaseUrl === null
      ? await openEmbeddedPostgres({
          dataDir: config.dataDir,
          logger,
          exclusive: options.exclusive === true,
        })
      : null;
  try {
    const databaseUrl = embedded?.url ?? config.databaseUrl ?? '';
    // A database named by DATABASE_URL is changed only by the `migrate` command. The embedded one
    // is always migrated.
    if (options.migrate === true || embedded !== null) await migrate({ databaseUrl, logger });
    else await requireMigrated(databaseUrl);
    const database = openDatabase({
      databaseUrl,
      applicationName: 'conciliation',
      // A pull uses two connections to copy and a third to merge. The others serve the rest of the process.
      maxConnections: 3 * (config.platform?.concurrency ?? 1) + 4,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      logger,
    });
    return {
      database,
      databaseUrl,
      async close() {
        await database.close();
        await embedded?.close();
      },
    };
  } catch (error) {
    await embedded?.close();
    throw error;
  }
}

async function requireMigrated(databaseUrl: string): Promise<void> {
  const pending = await pendingMigrations(databaseUrl);
  if (pending.length === 0) return;
  throw new ConfigError([
    `DATABASE_URL: the database lacks ${pending.length} migration(s); run "conciliation migrate" first`,
  ]);
}

/** The conditions of alerts, for the scheduler and for each report of the state of the ledger. */
export function alertPolicy(config: Config): AlertPolicy {
  const { erpPayablesMaxAgeHours, timezone: timeZone, sweepCron } = config;
  return {
    timeZone,
    payablesMaxAgeHours: erpPayablesMaxAgeHours,
    sweepSlotBefore: (now) => slotBefore(sweepCron, timeZone, now),
  };
}

export function openToken(config: Config): TokenSource {
  const { secret, secretFile } = requirePlatform(config).token;
  return secretFile === null ? fixedToken(secret ?? '') : fileToken(secretFile);
}

function requirePlatform(config: Config): PlatformConfig {
  if (config.platform === null) throw new Error('this command was configured without a platform');
  return config.platform;
}

export function openPlatform(config: Config, token = openToken(config)): PlatformClient {
  const platform = requirePlatform(config);
  return createPlatformClient({
    baseUrl: platform.baseUrl,
    token,
    concurrency: platform.concurrency,
    timeoutMs: platform.timeoutSeconds * 1000,
    limits: { maxMinutes: MAX_ANSWER_MINUTES, maxBytes: platform.maxBytes },
    userAgent: `erp-conciliation-sync/${packageVersion()}`,
  });
}

/**
 * For commands that pull: finds what would stop a pull before the ledger is written.
 * @throws ConfigError when there is no usable token, when the clock of this machine differs from
 * the database's, or when START_DATE is not over
 */
export async function requireAbleToPull(config: Config, database: Database): Promise<void> {
  await openToken(config).current();
  await requireSameClock(database);
  requireStartDateOver(config, await readClock(database));
}

/**
 * Returns the parts of the pull engine, and stores the first date of the ledger.
 * @param now decides which dates are over; default: the database's clock
 * @throws ConfigError when START_DATE is not over
 */
export async function openPulls(
  config: Config,
  logger: Logger,
  staging: OpenStaging,
  given: Pick<PullParts, 'platform' | 'features'>,
  now?: () => Date,
): Promise<PullParts> {
  const at = now?.() ?? (await readClock(staging.database));
  await ensureStartDate(config, logger, staging.database, at);
  return {
    database: staging.database,
    ...given,
    logger,
    timeZone: config.timezone,
    withdrawalLimitPercent: config.withdrawalLimitPercent,
    checksPlausibility: config.plausibility,
    retry: { attempts: config.pullAttempts, backoffSeconds: config.pullBackoffSeconds },
  };
}

async function ensureStartDate(
  config: Config,
  logger: Logger,
  database: Database,
  now: Date,
): Promise<void> {
  requireStartDateOver(config, now);
  const wanted = config.startDate ?? lastClosedDate(config.timezone, now);
  const startDate = await ensureCheckpoint(database.prisma, wanted);
  if (config.startDate !== null && config.startDate !== startDate) {
    logger.warn(
      { startDate, ignored: config.startDate },
      'START_DATE is ignored: the ledger already began on another date; "conciliation start-date set" corrects that date',
    );
  }
}

function requireStartDateOver({ startDate, timezone: timeZone }: Config, now: Date): void {
  const yesterday = lastClosedDate(timeZone, now);
  if (startDate === null || startDate <= yesterday) return;
  throw new ConfigError([
    `START_DATE: got "${startDate}", expected a date that is over: in ${timeZone} the last one is ${yesterday}`,
  ]);
}
