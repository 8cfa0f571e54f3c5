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
  const { id } = await world.database.prisma.apiKey.findFirstOrThrow({ select: { id: true } });
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
  expect((await call(`/api/bookings?after=${body.next}`)).body).toEqual({
    lines: [],
    next: body.next,
  });
  const position = await world.database.prisma.bookingPosition.findUniqueOrThrow({
    where: { consumer: 'erp' },
  });
  expect(String(position.lastSeq)).toBe(body.next);
});

test('a position that the feed has not reached is refused', async () => {
  const { status, body } = await call('/api/bookings?after=99');
  expect([status, body.position, body.message]).toEqual([
    400,
    '0',
    expect.stringContaining('read again from 0 and send all receipts again'),
  ]);
});

test.each([
  ['key', { key: 'x' }, 'receipts[0].key: expected the key of a line of the feed'],
  ['contentHash', { contentHash: 'x' }, 'receipts[0].contentHash: expected 32 hexadecimal digits'],
  ['document', { document: null }, 'receipts[0].document: expected 1 to 200 characters'],
  ['reason', { status: 'failed', document: null }, 'receipts[0].reason: expected 1 to 2,000'],
])('a receipt with a wrong %s is refused, and none is stored', async (_, fields, message) => {
  const receipt = {
    ...{ idempotencyKey: 'b', key: `${DAY}:${'0'.repeat(32)}:1:1`, contentHash: '0'.repeat(32) },
    ...{ status: 'posted', document: 'D' },
    ...fields,
  };
  const { status, body } = await call('/api/bookings/receipts', { receipts: [receipt] });
  expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
});

test('the key of no consumer reads nothing', async () => {
  const other = await newKey();
  const { status, body } = await call('/api/bookings', undefined, other);
  expect([status, body.message]).toEqual([400, expect.stringContaining('the key of a consumer')]);
});
