/**
 * A day with breaks in a real browser, with counted clicks: one person resolves three kinds and undoes a match, another
 * person signs the day.
 */
import { beforeAll, expect, test } from 'vitest';
import { runMatching } from '../../src/features/matching/run-matching.sql.ts';
import { importPayables } from '../support/payables.ts';
import { DAY } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';
import { countClicks, describeInBrowser, look } from './browser.ts';
import { browserWorldForFile } from './browser-world.ts';

describeInBrowser('breaks in a browser', (browser) => {
  const { world, enter } = browserWorldForFile(browser);
  beforeAll(async () => {
    await world.serve(DAY, [
      titleText({ uid: 'PO-1', value: '1234.50' }),
      titleText({ uid: 'PO-2', value: '2000.00', dueDate: '2026-07-15' }),
      titleText({ uid: 'PO-3', value: '3000.25', dueDate: '2026-08-14' }),
      titleText({ uid: 'PO-4', value: '40.10', dueDate: '2026-09-15' }),
    ]);
    await importPayables(
      world.database,
      [
        { erpKey: 'AP-1', openValue: '1234.50', document: 'NF-1' },
        { erpKey: 'AP-2', openValue: '2000.10', document: 'NF-2', dueDate: '2026-07-15' },
        { erpKey: 'AP-3', openValue: '3000.25', document: 'NF-3', dueDate: '2026-10-30' },
      ],
      'snapshot',
    );
    await runMatching(world.database, { by: 'matching' });
  });

  test('the pages are accessible and fit, in every look', async () => {
    const page = await enter('reviewer', 'rita');
    const titleOf = (orderUid: string) =>
      world.database.prisma.title.findFirstOrThrow({ where: { orderUid } });
    const [matched, open] = [await titleOf('PO-1'), await titleOf('PO-2')];
    for (const [name, path] of [
      ['breaks', '/breaks'],
      ['balance', '/balance'],
      ['break', `/break?kind=value_differs&title=${open.id}&payable=AP-2`],
      ['day-matching', `/days/${DAY}`],
      ['title-matched', `/titles/${matched.id}`],
    ] as const) {
      await look(page, path, name);
    }
  });

  test('three breaks and an undone match take 14 clicks, and the signature of a second person one', async () => {
    const page = await enter('reviewer', 'rita');
    const main = page.locator('main');
    const disclosed = page.locator('.disclosed');
    const counted = countClicks();
    const { click } = counted;
    const give = (reason: string, within = main) =>
      within.getByLabel('Reason', { exact: true }).first().fill(reason);
    const link = (name: string | RegExp) => main.getByRole('link', { name });
    const row = (order: string) => page.locator('tr', { hasText: order }).getByRole('link').first();

    await page.goto(`/days/${DAY}`);
    await click(link('Breaks of this day'));

    for (const [order, kind, reason, payable] of [
      ['PO-2', 'Value differs', 'ten cents of interest', 'AP-2'],
      ['PO-3', 'Due date differs', 'the supplier moved the date', 'AP-3'],
    ] as const) {
      await click(row(order));
      await page.getByRole('heading', { name: kind }).waitFor();
      await click(page.locator('summary', { hasText: 'Match' }));
      await give(reason, disclosed);
      await click(page.getByRole('button', { name: `Match with ${payable}` }));
      await page.getByText('The title is matched.').waitFor();
    }

    await click(row('PO-4'));
    await page.getByRole('heading', { name: 'Missing in the ERP' }).waitFor();
    await give('paid by card, no payable');
    await click(page.getByRole('button', { name: 'Resolve without a match' }));
    await page.getByText('No break is open with this filter.').waitFor();

    // The match of AP-2 was a mistake.
    await page.goto(`/titles?from=${DAY}&to=${DAY}`);
    await click(link('PO-2'));
    await click(page.locator('summary', { hasText: 'Undo the match' }));
    await give('the supplier sent a new invoice', disclosed);
    await click(disclosed.getByRole('button', { name: 'Undo the match' }));
    await page.getByText('The match is undone.').waitFor();

    await click(link(/^← /));
    await click(link('Overview'));
    await page.getByText('From capture to signature').waitFor();
    await page.getByText('Another user has to sign it off').waitFor();
    expect(await page.getByRole('button', { name: 'Sign off' }).count()).toBe(0);
    expect(counted.clicks).toBe(14);

    const second = await enter('reviewer', 'ana');
    await second.goto(`/days/${DAY}`);
    await click(second.getByRole('button', { name: 'Sign off' }));
    await second.getByText('Signed off by ana').waitFor();
    expect(counted.clicks).toBe(15);
  });
});
