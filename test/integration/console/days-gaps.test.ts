import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConsoleClient, ConsoleWorld } from '../../support/console-client.ts';
import { openPagesWorld } from '../../support/pages-world.ts';
import { DAY, daysFrom, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
let console: ConsoleWorld;
let viewer: ConsoleClient;
beforeAll(async () => {
  ({ world, console, viewer } = await openPagesWorld());
  for (const [offset, value] of [
    [0, '310.50'],
    [1, '100'],
    [5, '200'],
    [7, '50'],
  ] as const) {
    const date = daysFrom(offset, DAY);
    world.sandbox.setDayTexts(date, [titleText({ uid: 'a', date, value })]);
    await world.pull(date);
  }
});
afterAll(async () => {
  await console.close();
  await world.close();
});

const page = async (language: string) =>
  (await viewer.get('/?to=2026-03', { 'accept-language': language })).text;

test('the chart keeps a place for dates without a day, and has a scale and dates', async () => {
  const text = await page('en');
  const chart = /<svg class="chart"[\s\S]*?<\/svg>/.exec(text)?.[0] ?? '';
  const bars = [
    ...chart.matchAll(
      /href="\/days\/([\d-]+)"[\s\S]*?chart-hit" x="([\d.]+)" y="\d+" width="(\d+)"/g,
    ),
  ].map(([, date, x, step]) => ({ date, x: Number(x), step: Number(step) }));
  const [first] = bars;
  expect(bars.map(({ date, x, step }) => [date, (x - (first?.x ?? 0)) / step])).toEqual([
    [daysFrom(0, DAY), 0],
    [daysFrom(1, DAY), 1],
    [daysFrom(5, DAY), 5],
    [daysFrom(7, DAY), 7],
  ]);
  expect(chart.match(/class="chart-gap"/g)).toHaveLength(4);
  expect(chart).toContain('<title>4 Mar 2026: Not in the ledger</title>');
  const labels = [...chart.matchAll(/class="chart-label"[^>]*>([^<]*)</g)].map(
    ([, label]) => label,
  );
  expect(labels.slice(0, 2)).toEqual(['400', '200']);
  expect(labels).toContain('2 Mar');
  expect(await page('pt-BR')).toMatch(/class="chart-label"[^>]*>02\/03</);
});

test('the table names the dates between two days', async () => {
  const rows = (text: string) =>
    [...text.matchAll(/<tr class="gap"><td[^>]*>([^<]*)</g)].map(([, row]) => row);
  expect(rows(await page('en'))).toEqual([
    'Not in the ledger: 8 Mar 2026',
    'Not in the ledger: 4 Mar 2026 – 6 Mar 2026 (3)',
  ]);
  expect(rows(await page('pt-BR'))).toEqual([
    'Sem registro: 08/03/2026',
    'Sem registro: 04/03/2026 – 06/03/2026 (3)',
  ]);
});
