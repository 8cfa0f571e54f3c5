/**
 * A day with breaks in a real browser, with counted clicks: one person resolves three kinds and undoes a match, another
 * person signs the day.
 */
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runMatching } from '../../src/features/matching/run-matching.sql.ts';
import { type ConsoleWorld, openConsole } from '../support/console-client.ts';
import { importPayables } from '../support/payables.ts';
import { DAY, openPullWorld, type PullWorld } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';
import {
  expectNoOverflow,
  findBrowser,
  findViolations,
  launchBrowser,
  type PageWatch,
  watchPages,
} from './browser.ts';
import { BrowserWorld } from './browser-world.ts';

const executable = findBrowser();
const inBrowser = executable === null ? describe.skip : describe;

const LOOKS = {
  light: {},
  'pt-br': { locale: 'pt-BR' },
  phone: { viewport: { width: 360, height: 740 } },
  'phone-dark-pt-br': {
    viewport: { width: 360, height: 740 },
    colorScheme: 'dark',
    locale: 'pt-BR',
  },
} as const;

inBrowser(
  `breaks in a browser${executable === null ? ' (skipped: no Chromium on the PATH, no TEST_BROWSER)' : ''}`,
  () => {
    let world: PullWorld;
    let console: ConsoleWorld;
    let browser: Browser;
    let session: string;
    let secondSession: string;
    const watches: PageWatch[] = [];
    beforeAll(async () => {
      browser = await launchBrowser(executable ?? '');
      world = await openPullWorld();
      console = await openConsole(world.database);
      session = (await console.as('reviewer', 'rita')).cookies.get('conciliation') ?? '';
      secondSession = (await console.as('reviewer', 'ana')).cookies.get('conciliation') ?? '';
      world.sandbox.setDayTexts(DAY, [
        titleText({ uid: 'PO-1', value: '1234.50' }),
        titleText({ uid: 'PO-2', value: '2000.00', dueDate: '2026-07-15' }),
        titleText({ uid: 'PO-3', value: '3000.25', dueDate: '2026-08-14' }),
        titleText({ uid: 'PO-4', value: '40.10', dueDate: '2026-09-15' }),
      ]);
      await world.pull(DAY);
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
    afterAll(async () => {
      await browser.close();
      await console.close();
      await world.close();
      expect(watches.flatMap(({ problems }) => problems)).toEqual([]);
    });

    const enter = async (
      options: Parameters<Browser['newContext']>[0] = {},
    ): Promise<{ context: BrowserContext; page: Page }> => {
      const context = await browser.newContext({
        baseURL: console.url,
        locale: 'en',
        viewport: { width: 1280, height: 860 },
        ...options,
      });
      watches.push(watchPages(context, console.url));
      await context.addCookies([{ name: 'conciliation', value: session, url: console.url }]);
      return { context, page: await context.newPage() };
    };

    test.each(Object.entries(LOOKS))(
      'the pages are accessible and fit, %s',
      async (look, options) => {
        const shots = new BrowserWorld();
        const { context, page } = await enter(options);
        const title = await world.database.prisma.title.findFirstOrThrow({
          where: { orderUid: 'PO-1' },
        });
        const valueTitle = await world.database.prisma.title.findFirstOrThrow({
          where: { orderUid: 'PO-2' },
        });
        const pages = [
          ['breaks', '/breaks'],
          ['balance', '/balance'],
          ['break', `/break?kind=value_differs&title=${valueTitle.id}&payable=AP-2`],
          ['day-matching', `/days/${DAY}`],
          ['title-matched', `/titles/${title.id}`],
        ] as const;
        for (const [name, path] of pages) {
          const answer = await page.goto(path);
          expect(answer?.status()).toBe(200);
          for (const summary of await page.locator('main .disclosure > summary').all()) {
            await summary.click();
          }
          expect(await findViolations(page), `${name}, ${look}`).toEqual([]);
          await expectNoOverflow(page);
          await shots.shoot(page, `${name}-${look}`);
        }
        await context.close();
      },
    );

    test('three breaks and an undone match take 14 clicks, and the signature of a second person one', async () => {
      const { context, page } = await enter();
      let clicks = 0;
      const click = async (target: Locator) => {
        clicks += 1;
        await target.click();
      };
      const give = (reason: string, within: Locator | Page = page) =>
        within.getByLabel('Reason', { exact: true }).first().fill(reason);
      const link = (name: string | RegExp) => page.locator('main').getByRole('link', { name });
      const row = (order: string) =>
        page.locator('tr', { hasText: order }).getByRole('link').first();

      await page.goto(`/days/${DAY}`);
      await click(link('Breaks of this day'));

      await click(row('PO-2'));
      await page.getByRole('heading', { name: 'Value differs' }).waitFor();
      await click(page.locator('summary', { hasText: 'Match' }));
      await give('ten cents of interest', page.locator('.disclosed'));
      await click(page.getByRole('button', { name: 'Match with AP-2' }));
      await page.getByText('The title is matched.').waitFor();

      await click(row('PO-3'));
      await page.getByRole('heading', { name: 'Due date differs' }).waitFor();
      await click(page.locator('summary', { hasText: 'Match' }));
      await give('the supplier moved the date', page.locator('.disclosed'));
      await click(page.getByRole('button', { name: 'Match with AP-3' }));
      await page.getByText('The title is matched.').waitFor();

      await click(row('PO-4'));
      await page.getByRole('heading', { name: 'Missing in the ERP' }).waitFor();
      await give('paid by card, no payable');
      await click(page.getByRole('button', { name: 'Resolve without a match' }));
      await page.getByText('No break is open with this filter.').waitFor();

      // The match of AP-2 was a mistake.
      await page.goto(`/titles?from=${DAY}&to=${DAY}`);
      await click(link('PO-2'));
      await click(page.locator('summary', { hasText: 'Undo the match' }));
      await give('the supplier sent a new invoice', page.locator('.disclosed'));
      await click(page.locator('.disclosed').getByRole('button', { name: 'Undo the match' }));
      await page.getByText('The match is undone.').waitFor();

      await click(link(/^← /));
      await click(link('Overview'));
      await page.getByText('From capture to signature').waitFor();
      await page.getByText('Another user has to sign it off').waitFor();
      expect(await page.getByRole('button', { name: 'Sign off' }).count()).toBe(0);
      expect(clicks).toBe(14);

      await context.clearCookies();
      await context.addCookies([{ name: 'conciliation', value: secondSession, url: console.url }]);
      await page.goto(`/days/${DAY}`);
      await click(page.getByRole('button', { name: 'Sign off' }));
      await page.getByText('Signed off by ana').waitFor();
      expect(clicks).toBe(15);
      expect(await world.database.prisma.day.count({ where: { signedOffBy: 'ana' } })).toBe(1);
      const actions = await world.database.prisma.auditEntry.findMany({
        where: { actor: 'rita', action: { startsWith: 'match.' } },
        select: { action: true, reason: true },
        orderBy: { id: 'asc' },
      });
      expect(actions).toEqual([
        { action: 'match.make', reason: 'ten cents of interest' },
        { action: 'match.make', reason: 'the supplier moved the date' },
        { action: 'match.undo', reason: 'the supplier sent a new invoice' },
      ]);
      await context.close();
    });
  },
);
