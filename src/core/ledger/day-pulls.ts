import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { PullOrigin } from '../planner/pull-plan.ts';
import type { HoldReason } from './day-state.ts';
import type { PullState } from './pull-state.ts';

/** A pull of a date. */
export interface DayPull {
  readonly id: number;
  readonly origin: PullOrigin;
  readonly state: PullState;
  /** Whether a person released it. */
  readonly isReleased: boolean;
  readonly holdReason: HoldReason | null;
  readonly requestedBy: string;
  readonly attempts: number;
  readonly fetchedAt: Date | null;
  readonly createdAt: Date;
  readonly inserted: number | null;
  readonly changed: number | null;
  readonly withdrawn: number | null;
  readonly restored: number | null;
  readonly withheld: number | null;
  readonly rejected: number | null;
  readonly errorCode: string | null;
  readonly decidedBy: string | null;
  readonly reason: string | null;
}

/** The pulls of a date, newest first. */
export async function readDayPulls(
  database: Database,
  date: CivilDate,
  limit: number,
): Promise<DayPull[]> {
  const pulls = await database.prisma.pull.findMany({
    where: { date },
    orderBy: { id: 'desc' },
    take: limit,
  });
  return pulls.map((pull) => ({
    id: Number(pull.id),
    origin: pull.origin as PullOrigin,
    state: pull.state as PullState,
    isReleased: pull.decidedAt !== null,
    holdReason: pull.holdReason as HoldReason | null,
    requestedBy: pull.requestedBy,
    attempts: pull.attempts,
    fetchedAt: pull.fetchStartedAt,
    createdAt: pull.createdAt,
    inserted: pull.inserted,
    changed: pull.changed,
    withdrawn: pull.withdrawn,
    restored: pull.restored,
    withheld: pull.withheld,
    rejected: pull.rejected,
    errorCode: pull.errorCode,
    decidedBy: pull.decidedBy,
    reason: pull.reason,
  }));
}

export interface DayReject {
  readonly id: number;
  readonly ordinal: number;
  readonly status: 'open' | 'accepted';
  readonly reasons: readonly string[];
  readonly rawBytes: number;
  readonly decidedBy: string | null;
  readonly reason: string | null;
  /** Personal data; null unless requested. */
  readonly raw: string | null;
}

/** Returns the rejects of a date, open ones first. */
export async function readDayRejects(
  database: Database,
  date: CivilDate,
  options: { readonly withRaw: boolean; readonly limit: number },
): Promise<DayReject[]> {
  const rejects = await database.prisma.rejectedTitle.findMany({
    where: { date, status: { not: 'resolved' } },
    omit: { raw: !options.withRaw },
    orderBy: [{ status: 'desc' }, { ordinal: 'asc' }],
    take: options.limit,
  });
  return rejects.map((reject) => ({
    id: Number(reject.id),
    ordinal: reject.ordinal,
    status: reject.status as DayReject['status'],
    reasons: reject.reasons,
    rawBytes: Number(reject.rawBytes),
    decidedBy: reject.decidedBy,
    reason: reject.reason,
    raw: reject.raw ?? null,
  }));
}
