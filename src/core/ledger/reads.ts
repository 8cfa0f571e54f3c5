import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { PullOrigin } from '../planner/pull-plan.ts';
import type { PullState } from './pull-ledger.sql.ts';

/** Returns null when this database never had a pull. `lastReconciledDate` is null until the first date is reconciled. */
export async function readCheckpoint(database: Database) {
  const row = await database.prisma.checkpoint.findFirst();
  return row && { startDate: row.startDate, lastReconciledDate: row.lastReconciledDate };
}

/** Returns who paused the schedule, when and why; null: it is not paused. */
export async function readPause(database: Database) {
  const { pausedAt, pausedBy, pauseReason } = (await database.prisma.checkpoint.findFirst()) ?? {};
  return pausedAt && { at: pausedAt, by: String(pausedBy), reason: String(pauseReason) };
}

export type Pause = NonNullable<Awaited<ReturnType<typeof readPause>>>;

/** The newest pulls that have not ended: queued, running, or waiting for a person. */
export async function readOpenPulls(database: Database) {
  const pulls = await database.prisma.pull.findMany({
    where: { state: { in: ['queued', 'running', 'held'] } },
    orderBy: { id: 'desc' },
    take: 20,
  });
  return pulls.map(({ date, attempts, errorCode, errorMessage, ...pull }) => ({
    id: Number(pull.id),
    origin: pull.origin as PullOrigin,
    date,
    state: pull.state as PullState,
    attempts,
    errorCode,
    errorMessage,
    startedAt: pull.fetchStartedAt,
  }));
}

export type PullRow = Awaited<ReturnType<typeof readOpenPulls>>[number];

/** The rejects of a date that wait for a decision, in the order of the response. */
export async function readOpenRejects(database: Database, date: CivilDate) {
  const rejects = await database.prisma.rejectedTitle.findMany({
    where: { date, status: 'open' },
    select: { ordinal: true, reasons: true },
    orderBy: { ordinal: 'asc' },
  });
  return rejects.map(({ ordinal, reasons }) => ({ date, ordinal, reasons }));
}

export type RejectRow = Awaited<ReturnType<typeof readOpenRejects>>[number];

/** The pulls of a date, newest first. */
export async function readDayPulls(database: Database, date: CivilDate, limit: number) {
  const pulls = await database.prisma.pull.findMany({
    where: { date },
    orderBy: { id: 'desc' },
    take: limit,
  });
  return pulls.map((pull) => ({
    ...pull,
    id: Number(pull.id),
    origin: pull.origin as PullOrigin,
    state: pull.state as PullState,
    /** Whether a person released it. */
    isReleased: pull.decidedAt !== null,
  }));
}

export type DayPull = Awaited<ReturnType<typeof readDayPulls>>[number];

/** Returns the rejects of a date, open ones first. `raw` is personal data, and absent unless requested. */
export async function readDayRejects(
  database: Database,
  date: CivilDate,
  options: { readonly withRaw: boolean; readonly limit: number },
) {
  const rejects = await database.prisma.rejectedTitle.findMany({
    where: { date, status: { not: 'resolved' } },
    omit: { raw: !options.withRaw },
    orderBy: [{ status: 'desc' }, { ordinal: 'asc' }],
    take: options.limit,
  });
  return rejects.map((reject) => ({
    ...reject,
    id: Number(reject.id),
    status: reject.status as 'open' | 'accepted',
    rawBytes: Number(reject.rawBytes),
  }));
}

export type DayReject = Awaited<ReturnType<typeof readDayRejects>>[number];
