import type { Database } from '../../base/database/database.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { type Language, textOf } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { capitalised } from '../../base/values/display-text.ts';
import { ALERT_KINDS, ALERTS, type AlertKind } from './alerts.ts';
import type { AlertChannel, Channel, Message } from './channels.ts';

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
async function recordMissedDelivery(
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
function takeDueAlerts(database: Database): Promise<DueAlert[]> {
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

/**
 * alerts/ derives alerts from the ledger and delivers them to the configured channels or, without a channel,
 * to the log: when an alert is raised, when it is resolved, and an hour or a day after the last message if the
 * message has changed. Undelivered alerts wait in the database for each channel, so a process may stop at any time. If a
 * process stops between a channel's answer and the record of it, the delivery is repeated with the same id.
 */

export interface DeliveryParts {
  readonly database: Database;
  readonly logger: Logger;
  /** None: alerts go to the log only. */
  readonly channels: readonly Channel[];
  readonly style: MessageStyle;
}

/** How long a claim outlasts the longest possible delivery, in milliseconds. */
export const LEASE_MARGIN_MS = 60_000;

/**
 * Delivers the alerts that are due to each channel, oldest first. A channel stops at the first delivery that
 * fails: the others would probably fail too, and wait for the next call. Several processes may call this
 * function at the same time.
 * @returns the number of successful deliveries
 * @throws StagingUnavailableError when the database is not available
 * @throws ConfigError when a channel cannot be used; no attempt counts for that channel
 */
export async function deliverAlerts(parts: DeliveryParts, signal: AbortSignal): Promise<number> {
  const { database, logger, channels } = parts;
  if (channels.length === 0) {
    for (const alert of await takeDueAlerts(database)) logAlert(logger, alert);
    return 0;
  }
  const names = channels.map(({ name }) => name);
  await announceAlerts(database, names);
  const delivered = await settleAll(channels.map((channel) => deliverTo(channel, parts, signal)));
  return delivered.reduce((sum, count) => sum + count, 0);
}

/** Waits for all, then throws the first error. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

async function deliverTo(
  channel: Channel,
  { database, logger, style }: DeliveryParts,
  signal: AbortSignal,
): Promise<number> {
  await channel.prepare();
  const claim = {
    channel: channel.name,
    language: style.language,
    leaseMs: channel.timeoutMs + LEASE_MARGIN_MS,
  };
  let delivered = 0;
  while (!signal.aborted) {
    const alert = await claimDueAlert(database, claim);
    if (alert === null) break;
    const fields = { ...describeAlert(alert), channel: channel.name };
    const fault = await channel.send(alertMessage(alert, style), signal);
    if (fault !== null) {
      const nextDeliveryAt = await recordMissedDelivery(database, channel.name, alert);
      const { attempts } = alert;
      logger.warn({ ...fields, attempts, nextDeliveryAt, fault }, 'alert not delivered');
      break;
    }
    await recordDelivery(database, channel.name, alert);
    logger.info(fields, 'alert delivered');
    delivered += 1;
  }
  return delivered;
}

function logAlert(logger: Logger, alert: DueAlert): void {
  if (alert.resolvedAt === null) logger.warn(describeAlert(alert), 'alert raised');
  else logger.info(describeAlert(alert), 'alert resolved');
}

function describeAlert(alert: DueAlert) {
  return {
    alertId: String(alert.id),
    kind: alert.kind,
    state: stateOf(alert),
    alert: alert.message,
    date: alert.date,
    pullId: alert.pullId === null ? null : String(alert.pullId),
  };
}

/** How messages are written. */
export interface MessageStyle {
  readonly language: Language;
  readonly timeZone: string;
  /** Address of the console; null: messages have no link. */
  readonly consoleUrl: URL | null;
}

type AlertState = 'raised' | 'updated' | 'resolved';

function stateOf(alert: DueAlert): AlertState {
  if (alert.resolvedAt !== null) return 'resolved';
  return alert.deliveries === 0 ? 'raised' : 'updated';
}

export function alertMessage(alert: DueAlert, style: MessageStyle): Message {
  const { kind, date, pullId, raisedAt, resolvedAt } = alert;
  const text = textOf(style.language);
  const state = stateOf(alert);
  const { severity } = ALERTS[kind];
  // The last message may name more than the state at the end.
  const sentence = state === 'resolved' ? (alert.deliveredMessage ?? alert.message) : alert.message;
  const prefix = state === 'raised' ? null : text(`alerts.states.${state}`);
  const from = instantText(raisedAt, style);
  const duration =
    resolvedAt === null
      ? text('alerts.since', { from })
      : text('alerts.lasted', { from, until: instantText(resolvedAt, style) });
  const nextStep = state === 'resolved' ? null : text(`alerts.nextSteps.${kind}`);
  const link = style.consoleUrl === null ? null : new URL(pageOf(kind, date), style.consoleUrl);
  const message = prefix === null ? sentence : `${prefix}: ${sentence}`;
  const thread = `alert-${alert.id}-raised`;
  return {
    id: `alert-${alert.id}-${state === 'updated' ? `updated-${alert.deliveries}` : state}`,
    thread,
    severity: state === 'resolved' ? null : severity,
    title: `${prefix ?? text(`alerts.severities.${severity}`)}: ${text(`alerts.kinds.${kind}`)}`,
    paragraphs: [
      `${capitalised(sentence)}.`,
      duration,
      ...(nextStep === null ? [] : [text('alerts.nextStep', { step: nextStep })]),
    ],
    link: link === null ? null : { url: link, label: text('alerts.openPage') },
    document: {
      kind,
      state,
      severity,
      message: resolvedAt === null ? message : `${message}. ${duration}`,
      date,
      pullId: pullId === null ? null : Number(pullId),
      raisedAt: raisedAt.toISOString(),
      resolvedAt: resolvedAt?.toISOString() ?? null,
      nextStep,
      link: link?.href ?? null,
      runbook: `docs/operating.md#${kind}`,
    },
  };
}

/** The page that shows what the alert is about. The message names the dates; a link leads to the oldest. */
export function pageOf(kind: AlertKind, date: CivilDate | null): string {
  return ALERTS[kind].page ?? (date === null ? '/alerts' : `/days/${date}`);
}

/** Date and time in the configured time zone, with the offset. */
function instantText(at: Date, { language, timeZone }: MessageStyle): string {
  const parts = new Intl.DateTimeFormat(language === 'en' ? 'sv-SE' : language, {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return parts.format(at);
}
