/** Pulls by the product in a process of its own, put together by the composition root as the service is. */
import { FEATURES } from '#dist/app/features.js';
import { openPlatform, openPulls, openStaging } from '#dist/app/parts.js';
import { readConfig } from '#dist/base/config/config.js';
import { createLogger } from '#dist/base/runtime/logger.js';
import type { CivilDate } from '#dist/base/values/business-day.js';
import { createPull } from '#dist/core/ledger/pull-requests.sql.js';
import type { PullReport } from '#dist/core/merge/merge.sql.js';
import { runPull } from '#dist/core/work/run-pull.js';
import { answerParent } from './child.ts';
import { type MeterReading, startMeter } from './meter.ts';

interface EngineOptions {
  readonly baseUrl: string;
  readonly databaseUrl: string;
  /** The start date of the ledger, if the database has none. */
  readonly startDate: CivilDate;
  readonly today: CivilDate;
}

export interface Pulls extends EngineOptions {
  /** The code of a service that has run for days is warm, so a small pull into another database may go first. */
  readonly warmUp?: { readonly databaseUrl: string; readonly date: CivilDate };
  readonly dates: readonly CivilDate[];
  readonly pullsAtOnce: number;
}

const COUNTS = [
  'titles',
  'rejected',
  'inserted',
  'changed',
  'withdrawn',
  'restored',
  'unchanged',
] as const;
export type PullCounts = Record<(typeof COUNTS)[number], number>;

const logger = createLogger({ logLevel: 'error' });

async function openEngine({ baseUrl, databaseUrl, startDate, today }: EngineOptions) {
  const environment = {
    DATABASE_URL: databaseUrl,
    PLATFORM_BASE_URL: baseUrl,
    PLATFORM_TOKEN: 'bench',
    START_DATE: startDate,
  };
  const config = readConfig(environment, { platform: true });
  const staging = await openStaging(config, logger);
  const platform = openPlatform(config);
  const parts = await openPulls(config, logger, staging, { platform, features: FEATURES });
  return {
    parts: { ...parts, now: () => new Date(`${today}T12:00:00Z`) },
    async close() {
      await platform.close();
      await staging.close();
    },
  };
}

type Engine = Awaited<ReturnType<typeof openEngine>>;

async function pullOnce({ parts }: Engine, date: CivilDate): Promise<PullReport> {
  const pullId = await createPull(parts.database, { origin: 'daily', date, requestedBy: 'bench' });
  const outcome = await runPull(parts, pullId, new AbortController().signal);
  if (outcome.kind !== 'done') throw outcome.error;
  return outcome.report;
}

async function pull({ warmUp, dates, pullsAtOnce, ...options }: Pulls) {
  if (warmUp !== undefined) {
    const warm = await openEngine({ ...options, databaseUrl: warmUp.databaseUrl });
    await pullOnce(warm, warmUp.date);
    await warm.close();
  }
  const engine = await openEngine(options);
  // Writes what earlier work left to be written, so that the pulls do not pay for it.
  await engine.parts.database.pool.query('CHECKPOINT');
  const readMeter = startMeter();
  const reports: PullReport[] = [];
  const waiting = dates.values();
  const pullAll = async () => {
    for (const date of waiting) reports.push(await pullOnce(engine, date));
  };
  await Promise.all(Array.from({ length: pullsAtOnce }, pullAll));
  const measured: MeterReading = readMeter();
  await engine.close();
  const sum = (field: keyof PullCounts) =>
    reports.reduce((total, report) => total + report[field], 0);
  const counts = Object.fromEntries(COUNTS.map((field) => [field, sum(field)])) as PullCounts;
  return { ...measured, ...counts };
}
export type EngineProgram = typeof pull;

answerParent(pull);
