/** Signed alerts, and the check of a receiver as docs/operating.md has it. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/base/config/config.ts';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { signatureHeaders } from '../../../src/base/webhooks/post-webhook.ts';
import type { Alert } from '../../../src/features/alerts/alerts.sql.ts';
import { openWebhook } from '../../../src/features/alerts/channels.ts';
import { deliverMessages } from '../../../src/features/alerts/deliveries.sql.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { ALERTS_ONLY, openAlertTable, raiseAlert } from './alert-table.ts';
import { importDocumentedVerification } from './documented-verification.ts';
import { type ReceivedAlert, startWebhook, type Webhook } from './webhook.ts';

const newSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`;
const SECRET = newSecret();

let isGenuine: Awaited<ReturnType<typeof importDocumentedVerification>>;
const folder = forFile(openFolder);
let path: string;
const table = forFile(openAlertTable);
let webhook: Webhook;
beforeAll(async () => {
  isGenuine = await importDocumentedVerification();
  path = join(folder.path, 'secret');
});
beforeEach(async () => {
  await table.clear();
  webhook = await startWebhook();
  return () => webhook.close();
});

/** The key that the configuration reads from this file or text. */
const keyOf = (environment: Record<string, string>) =>
  readConfig(environment, { platform: false }).alertWebhookSecret;
const inFile = async (text: string) => {
  await writeFile(path, text, { mode: 0o600 });
  return { ALERT_WEBHOOK_SECRET_FILE: path };
};

async function deliver(): Promise<number> {
  return deliverMessages(
    {
      database: table.database,
      logger: pino({ level: 'silent' }),
      channels: [openWebhook({ url: webhook.url, key: keyOf(await inFile(SECRET)) })],
      ...ALERTS_ONLY,
    },
    new AbortController().signal,
  );
}

const held: Alert = {
  kind: 'day_held',
  dedupeKey: 'day_held:2026-03-02',
  message: '2026-03-02 is held: olá, 60 títulos',
  messagePt: '',
  date: toCivilDate('2026-03-02'),
  pullId: 12n,
};

async function deliverOne(): Promise<ReceivedAlert> {
  await raiseAlert(table.database, held);
  expect(await deliver()).toBe(1);
  return webhook.received[0] as ReceivedAlert;
}

const timestampOf = ({ headers }: ReceivedAlert) => Number(headers['webhook-timestamp']);

describe('the documented check of a delivery', () => {
  test('passes the delivery as it arrived, and with no other secret', async () => {
    const { headers, text } = await deliverOne();
    expect(isGenuine(SECRET, headers, text)).toBe(true);
    expect(isGenuine(newSecret(), headers, text)).toBe(false);
  });

  test('refuses another body or header, a missing one and another version', async () => {
    const received = await deliverOne();
    const { headers, text } = received;
    const timestamp = timestampOf(received);
    const signature = String(headers['webhook-signature']);
    const altered: Record<string, string | undefined>[] = [
      { 'webhook-id': String(headers['webhook-id']).replace('raised', 'resolved') },
      { 'webhook-timestamp': String(timestamp + 1) },
      { 'webhook-timestamp': `${timestamp}.0` },
      ...['id', 'timestamp', 'signature'].map((name) => ({ [`webhook-${name}`]: undefined })),
      ...['', 'v1', 'v1,', signature.replace('v1', 'v2'), signature.slice(0, -8)].map((given) => ({
        'webhook-signature': given,
      })),
    ];
    for (const change of altered) {
      const given = Object.entries({ ...headers, ...change }).filter(
        ([, value]) => value !== undefined,
      );
      expect(isGenuine(SECRET, Object.fromEntries(given), text), JSON.stringify(change)).toBe(
        false,
      );
    }
    for (const other of [text.replace('60', '61'), `${text} `]) {
      expect(isGenuine(SECRET, headers, other)).toBe(false);
    }
  });

  test('refuses a genuine delivery that is more than five minutes away from now', async () => {
    const received = await deliverOne();
    const passesAfter = (seconds: number) =>
      isGenuine(SECRET, received.headers, received.text, (timestampOf(received) + seconds) * 1000);
    expect([-301, -300, 0, 300, 301].map(passesAfter)).toEqual([false, true, true, true, false]);
  });

  test('passes one genuine signature of several', async () => {
    const { headers, text } = await deliverOne();
    const signatures = `v1,${randomBytes(32).toString('base64')} ${headers['webhook-signature']}`;
    expect(isGenuine(SECRET, { ...headers, 'webhook-signature': signatures }, text)).toBe(true);
  });
});

test('a signature is that of the published example of Standard Webhooks', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const key = keyOf({ ALERT_WEBHOOK_SECRET: secret }) ?? Buffer.alloc(0);
  const sentAt = new Date(1614265330_999);
  const body = '{"test": 2432232314}';
  expect(signatureHeaders(key, { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body, sentAt })).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

const encoded = randomBytes(32).toString('base64');
const UNUSABLE = [
  ['no prefix', encoded],
  ['23 bytes', newSecret(23)],
  ['65 bytes', newSecret(65)],
  ['base64 of URLs', `whsec_${Buffer.alloc(33, 0xfb).toString('base64url')}`],
  ['a blank inside', `whsec_${encoded.slice(0, 8)} ${encoded.slice(8)}`],
  ['two lines', `whsec_${encoded}\nwhsec_${encoded}`],
  ['no padding', `whsec_${encoded.replace('=', '')}`],
] as const;

test.each(UNUSABLE)('a secret of %s is refused without being shown', async (_, text) => {
  for (const environment of [await inFile(text), { ALERT_WEBHOOK_SECRET: text }]) {
    const read = () => keyOf(environment);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(
      'ALERT_WEBHOOK_SECRET: expected whsec_ and the base64 of 24 to 64 random bytes',
    );
    expect(read).not.toThrow(encoded.slice(0, 8));
  }
});

test('a file without a secret is refused', async () => {
  const environment = await inFile(' \n');
  expect(() => keyOf(environment)).toThrow(`ALERT_WEBHOOK_SECRET_FILE: ${path} is empty`);
});

test.each([24, 64])('a secret of %i bytes is taken, with white space around it', async (bytes) => {
  expect(keyOf(await inFile(` ${newSecret(bytes)}\n`))).toHaveLength(bytes);
});
