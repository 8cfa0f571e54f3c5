import { expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';
import { countWritten } from '../../support/written-rows.ts';

const world = worldOfFile();

test('a second identical pull writes no row of titles or revisions, in any order of the response', async () => {
  const texts = Array.from({ length: 500 }, (_, index) =>
    titleText({ uid: `t${index % 400}`, discount: `${index % 7}.5` }),
  );
  expect(await world.serve(DAY, texts)).toMatchObject({ inserted: 500 });

  for (const order of [texts, texts.toReversed(), texts.toSorted()]) {
    const [report, written] = await countWritten(world.database, () => world.serve(DAY, order));
    expect(report).toMatchObject({ state: 'unchanged', unchanged: 500, changed: 0 });
    // The row of the pull, and the day's: when it was last compared.
    expect(written).toEqual({ day: 1, pull: 1 });
  }
});

test('titles that differ in undocumented fields alone are unchanged, and no seal breaks', async () => {
  const date = daysFrom(1);
  const answer = (more: string) => world.sandbox.setDayTexts(date, titleTexts(50, { date, more }));
  const readDay = () => world.database.prisma.$queryRaw`
    SELECT content_digest, changed_at FROM conciliation.day WHERE date = ${date}::date`;
  answer(',"answeredAt":"2026-03-03T06:00:00Z"');
  await world.pull(date);
  const day = await readDay();

  // A field whose value changes, a field that is new, and a field that is gone.
  for (const more of [',"answeredAt":"2026-03-04T06:00:00Z"', ',"a":1,"b":{"c":[2]}', '']) {
    answer(more);
    const [report, written] = await countWritten(world.database, () => world.pull(date));
    expect(report).toMatchObject({ state: 'unchanged', unchanged: 50, changed: 0 });
    expect(Object.keys(written).filter((table) => table.startsWith('title'))).toEqual([]);
  }
  expect(await readDay()).toEqual(day);
});
