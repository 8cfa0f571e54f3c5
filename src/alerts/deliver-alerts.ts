/**
 * alerts/ derives alerts from the ledger and delivers them: every alert once when it is raised and once when it
 * is over, to the webhook, or to the log where there is none. Undelivered alerts wait in the database,
 * so a process may die at any instant; one that dies between the webhook's answer and its record
 * makes the delivery happen again, with the same `Idempotency-Key`.
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
  /** A secret, because it may hold a token. Null: alerts go to the log only. */
  readonly webhookUrl: URL | null;
  /** Null: deliveries carry no signature. */
  readonly webhookSecret: WebhookSecret | null;
  /** Longest wait for the webhook's answer; 10 seconds unless told. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
/** How much longer than a delivery can take its alert stays claimed. */
const LEASE_MARGIN_MS = 60_000;

/**
 * Delivers what is due, the oldest first, and stops at the first delivery that fails: the others are
 * likely to fail too, and wait for the next call. Several processes may do this at once.
 *
 * @returns how many deliveries arrived
 * @throws StagingUnavailableError when the database is away; ConfigError when the webhook's secret cannot be
 *   read: then nothing is tried, and no attempt counts
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
 * Null: it arrived. Otherwise why not, in words that name neither the address nor anything of the
 * answer. Only a 2xx is an arrival; a redirect is not followed, because it might lead anywhere.
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
    // The status has told; what follows is read only so that the connection can be used again.
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

/** Messages of the socket and of undici quote the address. */
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
