/**
 * A day with breaks in a real browser, with counted clicks: one person resolves three kinds and undoes a match, another
 * person signs the day.
 */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openConsole } from '../support/console-client.ts';
import { forFile } from '../support/for-tests.ts';
import { match } from '../support/matching-world.ts';
import { importPayables } from '../support/payables.ts';
import { DAY, openPullWorld } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';
import { countClicks, describeInBrowser } from './browser.ts';

describeInBrowser('breaks in a browser', (browser) => {
  const world = forFile(openPullWorld);
  const console = forFile(() => openConsole(world.database));
  beforeAll(async () => {
    world.sandbox.setDayTexts(DAY, [
      titleText({ uid: 'PO-1', value: '1234.50' }),
      titleText({ uid: 'PO-2', value: '2000.00', dueDate: '2026-07-15' }),
      titleText({ uid: 'PO-3', value: '3000.25', dueDate: '2026-08-14' }),
      titleText({ uid: 'PO-4', value: '40.10', dueDate: '2026-09-15' }),
    ]);
    await world.pull(DAY);
    const payables = [
      { erpKey: 'AP-1', openValue: '1234.50', document: 'NF-1' },
      { erpKey: 'AP-2', openValue: '2000.10', document: 'NF-2', dueDate: '2026-07-15' },
      { erpKey: 'AP-3', openValue: '3000.25', document: 'NF-3', dueDate: '2026-10-30' },
    ];
    await importPayables(world.database, payables, 'snapshot');
    await match(world.database);
  });

  test('the pages are accessible and fit', async () => {
    const { title } = world.database.prisma;
    const idOf = async (orderUid: string) =>
      (await title.findFirstOrThrow({ where: { orderUid } })).id;
    const opened = (path: string) => async (page: Page) => {
      await page.goto(path);
      for (const summary of await page.locator('main .disclosure > summary').all()) {
        await summary.click();
      }
    };
    await browser.checkLooks((locale) => browser.enter(console, 'reviewer', { locale }), {
      breaks: opened('/breaks'),
      break: opened(`/break?kind=value_differs&title=${await idOf('PO-2')}&payable=AP-2`),
      'day-matching': opened(`/days/${DAY}`),
      'title-matched': opened(`/titles/${await idOf('PO-1')}`),
    });
  });

  test('three breaks and an undone match take 14 clicks, and the signature of a second person one', async () => {
    const page = await browser.newPage(console.url);
    const enterAs = async (name: string) => {
      await page.context().clearCookies();
      const value = (await console.as('reviewer', name)).cookies.get('conciliation') ?? '';
      await page.context().addCookies([{ name: 'conciliation', value, url: console.url }]);
      await page.goto(`/days/${DAY}`);
    };
    const counter = countClicks();
    const { click } = counter;
    const press = (name: string, within: Locator | Page = page) =>
      click(within.getByRole('button', { name }));
    const give = (reason: string, within: Locator | Page = page) =>
      within.getByLabel('Reason').first().fill(reason);
    const link = (name: string | RegExp) => page.locator('main').getByRole('link', { name });
    const disclosed = page.locator('.disclosed');

    await enterAs('rita');
    await click(link('Breaks of this day'));
    for (const [order, kind, payable, reason] of [
      ['PO-2', 'Value differs', 'AP-2', 'ten cents of interest'],
      ['PO-3', 'Due date differs', 'AP-3', 'the supplier moved the date'],
      ['PO-4', 'Missing in the ERP', null, 'paid by card, no payable'],
    ] as const) {
      await click(page.locator('tr', { hasText: order }).getByRole('link').first());
      await page.getByRole('heading', { name: kind }).waitFor();
      if (payable === null) {
        await give(reason);
        await press('Resolve without a match');
        await page.getByText('No break is open with this filter.').waitFor();
      } else {
        await click(page.locator('summary', { hasText: 'Match' }));
        await give(reason, disclosed);
        await press(`Match with ${payable}`);
        await page.getByText('The title is matched.').waitFor();
      }
    }

    // The match of AP-2 was a mistake.
    await page.goto(`/days/${DAY}/titles`);
    await click(link('PO-2'));
    await click(page.locator('summary', { hasText: 'Undo the match' }));
    await give('the supplier sent a new invoice', disclosed);
    await press('Undo the match', disclosed);
    await page.getByText('The match is undone.').waitFor();

    await click(link(/^← /));
    await click(link('Overview'));
    await page.getByText('From capture to signature').waitFor();
    await page.getByText('another user has to sign it off').waitFor();
    expect(await page.getByRole('button', { name: 'Sign off' }).count()).toBe(0);
    expect(counter.clicks).toBe(14);

    await enterAs('ana');
    await press('Sign off');
    await page.getByText('Signed off by ana').waitFor();
    expect(counter.clicks).toBe(15);
    const actions = await world.database.prisma.auditEntry.findMany({
      where: { actor: 'rita', action: { startsWith: 'match.' } },
      orderBy: { id: 'asc' },
    });
    expect(actions.map(({ action, reason }) => `${action}: ${reason}`)).toEqual([
      'match.make: ten cents of interest',
      'match.make: the supplier moved the date',
      'match.undo: the supplier sent a new invoice',
    ]);
  });
});
