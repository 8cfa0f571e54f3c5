import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { DayState } from '../../core/ledger/day-state.ts';
import type { SyncState } from '../providers/provider.ts';
import type { AlertKind } from './alerts.ts';

/** The state of the ledger and of the pushes in numbers. A state or kind without rows is absent. */
export interface LedgerGauges {
  /** Days from the checkpoint to the last closed date; null: the ledger is empty. */
  readonly lagDays: number | null;
  /** Seconds since the oldest due pull became due; 0: no pull is due. */
  readonly oldestDueAgeSeconds: number;
  readonly days: Readonly<Partial<Record<DayState, number>>>;
  readonly openAlerts: Readonly<Partial<Record<AlertKind, number>>>;
  /** Seconds since the newest complete sweep sent its request; null: there is none. */
  readonly sweepAgeSeconds: number | null;
  /** The dates of the newest complete sweep. */
  readonly sweepDates: { readonly compared: number; readonly differing: number } | null;
  readonly providers: Readonly<Partial<Record<SyncState, number>>>;
  /** Seconds since the ERP wrote the oldest pending row; 0: no row is pending. */
  readonly oldestPendingProviderAgeSeconds: number;
  /** Bank account changes without a decision. */
  readonly openAccountChanges: number;
}

/**
 * One statement over indexes and small tables, fast enough for every scrape. Days after today, the
 * day after `lastClosedDate`, are not counted.
 */
export async function readLedgerGauges(
  database: Database,
  lastClosedDate: CivilDate,
): Promise<LedgerGauges> {
  const [gauges] = await database.prisma.$queryRaw<[LedgerGauges]>`
    SELECT
      (SELECT greatest(0, ${lastClosedDate}::date - coalesce(last_reconciled_date, start_date - 1))
       FROM conciliation.checkpoint) AS "lagDays",
      (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(coalesce(next_attempt_at, created_at))), 0)::float8
       FROM conciliation.pull
       WHERE state = 'queued' AND coalesce(next_attempt_at, created_at) <= clock_timestamp()
      ) AS "oldestDueAgeSeconds",
      (SELECT coalesce(jsonb_object_agg(state, days), '{}')
       FROM (SELECT state, count(*) AS days FROM conciliation.day
             WHERE date <= ${lastClosedDate}::date + 1 GROUP BY state) AS by_state
      ) AS days,
      (SELECT coalesce(jsonb_object_agg(kind, alerts), '{}')
       FROM (SELECT kind, count(*) AS alerts FROM conciliation.alert
             WHERE resolved_at IS NULL GROUP BY kind) AS by_kind
      ) AS "openAlerts",
      (SELECT extract(epoch FROM clock_timestamp() - max(started_at))::float8
       FROM conciliation.sweep WHERE state = 'complete'
      ) AS "sweepAgeSeconds",
      (SELECT jsonb_build_object('compared', dates_compared, 'differing', dates_differing)
       FROM conciliation.sweep WHERE state = 'complete' ORDER BY started_at DESC LIMIT 1
      ) AS "sweepDates",
      (SELECT coalesce(jsonb_object_agg(sync_state, providers), '{}')
       FROM (SELECT sync_state, count(*) AS providers FROM conciliation.provider GROUP BY sync_state) AS by_state
      ) AS providers,
      (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(changed_at)), 0)::float8
       FROM conciliation.provider WHERE sync_state = 'pending') AS "oldestPendingProviderAgeSeconds",
      (SELECT count(*)::int FROM conciliation.account_change
       WHERE state = 'open') AS "openAccountChanges"`;
  return gauges;
}

/**
 * Resolves when the database answers.
 * @returns how many COMMITs of the program have been under way for so long, for example because a synchronous standby
 * is gone
 */
export async function countHungCommits(database: Database, ms: number): Promise<number> {
  const [row] = await database.prisma.$queryRaw<[{ commits: number }]>`
    SELECT count(*)::int AS commits FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND state = 'active'
      AND query ~* '^commit'
      AND query_start < clock_timestamp() - make_interval(secs => ${ms / 1000}::float8)`;
  return row.commits;
}
