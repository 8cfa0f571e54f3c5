import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import type { HoldReason } from '../domain/day-state.ts';
import type { PullOrigin } from '../domain/pull-plan.ts';
import type { PullState } from '../domain/pull-state.ts';

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
export function readDayPulls(
  database: Database,
  date: CivilDate,
  limit: number,
): Promise<DayPull[]> {
  return database.prisma.$queryRaw<DayPull[]>`
    SELECT id::float8 AS id, origin, state, decided_at IS NOT NULL AS "isReleased",
           hold_reason AS "holdReason", requested_by AS "requestedBy", attempts,
           fetch_started_at AS "fetchedAt", created_at AS "createdAt", inserted, changed, withdrawn,
           restored, withheld, rejected, error_code AS "errorCode", decided_by AS "decidedBy", reason
    FROM conciliation.pull WHERE date = ${date}::date
    ORDER BY pull.id DESC LIMIT ${limit}`;
}

export interface DayReject {
  readonly id: number;
  readonly ordinal: number;
  readonly status: 'open' | 'accepted';
  readonly reasons: readonly string[];
  readonly rawBytes: number;
  readonly decidedBy: string | null;
  readonly reason: string | null;
  /** Personal data; null unless asked for. */
  readonly raw: string | null;
}

/** The rejects that count for a date, open ones first. */
export function readDayRejects(
  database: Database,
  date: CivilDate,
  options: { readonly withRaw: boolean; readonly limit: number },
): Promise<DayReject[]> {
  return database.prisma.$queryRaw<DayReject[]>`
    SELECT id::float8 AS id, ordinal, status, reasons, raw_bytes::float8 AS "rawBytes",
           decided_by AS "decidedBy", reason, CASE WHEN ${options.withRaw} THEN raw END AS raw
    FROM conciliation.rejected_title
    WHERE date = ${date}::date AND status <> 'resolved'
    ORDER BY status DESC, ordinal LIMIT ${options.limit}`;
}
