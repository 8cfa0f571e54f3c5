/**
 * Delivers alerts and the daily digest to the configured channels; without a channel, alerts are lines of the log. An
 * alert is told when it is raised, when it is resolved, and an hour or a day after the last message if the message has
 * changed. What is not delivered waits in the database for each channel, so a process may stop at any time. If it stops
 * between a channel's answer and the record of it, the delivery is repeated with the same id.
 */
import type { Config } from '../../base/config/config.ts';
import { latestSlot, slotBefore } from '../../base/config/cron-schedule.ts';
import { type Database, readClock } from '../../base/database/database.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { type Loop, loop } from '../../base/runtime/timing.ts';
import { capitalised, type Language, listDates, textOf } from '../../base/texts/texts.ts';
import { type CivilDate, dateIn } from '../../base/values/business-day.ts';
import type { AlertPolicy } from '../../console/alert-entry.ts';
import type { LoopParts } from '../../console/shell/console-parts.ts';
import { wordsOf } from '../../console/shell/page-context.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { headlineOf, type OpenItems, readOpenItems } from '../home/open-items.sql.ts';
import { CAUSE } from './alert-list.sql.ts';
import {
  ALERT_KINDS,
  ALERTS,
  type AlertKind,
  deriveAlerts,
  nextStepOf,
  pageOf,
} from './alerts.sql.ts';
import {
  type AlertChannel,
  type Channel,
  type Message,
  type MessageStyle,
  openChannels,
} from './channels.ts';

/** When the digest is sent, in the configured time zone. */
const DIGEST_CRON = '0 8 * * *';

/** An open alert whose message has changed is sent again this long after its last message. */
const UPDATE_HOURS = 1;
const DAILY_UPDATE_HOURS = 24;
const DAILY_KINDS = ALERT_KINDS.filter((kind) => ALERTS[kind].isDaily);

/** How long a claim outlasts the longest possible delivery, in milliseconds. */
const LEASE_MARGIN_MS = 60_000;

export interface DeliveryParts {
  readonly database: Database;
  readonly logger: Logger;
  /** None: alerts go to the log only. */
  readonly channels: readonly Channel[];
  readonly style: MessageStyle;
  readonly policy: AlertPolicy;
  /** Returns the latest slot of the digest; null: no digest is sent. */
  readonly digestSlotAt: ((now: Date) => Date) | null;
}

export function deliveryPartsOf({ database, logger, config }: LoopParts): DeliveryParts {
  const { alertLanguage: language, timezone: timeZone, consolePublicUrl: consoleUrl } = config;
  return {
    ...{ database, logger, channels: openChannels(config), policy: alertPolicy(config) },
    style: { language, timeZone, consoleUrl },
    digestSlotAt: config.digest ? (now) => latestSlot(DIGEST_CRON, timeZone, now) : null,
  };
}

/** The conditions of alerts, for the scheduler and for each report of the state of the ledger. */
export function alertPolicy(config: Config): AlertPolicy {
  const { erpPayablesMaxAgeHours, timezone: timeZone, sweepCron } = config;
  return {
    timeZone,
    payablesMaxAgeHours: erpPayablesMaxAgeHours,
    sweepSlotBefore: (now) => slotBefore(sweepCron, timeZone, now),
  };
}

/** A claimed message: an alert, or the digest of a slot. */
type Due = {
  readonly deliveryId: bigint;
  /** Tried deliveries, including this one. */
  readonly attempts: number;
} & (
  | (DueAlert & { readonly slotAt: null })
  | { readonly slotAt: Date; readonly message: null; readonly resolvedAt: null }
);

/**
 * Hands alerts that were raised or resolved to the channels, and returns them. A delivery that is planned or under
 * way keeps its time.
 */
