import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { PullOrigin } from '../planner/pull-plan.ts';
import type { PullState } from './pull-state.ts';

export interface CheckpointRow {
  readonly startDate: CivilDate;
  /** Null until the first date is reconciled. */
  readonly lastReconciledDate: CivilDate | null;
}

export interface PullRow {
  readonly id: number;
  readonly origin: PullOrigin;
  readonly date: CivilDate;
  readonly state: PullState;
  readonly attempts: number;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly startedAt: Date | null;
}

/** Returns null when this database never had a pull. */
export async function readCheckpoint(database: Database): Promise<CheckpointRow | null> {
  const row = await database.prisma.checkpoint.findFirst();
  return row && { startDate: row.startDate, lastReconciledDate: row.lastReconciledDate };
}

/** The newest pulls that have not ended: queued, running, or waiting for a person. */
export async function readOpenPulls(database: Database): Promise<PullRow[]> {
  const pulls = await database.prisma.pull.findMany({
    where: { state: { in: ['queued', 'running', 'held'] } },
    orderBy: { id: 'desc' },
    take: 20,
  });
  return pulls.map((pull) => ({
    id: Number(pull.id),
    origin: pull.origin as PullOrigin,
    date: pull.date,
    state: pull.state as PullState,
    attempts: pull.attempts,
    errorCode: pull.errorCode,
    errorMessage: pull.errorMessage,
    startedAt: pull.fetchStartedAt,
  }));
}

export interface RejectRow {
  readonly date: CivilDate;
  readonly ordinal: number;
  readonly reasons: readonly string[];
}

/** The rejects of a date that wait for a decision, in the order of the response. */
export async function readOpenRejects(database: Database, date: CivilDate): Promise<RejectRow[]> {
  const rejects = await database.prisma.rejectedTitle.findMany({
    where: { date, status: 'open' },
    select: { ordinal: true, reasons: true },
    orderBy: { ordinal: 'asc' },
  });
  return rejects.map(({ ordinal, reasons }) => ({ date, ordinal, reasons }));
}
