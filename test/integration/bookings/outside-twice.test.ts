/** Two persons who enter at the same time what was booked outside. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enterBookedOutside } from '../../../src/bookings/booked-outside.sql.ts';
import { signOffDay } from '../../../src/ledger/sign-off.sql.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

async function waiting(): Promise<number> {
  const [row] = await world.database.prisma.$queryRaw<[{ sessions: number }]>`
    SELECT count(*)::int AS sessions FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return row.sessions;
}

test('bookings made outside are entered once: the second person is refused, and nothing is released again', async () => {
  const { database } = world;
  world.sandbox.setDayTexts(DAY, [titleText({ value: '10.10' })]);
  await world.pull(DAY);
  const { contentDigest } = await database.prisma.day.findUniqueOrThrow({ where: { date: DAY } });
  await signOffDay(database, DAY, {
    ...{ by: 'ana', reason: null, seenDigest: contentDigest ?? '', fourEyes: false },
  });
  const enter = (titles: number, originalValue: string) =>
    enterBookedOutside(
      database,
      { from: DAY, to: DAY, titles, originalValue, signedBefore: null, bookingsFrom: DAY },
      { by: 'ana', reason: 'by hand' },
    ).catch((error: unknown) => error);
  const entries: Promise<unknown>[] = [];
  await database.prisma.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT FROM conciliation.day WHERE date = ${DAY}::date FOR UPDATE`;
      entries.push(enter(1, '10.10'));
      await expect.poll(waiting).toBe(1);
      entries.push(enter(0, '0'));
      await expect.poll(waiting).toBe(2);
    },
    { timeout: 120_000 },
  );
  expect(await Promise.all(entries)).toEqual([
    [DAY],
    expect.objectContaining({ context: { fault: 'no_days' } }),
  ]);
  expect(
    await database.prisma.bookingLine.findMany({
      select: { kind: true, state: true, version: true },
    }),
  ).toEqual([{ kind: 'book', state: 'posted', version: 1 }]);
});
