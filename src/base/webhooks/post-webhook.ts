import { Agent, request } from 'undici';
import { faultCode } from '../runtime/errors.ts';
import { signatureHeaders, type WebhookSecret } from './webhook-signature.ts';

export interface WebhookPosting {
  /** The same in every attempt to deliver one message. */
  readonly id: string;
  readonly contentType: string;
  readonly document: object;
  /** Null: the posting carries no signature. */
  readonly secret: WebhookSecret | null;
  /** Longest wait for the answer, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Returns null after a delivery, otherwise the reason for the failure, without the address or a part of the answer.
 * Only a 2xx status is a delivery. Redirects are not followed, because their target is unknown.
 *
 * @param url a secret, because the URL may hold a token
 * @throws ConfigError when the file of the secret cannot be used
 */
export async function postWebhook(url: URL, posting: WebhookPosting): Promise<string | null> {
  const { id, contentType, document, secret, timeoutMs, signal } = posting;
  const body = JSON.stringify(document);
  const key = (await secret?.current()) ?? null;
  const headers = {
    'content-type': contentType,
    'idempotency-key': id,
    ...(key !== null && signatureHeaders(key, { id, body, sentAt: new Date() })),
  };
  const agent = new Agent({ connect: { timeout: timeoutMs } });
  const ended = new AbortController();
  const timer = setTimeout(
    () => ended.abort(new DOMException('no answer', 'TimeoutError')),
    timeoutMs,
  );
  const stop = () => ended.abort(signal.reason);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const { statusCode } = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers,
      body,
      // Not AbortSignal.any of AbortSignal.timeout: Node may collect such a signal before it fires.
      signal: ended.signal,
    });
    return statusCode >= 200 && statusCode < 300 ? null : `status ${statusCode}`;
  } catch (error) {
    return faultCode(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    await agent.destroy();
  }
}
