/** BOOKINGS_FROM: when it is stored, where it moves, and what becomes of the dates before it. */
import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { moveBookings } from '../../../src/features/bookings/booking-start.sql.ts';
import {
  lockDay,
  readWaitingDays,
  releaseSealedDay,
  releaseWaitingDays,
} from '../../../src/features/bookings/release.sql.ts';
import {
  confirmUnbookedChange,
  readUnbookedChanges,
} from '../../../src/features/bookings/unbooked-changes.sql.ts';
import { runMatching } from '../../../src/features/matching/run-matching.sql.ts';
import { reopenDay } from '../../../src/features/review/sign-off.sql.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { NEVER_STALE } from '../alerts/alert-table.ts';

const [EARLY, LAST_EARLY, BEFORE, START, LATER] = [0, 1, 2, 3, 4].map((days) =>
  daysFrom(days, DAY),
) as [CivilDate, CivilDate, CivilDate, CivilDate, CivilDate];

const world = worldOfFile();
const waitingWorld = worldOfFile();

const pull = (date: CivilDate, discount: string, at = world) =>
  pullDay(at, date, { uid: 'a', discount });
const sign = (date: CivilDate, bookingsFrom: CivilDate | null, { database } = world) =>
  signDay(database, date, { by: 'rita', bookingsFrom });

const move = (bookingsFrom: CivilDate | null, { database } = world) =>
  moveBookings(database, bookingsFrom);
const lines = (date: CivilDate, { database } = world) =>
  database.prisma.bookingLine.count({ where: { date } });
const stored = async ({ database } = world) =>
  (await database.prisma.bookingStart.findFirst())?.bookingsFrom ?? null;

test('a date that was signed off is not the first date with bookings, nor is a date before it', async () => {
  await pull(EARLY, '1');
  await sign(EARLY, null);
  await pull(EARLY, '2');
  await sign(EARLY, null);
  const fault = `BOOKINGS_FROM: got ${EARLY}, expected a date after ${EARLY}, the newest date that was signed off without bookings`;
  await expect(move(EARLY)).rejects.toThrow(fault);
  // A process that was started before that sign-off.
  await pull(LAST_EARLY, '1');
  await sign(LAST_EARLY, EARLY);
  expect([await lines(LAST_EARLY), await stored()]).toEqual([0, null]);
  expect(await releaseWaitingDays(world.database, {})).toEqual([]);
  await expect(move(EARLY)).rejects.toThrow(`expected a date after ${LAST_EARLY}`);
});

test('the first sign-off from BOOKINGS_FROM on stores it, and two at a time release both days', async () => {
  await move(START);
  await pull(BEFORE, '1');
  await sign(BEFORE, START);
  expect([await lines(BEFORE), await stored()]).toEqual([0, null]);
  await pull(START, '1');
  await pull(LATER, '1');
  await Promise.all([sign(LATER, START), sign(START, START)]);
  expect([await lines(START), await lines(LATER), await stored()]).toEqual([1, 1, START]);
  // Another BOOKINGS_FROM of a process that is not restarted yet changes nothing.
  await pull(BEFORE, '2');
  await sign(BEFORE, BEFORE);
  expect([await lines(BEFORE), await stored()]).toEqual([0, START]);
});

test('BOOKINGS_FROM moves neither past a date with lines nor to a date that was signed off without', async () => {
  const late = `expected a date up to ${START}, the first date with booking lines`;
  await expect(move(LATER)).rejects.toThrow(`BOOKINGS_FROM: got ${LATER}, ${late}`);
  await expect(move(null)).rejects.toThrow(`BOOKINGS_FROM: not set, ${late}`);
  await expect(move(BEFORE)).rejects.toThrow(`expected a date after ${BEFORE}`);
  await move(START);
  expect(await stored()).toBe(START);
});

