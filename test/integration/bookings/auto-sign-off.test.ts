import { beforeEach, expect, test } from 'vitest';
import { recordAudit } from '../../../src/base/audit/audit.ts';
import { startReleases } from '../../../src/features/bookings/index.ts';
import {
  acceptRejects,
  reopenDay,
  signCleanDays,
} from '../../../src/features/review/sign-off.sql.ts';
import { checkAnyDay } from '../../support/days.ts';
import { logger } from '../../support/logger.ts';
import { match, payablesOf } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

let date = DAY;
beforeEach(() => {
  date = daysFrom(1, date);
});

/** With the limit for withdrawals that holds a response. */
async function pull(...texts: string[]) {
  await world.serve(date, texts);
  await checkAnyDay(world.database);
}
const title = (uid: string, more: Parameters<typeof titleText>[0] = {}) =>
  titleText({ uid, date, ...more });
/** A matched title that falls due before its release is a break. */
const NOT_DUE = '2099-06-30';
const sign = () => signCleanDays(world.database, { bookingsFrom: date, to: date });

test('a clean day is signed off once, and its bookings are released', async () => {
  await pull(title('a'));
  expect(await signCleanDays(world.database, { bookingsFrom: DAY, to: date })).toContain(date);
  expect(await world.prisma.signOff.findMany({ where: { date } })).toMatchObject([
    { signedOffBy: 'auto-sign-off', reason: 'AUTO_SIGN_OFF=clean' },
  ]);
  expect(await world.prisma.bookingLine.count({ where: { date } })).toBe(1);
  expect(await sign()).toEqual([]);
});

test('a day before BOOKINGS_FROM is not signed off', async () => {
  await pull(title('a'));
  expect(
    await signCleanDays(world.database, { bookingsFrom: daysFrom(1, date), to: daysFrom(1, date) }),
  ).toEqual([]);
});

test('a restated day and a reopened day wait for a person', async () => {
  await pull(title('a'));
  await sign();
  await pull(title('a', { discount: '99' }));
  expect(await sign()).toEqual([]);
  await reopenDay(world.database, date, { by: 'ana', reason: 'look again' });
  expect(await sign()).toEqual([]);
});

test('a day with rejects is not signed off, also after a person accepted them', async () => {
  await pull(title('a'), '{"order":{"uid":"broken"}}');
  expect(await sign()).toEqual([]);
  await acceptRejects(world.database, date, { by: 'ana', reason: 'not ours' });
  expect(await sign()).toEqual([]);
});

test('a day with a held response is not signed off', async () => {
  await pull(title('a'));
  await pull();
  expect(await sign()).toEqual([]);
});

test.each([
  ['pull.release', 'a decision', false],
  ['pull.request', 'no decision', true],
] as const)('a day for which a person did %s: %s', async (action, _, isSigned) => {
  await pull(title('a'));
  await recordAudit(world.prisma, { actor: 'ana', action, date });
  expect(await sign()).toEqual(isSigned ? [date] : []);
});

test('a day with a changed bank account is not signed off', async () => {
  const supplier = { code: 'P-2', taxId: 'supplier 2' };
  await pull(title('a', supplier));
  await pull(title('a', { ...supplier, account: '9' }));
  expect(await sign()).toEqual([]);
});

test('the service compares receipts, signs clean days off and releases them', async () => {
  const { prisma } = world;
  await prisma.$executeRaw`
    INSERT INTO conciliation.booking_receipt
      (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status, document)
    VALUES ('erp', 'a', '2020-01-01', gen_random_uuid(), 1, 1, gen_random_uuid(), 'posted', 'D')`;
  await pull(title('a'));
  const config = {
    ...{ erpPayablesMaxAgeHours: 30, timezone: 'America/Sao_Paulo' },
    autoSignOff: 'clean' as const,
  };
  const releases = startReleases(date, {
    ...{ database: world.database, logger, config, everyMs: 50 },
  });
  await expect.poll(() => prisma.bookingLine.count({ where: { date } })).toBe(1);
  await releases.stop();
  expect(await prisma.bookingReceipt.findMany({ select: { outcome: true } })).toEqual([
    { outcome: 'unknown_key' },
  ]);
});

test('with payables of the ERP, a day is signed off once it is matched without a break', async () => {
  const load = (value: string) =>
    importPayables(world.database, payablesOf(`k1 ${value} order=order-${date} due=${NOT_DUE}`));
  await pull(title(`order-${date}`, { value: '555', dueDate: NOT_DUE }));
  await load('554');
  expect(await sign()).toEqual([]);
  await match(world.database);
  expect(await sign()).toEqual([]);
  await load('555');
  await match(world.database);
  expect(await sign()).toEqual([date]);
});
