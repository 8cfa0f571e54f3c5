/** The command `sweep`, as an operator and an ERP see what it does. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CivilDate, datesBetween } from '../../../src/domain/business-day.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { daysFrom, openPullWorld, type PullWorld, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const FIRST = daysFrom(-6, TODAY);

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld({ startDate: FIRST });
});
afterAll(() => world.close());

const run = (...args: string[]) => runCommand(args, environmentOf(world));

const countTitles = async () => {
  const { rows } = await world.database.pool.query(
    `SELECT (count(*) FILTER (WHERE status = 'current'))::int AS current,
            (count(*) FILTER (WHERE status = 'withdrawn'))::int AS withdrawn
     FROM conciliation.title`,
  );
  return rows[0];
};

test('an answer that lacks a title of each date withdraws none', async () => {
  // The first date has no titles. The sandbox answers a sweep that begins with the date from other bytes.
  const dates = datesBetween(daysFrom(1, FIRST), daysFrom(5, FIRST));
  const textsOf = (date: CivilDate) =>
    Array.from({ length: 10 }, (_, index) => titleText({ date, uid: `${date}-${index}` }));
  for (const date of [FIRST, TODAY]) world.sandbox.setDayTexts(date, []);
  for (const date of dates) world.sandbox.setDayTexts(date, textsOf(date));
  const last = daysFrom(5, FIRST);
  expect((await run('backfill', '--from', FIRST, '--to', last)).exit).toBe(0);
  expect(await countTitles()).toEqual({ current: 50, withdrawn: 0 });

  const lacking = dates.flatMap((date) => textsOf(date).slice(1));
  world.sandbox.setRawBody(FIRST, { body: `{"titles":[${lacking.join(',')}]}` });
  const swept = await run('sweep', '--from', FIRST);
  expect(await countTitles()).toEqual({ current: 50, withdrawn: 0 });
  expect(swept).toMatchObject({ exit: 0 });
});
