/** Which consumer a line belongs to, for each writing of the buyer. */
import { expect, test } from 'vitest';
import { InputError } from '../../../src/base/runtime/errors.ts';
import { setConsumer } from '../../../src/features/bookings/consumers.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { DAY, worldOfFile } from '../../support/pull-world.ts';

/** The consumer, its buyer as the command has it, and the buyer as a title has it. */
const WRITINGS = [
  ['masked', '11.222.333/0002-62', '11222333000262'],
  ['lower', '12abc34501de35', '12ABC34501DE35'],
  ['short', '191', '00000000000191'],
  ['plain', '11444777000161', '11.444.777/0001-61'],
  ['blank', '\u00a090021382000122 ', '90021382000122'],
  ['zeros', '06990590000123', '6990590000123'],
] as const;

const world = worldOfFile();

const name = async (consumer: string, ...buyers: string[]) =>
  setConsumer(
    world.database,
    { name: consumer, databaseRole: null, apiKeyId: null, buyers },
    'test',
  );

test('a line belongs to the consumer of its buyer in every writing of the buyer', async () => {
  for (const [consumer, buyer] of WRITINGS) await name(consumer, buyer);
  const titles = [
    ...WRITINGS.map(([uid, , buyer]) => ({ uid, buyer })),
    // Buyers of no consumer.
    { uid: 'other-branch', buyer: '11222333000181' },
    { uid: 'no-cnpj', buyer: 'filial-3' },
    { uid: 'person', buyer: '000.000.001-91' },
  ];
  await pullDay(world, DAY, ...titles);
  await signDay(world.database, DAY);
  const lines = await world.prisma.$queryRaw<{ uid: string; consumer: string }[]>`
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
    const known = await world.prisma.bookingConsumer.count({ where: { name: 'other' } });
    expect(known).toBe(0);
  },
);