export function announceAlerts(
  database: Database,
  channels: readonly AlertChannel[],
): Promise<DueAlert[]> {
  return database.prisma.$queryRaw<DueAlert[]>`
    WITH due AS (
      UPDATE conciliation.alert SET announce_at = NULL
      WHERE id IN (
        SELECT id FROM conciliation.alert WHERE announce_at <= clock_timestamp()
        ORDER BY id FOR UPDATE SKIP LOCKED
      )
      RETURNING *
    ), planned AS (
      INSERT INTO conciliation.message_delivery AS planned (alert_id, channel, next_attempt_at)
      SELECT due.id, channel, clock_timestamp() FROM due, unnest(${channels}::text[]) AS channel
      ORDER BY due.id, channel
      ON CONFLICT (alert_id, channel) DO UPDATE
      SET next_attempt_at = coalesce(planned.next_attempt_at, excluded.next_attempt_at)
    )
    SELECT id, kind, ${CAUSE} AS cause, message, NULL AS "deliveredMessage", date::text AS date, pull_id AS "pullId",
           raised_at AS "raisedAt", resolved_at AS "resolvedAt", 0 AS deliveries
    FROM due ORDER BY id`;
}

/**
 * Plans the digest of a slot for each channel, once over all processes, in place of that of an earlier slot. A slot
 * before the first pull has no digest.
 */
async function planDigest(
  database: Database,
  slotAt: Date,
  channels: readonly AlertChannel[],
): Promise<void> {
  await database.prisma.$executeRaw`
    INSERT INTO conciliation.message_delivery AS planned (slot_at, channel, next_attempt_at)
    SELECT ${slotAt}::timestamptz, channel, clock_timestamp() FROM unnest(${channels}::text[]) AS channel
    WHERE EXISTS (SELECT FROM conciliation.pull WHERE created_at <= ${slotAt}::timestamptz)
    ORDER BY channel
    ON CONFLICT (alert_id, channel) DO UPDATE
    SET slot_at = excluded.slot_at, next_attempt_at = excluded.next_attempt_at
    WHERE planned.slot_at < excluded.slot_at`;
}

/**
 * Claims what has been due for the channel the longest for `leaseMs`. If this process dies, it is due again after
 * that time. Null: nothing is due.
 */
export async function claimDue(
  database: Database,
  claim: {
    readonly channel: AlertChannel;
    readonly language: Language;
    readonly leaseMs: number;
    /** The slot of the digest; null: no digest is sent. */
    readonly slotAt: Date | null;
  },
): Promise<Due | null> {
  const { channel, language, leaseMs, slotAt } = claim;
  const [due] = await database.prisma.$queryRaw<[Due?]>`
    WITH due AS (
      SELECT delivery.id AS delivery_id, alert.*,
             CASE ${language} WHEN 'pt-BR' THEN message_pt ELSE message END AS words
      FROM conciliation.message_delivery AS delivery
      LEFT JOIN conciliation.alert ON alert.id = alert_id
      WHERE channel = ${channel} AND (slot_at IS NULL OR slot_at = ${slotAt}::timestamptz)
        AND (next_attempt_at <= clock_timestamp()
             OR next_attempt_at IS NULL AND resolved_at IS NULL
                AND delivered_at
                    < clock_timestamp() - make_interval(hours =>
                        CASE WHEN kind = ANY(${DAILY_KINDS})
                             THEN ${DAILY_UPDATE_HOURS}::int ELSE ${UPDATE_HOURS}::int END)
                AND delivered_message
                    <> CASE ${language} WHEN 'pt-BR' THEN message_pt ELSE message END)
      ORDER BY next_attempt_at, delivery.id LIMIT 1 FOR UPDATE OF delivery SKIP LOCKED
    )
    UPDATE conciliation.message_delivery AS delivery
    SET attempts = attempts + 1,
        next_attempt_at = clock_timestamp() + make_interval(secs => ${leaseMs / 1000}::float8)
    FROM due WHERE delivery.id = due.delivery_id
    RETURNING delivery.id AS "deliveryId", attempts, slot_at AS "slotAt", due.id, kind, ${CAUSE} AS cause,
              due.date::text AS date, pull_id AS "pullId", words AS message,
              delivered_message AS "deliveredMessage", raised_at AS "raisedAt",
              resolved_at AS "resolvedAt", deliveries`;
  return due ?? null;
}

/**
 * The row of a claim that is still this process's: each claim counts as an attempt, and another slot may have taken the
 * place of that of the claimed digest.
 */
