import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/base/database/database.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { type Alert, settleAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { openWebhook } from '../../../src/features/alerts/channels.ts';
import {
  announceAlerts,
  claimDue,
  deliverMessages,
  recordDelivery,
} from '../../../src/features/alerts/deliveries.sql.ts';
import { forFile } from '../../support/for-tests.ts';
import { createTestLog, type TestLog } from '../console/console-world.ts';
import {
  ALERTS_ONLY,
  openAlertTable,
  raiseAlert,
  readAlerts,
  resolveAlerts,
} from './alert-table.ts';
import { startWebhook, type Webhook } from './webhook.ts';

const table = forFile(openAlertTable);
let webhook: Webhook;
let log: TestLog;
beforeEach(async () => {
  log = createTestLog();
  await table.clear();
  webhook = await startWebhook();
  return () => webhook.close();
});

const signal = new AbortController().signal;
function deliver(
  options: {
    readonly database?: Database;
    readonly url?: URL | null;
    readonly timeoutMs?: number;
  } = {},
): Promise<number> {
  const { database = table.database, url = webhook.url, timeoutMs = 5_000 } = options;
  const channels = url === null ? [] : [openWebhook({ url, key: null, timeoutMs })];
  return deliverMessages({ ...ALERTS_ONLY, database, logger: log.logger, channels }, signal);
}

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
  const keys = webhook.received.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([
    expect.stringMatching(/^alert-\d+-raised$/),
    expect.stringMatching(/^alert-\d+-resolved$/),
  ]);
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
  const lost = await claimDue(table.other, {
    channel: 'webhook',
    language: 'en',
    leaseMs: 86_400_000,
    slotAt: null,
  });
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
  expect(webhook.received.at(-1)?.body).toMatchObject({
    kind: 'restated_after_sign_off',
    state: 'updated',
  });
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
  const [raised, , updated, resolved] = webhook.received;
  expect([raised, updated, resolved].map((message) => message?.body)).toMatchObject([
    { state: 'raised', message: 'two dates failed' },
    { state: 'updated', message: 'Still open: three dates failed' },
    { state: 'resolved', message: expect.stringMatching(/^Resolved: three dates failed\. Lasted/) },
  ]);
  expect(webhook.received.map(({ headers }) => headers['idempotency-key'])).toEqual([
    expect.stringMatching(/-raised$/),
    expect.stringMatching(/-updated-1$/),
    expect.stringMatching(/-updated-1$/),
    expect.stringMatching(/-resolved$/),
  ]);
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
  expect(log.lines()).toEqual([
    expect.objectContaining({ level: 40, msg: 'alert raised', kind: 'day_held', pullId: '12' }),
  ]);
  expect(await readAlerts(table.database)).toMatchObject([{ delivered: false, open: true }]);

  log = createTestLog();
  await resolveAlerts(table.database, 'day_held');
  await deliver(nowhere);
  await deliver(nowhere);
  expect(log.lines()).toEqual([
    expect.objectContaining({ level: 30, msg: 'alert resolved', kind: 'day_held' }),
  ]);
});
