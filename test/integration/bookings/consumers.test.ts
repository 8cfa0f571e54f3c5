/** Two consumers, one of them stopped for a day, one that acknowledges twice, and a webhook that is down. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebhookSecret } from '../../../src/base/webhooks/webhook-signature.ts';
import { deriveAlerts } from '../../../src/features/alerts/derive-alerts.sql.ts';
import { setConsumer } from '../../../src/features/bookings/consumers.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { takeReceipts } from '../../../src/features/bookings/take-receipts.sql.ts';
import { startWakeUps, type WakeUps } from '../../../src/features/bookings/wake-ups.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';
import { readAlerts } from '../alerts/alert-table.ts';
import { importDocumentedVerification } from '../alerts/documented-verification.ts';
import { startWebhook, TOKEN, type Webhook } from '../alerts/webhook.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SECOND_BUYER = '11444777000161';
const HOUR = 3_600_000;
const FIVE_MINUTES = 300_000;
const NO_LIMITS = { timeZone: 'America/Sao_Paulo', maxLagDays: 1_000_000, maxIdleHours: 1_000_000 };
const INTERVAL_MS = 25;

const world = worldOfFile();
let webhook: Webhook;
let wakeUps: WakeUps;
const log: string[] = [];
/** The ledgers of two ERPs: what each has posted, by key. */
const posted = { erp: new Map<string, string>(), sul: new Map<string, string>() };

beforeAll(async () => {
  const none = { databaseRole: null, apiKeyId: null };
  await setConsumer(world.database, { ...none, name: 'sul', buyers: [SECOND_BUYER] }, 'test');
  webhook = await startWebhook();
  webhook.answer = (response) => void response.writeHead(503).end();
  const write = (line: string) => void log.push(line);
  wakeUps = start(pino({ level: 'warn' }, { write }));
});
afterAll(async () => {
  await wakeUps.stop();
  await webhook.close();
});

function start(logger = pino({ level: 'silent' })): WakeUps {
  const secret = openWebhookSecret('BOOKINGS_WEBHOOK_SECRET', { secretFile: null, secret: SECRET });
  const { database } = world;
  return startWakeUps({ database, logger, url: webhook.url, secret, everyMs: INTERVAL_MS });
}

async function sign(titles: readonly { uid: string; value?: string; buyer?: string }[]) {
  await pullDay(world, DAY, ...titles);
  await signDay(world.database, DAY);
}
const first = (uid: string, value = '100') => ({ uid, value });
const second = (uid: string, value = '100') => ({ uid, value, buyer: SECOND_BUYER });

/** Reads one page after a position, posts lines that are not posted, and sends the receipts twice. */
async function work(name: 'erp' | 'sul', after: string, limit: number): Promise<string> {
  const { lines, next } = await readFeed(world.database, name, { after: BigInt(after), limit });
  for (const line of lines) {
    expect(posted[name].has(line.key), `${line.key} is posted already`).toBe(false);
    posted[name].set(line.key, String(line.title['original_value']));
  }
  const receipts = lines.map(({ key, contentHash }) => ({
    ...{ idempotencyKey: `receipt ${key}`, key, contentHash, status: 'posted' as const },
    ...{ document: `D ${key}`, reason: null },
  }));
  expect(await takeReceipts(world.database, name, receipts)).toBe(lines.length);
  expect(await takeReceipts(world.database, name, receipts)).toBe(0);
  return String(next);
}

async function behindAfter(milliseconds: number): Promise<string[]> {
  const batch = await world.database.prisma.bookingBatch.findFirstOrThrow({
    orderBy: { id: 'desc' },
  });
  const now = new Date(batch.releasedAt.getTime() + milliseconds);
  await deriveAlerts(world.database, now, NO_LIMITS);
  const alerts = (await readAlerts(world.database)).filter(({ open }) => open);
  return alerts
    .filter(({ dedupe_key: key }) => key.startsWith('booking_overdue:'))
    .map(({ message }) => message);
}

