import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Secret } from '../config/variables.ts';
import { ConfigError, faultCode } from '../runtime/errors.ts';
import { fileSecret, type SecretSource } from '../runtime/secret-file.ts';

/** The key of the signatures. */
export type WebhookSecret = SecretSource<Buffer>;

const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

/**
 * The secret that the configuration names; null: webhooks carry no signature.
 *
 * @param variable the variable of `secret`, such as `ALERT_WEBHOOK_SECRET`; `secretFile` is that of `<variable>_FILE`
 * @throws ConfigError when `secret` has another form. A file is first read when it is used.
 */
export function openWebhookSecret(
  variable: string,
  { secretFile, secret }: Secret,
): WebhookSecret | null {
  if (secretFile !== null) {
    return fileSecret({
      variable: `${variable}_FILE`,
      path: secretFile,
      parse: parseSecret,
      Unusable: ConfigError,
    });
  }
  if (secret === null) return null;
  const key = parseSecret(secret, variable);
  return { current: async () => key };
}

function parseSecret(text: string, source: string): Buffer {
  const [, encoded = ''] = /^whsec_(.*)$/s.exec(text.trim()) ?? [];
  const key = Buffer.from(encoded, 'base64');
  const isBase64 = key.toString('base64') === encoded;
  if (!isBase64 || key.length < MIN_KEY_BYTES || key.length > MAX_KEY_BYTES) {
    throw new ConfigError([
      `${source}: expected whsec_ and the base64 of ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} random bytes`,
    ]);
  }
  return key;
}

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
