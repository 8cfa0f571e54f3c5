/** Which consumer a line belongs to, for each writing of the buyer. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setConsumer } from '../../../src/bookings/consumers.ts';
import { signOffDay } from '../../../src/ledger/sign-off.sql.ts';
import { InputError } from '../../../src/runtime/errors.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

/** The consumer, its buyer as the command has it, and the buyer as a title has it. */
const WRITINGS = [
  ['masked', '11.222.333/0002-62', '11222333000262'],
  ['lower', '12abc34501de35', '12ABC34501DE35'],
  ['short', '191', '00000000000191'],
  ['plain', '11444777000161', '11.444.777/0001-61'],
  ['blank', '\u00a090021382000122 ', '90021382000122'],
  ['zeros', '06990590000123', '6990590000123'],
] as const;

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

const name = async (consumer: string, ...buyers: string[]) =>
  setConsumer(
    world.database,
    { name: consumer, databaseRole: null, apiKeyId: null, buyers },
    'test',
  );

test('a line belongs to the consumer of its buyer in every writing of the buyer', async () => {
  for (const [consumer, buyer] of WRITINGS) await name(consumer, buyer);
  const texts = [
    ...WRITINGS.map(([uid, , buyer]) => [uid, buyer] as const),
    // Buyers of no consumer.
    ['other-branch', '11222333000181'] as const,
    ['no-cnpj', 'filial-3'] as const,
    ['person', '000.000.001-91'] as const,
  ].map(([uid, buyer]) =>
    titleText({ uid }).replace(
      '"buyerIdentification":"90021382000122"',
      `"buyerIdentification":${JSON.stringify(buyer)}`,
    ),
  );
  world.sandbox.setDayTexts(DAY, texts);
  await world.pull(DAY);
  const day = await world.database.prisma.day.findUniqueOrThrow({ where: { date: DAY } });
  const signing = { by: 'ana', reason: null, fourEyes: false, bookingsFrom: DAY };
  await signOffDay(world.database, DAY, { ...signing, seenDigest: String(day.contentDigest) });
  const lines = await world.database.prisma.$queryRaw<{ uid: string; consumer: string }[]>`
    SELECT order_uid AS uid, consumer FROM conciliation.booking_line`;
  expect(Object.fromEntries(lines.map(({ uid, consumer }) => [uid, consumer]))).toEqual({
    ...Object.fromEntries(WRITINGS.map(([consumer]) => [consumer, consumer])),
    ...{ 'other-branch': 'erp', 'no-cnpj': 'erp', person: 'erp' },
  });
});

test('one buyer in two writings does not belong to two consumers', async () => {
  for (const [consumer, , buyer] of WRITINGS) {
    await expect(name('other', buyer)).rejects.toThrow(`belongs to the consumer ${consumer}`);
  }
});

test.each(['filial-3', '52998224725', '000.000.001-91', '11222333000263', '00000000000000', ''])(
  'the buyer %j is refused with the form that is expected, and without the text',
  async (buyer) => {
    const refused = await name('other', '06990590000123', buyer).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InputError);
    expect(String(refused)).toMatch(/buyers: number 2 is no CNPJ; expected 14 characters/);
    if (buyer !== '') expect(String(refused)).not.toContain(buyer);
    const known = await world.database.prisma.bookingConsumer.count({ where: { name: 'other' } });
    expect(known).toBe(0);
  },
);
