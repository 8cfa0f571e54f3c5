import { beforeAll, expect, test } from 'vitest';
import { setConsumer } from '../../../src/features/bookings/consumers.ts';
import { makeKey } from '../../support/console-client.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { pagesForFile } from '../../support/pages-world.ts';
import { DAY } from '../../support/pull-world.ts';

const { world, console } = pagesForFile();
let key: string;
beforeAll(async () => {
  key = await newKey();
  const { id } = await world.prisma.apiKey.findFirstOrThrow({ select: { id: true } });
  const consumer = { name: 'erp', databaseRole: null, apiKeyId: Number(id), buyers: [] };
  await setConsumer(world.database, consumer, 'test');
  await pullDay(world, DAY, { value: '10.10' });
  await signDay(world.database, DAY);
});

const newKey = () => makeKey(world.database, 'operator', ['export']);

async function call(path: string, body?: object, bearer = key) {
  const answer = await console.call(bearer, path, body);
  return { status: answer.status, body: answer.json() };
}

test('the key of a consumer reads its lines, answers them, and states its position', async () => {
  const { status, body } = await call('/api/bookings?after=0');
  expect(status).toBe(200);
  expect(body.lines).toMatchObject([
    { kind: 'book', effect: 'payee_change', state: 'released', title: { original_value: '10.10' } },
  ]);
  const [{ key: line, contentHash }] = body.lines;
  const receipt = { idempotencyKey: 'a', key: line, contentHash, status: 'posted', document: 'D' };
  const send = () => call('/api/bookings/receipts', { receipts: [receipt] });
  expect(await send()).toEqual({ status: 200, body: { stored: 1 } });
  expect(await send()).toEqual({ status: 200, body: { stored: 0 } });
  const { next } = body;
  expect((await call(`/api/bookings?after=${next}`)).body).toEqual({ lines: [], next });
  const { lastSeq } = await world.prisma.bookingPosition.findFirstOrThrow();
  expect(String(lastSeq)).toBe(next);
});

test('a position that the feed has not reached is refused', async () => {
  const { status, body } = await call('/api/bookings?after=99');
  expect([status, body.position]).toEqual([400, '0']);
  expect(body.message).toContain('read again from 0, and after a restore send all receipts again');
});

test.each([
  [{ key: 'x' }, 'body/receipts/1/key must match pattern'],
  [{ key: `2026-02-30:${'0'.repeat(32)}:1:1` }, 'receipt "b": key: expected the key of a line'],
  [{ contentHash: 'x' }, 'body/receipts/1/contentHash must match pattern'],
  [{ accountingDate: '2026-02-30' }, 'body/receipts/1/accountingDate must match format "date"'],
  [{ accountingDate: '0000-01-01' }, 'body/receipts/1/accountingDate must match pattern'],
  [{ document: 'a\0' }, 'body/receipts/1/document must match pattern'],
  [{ document: '\ud83d' }, 'body/receipts/1/document must match pattern'],
  [{ document: 2026.1 }, 'body/receipts/1/document must be string,null'],
  [{ idempotencyKey: 7 }, 'body/receipts/1/idempotencyKey must be string'],
  [{ final: true }, 'body/receipts/1 must NOT have additional properties: final'],
  [{ document: null }, 'receipt "b": document: expected 1 to 200 characters, not only blanks'],
  [{ document: '\u00a0' }, 'receipt "b": document: expected 1 to 200 characters, not only blanks'],
  [{ idempotencyKey: ' ' }, 'receipt " ": idempotency_key: expected 1 to 200 characters'],
  [{ status: 'failed', document: null }, 'receipt "b": reason: expected 1 to 2000 characters'],
])('a request with the fault %j is refused, and no receipt is stored', async (fields, message) => {
  const right = {
    ...{ idempotencyKey: 'a fine one', key: `${DAY}:${'0'.repeat(32)}:1:1` },
    ...{ contentHash: '0'.repeat(32), status: 'posted', document: 'D \u{1f600}' },
  };
  const receipts = [right, { ...right, idempotencyKey: 'b', ...fields }];
  const { status, body } = await call('/api/bookings/receipts', { receipts });
  expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
  const stored = { where: { idempotencyKey: { not: 'a' } } };
  expect(await world.prisma.bookingReceipt.count(stored)).toBe(0);
});

test('the key of no consumer reads nothing', async () => {
  const other = await newKey();
  const { status, body } = await call('/api/bookings', undefined, other);
  expect([status, body.message]).toEqual([400, expect.stringContaining('the key of a consumer')]);
});
