import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { faultCode } from '../runtime/errors.ts';
import { within } from '../runtime/timing.ts';

/** @param id the same in every attempt to deliver one message */
export function signatureHeaders(
  key: Buffer,
  { id, body, sentAt }: { readonly id: string; readonly body: string; readonly sentAt: Date },
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}

interface WebhookPosting {
  /** The same in every attempt to deliver one message. */
  readonly id: string;
  readonly contentType: string;
  readonly document: object;
  /** The key of the signature; null: the posting carries none. */
  readonly key: Buffer | null;
  /** Longest wait for the answer, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Returns null after a delivery, otherwise the reason for the failure, without the address or a part of the answer.
 * Only a 2xx status is a delivery. Redirects are not followed, because their target is unknown.
 *
 * @param url a secret, because the URL may hold a token
 */
export async function postWebhook(url: URL, posting: WebhookPosting): Promise<string | null> {
  const { id, contentType, document, key, timeoutMs, signal } = posting;
  const body = JSON.stringify(document);
  const headers = {
    'content-type': contentType,
    'idempotency-key': id,
    ...(key !== null && signatureHeaders(key, { id, body, sentAt: new Date() })),
  };
  const dispatcher = new Agent({ connect: { timeout: timeoutMs } });
  try {
    const answer = request(url, { method: 'POST', dispatcher, headers, body });
    const { statusCode } = await within(timeoutMs, answer, signal);
    return statusCode >= 200 && statusCode < 300 ? null : `status ${statusCode}`;
  } catch (error) {
    return faultCode(error);
  } finally {
    // Ends a request without an answer, too.
    await dispatcher.destroy();
  }
}
