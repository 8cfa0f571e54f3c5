/** The sign-off of many days in a real browser, with counted clicks, and by keyboard without a script. */
import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { checkDays } from '../../src/checks/check-day.sql.ts';
import { type CivilDate, toCivilDate } from '../../src/domain/business-day.ts';
import { reopenDay } from '../../src/ledger/sign-off.sql.ts';
import { ANY_DAY_RULES } from '../support/check-rules.ts';
import { openConsole } from '../support/console-client.ts';
import { forTest } from '../support/for-tests.ts';
import { daysFrom, openPullWorld } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';
import { unzip } from '../unit/export/workbook-reader.ts';
import { countClicks, describeInBrowser } from './browser.ts';

const MONTH = toCivilDate('2026-03-01');
const DAYS = 22;

describeInBrowser('closing in a browser', (browser) => {
  const world = forTest(() => openPullWorld({ startDate: MONTH }));
  const console = forTest(() => openConsole(world.database));
  const dates = Array.from({ length: DAYS }, (_, index) => daysFrom(index, MONTH));
  const pull = async (date: CivilDate, discount = '12.34') => {
    const title = (uid: string, value: string) =>
      titleText({ uid: `${uid} of ${date}`, date, value, discount });
    world.sandbox.setDayTexts(date, [title('a', '1234.56'), title('b', '0.05')]);
    await world.pull(date);
  };
  beforeEach(async () => {
    for (const date of dates) await pull(date);
    await checkDays(world.database, ANY_DAY_RULES);
  });
  const unsigned = () => world.database.prisma.day.count({ where: { signedOffAt: null } });
  const open = (locale: string) => browser.enter(console, 'reviewer', { locale });

  test('22 clean days are signed off with at most six clicks from the first page', async () => {
    const page = await browser.enter(console, 'reviewer');
    const counter = countClicks();
    await page.goto('/');
    for (const name of ['and 14 more', 'Clean only (22)', 'Select all on this page']) {
      await counter.click(page.getByRole('link', { name }));
    }
    await counter.click(page.getByRole('button', { name: 'Preview the sign-off' }));
    await page.getByRole('row', { name: /22 days 44 27,161\.42/ }).waitFor();
    expect(await unsigned()).toBe(DAYS);
    await counter.click(page.getByRole('button', { name: 'Sign off 22 days' }));
    await page.getByRole('heading', { name: '22 of 22 days signed off' }).waitFor();
    expect(counter.clicks).toBeLessThanOrEqual(6);
    expect(await unsigned()).toBe(0);
  });

  test('the same works by keyboard and without a script', async () => {
    const page = await browser.enter(console, 'reviewer', { javaScriptEnabled: false });
    const press = async (target: Locator, key = 'Enter') => {
      for (let step = 0; step < 400; step += 1) {
        await page.keyboard.press('Tab');
        if (await target.evaluate((element) => element === document.activeElement)) {
          return page.keyboard.press(key);
        }
      }
      throw new Error('the keyboard does not reach it');
    };
    await page.goto('/');
    await press(page.getByRole('link', { name: 'and 14 more' }));
    await page.waitForURL('**/sign-offs');
    await press(page.getByRole('link', { name: 'Select all on this page' }));
    await page.waitForURL('**/sign-offs?select=all');
    await press(page.getByRole('checkbox', { name: 'Select 22 Mar 2026' }), 'Space');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/sign-offs/preview?**');
    await pull(daysFrom(3, MONTH), '12.35');
    await press(page.getByLabel('Note for each day (optional)'), 'x');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '20 of 21 days signed off' }).waitFor();
    const refused = '4 Mar 2026 The day has changed since the preview.';
    await page.getByRole('row', { name: refused }).waitFor();
    expect(await unsigned()).toBe(2);
  });

  test('a month is sealed with its evidence file, and shows what breaks the seal', async () => {
    for (let index = DAYS; index < 31; index += 1) await pull(daysFrom(index, MONTH));
    const page = await browser.enter(console, 'reviewer');
    await page.goto('/sign-offs?select=all');
    await page.getByRole('button', { name: 'Preview the sign-off' }).click();
    await page.getByRole('button', { name: 'Sign off 31 days' }).click();
    await page.getByRole('heading', { name: '31 of 31 days signed off' }).waitFor();
    await page.goto('/');
    await page.getByRole('link', { name: 'Closing of months' }).click();
    await page.getByRole('link', { name: 'March 2026' }).click();
    await page.getByText('Ready to be sealed').waitFor();
    await page.getByRole('button', { name: 'Seal the month' }).click();
    await page.getByText('The month is sealed.').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the evidence file' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('evidence-2026-03.zip');
    expect(unzip(await readFile(await file.path())).size).toBe(4 + 2 * 31 + 1);
    await pull(daysFrom(4, MONTH), '12.35');
    await page.goto('/months/2026-03');
    await page.getByRole('listitem').filter({ hasText: '5 Mar 2026: restated' }).waitFor();
    await browser.checkLooks(open, { months: '/months', 'month-broken': '/months/2026-03' });
  });

  test('each page is accessible and fits, in every look', async () => {
    const chosen = dates.slice(0, 4);
    const query = new URLSearchParams([...chosen, '2026-02-01'].map((date) => ['day', date]));
    await browser.checkLooks(open, {
      'sign-offs': '/sign-offs?select=all',
      'sign-offs-preview': `/sign-offs/preview?${query}`,
      'sign-offs-result': async (page) => {
        await page.locator('form[action="/sign-offs"] button').click();
        await page.locator('h1').waitFor();
        for (const date of chosen) {
          await reopenDay(world.database, date, { by: 'test', reason: 'the other language' });
        }
      },
    });
  });
});
