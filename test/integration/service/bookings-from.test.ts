/** A service whose BOOKINGS_FROM could book a title twice, or lose lines, does not start. */
import { expect, test } from 'vitest';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { dueSince, eventually, nothingDue, openServiceWorld } from '../../support/service-world.ts';
import { titleText } from '../../support/titles.ts';

test('a service with lines does not start with a later BOOKINGS_FROM, nor without one', async () => {
  const day = daysFrom(-2, TODAY);
  const world = await openServiceWorld('PostgreSQL', {
    redisDatabase: 11,
    environment: nothingDue(),
  });
  try {
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
  } finally {
    await world.close();
  }
});
