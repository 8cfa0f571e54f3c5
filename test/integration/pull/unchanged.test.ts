import { expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const world = worldOfFile();

/** The versions of all rows of titles and revisions. A row that is written, even as it was, has another version. */
async function rowVersions(): Promise<string[]> {
  const { rows } = await world.database.pool.query<{ version: string }>(`
    SELECT tableoid || ' ' || ctid || ' ' || xmin AS version FROM conciliation.title
    UNION ALL
    SELECT tableoid || ' ' || ctid || ' ' || xmin FROM conciliation.title_revision`);
  return rows.map(({ version }) => version).sort();
}

test('a second identical pull writes no row of titles or revisions, in any order of the response', async () => {
  const texts = Array.from({ length: 500 }, (_, index) =>
    titleText({ uid: `t${index % 400}`, discount: `${index % 7}.5` }),
  );
  expect(await world.serve(DAY, texts)).toMatchObject({ inserted: 500 });
  const before = await rowVersions();
  expect(before).toHaveLength(500);

  for (const order of [texts, texts.toReversed(), texts.toSorted()]) {
    const report = await world.serve(DAY, order);
    expect(report).toMatchObject({ state: 'unchanged', unchanged: 500, changed: 0 });
  }
  expect(await rowVersions()).toEqual(before);
});

test('titles that differ in undocumented fields alone are unchanged, and no seal breaks', async () => {
  const date = daysFrom(1);
  const answer = (more: string) => world.sandbox.setDayTexts(date, titleTexts(50, { date, more }));
  const readDay = () => world.database.prisma.$queryRaw`
    SELECT content_digest, changed_at FROM conciliation.day WHERE date = ${date}::date`;
  answer(',"answeredAt":"2026-03-03T06:00:00Z"');
  await world.pull(date);
  const before = await rowVersions();
  const day = await readDay();

  // A field whose value changes, a field that is new, and a field that is gone.
  for (const more of [',"answeredAt":"2026-03-04T06:00:00Z"', ',"a":1,"b":{"c":[2]}', '']) {
    answer(more);
    const report = await world.pull(date);
    expect(report).toMatchObject({ state: 'unchanged', unchanged: 50, changed: 0 });
  }
  expect(await rowVersions()).toEqual(before);
  expect(await readDay()).toEqual(day);
});
