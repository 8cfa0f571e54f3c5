import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

/** Rows ever inserted, updated or deleted, as PostgreSQL itself counts them. */
async function rowsWritten() {
  // The statistics of this very session are handed in before they are read.
  await world.database.prisma.$queryRaw`SELECT pg_stat_force_next_flush()::text`;
  await world.database.prisma.$queryRaw`SELECT 1`;
  return world.database.prisma.$queryRaw`
    SELECT relname, n_tup_ins::int AS ins, n_tup_upd::int AS upd, n_tup_del::int AS del
    FROM pg_stat_user_tables
    WHERE schemaname = 'conciliation' AND relname IN ('title', 'title_revision') ORDER BY relname`;
}

async function settledRowsWritten() {
  // Other connections of the pool report on their own time, at most a second later.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  return rowsWritten();
}

test('a second identical pull writes no row of titles or revisions, in any order of the response', async () => {
  const texts = Array.from({ length: 500 }, (_, index) =>
    titleText({ uid: `t${index % 400}`, discount: `${index % 7}.5` }),
  );
  world.sandbox.setDayTexts(DAY, texts);
  expect((await world.pullDay()).dates).toMatchObject([{ inserted: 500 }]);
  const before = await settledRowsWritten();
  expect(before).toMatchObject([{ relname: 'title', ins: 500, upd: 0 }, { ins: 0 }]);

  for (const order of [texts, texts.toReversed(), texts.toSorted()]) {
    world.sandbox.setDayTexts(DAY, order);
    const report = await world.pullDay();
    expect(report).toMatchObject({ state: 'unchanged', dates: [{ unchanged: 500, changed: 0 }] });
  }
  expect(await settledRowsWritten()).toEqual(before);
});
