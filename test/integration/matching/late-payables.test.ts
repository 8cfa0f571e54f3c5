import { expect, test } from 'vitest';
import { readWaitingTitles } from '../../../src/features/bookings/unposted.sql.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { isMatchingDue } from '../../../src/features/matching/run-matching.sql.ts';
import { readReleaseFaults } from '../../../src/features/review/obstacles.sql.ts';
import { ANY_DAY_RULES } from '../../support/check-rules.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { clearMatching, match, play } from '../../support/matching-world.ts';
import { DAY } from '../../support/pull-world.ts';

const world = worldOfFile();
const isDue = () => isMatchingDue(world.database, 24);

test.each([
  [
    'new',
    `INSERT INTO conciliation.erp_payable (erp_key, supplier_external_id, open_value) VALUES ('k2', 'P-1', 20)`,
  ],
  ['changed', `UPDATE conciliation.erp_payable SET status = 'paid' WHERE erp_key = 'k1'`],
])('a %s payable that is committed after a run began makes a run due', async (_, statement) => {
  await play(world, [{ titles: 'a 10', snapshot: 'k1 10', matches: 'a=k1 exact' }]);
  expect(await isDue()).toBe(false);
  await world.database.prisma.$transaction(
    async (tx) => {
      await tx.$executeRawUnsafe(statement);
      await match(world.database);
      expect(await isDue()).toBe(false);
    },
    { timeout: 60_000 },
  );
  expect(await isDue()).toBe(true);
  await match(world.database);
  expect(await isDue()).toBe(false);
});

test('a title whose payable the ERP has paid after the run waits, and its day does not', async () => {
  await clearMatching(world.database);
  await play(world, [{ titles: 'a 10' }]);
  await checkDays(world.database, ANY_DAY_RULES);
  await play(world, [{ snapshot: 'k1 10', matches: 'a=k1 exact' }]);
  for (const [load, waiting] of [
    ['k1 10', []],
    // Payables of other titles or of none.
    ['k2 11 paid, k3 10 due=2026-07-01 paid', []],
    ['k2 11 order=a paid', ['a']],
    ['k2 11 paid', []],
    ['k1 10 paid', ['a']],
    ['k1 10', []],
    ['k1 0 paid', ['a']],
  ] as const) {
    await play(world, [{ load }]);
    expect(await readReleaseFaults(world.database.prisma, DAY, {})).toEqual([]);
    const titles = await readWaitingTitles(world.database, DAY);
    expect(titles.map(({ orderUid }) => orderUid)).toEqual(waiting);
  }
});
