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
