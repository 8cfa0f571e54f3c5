import { expect, onTestFinished, test } from 'vitest';
import { FEATURES } from '../../../src/app/features.ts';
import { planPulls } from '../../../src/core/planner/planner.sql.ts';
import { openConsole } from '../../support/console-client.ts';
import { freshDays, worldOfFile } from '../../support/pull-world.ts';
import { titlesOf, titleText, titleTexts } from '../../support/titles.ts';

const world = worldOfFile();

const nextDay = freshDays();

test.each(FEATURES)(
  'without $name the engine plans, merges and merges again, and the other pages work',
  async (left) => {
    const features = FEATURES.filter((feature) => feature !== left);
    const date = nextDay();
    const parts = { features, withdrawalLimitPercent: 100, checksPlausibility: true };
    const loaded = await world.serve(date, titlesOf(['a', 'b'], { date }), parts);
    expect(loaded).toMatchObject({ state: 'merged', inserted: 2 });
    const restated = await world.serve(date, [titleText({ date, uid: 'a', value: '7.00' })], parts);
    expect(restated).toMatchObject({ state: 'merged', withdrawn: 2 });
    const now = new Date();
    const policy = { timeZone: 'America/Sao_Paulo', lookbackDays: 1, startDate: null };
    const schedule = { slotAt: now, policy, now };
    await planPulls({ database: world.database, features }, schedule, 1);

    const console = await openConsole(world.database, { features });
    onTestFinished(() => console.close());
    const client = await console.as('reviewer');
    const isPage = /^GET \/(?!login|logout|link)[^:]*$/;
    const pages = console.routes.filter((route) => isPage.test(route));
    const answers = await Promise.all(
      pages.map(async (route) => ({ route, status: (await client.get(route.slice(4))).status })),
    );
    expect(pages.length).toBeGreaterThan(10);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    expect(console.routes.some((route) => route.endsWith('/openapi.json'))).toBe(true);
  },
);

test.each([
  { features: FEATURES, state: 'held' },
  { features: FEATURES.filter(({ name }) => name !== 'checks'), state: 'merged' },
])('a doubled response is $state with or without the checks', async ({ features, state }) => {
  const date = nextDay();
  const texts = titleTexts(20, { date });
  const parts = { features, checksPlausibility: true };
  expect(await world.serve(date, [...texts, ...texts], parts)).toMatchObject({ state });
});