const isClaimed = ({ deliveryId, attempts, slotAt }: Due) => Prisma.sql`
  delivery.id = ${deliveryId} AND attempts = ${attempts}
  AND slot_at IS NOT DISTINCT FROM ${slotAt}::timestamptz`;

/**
 * Records that the channel took the claimed message. An alert that was resolved meanwhile is due again
 * immediately. A process that has lost its claim changes nothing.
 */
export async function recordDelivery(database: Database, delivered: Due): Promise<void> {
  await database.prisma.$executeRaw`
    UPDATE conciliation.message_delivery AS delivery
    SET deliveries = deliveries + 1, delivered_at = clock_timestamp(),
        delivered_message = ${delivered.message},
        next_attempt_at = CASE WHEN (SELECT (resolved_at IS NOT NULL) <> ${delivered.resolvedAt !== null}
                                     FROM conciliation.alert WHERE id = alert_id)
                               THEN clock_timestamp() END
    WHERE ${isClaimed(delivered)}`;
}

/**
 * Records that the delivery of the claimed message failed. The next try waits as long as the state of the alert, or
 * the digest, has waited so far, which doubles the wait each time, but at least 30 seconds and at most an hour.
 * After a day no further delivery is tried, except for an open alert whose message has changed, and for a digest, which
 * gives way to the next.
 * @returns the time of the next try; null: given up, or claimed by another process
 */
async function recordMissedDelivery(database: Database, missed: Due): Promise<Date | null> {
  const [row] = await database.prisma.$queryRaw<[{ nextAttemptAt: Date | null }?]>`
    UPDATE conciliation.message_delivery AS delivery
    SET next_attempt_at =
      CASE WHEN clock_timestamp() - waits_since < interval '1 day'
             OR resolved_at IS NULL AND (delivered_at IS NOT NULL OR slot_at IS NOT NULL)
           THEN clock_timestamp() + least(interval '1 hour', greatest(interval '30 seconds',
                  clock_timestamp() - waits_since)) END
    FROM (SELECT waiting.id, resolved_at,
                 coalesce(resolved_at, raised_at, waiting.slot_at) AS waits_since
          FROM conciliation.message_delivery AS waiting
          LEFT JOIN conciliation.alert ON alert.id = waiting.alert_id) AS state
    WHERE state.id = delivery.id AND ${isClaimed(missed)}
    RETURNING next_attempt_at AS "nextAttemptAt"`;
  return row?.nextAttemptAt ?? null;
}

/**
 * Delivers what is due to each channel, oldest first. A channel stops at the first delivery that
 * fails: the others would probably fail too, and wait for the next call. Several processes may call this
 * function at the same time.
 * @returns the number of successful deliveries
 * @throws StagingUnavailableError when the database is not available
 */
export async function deliverMessages(parts: DeliveryParts, signal: AbortSignal): Promise<number> {
  const { database, logger, channels, digestSlotAt } = parts;
  const names = channels.map(({ name }) => name);
  const announced = await announceAlerts(database, names);
  if (channels.length === 0) {
    for (const alert of announced) logAlert(logger, alert);
    return 0;
  }
  const slotAt = digestSlotAt?.(await readClock(database)) ?? null;
  if (slotAt !== null) await planDigest(database, slotAt, names);
  const deliveries = channels.map((channel) => deliverTo(channel, parts, slotAt, signal));
  await Promise.allSettled(deliveries);
  const delivered = await Promise.all(deliveries);
  return delivered.reduce((sum, count) => sum + count, 0);
}

async function deliverTo(
  channel: Channel,
  parts: DeliveryParts,
  slotAt: Date | null,
  signal: AbortSignal,
): Promise<number> {
  const { database, logger, style } = parts;
  const claim = {
    channel: channel.name,
    language: style.language,
    leaseMs: channel.timeoutMs + LEASE_MARGIN_MS,
    slotAt,
  };
  let delivered = 0;
  while (!signal.aborted) {
    const due = await claimDue(database, claim);
    if (due === null) break;
    const subject = due.slotAt === null ? 'alert' : 'digest';
    const about = due.slotAt === null ? describeAlert(due) : { slotAt: due.slotAt };
    const fields = { ...about, channel: channel.name };
    const fault = await channel.send(await messageOf(due, parts), signal);
    if (fault !== null) {
      const nextDeliveryAt = await recordMissedDelivery(database, due);
      const { attempts } = due;
      logger.warn({ ...fields, attempts, nextDeliveryAt, fault }, `${subject} not delivered`);
      break;
    }
    await recordDelivery(database, due);
    logger.info(fields, `${subject} delivered`);
    delivered += 1;
  }
  return delivered;
}

