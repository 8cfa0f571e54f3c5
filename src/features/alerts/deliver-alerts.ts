/**
 * alerts/ derives alerts from the ledger and delivers them to the configured channels or, without a channel,
 * to the log: when an alert is raised, when it is resolved, and an hour or a day after the last message if the
 * message has changed. Undelivered alerts wait in the database for each channel, so a process may stop at any time. If a
 * process stops between a channel's answer and the record of it, the delivery is repeated with the same id.
 */
import type { Database } from '../../base/database/database.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import {
  announceAlerts,
  claimDueAlert,
  type DueAlert,
  recordDelivery,
  recordMissedDelivery,
  takeDueAlerts,
} from './alert-delivery.sql.ts';
import { alertMessage, type MessageStyle, stateOf } from './alert-message.ts';
import type { Channel } from './channel.ts';

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
