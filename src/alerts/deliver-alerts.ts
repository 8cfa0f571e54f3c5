/**
 * alerts/ derives alerts from the ledger and delivers them. Each alert is delivered when it is
 * raised and when it is over, to the webhook or, without a webhook, to the log. Undelivered alerts
 * wait in the database, so a process may stop at any time. If a process stops between the webhook's
 * answer and the record of it, the delivery is repeated with the same `Idempotency-Key`.
 */
import { Agent, request } from 'undici';
import type { Database } from '../database/database.ts';
import type { Logger } from '../runtime/logger.ts';
import {
  claimDueAlert,
  type DueAlert,
  recordDelivery,
  recordMissedDelivery,
  takeDueAlerts,
} from './alert-delivery.sql.ts';
import { signatureHeaders, type WebhookSecret } from './webhook-signature.ts';

export interface DeliveryParts {
  readonly database: Database;
  readonly logger: Logger;
  /** A secret, because the URL may hold a token. Null: alerts go to the log only. */
  readonly webhookUrl: URL | null;
  /** Null: deliveries carry no signature. */
  readonly webhookSecret: WebhookSecret | null;
  /** Longest wait for the webhook's answer, in milliseconds; default 10 seconds. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
/** How long the claim of an alert outlasts the longest possible delivery, in milliseconds. */
const LEASE_MARGIN_MS = 60_000;

/**
 * Delivers the alerts that are due, oldest first, and stops at the first delivery that fails: the
 * others would probably fail too, and wait for the next call. Several processes may call this
 * function at the same time.
 * @returns the number of successful deliveries
 * @throws StagingUnavailableError when the database is not available
 * @throws ConfigError when the secret of the webhook cannot be read; no delivery is tried, and no attempt counts
 */
export async function deliverAlerts(parts: DeliveryParts, signal: AbortSignal): Promise<number> {
  if (parts.webhookUrl === null) {
    for (const alert of await takeDueAlerts(parts.database)) logAlert(parts.logger, alert);
    return 0;
  }
  const timeoutMs = parts.timeoutMs ?? TIMEOUT_MS;
  const key = (await parts.webhookSecret?.current()) ?? null;
  const agent = new Agent({ connect: { timeout: timeoutMs } });
  let delivered = 0;
  try {
    while (!signal.aborted) {
      const alert = await claimDueAlert(parts.database, timeoutMs + LEASE_MARGIN_MS);
      if (alert === null) break;
      const fault = await post(agent, { url: parts.webhookUrl, key, alert, timeoutMs, signal });
      if (fault !== null) {
        const nextDeliveryAt = await recordMissedDelivery(parts.database, alert);
        const fields = { ...describeAlert(alert), attempts: alert.attempts, nextDeliveryAt, fault };
        parts.logger.warn(fields, 'alert not delivered');
        break;
      }
      await recordDelivery(parts.database, alert);
      parts.logger.info(describeAlert(alert), 'alert delivered');
      delivered += 1;
    }
  } finally {
    await agent.destroy();
  }
  return delivered;
}

interface Posting {
  readonly url: URL;
  /** Null: no signature. */
  readonly key: Buffer | null;
  readonly alert: DueAlert;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Returns null after a successful delivery, otherwise the reason for the failure. The reason
 * includes neither the address nor any part of the answer. Only a 2xx status is a success.
 * Redirects are not followed, because their target is unknown.
 */
async function post(
  agent: Agent,
  { url, key, alert, timeoutMs, signal }: Posting,
): Promise<string | null> {
  const id = `alert-${alert.id}-${stateOf(alert)}`;
  const body = JSON.stringify({
    kind: alert.kind,
    message: alert.message,
    date: alert.date,
    pullId: alert.pullId === null ? null : Number(alert.pullId),
    raisedAt: alert.raisedAt.toISOString(),
    resolvedAt: alert.resolvedAt?.toISOString() ?? null,
  });
  const ended = new AbortController();
  const timer = setTimeout(
    () => ended.abort(new DOMException('no answer', 'TimeoutError')),
    timeoutMs,
  );
  const stop = () => ended.abort(signal.reason);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const response = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers: {
        'content-type': 'application/json',
        'idempotency-key': id,
        ...(key !== null && signatureHeaders(key, { id, body, sentAt: new Date() })),
      },
      body,
      // Not AbortSignal.any of AbortSignal.timeout: Node may collect such a signal before it fires.
      signal: ended.signal,
    });
    // The status is known. The body is read only so that the connection can be used again.
    await response.body.dump().catch(() => {});
    const { statusCode } = response;
    return statusCode >= 200 && statusCode < 300 ? null : `status ${statusCode}`;
  } catch (error) {
    return faultOf(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** The messages of sockets and of undici quote the address. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function logAlert(logger: Logger, alert: DueAlert): void {
  if (alert.resolvedAt === null) logger.warn(describeAlert(alert), 'alert raised');
  else logger.info(describeAlert(alert), 'alert resolved');
}

function stateOf(alert: DueAlert): 'raised' | 'resolved' {
  return alert.resolvedAt === null ? 'raised' : 'resolved';
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