test('a date before BOOKINGS_FROM that is signed off again with another content is an alert until the ERP has the difference', async () => {
  const { database } = world;
  const changes = () => readUnbookedChanges(database.prisma);
  const confirm = (signOffId: number) =>
    confirmUnbookedChange(database, LAST_EARLY, { by: 'rita', reason: 'by hand', signOffId });
  const alerted = async () => {
    await deriveAlerts(database, new Date(), NEVER_STALE);
    const where = { dedupeKey: 'booking_waiting:difference', resolvedAt: null };
    return (await database.prisma.alert.findFirst({ where }))?.message ?? null;
  };
  // What was signed off twice before bookings began, the ERP has. The same content makes no difference.
  await reopenDay(database, EARLY, { by: 'bia', reason: 'again' });
  await sign(EARLY, START);
  await pull(LAST_EARLY, '2');
  expect((await changes()).map(({ date }) => date)).toEqual([BEFORE]);
  await sign(LAST_EARLY, START);
  expect(await lines(LAST_EARLY)).toBe(0);
  const [first, second] = await changes();
  expect([first?.date, second?.date]).toEqual([LAST_EARLY, BEFORE]);
  expect(await alerted()).toContain(`${LAST_EARLY} to ${BEFORE} are before BOOKINGS_FROM`);
  const signOffId = first?.signOffId ?? 0;
  await expect(confirm(signOffId - 1)).rejects.toThrow('no such difference');
  await confirm(signOffId);
  await expect(confirm(signOffId)).rejects.toThrow('no such difference');
  expect(await alerted()).toContain(`${BEFORE} is before`);
  // The next difference is that from the confirmed content.
  await pull(LAST_EARLY, '3');
  await sign(LAST_EARLY, START);
  await pull(LAST_EARLY, '1');
  await sign(LAST_EARLY, START);
  const confirmed = await database.prisma.signOff.findUniqueOrThrow({ where: { id: signOffId } });
  expect((await changes())[0]).toMatchObject({ date: LAST_EARLY, fence: String(confirmed.fence) });
  await pull(LAST_EARLY, '2');
  await sign(LAST_EARLY, START);
  expect((await changes()).map(({ date }) => date)).toEqual([BEFORE]);
});

test('a day that waits is not released once BOOKINGS_FROM is a later date, and BOOKINGS_FROM does not move back', async () => {
  const { database } = waitingWorld;
  await importPayables(database, [{ erpKey: 'k1', openValue: '77' }], 'snapshot');
  await pull(EARLY, '1', waitingWorld);
  await sign(EARLY, EARLY, waitingWorld);
  expect([await lines(EARLY, waitingWorld), await stored(waitingWorld)]).toEqual([0, EARLY]);
  await move(START, waitingWorld);
  await runMatching(database, { by: 'test' });
  expect(await readWaitingDays(database, {})).toEqual([]);
  expect(await releaseWaitingDays(database, {})).toEqual([]);
  expect(await lines(EARLY, waitingWorld)).toBe(0);
  await expect(move(EARLY, waitingWorld)).rejects.toThrow(`expected a date after ${EARLY}`);
  await move(null, waitingWorld);
  expect(await stored(waitingWorld)).toBeNull();
  await expect(move(EARLY, waitingWorld)).rejects.toThrow(`expected a date after ${EARLY}`);
});

test('a move waits for a release, and is refused by its lines', async () => {
  const { database } = waitingWorld;
  await move(START, waitingWorld);
  await pull(START, '1', waitingWorld);
  await sign(START, START, waitingWorld);
  expect([await lines(START, waitingWorld), await stored(waitingWorld)]).toEqual([0, START]);
  await runMatching(database, { by: 'test' });
  let moved: Promise<unknown> | undefined;
  await database.prisma.$transaction(async (tx) => {
    await lockDay(tx, START);
    expect(await releaseSealedDay(tx, START, {})).not.toBeNull();
    moved = move(LATER, waitingWorld).catch((error: unknown) => error);
    const waits = lockWaits(database).then(() => 'waits');
    expect(await Promise.race([moved, waits])).toBe('waits');
  });
  expect(String(await moved)).toContain(`expected a date up to ${START}`);
});
