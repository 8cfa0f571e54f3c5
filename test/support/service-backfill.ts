import { expect } from 'vitest';
import { datesBetween } from '../../src/base/values/business-day.ts';
import {
  createBackfill,
  readBackfillProgress,
} from '../../src/features/backfills/backfill-ledger.sql.ts';
import type { BackfillRange } from '../../src/features/backfills/backfill-plan.ts';
import { TODAY } from './pull-world.ts';
import { predictTitles, readTitles } from './service-titles.ts';
import {
  eventually,
  inServiceWorld,
  nothingDue,
  readPulls,
  SANDBOX,
  type ServiceQueue,
  type ServiceWorld,
} from './service-world.ts';

/** Slow enough an answer for a backfill to have a middle. */
const LATENCY_MS = 100;
const CONCURRENCY = 3;

/** A world in which a backfill is the only work. */
export interface BackfillWorld extends ServiceWorld {
  /** Waits until so many days of it are pulled. */
  untilDone(days: number): Promise<void>;
  /** The pulls that are being made at this moment, as the log names them. */
  readRunning(): Promise<string[]>;
  /**
   * Waits for the backfill's end and compares: every title of every day, one pull a date that has
   * spent the one attempt that succeeded, and nothing that had to be mended later.
   */
  expectExact(): Promise<void>;
}

export const withBackfill = (
  queue: ServiceQueue['name'],
  range: BackfillRange,
  use: (world: BackfillWorld) => Promise<void>,
) =>
  inServiceWorld(queue, { redisDatabase: 10, environment: nothingDue() }, async (world) => {
    delayAnswers(world, LATENCY_MS);
    const request = { range, concurrency: CONCURRENCY, by: 'test' };
    const id = await createBackfill(world.database, request, TODAY);
    await use(toBackfillWorld(world, range, id));
  });

function toBackfillWorld(world: ServiceWorld, range: BackfillRange, id: bigint): BackfillWorld {
  const { database } = world;
  const dates = datesBetween(range.from, range.to);
  return {
    ...world,
    async untilDone(days) {
      await eventually(async () => {
        const progress = await readBackfillProgress(database, id);
        expect(progress?.done).toBeGreaterThanOrEqual(days);
      });
    },
    async readRunning() {
      const rows = await database.prisma.$queryRaw<{ id: string }[]>`
        SELECT id::text AS id FROM conciliation.pull WHERE state = 'running'`;
      return rows.map((row) => row.id);
    },
    async expectExact() {
      await eventually(async () =>
        expect(await readBackfillProgress(database, id)).toMatchObject({
          state: 'done',
          done: dates.length,
        }),
      );
      expect(await readTitles(database)).toEqual(predictTitles(SANDBOX, range.from, range.to));
      expect(await readPulls(world)).toEqual(
        dates.map((date) => ({ date, state: 'merged', attempts: 1 })),
      );
      const days = await database.prisma.$queryRaw<unknown[]>`
        SELECT date::text AS date, state FROM conciliation.day ORDER BY date`;
      expect(days).toEqual(dates.map((date) => ({ date, state: 'reconciled' })));
      const revisions = await database.prisma.$queryRaw<unknown[]>`
        SELECT kind FROM conciliation.title_revision`;
      expect(revisions).toEqual([]);
    },
  };
}

/** Every answer from now on comes so late. */
export function delayAnswers({ sandbox }: ServiceWorld, latencyMs: number): void {
  sandbox.faults.clear();
  sandbox.faults.add({ kind: 'latency', latencyMs, times: 'forever' });
}

/** How often each date was asked for. */
export function requestsByDate(world: ServiceWorld): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { query } of world.sandbox.requests) {
    const date = query['conciliationDate'] ?? 'none';
    counts[date] = (counts[date] ?? 0) + 1;
  }
  return counts;
}
