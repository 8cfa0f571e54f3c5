/**
 * Signatures of webhooks by the scheme of Standard Webhooks (https://www.standardwebhooks.com):
 * HMAC-SHA256 over id, time and body.
 */
import { createHmac } from 'node:crypto';
import type { Secret } from '../config/variables.ts';
import { ConfigError } from '../runtime/errors.ts';
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

/** Says what is wrong with a secret, never what the secret is. */
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
