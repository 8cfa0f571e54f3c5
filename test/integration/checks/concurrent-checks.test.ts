/** Two processes that check dates at the same time. */
import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { readFindings } from '../../../src/features/checks/findings.sql.ts';
import { DEFAULT_RULES } from '../../support/check-rules.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const NEXT = daysFrom(1);

const world = worldOfFile();

const check = () => checkDays(world.database, DEFAULT_RULES);

async function pull(date: CivilDate) {
  await world.serve(date, [titleText({ uid: 'a', date })]);
}

test('both dates of equal titles have the finding, also where the second date came while the first was checked', async () => {
  await pull(DAY);
  const checks: Promise<unknown>[] = [];
  await world.database.prisma.$transaction(
    async (tx) => {
      // Stops the first check after it has looked for faults.
      await tx.$executeRaw`LOCK TABLE conciliation.day_buyer IN EXCLUSIVE MODE`;
      checks.push(check());
      await lockWaits(world.database);
      await pull(NEXT);
      checks.push(check());
      await lockWaits(world.database, 2);
    },
    { timeout: 120_000 },
  );
  await Promise.all(checks);
  while ((await check()).length > 0);
  const filter = {
    state: 'open',
    check: 'equal_on_two_dates',
    severity: null,
    date: null,
  } as const;
  const found = await readFindings(world.database.prisma, filter, { offset: 0, limit: 9 });
  expect(found.map(({ date }) => date)).toEqual([NEXT, DAY]);
});
