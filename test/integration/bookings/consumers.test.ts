/** Events for the consumers that have lines to read, while the webhook is down and after it is up again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Loop } from '../../../src/base/runtime/timing.ts';
import { setConsumer } from '../../../src/features/bookings/consumers.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { startWakeUps } from '../../../src/features/bookings/index.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { logger, recordingLogger } from '../../support/logger.ts';
import { DAY } from '../../support/pull-world.ts';
import { importDocumentedVerification } from '../alerts/documented-verification.ts';
import { startWebhook, TOKEN, type Webhook } from '../alerts/webhook.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SECOND_BUYER = '11444777000161';
const INTERVAL_MS = 25;

const world = worldOfFile();
let webhook: Webhook;
let wakeUps: Loop;
const recording = recordingLogger('warn');
beforeAll(async () => {
  const none = { databaseRole: null, apiKeyId: null };
  await setConsumer(world.database, { ...none, name: 'sul', buyers: [SECOND_BUYER] }, 'test');
  webhook = await startWebhook();
  webhook.status = 503;
  wakeUps = start(recording.logger);
});
afterAll(async () => {
  await wakeUps.stop();
  await webhook.close();
});

function start(to = logger): Loop {
  const { database } = world;
  const config = { bookingsWebhookSecret: Buffer.from(SECRET.slice('whsec_'.length), 'base64') };
  return startWakeUps(webhook.url, { database, logger: to, config, everyMs: INTERVAL_MS });
}

async function sign(titles: readonly { uid: string; value?: string; buyer?: string }[]) {
  await pullDay(world, DAY, ...titles);
  await signDay(world.database, DAY);
}
const first = (uid: string, value = '100') => ({ uid, value });
const second = (uid: string, value = '100') => ({ uid, value, buyer: SECOND_BUYER });

async function readToEnd(name: 'erp' | 'sul'): Promise<void> {
  const { next } = await readFeed(world.database, name, { after: 0n, limit: 100 });
  await readFeed(world.database, name, { after: BigInt(next), limit: 100 });
}

async function events(count: number) {
  await expect.poll(() => webhook.received.length).toBeGreaterThanOrEqual(count);
  return webhook.received.map(({ text }) => JSON.parse(text));
}

test('a webhook that is down is tried again after growing waits, and the log has no address', async () => {
  await sign([first('a'), first('b'), second('c', '70'), second('d', '80')]);
  const attempts = await events(4);
  expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
  const waits = recording.log.map(({ waitMs }) => Number(waitMs) / INTERVAL_MS);
  expect(waits.slice(0, 3)).toEqual([1, 2, 4]);
  expect(JSON.stringify(recording.log)).not.toContain(TOKEN);
});

test('when the webhook is up again, one signed event names the consumer that has lines to read', async () => {
  await readToEnd('erp');
  webhook.received.length = 0;
  webhook.status = 204;
  const [event] = await events(1);
  const [newest] = await world.database.prisma.$queryRaw<[{ seq: string }]>`
    SELECT max(offer.seq)::text AS seq
    FROM conciliation.booking_offer AS offer JOIN conciliation.booking_line AS line ON line.id = offer.line_id
    WHERE line.buyer_identification = ${SECOND_BUYER}`;
  expect(event).toEqual({
    ...{ id: expect.any(String), time: expect.any(String) },
    ...{ specversion: '1.0', subject: 'sul', type: 'erp-conciliation-sync.bookings.offered' },
    ...{ source: '/erp-conciliation-sync/bookings', datacontenttype: 'application/json' },
    data: { consumer: 'sul', seq: newest.seq },
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

test('a process that starts posts an event again only where lines wait', async () => {
  await readToEnd('sul');
  await sign([first('a'), first('b'), first('e'), second('c', '70'), second('d', '80')]);
  const [, event] = await events(2);
  expect(event).toMatchObject({ subject: 'erp', data: { seq: '5' } });
  await wakeUps.stop();
  wakeUps = start();
  expect((await events(3)).at(-1)).toEqual(event);
  await readToEnd('erp');
  await wakeUps.stop();
  wakeUps = start();
  await sleep(10 * INTERVAL_MS);
  expect(webhook.received).toHaveLength(3);
});
