import type { Database } from '../database/database.ts';
import type { AlertKind } from '../domain/alert.ts';
import type { CivilDate } from '../domain/business-day.ts';

/** One state of an alert, raised or resolved, that somebody is still to be told of. */
export interface DueAlert {
  readonly id: bigint;
  readonly kind: AlertKind;
  readonly message: string;
  readonly date: CivilDate | null;
  readonly pullId: bigint | null;
  readonly raisedAt: Date;
  /** Null: it lasts. */
  readonly resolvedAt: Date | null;
  /** Deliveries tried, this one included. */
  readonly attempts: number;
}

/**
 * Takes the alert that has been due the longest, and nobody else gets it for `leaseMs`. Should this
 * process die in between, it is due again after that. Null: none is due.
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
 * The state that was claimed has arrived. An alert that was resolved meanwhile is due again at once,
 * to tell that. The count of attempts is the claim: whoever lost it to another process changes nothing.
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
 * The state that was claimed did not arrive. The next try waits as long as the state has waited
 * already, which doubles the wait each time, but at least 30 seconds and at most an hour; after a day
 * nobody tries any more.
 *
 * @returns when it is tried next; null: given up, or taken over by another process
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

/** Takes everything that is due and plans no delivery: for those who have nowhere to deliver to. */
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
