import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';

export const SWEEP_STATES = ['queued', 'running', 'complete', 'failed'] as const;
type SweepState = (typeof SWEEP_STATES)[number];

/** A sweep for people. The results of a complete sweep are null in any other state. */
export interface SweepRow {
  readonly id: number;
  readonly from: CivilDate;
  readonly state: SweepState;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly titles: number | null;
  readonly datesCompared: number | null;
  readonly datesDiffering: number | null;
  readonly undatedTitles: number | null;
  readonly futureTitles: number | null;
  readonly earlyTitles: number | null;
  readonly overLimit: boolean;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/** The newest sweeps first. */
export function readSweeps(database: Database, limit: number): Promise<SweepRow[]> {
  return database.prisma.$queryRaw<SweepRow[]>`
    SELECT id::float8 AS id, from_date::text AS "from", state, attempts, created_at AS "createdAt",
           fetch_started_at AS "startedAt", finished_at AS "finishedAt", titles,
           dates_compared AS "datesCompared", dates_differing AS "datesDiffering",
           undated_titles AS "undatedTitles", future_titles AS "futureTitles",
           early_titles AS "earlyTitles", over_limit AS "overLimit", error_code AS "errorCode",
           error_message AS "errorMessage"
    FROM conciliation.sweep ORDER BY id DESC LIMIT ${limit}`;
}

/** The results of the newest complete sweep. */
export interface CompleteSweep {
  readonly from: CivilDate;
  readonly startedAt: Date;
  readonly datesCompared: number;
  readonly datesDiffering: number;
}

/** Null: no sweep is complete. */
export async function readCompleteSweep(database: Database): Promise<CompleteSweep | null> {
  const [row] = await database.prisma.$queryRaw<[CompleteSweep?]>`
    SELECT from_date::text AS "from", fetch_started_at AS "startedAt",
           dates_compared AS "datesCompared", dates_differing AS "datesDiffering"
    FROM conciliation.sweep WHERE state = 'complete' ORDER BY fence DESC LIMIT 1`;
  return row ?? null;
}
