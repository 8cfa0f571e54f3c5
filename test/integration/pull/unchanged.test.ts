import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const world = worldOfFile();

/** Rows ever inserted, updated or deleted, as PostgreSQL itself counts them. */
async function settledRowsWritten() {
  // Other connections of the pool report on their own time, at most a second later.
  await sleep(1500);
  // The statistics of this very session are handed in before they are read.
  await world.database.prisma.$queryRaw`SELECT pg_stat_force_next_flush()::text`;
  await world.database.prisma.$queryRaw`SELECT 1`;
  return world.database.prisma.$queryRaw`
    SELECT relname, n_tup_ins::int AS ins, n_tup_upd::int AS upd, n_tup_del::int AS del
    FROM pg_stat_user_tables
    WHERE schemaname = 'conciliation' AND relname IN ('title', 'title_revision') ORDER BY relname`;
}

test('a second identical pull writes no row of titles or revisions, in any order of the response', async () => {
  const texts = Array.from({ length: 500 }, (_, index) =>
    titleText({ uid: `t${index % 400}`, discount: `${index % 7}.5` }),
  );
  world.sandbox.setDayTexts(DAY, texts);
  expect(await world.pull()).toMatchObject({ inserted: 500 });
  const before = await settledRowsWritten();
  expect(before).toMatchObject([{ relname: 'title', ins: 500, upd: 0 }, { ins: 0 }]);

  for (const order of [texts, texts.toReversed(), texts.toSorted()]) {
    world.sandbox.setDayTexts(DAY, order);
    const report = await world.pull();
    expect(report).toMatchObject({ state: 'unchanged', unchanged: 500, changed: 0 });
  }
  expect(await settledRowsWritten()).toEqual(before);
});

test('titles that differ in undocumented fields alone are unchanged, and no seal breaks', async () => {
  const date = daysFrom(1);
  const answer = (more: string) => world.sandbox.setDayTexts(date, titleTexts(50, { date, more }));
  const readDay = () => world.database.prisma.$queryRaw`
    SELECT content_digest, changed_at FROM conciliation.day WHERE date = ${date}::date`;
  answer(',"answeredAt":"2026-03-03T06:00:00Z"');
  await world.pull(date);
  const before = await settledRowsWritten();
  const day = await readDay();

  // A field whose value changes, a field that is new, and a field that is gone.
  for (const more of [',"answeredAt":"2026-03-04T06:00:00Z"', ',"a":1,"b":{"c":[2]}', '']) {
    answer(more);
    const report = await world.pull(date);
    expect(report).toMatchObject({ state: 'unchanged', unchanged: 50, changed: 0 });
  }
  expect(await settledRowsWritten()).toEqual(before);
  expect(await readDay()).toEqual(day);
});
