import type { Database } from '../../base/database/database.ts';
import type { Language } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { ALERT_KINDS, ALERTS, type AlertKind } from './alerts.ts';
import type { AlertChannel } from './channel.ts';

/** An open alert whose message has changed is sent again this long after its last message. */
const UPDATE_HOURS = 1;
const DAILY_UPDATE_HOURS = 24;
const DAILY_KINDS = ALERT_KINDS.filter((kind) => ALERTS[kind].isDaily);

/** A state of an alert that has not reached a channel yet. */
export interface DueAlert {
  readonly id: bigint;
  readonly kind: AlertKind;
  /** In the language of the caller. */
  readonly message: string;
  /** The message that the channel took last; null: none. */
  readonly deliveredMessage: string | null;
  readonly date: CivilDate | null;
  readonly pullId: bigint | null;
  readonly raisedAt: Date;
  /** Null: the alert lasts. */
  readonly resolvedAt: Date | null;
  /** Tried deliveries to the channel, including this one. */
  readonly attempts: number;
  /** Messages about the alert that the channel took. */
  readonly deliveries: number;
}

/**
 * Hands alerts that were raised or resolved to the channels. A delivery that is planned or under
 * way keeps its time.
 */
export async function announceAlerts(
  database: Database,
  channels: readonly AlertChannel[],
): Promise<void> {
  await database.prisma.$executeRaw`
    WITH due AS (
      UPDATE conciliation.alert SET announce_at = NULL
      WHERE id IN (
        SELECT id FROM conciliation.alert WHERE announce_at <= clock_timestamp()
        ORDER BY id FOR UPDATE SKIP LOCKED
      )
      RETURNING id
    )
    INSERT INTO conciliation.alert_delivery AS planned (alert_id, channel, next_attempt_at)
    SELECT due.id, channel, clock_timestamp() FROM due, unnest(${channels}::text[]) AS channel
    ORDER BY due.id, channel
    ON CONFLICT (alert_id, channel) DO UPDATE
    SET next_attempt_at = coalesce(planned.next_attempt_at, excluded.next_attempt_at)`;
}

/**
 * Claims the alert that has been due for the channel the longest for `leaseMs`. If this process dies, the
 * alert is due again after that time. Null: no alert is due.
 */
export async function claimDueAlert(
  database: Database,
  claim: {
    readonly channel: AlertChannel;
    readonly language: Language;
    readonly leaseMs: number;
  },
): Promise<DueAlert | null> {
  const { channel, language, leaseMs } = claim;
  const [alert] = await database.prisma.$queryRaw<[DueAlert?]>`
    UPDATE conciliation.alert_delivery AS delivery
    SET attempts = attempts + 1,
        next_attempt_at = clock_timestamp() + make_interval(secs => ${leaseMs / 1000}::float8)
    FROM conciliation.alert
    WHERE alert.id = delivery.alert_id AND delivery.channel = ${channel}
      AND delivery.alert_id = (
        SELECT due.alert_id
        FROM conciliation.alert_delivery AS due
        JOIN conciliation.alert ON alert.id = due.alert_id
        WHERE due.channel = ${channel}
          AND (due.next_attempt_at <= clock_timestamp()
               OR due.next_attempt_at IS NULL AND alert.resolved_at IS NULL
                  AND due.delivered_at
                      < clock_timestamp() - make_interval(hours =>
                          CASE WHEN alert.kind = ANY(${DAILY_KINDS})
                               THEN ${DAILY_UPDATE_HOURS}::int ELSE ${UPDATE_HOURS}::int END)
                  AND due.delivered_message
                      <> CASE ${language} WHEN 'pt-BR' THEN message_pt ELSE message END)
        ORDER BY due.next_attempt_at, due.alert_id LIMIT 1 FOR UPDATE OF due SKIP LOCKED
      )
    RETURNING alert.id, kind, date::text AS date, pull_id AS "pullId",
              CASE ${language} WHEN 'pt-BR' THEN message_pt ELSE message END AS message,
              delivered_message AS "deliveredMessage", raised_at AS "raisedAt",
              resolved_at AS "resolvedAt", attempts, deliveries`;
  return alert ?? null;
}

/**
 * Records that the channel took the claimed state. An alert that was resolved meanwhile is due again
 * immediately. The count of attempts identifies the claim: a process that has lost its claim
 * changes nothing.
 */
export async function recordDelivery(
  database: Database,
  channel: AlertChannel,
  delivered: DueAlert,
): Promise<void> {
  await database.prisma.$executeRaw`
    UPDATE conciliation.alert_delivery AS delivery
    SET deliveries = deliveries + 1, delivered_at = clock_timestamp(),
        delivered_message = ${delivered.message},
        next_attempt_at = CASE WHEN (resolved_at IS NOT NULL) <> ${delivered.resolvedAt !== null}
                               THEN clock_timestamp() END
    FROM conciliation.alert
    WHERE alert.id = delivery.alert_id AND delivery.alert_id = ${delivered.id}
      AND channel = ${channel} AND attempts = ${delivered.attempts}`;
}

/**
 * Records that the delivery of the claimed state failed. The next try waits as long as the state
 * has waited so far, which doubles the wait each time, but at least 30 seconds and at most an hour.
 * After a day no further delivery is tried, except for an open alert whose message has changed.
 * @returns the time of the next try; null: given up, or claimed by another process
 */
export async function recordMissedDelivery(
  database: Database,
  channel: AlertChannel,
  missed: DueAlert,
): Promise<Date | null> {
  const [row] = await database.prisma.$queryRaw<[{ nextAttemptAt: Date | null }?]>`
    UPDATE conciliation.alert_delivery AS delivery
    SET next_attempt_at =
      CASE WHEN clock_timestamp() - waits_since < interval '1 day'
             OR resolved_at IS NULL AND delivered_at IS NOT NULL
           THEN clock_timestamp() + least(interval '1 hour', greatest(interval '30 seconds',
                  clock_timestamp() - waits_since)) END
    FROM (SELECT id, resolved_at, coalesce(resolved_at, raised_at) AS waits_since
          FROM conciliation.alert) AS alert
    WHERE alert.id = delivery.alert_id AND delivery.alert_id = ${missed.id}
      AND channel = ${channel} AND attempts = ${missed.attempts}
    RETURNING next_attempt_at AS "nextAttemptAt"`;
  return row?.nextAttemptAt ?? null;
}

/** Takes all alerts that were raised or resolved, for a process without a channel. */
export function takeDueAlerts(database: Database): Promise<DueAlert[]> {
  return database.prisma.$queryRaw<DueAlert[]>`
    UPDATE conciliation.alert
    SET announce_at = NULL
    WHERE id IN (
      SELECT id FROM conciliation.alert WHERE announce_at <= clock_timestamp()
      ORDER BY id FOR UPDATE SKIP LOCKED
    )
    RETURNING id, kind, message, NULL AS "deliveredMessage", date::text AS date,
              pull_id AS "pullId", raised_at AS "raisedAt", resolved_at AS "resolvedAt",
              0 AS attempts, 0 AS deliveries`;
}
