/** A service whose BOOKINGS_FROM could book a title twice, or lose lines, does not start. */
import { expect, test } from 'vitest';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { dueSince, eventually, inServiceWorld, nothingDue } from '../../support/service-world.ts';
import { titleText } from '../../support/titles.ts';

const OPTIONS = { redisDatabase: 11, environment: nothingDue() };

test('a service with lines does not start with a later BOOKINGS_FROM, nor without one', () =>
  inServiceWorld('PostgreSQL', OPTIONS, async (world) => {
    const day = daysFrom(-2, TODAY);
    world.sandbox.setDayTexts(day, [titleText({ uid: 'a', date: day })]);
    world.sandbox.setDayTexts(daysFrom(-1, TODAY), []);
    await world.start({
      environment: { ...dueSince(day), BOOKINGS_FROM: day, AUTO_SIGN_OFF: 'clean' },
    });
    await eventually(async () =>
      expect(await world.database.prisma.bookingLine.count()).toBeGreaterThan(0),
    );
    const later = daysFrom(-1, TODAY);
    for (const [BOOKINGS_FROM, given] of [
      [later, `got ${later}`],
      ['', 'not set'],
    ] as const) {
      const { exit, text } = await world.spawn({ environment: { BOOKINGS_FROM } }).ended;
      expect(text).toContain(
        `BOOKINGS_FROM: ${given}, expected a date up to ${day}, the first date with booking lines`,
      );
      expect(exit).toBe(2);
    }
    // The starts that were refused left their values, too.
    const entries = await world.database.prisma.auditEntry.findMany({
      where: { action: 'settings.change' },
      orderBy: { id: 'asc' },
    });
    expect(entries.map(({ details }) => (details as { changes: string[] }).changes)).toEqual([
      expect.arrayContaining([
        ...['SIGN_OFF_FOUR_EYES on', 'AUTO_SIGN_OFF clean', `BOOKINGS_FROM ${day}`],
        ...['WITHDRAWAL_LIMIT_PERCENT 20', 'PLAUSIBILITY off'],
      ]),
      [`BOOKINGS_FROM ${day} → ${later}`, 'AUTO_SIGN_OFF clean → off'],
      [`BOOKINGS_FROM ${later} → –`],
    ]);
  }));
