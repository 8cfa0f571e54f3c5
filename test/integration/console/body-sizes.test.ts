/** Each documented size of a request holds with the largest legal content, and a larger body names the limit. */
import { beforeAll, expect, test } from 'vitest';
import { setConsumer } from '../../../src/features/bookings/consumers.ts';
import { PAYABLE_FIELDS } from '../../../src/features/matching/payables/payable.ts';
import { makeKey } from '../../support/console-client.ts';
import { pagesForFile } from '../../support/pages-world.ts';
import { DAY } from '../../support/pull-world.ts';

const pages = pagesForFile();
let key: string;
beforeAll(async () => {
  const { database } = pages.world;
  key = await makeKey(database, 'operator', ['export', 'payables']);
  const { id } = await database.prisma.apiKey.findFirstOrThrow({ select: { id: true } });
  await setConsumer(
    database,
    { name: 'erp', databaseRole: null, apiKeyId: Number(id), buyers: [] },
    'test',
  );
});

const post = async (path: string, text: string) => {
  const answer = await pages.console.call(key, `/api${path}`, text);
  return { status: answer.status, body: answer.json() };
};

/** JSON in ASCII, as many ERPs write it: each character beyond ASCII has six bytes. */
const ascii = (value: unknown) =>
  JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const receipts = (count: number, text = 'é') =>
  Array.from({ length: count }, (_, index) => ({
    idempotencyKey: `${index}`.padEnd(200, text),
    key: `${DAY}:${'f'.repeat(32)}:999999999:999999999`,
    contentHash: 'f'.repeat(32),
    ...(index % 2 === 0
      ? { status: 'posted', document: text.repeat(200) }
      : { status: 'failed', reason: text.repeat(2_000), isFinal: true }),
  }));

test('1,000 receipts with the longest texts are taken, and one more is refused with the number', async () => {
  expect(await post('/bookings/receipts', ascii({ receipts: receipts(1_000) }))).toEqual({
    status: 200,
    body: { stored: 1_000 },
  });
  expect(await post('/bookings/receipts', ascii({ receipts: receipts(1_001, 'x') }))).toMatchObject(
    {
      status: 400,
      body: { message: expect.stringContaining('1000') },
    },
  );
});

test('1,000 payables with the longest texts are taken, and one more is refused with the number', async () => {
  const long = new Map<string, string>([
    ['supplierTaxId', '52998224725'],
    ['payee', '52998224725'],
    ['dueDate', '2026-06-30'],
    ['openValue', '1'.repeat(18)],
    ['settledAs', 'assignment'],
    ['settledBy', `2026-03-02:${'0'.repeat(32)}:1:1`],
    ['settledOn', '2026-06-30'],
    ['paidTo', '52998224725'],
    ['totalValue', '1'.repeat(18)],
    ['currency', 'BRL'],
    ['bookingKey', `2026-03-02:${'0'.repeat(32)}:1:2`],
    ['issueDate', '2026-05-30'],
    ['status', 'open'],
  ]);
  const texts = ['company', 'supplierExternalId', 'document', 'instalment', 'orderUid', 'version'];
  const fields = PAYABLE_FIELDS.filter((name) => long.has(name) || texts.includes(name));
  const payables = Array.from({ length: 1_000 }, (_, index) => ({
    ...Object.fromEntries(fields.map((name) => [name, long.get(name) ?? '😀'.repeat(255)])),
    erpKey: `${index}`.padEnd(255, 'é'),
  }));
  expect(await post('/erp-payables', ascii({ payables }))).toMatchObject({
    status: 200,
    body: { inserted: 1_000, rejected: 0 },
  });
  expect(
    await post('/erp-payables', ascii({ payables: Array.from({ length: 1_001 }, () => ({})) })),
  ).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('1000') },
  });
});

test('a body above the limit of its route names the limit', async () => {
  expect(await post('/erp-payables/imports', ' '.repeat(65_537))).toEqual({
    status: 413,
    body: {
      code: 'BODY_TOO_LARGE',
      message: 'the body has more than 65536 bytes, the limit of this route',
    },
  });
});
