import type { Database } from '../database/database.ts';
import type { AlertKind } from '../domain/alert.ts';
import type { CivilDate } from '../domain/business-day.ts';

/** A state of an alert, raised or resolved, that is not delivered yet. */
export interface DueAlert {
  readonly id: bigint;
  readonly kind: AlertKind;
  readonly message: string;
  readonly date: CivilDate | null;
  readonly pullId: bigint | null;
  readonly raisedAt: Date;
  /** Null: the alert lasts. */
  readonly resolvedAt: Date | null;
  /** Tried deliveries, including this one. */
  readonly attempts: number;
}

/**
 * Claims the alert that has been due the longest for `leaseMs`. If this process dies, the alert is
 * due again after that time. Null: none is due.
 */
export async function claimDueAlert(database: Database, leaseMs: number): Promise<DueAlert | null> {
  const [alert] = await database.prisma.$queryRaw<[DueAlert?]>`
    UPDATE conciliation.alert
    SET delivery_attempts = delivery_attempts + 1,
        next_delivery_at = clock_timestamp() + make_interval(secs => ${leaseMs / 1000}::float8)
    WHERE id = (
      SELECT id FROM conciliation.alert WHERE next_delivery_at <= clock_timestamp()
      ORDER BY next_delivery_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING id, kind, message, date::text AS date, pull_id AS "pullId",
              raised_at AS "raisedAt", resolved_at AS "resolvedAt", delivery_attempts AS attempts`;
  return alert ?? null;
}

/**
 * Records that the claimed state was delivered. An alert that was resolved meanwhile is due again
 * immediately. The count of attempts identifies the claim: a process that has lost its claim
 * changes nothing.
 */
export async function recordDelivery(database: Database, alert: DueAlert): Promise<void> {
  await database.prisma.$executeRaw`
    UPDATE conciliation.alert
    SET delivered_at = clock_timestamp(),
        next_delivery_at = CASE WHEN (resolved_at IS NOT NULL) <> ${alert.resolvedAt !== null}
                                THEN clock_timestamp() END
    WHERE id = ${alert.id} AND delivery_attempts = ${alert.attempts}`;
}

/**
 * Records that the delivery of the claimed state failed. The next try waits as long as the state
 * has waited so far, which doubles the wait each time, but at least 30 seconds and at most an hour.
 * After a day there are no further tries.
 * @returns the time of the next try; null: given up, or claimed by another process
 */
export async function recordMissedDelivery(
  database: Database,
  alert: DueAlert,
): Promise<Date | null> {
  const [row] = await database.prisma.$queryRaw<[{ nextDeliveryAt: Date | null }?]>`
    UPDATE conciliation.alert
    SET next_delivery_at =
      CASE WHEN clock_timestamp() - coalesce(resolved_at, raised_at) < interval '1 day'
           THEN clock_timestamp() + least(interval '1 hour', greatest(interval '30 seconds',
                  clock_timestamp() - coalesce(resolved_at, raised_at))) END
    WHERE id = ${alert.id} AND delivery_attempts = ${alert.attempts}
    RETURNING next_delivery_at AS "nextDeliveryAt"`;
  return row?.nextDeliveryAt ?? null;
}

/** Takes all due alerts without planning a delivery, for a process without a webhook. */
export function takeDueAlerts(database: Database): Promise<DueAlert[]> {
  return database.prisma.$queryRaw<DueAlert[]>`
    UPDATE conciliation.alert
    SET next_delivery_at = NULL
    WHERE id IN (
      SELECT id FROM conciliation.alert WHERE next_delivery_at <= clock_timestamp()
      ORDER BY id FOR UPDATE SKIP LOCKED
    )
    RETURNING id, kind, message, date::text AS date, pull_id AS "pullId",
              raised_at AS "raisedAt", resolved_at AS "resolvedAt", delivery_attempts AS attempts`;
}
