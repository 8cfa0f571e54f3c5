/** The sign-off of many days in a real browser, with counted clicks, and by keyboard without a script. */
import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { type CivilDate, toCivilDate } from '../../src/base/values/business-day.ts';
import { checkAnyDay } from '../support/days.ts';
import { daysFrom } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';
import { unzip } from '../unit/export/file-readers.ts';
import { browserWorldForFile, countClicks, describeInBrowser, look, lookNow } from './browser.ts';

const MONTH = toCivilDate('2026-03-01');
const DAYS = 22;

/** Each test goes on with the month as the one before has left it. */
describeInBrowser('closing in a browser', (browser) => {
  const { world, enter } = browserWorldForFile(browser, { startDate: MONTH });
  const pull = (date: CivilDate, discount = '12.34') =>
    world.serve(date, [
      titleText({ uid: `a of ${date}`, date, value: '1234.56', discount }),
      titleText({ uid: `b of ${date}`, date, value: '0.05', discount }),
    ]);
  const pullDays = async (first: number, end: number) => {
    for (let index = first; index < end; index += 1) await pull(daysFrom(index, MONTH));
    await checkAnyDay(world.database);
  };
  beforeAll(() => pullDays(0, DAYS));
  const unsigned = () => world.prisma.day.count({ where: { signedOffAt: null } });

  test('the list is accessible and fits, in every look', async () => {
    const page = await enter('reviewer');
    await look(page, '/sign-offs?show=clean', 'sign-offs');
  });

  test('22 clean days are signed off with at most four clicks from the first page', async () => {
    const page = await enter('reviewer');
    const counted = countClicks();
    const { click } = counted;
    await page.goto('/');
    await click(page.locator('main').getByRole('link', { name: 'Sign off' }));
    await click(page.getByRole('link', { name: /^Without reservations/ }));
    await page.getByRole('row', { name: /^Sum 44 27,161\.42/ }).waitFor();
    expect(await unsigned()).toBe(DAYS);
    await click(page.getByRole('button', { name: 'Sign off the selected days' }));
    await page.getByRole('heading', { name: '22 of 22 days signed off' }).waitFor();
    expect(counted.clicks).toBeLessThanOrEqual(4);
    expect(await unsigned()).toBe(0);
    await lookNow(page, 'sign-offs-result');
  });

  test('the same works by keyboard and without a script', async () => {
    await pullDays(DAYS, 31);
    const page = await enter('reviewer', 'reviewer', { javaScriptEnabled: false });
    const press = async (target: Locator, key = 'Enter') => {
      for (let step = 0; step < 400; step += 1) {
        await page.keyboard.press('Tab');
        if (!(await target.evaluate((element) => element === document.activeElement))) continue;
        await page.keyboard.press(key);
        return;
      }
      throw new Error('the keyboard does not reach it');
    };
    await page.goto('/');
    await press(page.locator('main').getByRole('link', { name: 'Sign off' }));
    await page.waitForURL('**/sign-offs');
    await press(page.getByRole('link', { name: /^Without reservations/ }));
    await page.waitForURL('**/sign-offs?show=clean');
    await pull(daysFrom(25, MONTH), '12.35');
    await press(page.getByRole('checkbox', { name: 'Select 2026-03-31' }), 'Space');
    await press(page.getByLabel('Note for each day (optional)'), 'x');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '7 of 8 days signed off' }).waitFor();
    const name = '2026-03-26 The day has changed since the list was shown.';
    await page.getByRole('row', { name }).waitFor();
    expect(await unsigned()).toBe(2);
  });

  test('a month is sealed with its evidence file, and shows what breaks the seal', async () => {
    const page = await enter('reviewer');
    await page.goto('/sign-offs');
    for (const box of await page.getByRole('checkbox').all()) await box.check();
    await page.getByRole('button', { name: 'Sign off the selected days' }).click();
    await page.getByRole('heading', { name: '2 of 2 days signed off' }).waitFor();
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
    expect(unzip(await readFile(await file.path())).size).toBe(5 + 2 * 31 + 1);
    await pull(daysFrom(4, MONTH), '12.35');
    await page.goto('/months/2026-03');
    await page.getByRole('listitem').filter({ hasText: '2026-03-05: restated' }).waitFor();
    await look(page, '/months', 'months');
    await look(page, '/months/2026-03', 'month-broken');
  });
});
