/** The first response to a date, which has no titles. */
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { freshDays, pause, worldOfFile } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const world = worldOfFile();
const freshDay = freshDays();

/** All rows that a pull leaves behind of a date. */
async function outcomeOf(date: CivilDate) {
  const read = async (from: string) =>
    (await world.database.pool.query(`SELECT * FROM conciliation.${from}`, [date])).rows;
  return {
    titles: await read('title WHERE accepted_date = $1 ORDER BY id'),
    rejects: await read('rejected_title WHERE date = $1'),
    day: await read('day WHERE date = $1'),
  };
}

test('a response of many megabytes is merged with one number for each title', async () => {
  const date = freshDay();
  const count = 12_000;
  await world.serve(
    date,
    Array.from({ length: count }, (_, index) => titleText({ date, uid: `t${index % 9_000}` })),
  );
  const { rows } = await world.database.pool.query(`
    SELECT count(DISTINCT id)::int AS titles, count(DISTINCT change_seq)::int AS numbers,
           count(*)::int AS changes, count(*) FILTER (WHERE occurrence = 2)::int AS repeated
    FROM conciliation.title_feed WHERE accepted_date = '${date}'`);
  expect(rows).toEqual([{ titles: count, numbers: count, changes: count, repeated: 3_000 }]);
  expect(await world.pull(date)).toMatchObject({ state: 'unchanged' });
});

/** Waits until a response is being copied. */
const copying = () =>
  vi.waitFor(async () => {
    const { rowCount } = await world.database.pool.query(
      'SELECT FROM pg_stat_progress_copy WHERE datname = current_database()',
    );
    expect(rowCount).toBe(1);
  }, PATIENCE_MS);

test('a platform that pauses in the middle of an answer keeps no date waiting', async () => {
  const [slow, other] = [freshDay(), freshDay()];
  const texts = titleTexts(30, { date: slow });
  world.sandbox.setDayTexts(slow, texts);
  const [until, release] = pause();
  world.sandbox.faults.add({ kind: 'stall', afterBytes: 5_000, until, date: slow });
  const reading = world.pull(slow);
  await copying();
  expect(await world.serve(other, [titleText({ date: other })])).toMatchObject({ state: 'merged' });
  expect(await outcomeOf(slow)).toMatchObject({ titles: [], day: [] });
  // Nor its own date: a newer fetch is merged, and replaces the older one.
  expect(await world.serve(slow, texts.slice(1))).toMatchObject({ state: 'merged', inserted: 29 });
  const newer = await outcomeOf(slow);
  expect(newer.titles).toHaveLength(29);
  release();
  expect(await reading).toMatchObject({ state: 'superseded', inserted: 0 });
  expect(await outcomeOf(slow)).toEqual(newer);
});

test('a date that got titles while the answer was on its way is compared with them', async () => {
  const date = freshDay();
  world.sandbox.setDayTexts(date, [titleText({ date, uid: 'a' }), titleText({ date, uid: 'b' })]);
  let isOvertaken = false;
  const overtake = world.meanwhile(async () => {
    if (isOvertaken) return;
    isOvertaken = true;
    // An older request, merged last: the newer one has still everything to say.
    await world.pull(date);
    await world.database.pool.query(`
      ALTER TABLE conciliation.pull DISABLE TRIGGER pull_kept;
      UPDATE conciliation.pull SET fence = 0 WHERE date = '${date}' AND state = 'merged';
      ALTER TABLE conciliation.pull ENABLE TRIGGER pull_kept`);
  });
  const report = await world.pull(date, overtake);
  expect(report).toMatchObject({ state: 'unchanged', titles: 2, inserted: 0 });
});

test('the merge of a first response has few statements, and one of them under the shared lock', async () => {
  const date = freshDay();
  world.sandbox.setDayTexts(date, titleTexts(3, { date }));
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await world.pull(date, { checksPlausibility: true });
  const texts = query.mock.calls.map(([first]) =>
    typeof first === 'string' ? first : String((first as { text?: string } | null)?.text),
  );
  query.mockRestore();
  const merge = texts.slice(texts.lastIndexOf('BEGIN') + 1);
  // With COMMIT.
  expect(merge.length).toBeLessThanOrEqual(12);
  const lock = merge.findIndex((text) => text.includes('conciliation.program_lock'));
  expect(merge.slice(lock + 1).map((text) => text.trim().slice(0, 13))).toEqual([
    'WITH numbered',
    'COMMIT',
  ]);
});
