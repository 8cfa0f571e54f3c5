import type { CivilDate } from '../domain/business-day.ts';
import type { HoldReason } from '../domain/day-state.ts';
import type { PullOrigin } from '../domain/pull-plan.ts';
import type { PullState } from '../domain/pull-state.ts';
import type { Database } from './database.ts';
import { inStaging } from './in-staging.ts';
import type { DateOutcome } from './pull-outcome.ts';

/** A pull that spoke about a date, or is about to. */
export interface DayPull {
  readonly id: number;
  readonly origin: PullOrigin;
  readonly isSweep: boolean;
  readonly state: PullState;
  /** What it did to this date; null: nothing yet, or it failed. */
  readonly outcome: DateOutcome | null;
  readonly holdReason: HoldReason | null;
  readonly requestedBy: string;
  readonly attempts: number;
  readonly fetchedAt: Date | null;
  readonly createdAt: Date;
  readonly inserted: number | null;
  readonly changed: number | null;
  readonly withdrawn: number | null;
  readonly restored: number | null;
  readonly rejected: number | null;
  readonly errorCode: string | null;
  readonly decidedBy: string | null;
  readonly reason: string | null;
}

/** The pulls of a date, newest first: of its own day, and sweeps that had something to say about it. */
export function readDayPulls(
  database: Database,
  date: CivilDate,
  limit: number,
): Promise<DayPull[]> {
  return inStaging(
    () => database.prisma.$queryRaw<DayPull[]>`
      WITH spoke AS (
        SELECT pull_id AS id FROM conciliation.pull_date WHERE date = ${date}::date
        UNION
        SELECT id FROM conciliation.pull
        WHERE window_from = ${date}::date AND window_to = ${date}::date
      )
      SELECT pull.id::float8 AS id, pull.origin, pull.window_to IS NULL AS "isSweep", pull.state,
             told.outcome, told.hold_reason AS "holdReason", pull.requested_by AS "requestedBy",
             pull.attempts, pull.fetch_started_at AS "fetchedAt", pull.created_at AS "createdAt",
             told.inserted, told.changed, told.withdrawn, told.restored, told.rejected,
             pull.error_code AS "errorCode", told.decided_by AS "decidedBy", told.reason
      FROM spoke JOIN conciliation.pull pull USING (id)
      LEFT JOIN conciliation.pull_date told ON told.pull_id = pull.id AND told.date = ${date}::date
      ORDER BY pull.id DESC LIMIT ${limit}`,
  );
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
  return inStaging(
    () => database.prisma.$queryRaw<DayReject[]>`
      SELECT id::float8 AS id, ordinal, status, reasons, raw_bytes::float8 AS "rawBytes",
             decided_by AS "decidedBy", reason, CASE WHEN ${options.withRaw} THEN raw END AS raw
      FROM conciliation.rejected_title
      WHERE date = ${date}::date AND status <> 'resolved'
      ORDER BY status DESC, ordinal LIMIT ${options.limit}`,
  );
}
