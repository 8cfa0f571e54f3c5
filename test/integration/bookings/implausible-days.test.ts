/** The sandbox's implausible responses with bookings and AUTO_SIGN_OFF on: nothing of such a day is released. */
import { beforeAll, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releaseWaitingDays } from '../../../src/features/bookings/release.sql.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { signCleanDays } from '../../../src/features/review/auto-sign-off.sql.ts';
import { decideOpenChanges } from '../../support/account-decisions.ts';
import { DEFAULT_RULES } from '../../support/check-rules.ts';
import { signDay } from '../../support/days.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import type { Fault } from '../../support/sandbox/faults.ts';

const DAYS = 30;
const FROM = daysFrom(0);

const world = worldOfFile();
beforeAll(async () => {
  for (let index = 0; index < DAYS; index += 1) await pull(daysFrom(index));
  await work();
});

const pull = (date: CivilDate) => world.pull(date, { checksPlausibility: true });
function pullWithFault(kind: Fault['kind'], date: CivilDate) {
  world.sandbox.faults.add({ kind, date, times: 2 } as Fault);
  return pull(date).finally(() => world.sandbox.faults.clear());
}

/** The automatic work of the service: checks, first seals of clean days, releases. */
async function work(): Promise<void> {
  await checkDays(world.database, DEFAULT_RULES);
  await signCleanDays(world.database, { bookingsFrom: FROM, to: daysFrom(DAYS + 10) });
  await releaseWaitingDays(world.database, {});
}

/** The number of lines of each kind. */
async function released(date: CivilDate): Promise<Record<string, number>> {
  const groups = await world.database.prisma.bookingLine.groupBy({
    by: ['kind'],
    where: { date },
    _count: true,
  });
  return Object.fromEntries(groups.map(({ kind, _count: lines }) => [kind, lines]));
}

const sign = (date: CivilDate) =>
  signDay(world.database, date, { fourEyes: true, bookingsFrom: FROM });
const titles = (date: CivilDate) =>
  world.database.prisma.title.count({ where: { acceptedDate: date, status: 'current' } });

test('ordinary days are signed off by the program, and each of their titles is released once', async () => {
  expect(
    await world.database.prisma.signOff.count({ where: { signedOffBy: 'auto-sign-off' } }),
  ).toBe(DAYS);
  expect(await world.database.prisma.bookingLine.count({ where: { kind: 'book' } })).toBe(
    await world.database.prisma.title.count({ where: { status: 'current' } }),
  );
});

test.each([
  ['double', daysFrom(DAYS)],
  ['divided-by-100', daysFrom(DAYS + 1)],
] as const)('a first response that is held releases nothing: %s', async (kind, date) => {
  expect(await pullWithFault(kind, date)).toMatchObject({ state: 'held' });
  await work();
  await expect(sign(date)).rejects.toThrow();
  expect(await released(date)).toEqual({});
  expect(await pull(date)).toMatchObject({ state: 'merged' });
  await work();
  expect(await released(date)).toEqual({ book: await titles(date) });
});

test.each([
  ['double', daysFrom(2)],
  ['lost-buyer', daysFrom(3)],
] as const)('a later response that is held releases nothing more: %s', async (kind, date) => {
  const before = await released(date);
  expect(await pullWithFault(kind, date)).toMatchObject({ state: 'held' });
  await work();
  expect(await released(date)).toEqual(before);
});

test('restated due dates release nothing until a person signs the day off again', async () => {
  const date = daysFrom(5);
  const book = await titles(date);
  expect(await pullWithFault('restated-due-date', date)).toMatchObject({ state: 'merged' });
  await work();
  expect(await released(date)).toEqual({ book });
  await sign(date);
  const { book: all = 0, reverse = 0 } = await released(date);
  expect(reverse).toBeGreaterThan(0);
  // Another due date is another identity.
  expect(all).toBe(book + reverse);
});

test('a changed account releases nothing until one person confirms and another signs', async () => {
  const date = daysFrom(DAYS + 2);
  expect(await pullWithFault('changed-account', date)).toMatchObject({ state: 'merged' });
  await work();
  await expect(sign(date)).rejects.toThrow();
  expect(await released(date)).toEqual({});
  await decideOpenChanges(world.database, 'confirmed', 'bia');
  await work();
  expect(await released(date)).toEqual({});
  await sign(date);
  expect(await released(date)).toEqual({ book: await titles(date) });
});