async function events(count: number) {
  await expect.poll(() => webhook.received.length).toBeGreaterThanOrEqual(count);
  return webhook.received.map(({ text }) => JSON.parse(text));
}

test('a webhook that is down is tried again after growing waits, and the log has no address', async () => {
  await sign([first('a'), first('b'), second('c', '70'), second('d', '80')]);
  const attempts = await events(4);
  expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
  const waits = log.map((line) => JSON.parse(line)).map(({ waitMs }) => waitMs / INTERVAL_MS);
  expect(waits.slice(0, 3)).toEqual([1, 2, 4]);
  expect(log.join('')).not.toContain(TOKEN);
});

test('the readers need no webhook; one that reads line by line is not behind, one that is stopped is', async () => {
  let position = '0';
  for (let page = 0; page < 2; page += 1) position = await work('erp', position, 1);
  expect(
    (await readFeed(world.database, 'erp', { after: BigInt(position), limit: 10 })).lines,
  ).toEqual([]);
  expect(await behindAfter(24 * HOUR - 1_000)).toEqual([]);
  const [alert, ...others] = await behindAfter(24 * HOUR + FIVE_MINUTES);
  expect(others).toEqual([]);
  expect(alert).toBe(
    'the consumer sul has not read its booking lines for more than 1 day: 2 lines wait',
  );
});

test('when the webhook is up again, one signed event names the consumer that has lines to read', async () => {
  webhook.received.length = 0;
  webhook.answer = (response) => void response.writeHead(204).end();
  const [event] = await events(1);
  expect(event).toEqual({
    ...{ id: expect.any(String), time: expect.any(String) },
    ...{ specversion: '1.0', subject: 'sul', type: 'erp-conciliation-sync.bookings.offered' },
    ...{ source: '/erp-conciliation-sync/bookings', datacontenttype: 'application/json' },
    data: { consumer: 'sul', seq: '4' },
  });
  const [received] = webhook.received;
  if (received === undefined) throw new Error('no event');
  const { headers, text } = received;
  expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8');
  expect(headers['webhook-id']).toBe(event.id);
  const isGenuine = await importDocumentedVerification();
  expect(isGenuine(SECRET, headers, text)).toBe(true);
  await sleep(10 * INTERVAL_MS);
  expect(webhook.received).toHaveLength(1);
});

test('a consumer that starts again reads what waits; nothing is lost or posted twice', async () => {
  const position = await work('sul', '0', 100);
  await readFeed(world.database, 'sul', { after: BigInt(position), limit: 100 });
  expect(await behindAfter(24 * HOUR + FIVE_MINUTES)).toEqual([]);
  await sign([first('a'), first('b'), first('e', '5'), second('c', '70'), second('d', '80')]);
  expect((await events(2)).at(-1)).toMatchObject({ subject: 'erp', data: { seq: '5' } });
  await work('erp', '4', 100);
  const lines = await world.database.prisma.bookingLine.findMany({ orderBy: { id: 'asc' } });
  expect(lines.map(({ state }) => state)).toEqual(Array(5).fill('posted'));
  expect([...posted.erp.values()].sort()).toEqual(['100', '100', '5']);
  expect([...posted.sul.values()].sort()).toEqual(['70', '80']);
  expect(await world.database.prisma.bookingReceipt.count()).toBe(5);
});

test('a process that starts posts an event again only where lines wait', async () => {
  await sign([first('a'), first('b'), second('c', '70'), second('d', '80')]);
  const [, , event] = await events(3);
  await wakeUps.stop();
  wakeUps = start();
  expect((await events(4)).at(-1)).toEqual(event);
  await work('erp', '5', 100);
  await wakeUps.stop();
  wakeUps = start();
  await sleep(10 * INTERVAL_MS);
  expect(webhook.received).toHaveLength(4);
});
