import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { AlertKind } from './alerts.ts';

export interface AlertRow {
  readonly id: number;
  readonly kind: AlertKind;
  readonly message: string;
  readonly messagePt: string;
  readonly date: CivilDate | null;
  readonly pullId: number | null;
  readonly raisedAt: Date;
  readonly resolvedAt: Date | null;
  /** When a channel took the last message about the alert; null: none has. */
  readonly deliveredAt: Date | null;
}

/** Alerts that last (`open`), or those that are over. */
export type AlertState = 'open' | 'over';

/** Returns the number of all alerts of each state. */
export async function countAlerts(
  database: Database,
): Promise<Readonly<Record<AlertState, number>>> {
  const { alert } = database.prisma;
  const [open, over] = await Promise.all([
    alert.count({ where: { resolvedAt: null } }),
    alert.count({ where: { resolvedAt: { not: null } } }),
  ]);
  return { open, over };
}

/** Returns open alerts first, then those that are over, newest first; `state` selects one of the two. */
export function readAlerts(
  database: Database,
  {
    limit,
    offset = 0,
    state = null,
  }: { limit: number; offset?: number; state?: AlertState | null },
): Promise<AlertRow[]> {
  return database.prisma.$queryRaw<AlertRow[]>`
    SELECT id::float8 AS id, kind, message, message_pt AS "messagePt", date::text AS date, pull_id::float8 AS "pullId",
           raised_at AS "raisedAt", resolved_at AS "resolvedAt",
           (SELECT max(delivered_at) FROM conciliation.alert_delivery
            WHERE alert_id = alert.id) AS "deliveredAt"
    FROM conciliation.alert
    WHERE ${state}::text IS NULL OR (resolved_at IS NULL) = (${state} = 'open')
    ORDER BY resolved_at IS NOT NULL, id DESC LIMIT ${limit} OFFSET ${offset}`;
}
