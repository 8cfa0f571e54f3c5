/** The webhook that wakes the readers of the booking feed: docs/bookings.md. */
import type { Database } from '../../base/database/database.ts';
import { describeError, type Logger } from '../../base/runtime/logger.ts';
import { loop } from '../../base/runtime/loop.ts';
import { postWebhook } from '../../base/webhooks/post-webhook.ts';
import type { WebhookSecret } from '../../base/webhooks/webhook-signature.ts';
import { readUnreadOffers, type UnreadOffer } from './open-lines.sql.ts';

export interface WakeUps {
  /** Begins no further posting, and cuts the running one short. */
  stop(): Promise<void>;
}

export interface WakeUpParts {
  readonly database: Database;
  readonly logger: Logger;
  /** A secret, because the URL may hold a token. */
  readonly url: URL;
  readonly secret: WebhookSecret | null;
  /** Replaced in tests. */
  readonly everyMs?: number;
}

const INTERVAL_MS = 60_000;
const MAX_WAIT_MS = 3_600_000;
const TIMEOUT_MS = 10_000;

/**
 * Once a minute: posts one event for each consumer that has lines after its position, unless this process has
 * posted an event for the newest of them. After a failure, the waits double up to an hour. Nothing is stored: an
 * event is a wake-up only, and a process that starts posts again what no reader has read.
 */
export function startWakeUps({
  database,
  logger,
  url,
  secret,
  everyMs = INTERVAL_MS,
}: WakeUpParts): WakeUps {
  const abort = new AbortController();
  const posted = new Map<string, string>();
  let attempts = 0;
  let nextAt = 0;

  const post = async (offer: UnreadOffer): Promise<string | null> => {
    const document = eventOf(offer);
    if (posted.get(offer.consumer) === document.id) return null;
    const fault = await postWebhook(url, {
      ...{ id: document.id, document, secret, timeoutMs: TIMEOUT_MS, signal: abort.signal },
      contentType: 'application/cloudevents+json; charset=utf-8',
    });
    if (fault === null) posted.set(offer.consumer, document.id);
    return fault;
  };

  const run = async () => {
    if (Date.now() < nextAt) return;
    try {
      for (const offer of await readUnreadOffers(database.prisma)) {
        if (abort.signal.aborted) return;
        const fault = await post(offer);
        if (fault === null) {
          attempts = 0;
          continue;
        }
        // The other events would probably fail too.
        const waitMs = Math.min(everyMs * 2 ** attempts, MAX_WAIT_MS);
        nextAt = Date.now() + waitMs;
        attempts += 1;
        logger.warn({ fault, attempts, waitMs }, 'the webhook of the bookings failed');
        return;
      }
    } catch (error) {
      logger.warn({ err: describeError(error) }, 'the webhook of the bookings waits a minute');
    }
  };
  const rounds = loop({ everyMs, run });
  return {
    stop() {
      abort.abort();
      return rounds.stop();
    },
  };
}

/** https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md */
function eventOf({ consumer, seq, offeredAt }: UnreadOffer) {
  return {
    specversion: '1.0',
    // With the time, because a restored database uses positions again until the step "restored".
    id: `booking-${consumer}-${seq}-${offeredAt.getTime()}`,
    source: '/erp-conciliation-sync/bookings',
    type: 'erp-conciliation-sync.bookings.offered',
    subject: consumer,
    time: offeredAt.toISOString(),
    datacontenttype: 'application/json',
    // Text, because many readers of JSON round numbers beyond 2^53.
    data: { consumer, seq },
  };
}
