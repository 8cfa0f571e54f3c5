/** Deliveries of alerts by a webhook, and their signatures, which the check of docs/operating.md accepts. */

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/base/config/config.ts';
import type { Database } from '../../../src/base/database/database.ts';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { type Alert, settleAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { openHttpChannel, signatureHeaders } from '../../../src/features/alerts/channels.ts';
import {
  announceAlerts,
  claimDue,
  deliverMessages,
  recordDelivery,
} from '../../../src/features/alerts/deliveries.sql.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { recordingLogger } from '../../support/logger.ts';
import {
  ALERTS_ONLY,
  openAlertTable,
  raiseAlert,
  readAlerts,
  resolveAlerts,
} from './alert-table.ts';
import { importDocumentedVerification } from './documented-verification.ts';
import { type ReceivedAlert, startWebhook, type Webhook } from './webhook.ts';

const table = forFile(openAlertTable);
let webhook: Webhook;
let log: ReturnType<typeof recordingLogger>;
beforeEach(async () => {
  log = recordingLogger();
  await table.clear();
  webhook = await startWebhook();
  return () => webhook.close();
});

const signal = new AbortController().signal;
function deliver(
  options: {
    readonly database?: Database;
    readonly url?: URL | null;
    readonly key?: Buffer | null;
    readonly timeoutMs?: number;
  } = {},
): Promise<number> {
  const { database = table.database, url = webhook.url, key = null, timeoutMs = 5_000 } = options;
  const channels = url === null ? [] : [openHttpChannel('webhook', { url, key, timeoutMs })];
  return deliverMessages({ ...ALERTS_ONLY, database, logger: log.logger, channels }, signal);
}

const keys = () => webhook.received.map(({ headers }) => headers['idempotency-key']).join(' ');

const held: Alert = {
  kind: 'day_held',
  dedupeKey: 'day_held:2026-03-02',
  message: '2026-03-02 is held',
  messagePt: 'o dia 02/03/2026 está retido',
  date: toCivilDate('2026-03-02'),
  pullId: 12n,
};

test('an alert is delivered once when it is raised and once when it is over', async () => {
  await raiseAlert(table.database, held);
  expect(await deliver()).toBe(1);
  expect(await deliver()).toBe(0);
  await resolveAlerts(table.database, held.kind);
  expect(await deliver()).toBe(1);
  expect(await deliver()).toBe(0);

  expect(webhook.received.map(({ body }) => body)).toEqual([
    {
      kind: 'day_held',
      state: 'raised',
      severity: 'warning',
      message: '2026-03-02 is held',
      date: '2026-03-02',
      pullId: 12,
      raisedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      resolvedAt: null,
      nextStep: expect.stringMatching(/^Open the day/),
      link: 'https://conciliation.example/days/2026-03-02',
      runbook: 'docs/operating.md#day_held',
    },
    expect.objectContaining({
      kind: 'day_held',
      state: 'resolved',
      message: expect.stringMatching(
        /^Resolved: 2026-03-02 is held\. Lasted from \d{4}-\d\d-\d\d \d\d:\d\d to \d{4}-\d\d-\d\d \d\d:\d\d\.$/,
      ),
      nextStep: null,
      resolvedAt: expect.stringMatching(/Z$/),
    }),
  ]);
  expect(webhook.received[0]?.headers['content-type']).toBe('application/json');
  expect(keys()).toMatch(/^alert-\d+-raised alert-\d+-resolved$/);
  for (const { headers } of webhook.received)
    expect(headers).not.toHaveProperty('webhook-signature');
});

test('a webhook that fails is asked again, later each time, until it answers', async () => {
  await raiseAlert(table.database, held);
  webhook.status = 500;
  for (const attempts of [1, 2, 3]) {
    expect(await deliver()).toBe(0);
    expect(await readAlerts(table.database)).toMatchObject([
      { delivered: false, delivery_attempts: attempts },
    ]);
    // Not due yet.
    expect(await deliver()).toBe(0);
    expect(webhook.received).toHaveLength(attempts);
    await table.bringForward();
  }
  webhook.status = 200;
  expect(await deliver()).toBe(1);
  expect(await readAlerts(table.database)).toMatchObject([{ delivered: true, wait_seconds: null }]);
});

test.each([
  ['0 seconds', 30],
  ['10 minutes', 600],
  ['5 hours', 3600],
  ['25 hours', null],
])('an alert raised %s ago that fails is tried again in %s seconds', async (age, wait) => {
  await raiseAlert(table.database, held);
  await table.database.prisma.$executeRaw`
    UPDATE conciliation.alert SET raised_at = raised_at - ${age}::interval`;
  webhook.status = 503;
  const { prisma } = table.database;
  const [{ before }] = await prisma.$queryRaw<[{ before: string }]>`
    SELECT clock_timestamp()::text AS before`;
  await deliver();
  const [planned] = await prisma.$queryRaw<object[]>`
    SELECT next_attempt_at >= ${before}::timestamptz + wait AS "isLate",
           next_attempt_at <= clock_timestamp()
             + least(greatest(wait, clock_timestamp() - raised_at), interval '1 hour') AS "isEarly"
    FROM conciliation.message_delivery JOIN conciliation.alert ON alert.id = alert_id,
         make_interval(secs => ${wait}::int) AS wait`;
  const isPlanned = wait === null ? null : true;
  expect(planned).toEqual({ isLate: isPlanned, isEarly: isPlanned });
});

test('an alert whose delivery was given up is delivered when it is over', async () => {
  await raiseAlert(table.database, held);
  await table.database.prisma.$executeRaw`
    UPDATE conciliation.alert SET raised_at = raised_at - interval '2 days'`;
  webhook.status = 503;
  await deliver();
  await table.bringForward();
  expect(await deliver()).toBe(0);
  expect(webhook.received).toHaveLength(1);

  webhook.status = 200;
  await resolveAlerts(table.database, held.kind);
  expect(await deliver()).toBe(1);
  expect(webhook.received[1]?.body.resolvedAt).not.toBeNull();
});

test('an alert that ends during its delivery is delivered again, as over', async () => {
  await raiseAlert(table.database, held);
  webhook.answer = async (response, alert) => {
    if (alert.body.resolvedAt === null) await resolveAlerts(table.other, held.kind);
    response.writeHead(200).end();
  };
  expect(await deliver()).toBe(2);
  expect(webhook.received.map(({ body }) => body.resolvedAt === null)).toEqual([true, false]);
});

test('the claim of a deliverer that died runs out, and its late record changes nothing', async () => {
  await raiseAlert(table.database, held);
  await announceAlerts(table.other, ['webhook']);
  const claim = { channel: 'webhook', language: 'en', leaseMs: 86_400_000, slotAt: null } as const;
  const lost = await claimDue(table.other, claim);
  if (lost === null) throw new Error('nothing was due');
  expect(await deliver()).toBe(0);
  await table.bringForward();
  expect(await deliver()).toBe(1);

  await resolveAlerts(table.database, held.kind);
  await recordDelivery(table.other, lost);
  expect(await deliver()).toBe(1);
  expect(webhook.received[1]?.body.resolvedAt).not.toBeNull();
});

test('a changed message is sent again after an hour, one that changes with every attempt after a day', async () => {
  const { prisma } = table.database;
  for (const kind of ['pull_failed', 'restated_after_sign_off'] as const) {
    await raiseAlert(table.database, { ...held, kind, dedupeKey: kind });
  }
  expect(await deliver()).toBe(2);
  await prisma.$executeRaw`UPDATE conciliation.alert SET message = 'two dates'`;
  const pass = (time: string) => prisma.$executeRaw`
    UPDATE conciliation.message_delivery SET delivered_at = delivered_at - ${time}::interval`;
  await pass('59 minutes');
  expect(await deliver()).toBe(0);
  await pass('2 minutes');
  expect(await deliver()).toBe(1);
  const [newest] = webhook.received.slice(-1);
  expect([newest?.body.kind, newest?.body.state]).toEqual(['restated_after_sign_off', 'updated']);
  await pass('22 hours');
  expect(await deliver()).toBe(0);
  await pass('1 hour');
  expect(await deliver()).toBe(1);
  expect(webhook.received.at(-1)?.body).toMatchObject({ kind: 'pull_failed' });
});

test('a changed message is sent again a day after the last delivery, and the resolution has the last message', async () => {
  const { prisma } = table.database;
  const settle = (message: string) =>
    prisma.$transaction((tx) => settleAlerts(tx, [held.kind], [{ ...held, message }]));
  const passDay = () => prisma.$executeRaw`
    UPDATE conciliation.message_delivery SET delivered_at = delivered_at - interval '25 hours'`;
  await settle('two dates failed');
  expect(await deliver()).toBe(1);
  await settle('three dates failed');
  expect(await deliver()).toBe(0);
  await passDay();
  // A failed update is tried again for as long as the alert is open.
  webhook.status = 500;
  await prisma.$executeRaw`
    UPDATE conciliation.alert SET raised_at = raised_at - interval '3 days'`;
  expect(await deliver()).toBe(0);
  await table.bringForward();
  webhook.status = 204;
  expect(await deliver()).toBe(1);
  await passDay();
  expect(await deliver()).toBe(0);
  await settle('one date failed');
  await passDay();
  await prisma.$executeRaw`
    UPDATE conciliation.message_delivery SET delivered_at = now()`;
  expect(await deliver()).toBe(0);
  await resolveAlerts(table.database, held.kind);
  expect(await deliver()).toBe(1);
  const told = webhook.received.map(({ body }) => `${body.state}: ${body.message}`);
  expect(told.join('\n')).toMatch(
    /^raised: two dates failed\n(updated: Still open: three dates failed\n){2}resolved: Resolved: three dates failed\. Lasted/,
  );
  expect(keys()).toMatch(/-raised \S+-updated-1 \S+-updated-1 \S+-resolved$/);
});

test('a webhook that never answers is left after the timeout', async () => {
  await raiseAlert(table.database, held);
  webhook.answer = () => {};
  expect(await deliver({ timeoutMs: 200 })).toBe(0);
  expect(await readAlerts(table.database)).toMatchObject([{ delivered: false }]);
});

test('without a webhook an alert is logged once, by one process, when it is raised and when it is over', async () => {
  await raiseAlert(table.database, held);
  const nowhere = { url: null };
  await Promise.all([deliver(nowhere), deliver({ ...nowhere, database: table.other })]);
  await deliver(nowhere);
  expect(log.log).toEqual([
    expect.objectContaining({ level: 40, msg: 'alert raised', kind: 'day_held', pullId: '12' }),
  ]);
  expect(await readAlerts(table.database)).toMatchObject([{ delivered: false, open: true }]);

  log = recordingLogger();
  await resolveAlerts(table.database, 'day_held');
  await deliver(nowhere);
  await deliver(nowhere);
  expect(log.log).toEqual([
    expect.objectContaining({ level: 30, msg: 'alert resolved', kind: 'day_held' }),
  ]);
});

const newSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`;
const SECRET = newSecret();

const isGenuine = await importDocumentedVerification();
const folder = forFile(openFolder);

/** The key that the configuration reads from this file or text. */
const keyOf = (environment: Record<string, string>) =>
  readConfig(environment, { platform: false }).alertWebhookSecret;
const inFile = async (text: string) => {
  const path = join(folder.path, 'secret');
  await writeFile(path, text, { mode: 0o600 });
  return { ALERT_WEBHOOK_SECRET_FILE: path };
};

async function deliverOne(): Promise<ReceivedAlert> {
  await raiseAlert(table.database, { ...held, message: '2026-03-02 is held: olá, 60 títulos' });
  expect(await deliver({ key: keyOf(await inFile(SECRET)) })).toBe(1);
  return webhook.received[0] as ReceivedAlert;
}

const timestampOf = ({ headers }: ReceivedAlert) => Number(headers['webhook-timestamp']);

describe('the documented check of a delivery', () => {
  test('passes the delivery as it arrived, and with no other secret', async () => {
    const { headers, text } = await deliverOne();
    expect(isGenuine(SECRET, headers, text)).toBe(true);
    expect(isGenuine(newSecret(), headers, text)).toBe(false);
    // One genuine signature of several.
    const signatures = `v1,${randomBytes(32).toString('base64')} ${headers['webhook-signature']}`;
    expect(isGenuine(SECRET, { ...headers, 'webhook-signature': signatures }, text)).toBe(true);
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
      expect(isGenuine(SECRET, { ...headers, ...change }, text), JSON.stringify(change)).toBe(
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
  const fault = `ALERT_WEBHOOK_SECRET_FILE: ${environment.ALERT_WEBHOOK_SECRET_FILE} is empty`;
  expect(() => keyOf(environment)).toThrow(fault);
});

test.each([24, 64])('a secret of %i bytes is taken, with white space around it', async (bytes) => {
  expect(keyOf(await inFile(` ${newSecret(bytes)}\n`))).toHaveLength(bytes);
});
