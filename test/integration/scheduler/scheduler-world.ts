import { onlyJobs } from '../../../src/app/engine.ts';
import { FEATURES } from '../../../src/app/features.ts';
import { type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { createPull } from '../../../src/core/ledger/pull-requests.sql.ts';
import {
  createPlanner,
  type PlannerConfig,
  type PlannerParts,
  type WakeUpQueue,
} from '../../../src/core/planner/planner.sql.ts';
import { createMigratedDatabase, openAnother } from '../../support/database.ts';
import { logger } from '../../support/logger.ts';

export const TIME_ZONE = 'America/Sao_Paulo';
export const YESTERDAY = toCivilDate('2026-03-10');
/** 06:00 of the day after YESTERDAY, a Wednesday: the slot itself. */
export const SLOT = new Date('2026-03-11T09:00:00Z');

export const CONFIG: PlannerConfig = {
  timeZone: TIME_ZONE,
  pullCron: '0 6 * * *',
  lookbackDays: 2,
  startDate: toCivilDate('2026-03-01'),
  maxOpenBackfillPulls: 3,
};

/** A queue that keeps what it is given until a test takes it out. */
export class QueueInMemory implements WakeUpQueue {
  readonly jobs = new Set<bigint>();
  readonly enqueued: bigint[] = [];

  async enqueue(pullId: bigint): Promise<void> {
    this.jobs.add(pullId);
    this.enqueued.push(pullId);
  }

  async jobsOf(pullIds: readonly bigint[]): Promise<Set<bigint>> {
    return new Set(pullIds.filter((pullId) => this.jobs.has(pullId)));
  }
}

export interface PullLine {
  readonly id: bigint;
  readonly origin: string;
  readonly from: CivilDate;
  readonly state: string;
  readonly slotAt: Date | null;
}

/** A separate migrated database and a queue, without workers: the tests decide the outcome of pulls. */
export type SchedulerWorld = Awaited<ReturnType<typeof openSchedulerWorld>>;

export async function openSchedulerWorld() {
  const { url, database, close } = await createMigratedDatabase();
  const queue = new QueueInMemory();
  const sweepQueue = new QueueInMemory();
  const pushQueue = new QueueInMemory();
  const pulls = () => database.prisma.$queryRaw<PullLine[]>`
    SELECT id, origin, date::text AS "from", state, slot_at AS "slotAt"
    FROM conciliation.pull ORDER BY id`;
  return {
    database,
    prisma: database.prisma,
    queue,
    sweepQueue,
    pushQueue,
    /** The queues that a test gives replace those of the world. */
    planner: ({
      queue: pull = queue,
      pushQueue: push = pushQueue,
      ...parts
    }: Partial<PlannerParts> & Partial<Record<'queue' | 'pushQueue', WakeUpQueue>> = {}) =>
      createPlanner({
        database,
        features: FEATURES,
        onlyJobs: onlyJobs(database, { sweepCron: '0 3 * * 0', timezone: TIME_ZONE }),
        queues: { pull, sweep: sweepQueue, push },
        config: CONFIG,
        logger,
        now: () => SLOT,
        ...parts,
      }),
    otherDatabase: () => openAnother(url),
    pulls,
    create: (date: CivilDate, requestedBy = 'test') =>
      createPull(database, { origin: 'manual', date, requestedBy }),
    outline: async () => (await pulls()).map(({ origin, from }) => `${origin} ${from}`),
    /** Ends pulls as a worker would have. */
    async end(state: 'merged' | 'failed', where?: { readonly from: CivilDate }) {
      const ended = await database.prisma.$queryRaw<{ id: bigint }[]>`
        UPDATE conciliation.pull
        SET state = ${state}, fetch_started_at = ${SLOT}, finished_at = now()
        WHERE state IN ('queued', 'running')
          AND (${where?.from ?? null}::date IS NULL OR date = ${where?.from ?? null}::date)
        RETURNING id`;
      for (const { id } of ended) queue.jobs.delete(id);
    },
    /** Forgets everything, the checkpoint too. */
    async reset() {
      await database.prisma.$executeRaw`
        TRUNCATE conciliation.pull, conciliation.sweep, conciliation.day, conciliation.checkpoint, conciliation.backfill CASCADE`;
      for (const { jobs, enqueued } of [queue, sweepQueue, pushQueue]) {
        jobs.clear();
        enqueued.length = 0;
      }
    },
    close,
  };
}
