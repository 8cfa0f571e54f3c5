/** The sign-off of many days in a real browser, with counted clicks, and by keyboard without a script. */
import { readFile } from 'node:fs/promises';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CivilDate, toCivilDate } from '../../src/base/values/business-day.ts';
import type { ConsoleRole } from '../../src/base/values/role.ts';
import { checkDays } from '../../src/features/checks/check-day.sql.ts';
import { reopenDay } from '../../src/features/review/sign-off.sql.ts';
import { ANY_DAY_RULES } from '../support/check-rules.ts';
import { type ConsoleWorld, openConsole } from '../support/console-client.ts';
import { daysFrom, openPullWorld, type PullWorld } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';
import { unzip } from '../unit/export/workbook-reader.ts';
import {
  expectNoOverflow,
  findBrowser,
  findViolations,
  launchBrowser,
  type PageWatch,
  watchPages,
} from './browser.ts';
import { BrowserWorld } from './browser-world.ts';

const MONTH = toCivilDate('2026-03-01');
const DAYS = 22;
const executable = findBrowser();
const inBrowser = executable === null ? describe.skip : describe;

type ContextOptions = Parameters<Browser['newContext']>[0];

inBrowser(
  `closing in a browser${executable === null ? ' (skipped: no Chromium on the PATH, no TEST_BROWSER)' : ''}`,
  () => {
    let world: PullWorld;
    let console: ConsoleWorld;
    let browser: Browser;
    const watches: PageWatch[] = [];
    beforeAll(async () => {
      browser = await launchBrowser(executable ?? '');
    });
    afterAll(() => browser.close());

    const dates = Array.from({ length: DAYS }, (_, index) => daysFrom(index, MONTH));
    const pull = async (date: CivilDate, discount = '12.34') => {
      const title = (uid: string, value: string) =>
        titleText({ uid: `${uid} of ${date}`, date, value, discount });
      world.sandbox.setDayTexts(date, [title('a', '1234.56'), title('b', '0.05')]);
      await world.pull(date);
    };
    beforeEach(async () => {
      world = await openPullWorld({ startDate: MONTH });
      console = await openConsole(world.database);
      for (const date of dates) await pull(date);
      await checkDays(world.database, ANY_DAY_RULES);
    });
    afterEach(async () => {
      expect(watches.splice(0).flatMap(({ problems }) => problems)).toEqual([]);
      await console.close();
      await world.close();
    });

    const enter = async (
      role: ConsoleRole,
      options: ContextOptions = {},
    ): Promise<{ context: BrowserContext; page: Page }> => {
      const client = await console.as(role);
      const context = await browser.newContext({
        baseURL: console.url,
        locale: 'en',
        viewport: { width: 1280, height: 860 },
        ...options,
      });
      watches.push(watchPages(context, console.url));
      const value = client.cookies.get('conciliation') ?? '';
      await context.addCookies([{ name: 'conciliation', value, url: console.url }]);
      return { context, page: await context.newPage() };
    };
    const unsigned = () => world.database.prisma.day.count({ where: { signedOffAt: null } });

    /**
     * Calls `use` with a page in each look, and with a check of what the page shows. Light, dark, Portuguese and a
     * phone are each judged once; the others show what fits.
     */
    const eachLook = async (
      use: (check: (name: string) => Promise<void>, page: Page) => Promise<void>,
    ) => {
      const shots = new BrowserWorld();
      const judged = ['light', 'dark', 'pt-br', 'phone'];
      const looks: Readonly<Record<string, ContextOptions>> = {
        light: {},
        dark: { colorScheme: 'dark' },
        'pt-br': { locale: 'pt-BR' },
        wide: { viewport: { width: 1920, height: 1080 } },
        middle: { viewport: { width: 1440, height: 900 } },
        phone: { viewport: { width: 360, height: 740 } },
        'phone-dark-pt-br': {
          viewport: { width: 360, height: 740 },
          colorScheme: 'dark',
          locale: 'pt-BR',
        },
      };
      for (const [look, options] of Object.entries(looks)) {
        const { context, page } = await enter('reviewer', options);
        const check = async (name: string) => {
          if (judged.includes(look)) {
            expect(await findViolations(page), `${name}, ${look}`).toEqual([]);
          }
          await expectNoOverflow(page);
          await shots.shoot(page, `${name}-${look}`);
        };
        await use(check, page);
        await context.close();
      }
    };

    test('22 clean days are signed off with at most six clicks from the first page', async () => {
      const { context, page } = await enter('reviewer');
      let clicks = 0;
      const click = async (target: Locator) => {
        clicks += 1;
        await target.click();
      };
      await page.goto('/');
      await click(page.locator('main').getByRole('link', { name: 'Sign off' }));
      await click(page.getByRole('link', { name: /^Without reservations/ }));
      await click(page.getByRole('link', { name: 'Select all on this page' }));
      await click(page.getByRole('button', { name: 'Preview the sign-off' }));
      await page.getByRole('row', { name: /^Sum 44 27,161\.42/ }).waitFor();
      expect(await unsigned()).toBe(DAYS);
      await click(page.getByRole('button', { name: 'Sign off 22 days' }));
      await page.getByRole('heading', { name: '22 of 22 days signed off' }).waitFor();
      expect(clicks).toBeLessThanOrEqual(6);
      expect(await unsigned()).toBe(0);
      await context.close();
    });

    test('the same works by keyboard and without a script', async () => {
      const { context, page } = await enter('reviewer', { javaScriptEnabled: false });
      const tabTo = async (target: Locator) => {
        for (let step = 0; step < 400; step += 1) {
          await page.keyboard.press('Tab');
          if (await target.evaluate((element) => element === document.activeElement)) return;
        }
        throw new Error('the keyboard does not reach it');
      };
      const press = async (target: Locator, key = 'Enter') => {
        await tabTo(target);
        await page.keyboard.press(key);
      };
      await page.goto('/');
      await press(page.locator('main').getByRole('link', { name: 'Sign off' }));
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
      await page
        .getByRole('row', { name: '4 Mar 2026 The day has changed since the preview.' })
        .waitFor();
      expect(await unsigned()).toBe(2);
      await context.close();
    });

    test('a month is sealed with its evidence file, and shows what breaks the seal', async () => {
      for (let index = DAYS; index < 31; index += 1) await pull(daysFrom(index, MONTH));
      const { context, page } = await enter('reviewer');
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
      expect(unzip(await readFile(await file.path())).size).toBe(6 + 2 * 31 + 1);
      await pull(daysFrom(4, MONTH), '12.35');
      await page.goto('/months/2026-03');
      await page.getByRole('listitem').filter({ hasText: '5 Mar 2026: restated' }).waitFor();
      await context.close();
      await eachLook(async (check, own) => {
        await own.goto('/months');
        await check('months');
        await own.goto('/months/2026-03');
        await check('month-broken');
      });
    });

    test('each page is accessible and fits, in every look', async () => {
      const chosen = new URLSearchParams([
        ...dates.slice(0, 4).map((date) => ['day', date]),
        ['day', '2026-02-01'],
      ]);
      await eachLook(async (check, page) => {
        await page.goto('/sign-offs?select=all');
        await check('sign-offs');
        await page.goto(`/sign-offs/preview?${chosen}`);
        await check('sign-offs-preview');
        await page.locator('form[action="/sign-offs"] button').click();
        await page.locator('h1').waitFor();
        await check('sign-offs-result');
        for (const date of dates.slice(0, 4)) {
          await reopenDay(world.database, date, { by: 'test', reason: 'the next look' });
        }
      });
    });
  },
);