async function messageOf(due: Due, { database, style, policy }: DeliveryParts): Promise<Message> {
  if (due.slotAt === null) return alertMessage(due, style);
  const items = await readOpenItems(database, { now: await readClock(database), policy });
  return digestMessage(items, due.slotAt, style);
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

const INTERVAL_MS = 60_000;

/** Compares the ledger with the open alerts at once and then every minute, and delivers alerts and digests. */
export function startAlertLoop(parts: DeliveryParts, everyMs = INTERVAL_MS): Loop {
  const { database, logger, policy } = parts;
  return loop({
    everyMs,
    run: async (signal) => {
      const now = await readClock(database);
      await deriveAlerts(database, now, policy);
      await deriveAlerts(database, now, policy, 'providers').catch((error: unknown) => {
        logger.warn({ err: error }, 'alerts about providers wait for the next round');
      });
      await deliverMessages(parts, signal);
    },
    failure: { logger, message: 'alerts wait for the next round' },
  });
}

/** A state of an alert that has not reached a channel yet. */
export interface DueAlert {
  readonly id: bigint;
  readonly kind: AlertKind;
  readonly cause: string | null;
  /** In the language of the caller. */
  readonly message: string;
  /** The message that the channel took last; null: none. */
  readonly deliveredMessage: string | null;
  readonly date: CivilDate | null;
  readonly pullId: bigint | null;
  readonly raisedAt: Date;
  /** Null: the alert lasts. */
  readonly resolvedAt: Date | null;
  /** Messages about the alert that the channel took. */
  readonly deliveries: number;
}

type AlertState = 'raised' | 'updated' | 'resolved';

function stateOf(alert: DueAlert): AlertState {
  if (alert.resolvedAt !== null) return 'resolved';
  return alert.deliveries === 0 ? 'raised' : 'updated';
}

function alertMessage(alert: DueAlert, style: MessageStyle): Message {
  const { kind, date, pullId, raisedAt, resolvedAt } = alert;
  const { text, formats } = wordsOf(style.language, style.timeZone);
  const state = stateOf(alert);
  const { severity } = ALERTS[kind];
  // The last message may name more than the state at the end.
  const sentence = state === 'resolved' ? (alert.deliveredMessage ?? alert.message) : alert.message;
  const prefix = state === 'raised' ? null : text(`alerts.states.${state}`);
  const from = formats.instant(raisedAt);
  const duration =
    resolvedAt === null
      ? text('alerts.since', { from })
      : text('alerts.lasted', { from, until: formats.instant(resolvedAt) });
  const nextStep = state === 'resolved' ? null : nextStepOf(text, alert);
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

/** Yesterday and the tasks, as on the start page. */
export function digestMessage(items: OpenItems, slotAt: Date, style: MessageStyle): Message {
  const { language, timeZone, consoleUrl } = style;
  const id = `digest-${slotAt.toISOString().slice(0, 16).replace(':', '')}`;
  const date = dateIn(timeZone, slotAt);
  const text = textOf(language);
  const headline = headlineOf(items, language);
  const { startDate, lastReconciledDate, lagDays, tasks } = items;
  return {
    id,
    thread: id,
    severity: null,
    title: text('alerts.digest', { date: listDates([date], language) }),
    paragraphs: [headline.title, headline.lines.join('\n')],
    link: consoleUrl === null ? null : { url: consoleUrl, label: text('alerts.openPage') },
    document: {
      kind: 'digest',
      date,
      headline,
      startDate,
      lastReconciledDate,
      lagDays,
      tasks,
      link: consoleUrl?.href ?? null,
    },
  };
}
