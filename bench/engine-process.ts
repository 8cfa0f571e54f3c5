/** The product in a process of its own, put together by the composition root as the service is. */
import { FEATURES } from '#dist/app/features.js';
import { openPlatform, openPulls, openStaging } from '#dist/app/parts.js';
import { readConfig } from '#dist/base/config/config.js';
import { createLogger } from '#dist/base/runtime/logger.js';
import type { CivilDate } from '#dist/base/values/business-day.js';
import { createPull } from '#dist/core/ledger/pull-ledger.sql.js';
import type { PullReport } from '#dist/core/merge/merge.sql.js';
import { KnownTitles } from '#dist/core/reader/known-texts.js';
import { ResponseReader } from '#dist/core/reader/response-reader.js';
import { sweepWindow } from '#dist/core/title/title-contract.js';
import { runPull } from '#dist/core/work/run-pull.js';
import { runSweep } from '#dist/features/sweep/run-sweep.js';
import { readDates, verifyDate } from '#dist/features/verify/verify.sql.js';
import { answerParent } from './child.ts';
import { type MeterReading, startMeter } from './meter.ts';
import type { PlatformAddress } from './sandbox-process.ts';

export interface EngineOptions {
  readonly address: PlatformAddress;
  readonly databaseUrl: string;
  /** The start date of the ledger, if the database has none. */
  readonly startDate: CivilDate;
  readonly today: CivilDate;
}

/** A pull of the date into a database of its own. */
export interface WarmUp {
  readonly databaseUrl: string;
  readonly date: CivilDate;
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

type Engine = Awaited<ReturnType<typeof openEngine>>;

const logger = createLogger({ logLevel: 'error' });
let opened: Engine | null = null;

async function openEngine({ address, databaseUrl, startDate, today }: EngineOptions) {
  const environment = {
    DATABASE_URL: databaseUrl,
    PLATFORM_BASE_URL: address.baseUrl,
    PLATFORM_TOKEN: address.token,
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

function requireParts() {
  if (opened === null) throw new Error('the engine is not open');
  return opened.parts;
}

async function pullOnce(parts: Engine['parts'], date: CivilDate): Promise<PullReport> {
  const pullId = await createPull(parts.database, { origin: 'daily', date, requestedBy: 'bench' });
  const outcome = await runPull(parts, pullId, new AbortController().signal);
  if (outcome.kind !== 'done') throw outcome.error;
  return outcome.report;
}

const handlers = {
  /** The code of a service that has run for days is warm, so a small pull may go first. */
  async open({ warmUp, ...options }: EngineOptions & { warmUp?: WarmUp }): Promise<void> {
    if (warmUp !== undefined) {
      const warm = await openEngine({ ...options, databaseUrl: warmUp.databaseUrl });
      await pullOnce(warm.parts, warmUp.date);
      await warm.close();
    }
    opened = await openEngine(options);
  },

  async pull({
    dates,
    pullsAtOnce,
  }: {
    dates: readonly CivilDate[];
    pullsAtOnce: number;
  }): Promise<MeterReading & PullCounts> {
    const parts = requireParts();
    const readMeter = startMeter();
    const reports: PullReport[] = [];
    const waiting = dates.values();
    const pullAll = async () => {
      for (const date of waiting) reports.push(await pullOnce(parts, date));
    };
    await Promise.all(Array.from({ length: pullsAtOnce }, pullAll));
    const measured = readMeter();
    const sum = (field: keyof PullCounts) =>
      reports.reduce((total, report) => total + report[field], 0);
    const counts = Object.fromEntries(COUNTS.map((field) => [field, sum(field)])) as PullCounts;
    return { ...measured, ...counts };
  },

  /** Compares the dates from `from` on, which all agree. */
  async sweep({ from }: { from: CivilDate }): Promise<MeterReading & { titles: number }> {
    const parts = requireParts();
    const readMeter = startMeter();
    const outcome = await runSweep(
      parts,
      { from, slotAt: new Date() },
      new AbortController().signal,
    );
    const measured = readMeter();
    if (outcome.kind !== 'done') throw outcome.error;
    const { titles, differences } = outcome.report;
    if (differences.length > 0) throw new Error(`${differences.length} dates differ`);
    return { ...measured, titles };
  },

  /** Reads the answer of a sweep into rows for COPY, and discards the rows. */
  async read({ from }: { from: CivilDate }): Promise<MeterReading & { titles: number }> {
    const { platform } = requireParts();
    const readMeter = startMeter();
    const window = sweepWindow(from);
    const response = await platform.fetchTitles(window, new AbortController().signal);
    const reader = new ResponseReader(response, { fence: 1n, window, known: new KnownTitles(0) });
    let bytes = 0;
    for await (const { rows } of reader.read()) for (const row of rows) bytes += row.length;
    const { accepted: titles, rejected } = reader.result;
    if (rejected > 0 || bytes === 0) throw new Error('a title was rejected, or no row was read');
    return { ...readMeter(), titles };
  },

  /** Makes the daily check of the dates from `from` on, which has no finding. */
  async verify({ from }: { from: CivilDate }): Promise<MeterReading & { titles: number }> {
    const { database } = requireParts();
    const readMeter = startMeter();
    let titles = 0;
    for (const date of (await readDates(database)).filter((known) => known >= from)) {
      const verified = await verifyDate(database, date, new AbortController().signal);
      if (verified.alterations.length > 0) throw new Error(`${date} differs`);
      titles += verified.titles;
    }
    return { ...readMeter(), titles };
  },
};
export type EngineProgram = typeof handlers;

answerParent(handlers, async () => opened?.close());
