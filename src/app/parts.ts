/** Builds the parts of a process from its configuration. The database is opened first and closed last. */
import { type Config, packageVersion } from '../base/config/config.ts';
import { type Database, openDatabase, readClock } from '../base/database/database.ts';
import { migrate } from '../base/database/migrate.ts';
import { openEmbeddedPostgres } from '../base/embedded/embedded-postgres.ts';
import { ConfigError } from '../base/runtime/errors.ts';
import type { Logger } from '../base/runtime/logger.ts';
import { type CivilDate, lastClosedDate } from '../base/values/business-day.ts';
import { ensureCheckpoint } from '../core/ledger/pull-requests.sql.ts';
import { createPlatformClient, type PlatformClient } from '../core/platform/conciliation-client.ts';
import { ANSWER_LIMITS } from '../core/platform/http-origin.ts';
import { fileToken, fixedToken, type TokenSource } from '../core/platform/token.ts';
import type { PullParts } from '../core/work/run-pull.ts';

/** The staging database, migrated and ready. Without a DATABASE_URL it is on the embedded server. */
export interface OpenStaging {
  readonly database: Database;
  readonly databaseUrl: string;
  /** What a person has to know of a schema that a newer version has made; null: nothing. */
  readonly newer: string | null;
  close(): Promise<void>;
}

/** Covers the longest step of a merge: a day of millions of titles on a slow disk. */
const STATEMENT_TIMEOUT_MS = 15 * 60_000;

/**
 * Opens the staging database of the configuration.
 * @param isService a service migrates the server of DATABASE_URL too
 */
export async function openStaging(
  config: Config,
  logger: Logger,
  isService = false,
): Promise<OpenStaging> {
  const embedded =
    config.databaseUrl === null
      ? await openEmbeddedPostgres({ dataDir: config.dataDir, logger })
      : null;
  try {
    const databaseUrl = embedded?.url ?? config.databaseUrl ?? '';
    // Other commands than `migrate` change no database that DATABASE_URL names.
    const onlyCheck = !isService && embedded === null;
    const { newer } = await migrate({ databaseUrl, logger, onlyCheck });
    if (newer.length > 0) logger.warn({ newer }, 'the database has migrations of a newer version');
    const database = openDatabase({
      databaseUrl,
      applicationName: 'conciliation',
      // A pull uses two connections to copy and a third to merge. The others serve the rest of the process.
      maxConnections: 3 * config.platformConcurrency + 4,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      logger,
    });
    return {
      database,
      databaseUrl,
      newer: newer.length > 0 ? `has migrations of a newer version: ${newer.join(', ')}` : null,
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

export function openToken({ platformToken: { secret, secretFile } }: Config): TokenSource {
  return secretFile === null ? fixedToken(secret ?? '') : fileToken(secretFile);
}

export function openPlatform(config: Config, token = openToken(config)): PlatformClient {
  const { platformBaseUrl: baseUrl, platformConcurrency: concurrency } = config;
  if (baseUrl === null) throw new Error('this command was configured without a platform');
  return createPlatformClient({
    ...{ baseUrl, token, concurrency },
    timeoutMs: config.platformTimeoutSeconds * 1000,
    limits: ANSWER_LIMITS,
    userAgent: `erp-conciliation-sync/${packageVersion()}`,
  });
}

/**
 * Returns the parts of the pull engine, and stores the first date of the ledger.
 * @param given its clock decides which dates are over; default: the database's clock
 */
export async function openPulls(
  config: Config,
  logger: Logger,
  staging: OpenStaging,
  given: Pick<PullParts, 'platform' | 'features' | 'now'>,
): Promise<PullParts> {
  const at = given.now?.() ?? (await readClock(staging.database));
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

/**
 * Returns START_DATE, or the last date that is over.
 * @throws ConfigError when START_DATE is not over
 */
export function startDateOf({ timezone: timeZone, startDate }: Config, now: Date): CivilDate {
  const yesterday = lastClosedDate(timeZone, now);
  if (startDate === null || startDate <= yesterday) return startDate ?? yesterday;
  throw new ConfigError([
    `START_DATE: got "${startDate}", expected a date that is over: in ${timeZone} the last one is ${yesterday}`,
  ]);
}

async function ensureStartDate(config: Config, logger: Logger, database: Database, now: Date) {
  const { startDate: given } = config;
  const startDate = await ensureCheckpoint(database.prisma, startDateOf(config, now));
  if (given !== null && given !== startDate) {
    logger.warn(
      { startDate, ignored: given },
      'START_DATE is ignored: the ledger already began on another date; "conciliation start-date set" corrects that date',
    );
  }
}
