/** Finance in a real browser: from a fresh demo to the first title that the made-up ERP has posted, with counted clicks. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ChildCommand, startCommand } from '../support/child-command.ts';
import { PATIENCE_MS } from '../support/patience.ts';
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
  'phone-dark-pt-br': {
    viewport: { width: 360, height: 740 },
    colorScheme: 'dark',
    locale: 'pt-BR',
  },
} as const;

inBrowser(
  `the demo in a browser${executable === null ? ' (skipped: no Chromium on the PATH, no TEST_BROWSER)' : ''}`,
  () => {
    let folder: string;
    let demo: ChildCommand;
    let link: URL;
    let adminLink: URL;
    let browser: Browser;
    let context: BrowserContext;
    let page: Page;
    let watch: PageWatch;
    beforeAll(async () => {
      browser = await launchBrowser(executable ?? '');
      folder = await mkdtemp(join(tmpdir(), 'conciliation-demo-'));
      demo = startCommand(['demo'], { DATA_DIR: folder });
      [link, adminLink] = await vi.waitFor(
        () => {
          const linkOf = (user: string) => {
            const [, found] =
              new RegExp(`${user}.* (http://127\\.0\\.0\\.1:\\d+/link/\\S+)`).exec(demo.stdout()) ??
              [];
            if (found === undefined) throw new Error(`no link of the ${user} in: ${demo.stdout()}`);
            return new URL(found);
          };
          return [linkOf('reviewer'), linkOf('administrator')];
        },
        { timeout: PATIENCE_MS, interval: 250 },
      );
      context = await browser.newContext({
        locale: 'en',
        viewport: { width: 1280, height: 860 },
      });
      watch = watchPages(context, link.origin);
      page = await context.newPage();
    });
    afterAll(async () => {
      await browser.close();
      demo.kill('SIGINT');
      const { exit, stderr } = await demo.ended;
      await rm(folder, { recursive: true, force: true });
      expect(watch.problems).toEqual([]);
      expect({ exit, stderr }).toMatchObject({ exit: 0 });
    });

    /** Reloads the page until the text is there, which is no click of a person who waits. */
    const seen = (text: string | RegExp) =>
      vi.waitFor(
        async () => {
          await page.reload();
          expect(await page.locator('main').textContent()).toMatch(text);
        },
        { timeout: PATIENCE_MS, interval: 500 },
      );

    test('the first title is posted after 5 clicks', async () => {
      let clicks = 0;
      const click = async (target: Locator) => {
        clicks += 1;
        await target.click();
        await page.waitForLoadState();
      };
      await page.goto(link.href);
      await click(page.getByRole('button', { name: 'Open the console' }));
      const need = page.locator('.months');
      const days = await need
        .locator('a[href^="/days/"]')
        .evaluateAll((links) => links.map((one) => one.getAttribute('href') ?? ''));
      const urgent = await urgentDays();
      const calm = days.find((day) => !urgent.has(day)) ?? '';
      await click(page.locator(`main a[href="${calm}"]`).first());
      await click(page.getByRole('button', { name: 'Sign off' }));
      await page.getByText('The day is signed off.').waitFor();
      await click(page.locator('.nav').getByRole('link', { name: 'ERP' }));
      await click(page.locator('main .tabs').getByRole('link', { name: 'Bookings' }));
      await seen(/Released \(0\)[\s\S]*ERP-\d/);
      const text = (await page.locator('main').textContent()) ?? '';
      const [, all, posted] = /All \((\d+)\)[\s\S]*Posted \((\d+)\)/.exec(text) ?? [];
      expect(Number(posted)).toBeGreaterThan(0);
      expect(posted).toBe(all);
      expect(clicks).toBe(5);
    });

    /** The pages of the days with a title that the ERP has paid to the supplier. */
    async function urgentDays(): Promise<Set<string>> {
      const other = await context.newPage();
      await other.goto(new URL('/breaks?kind=paid_to_supplier', link).href);
      const hrefs = await other
        .locator('main a[href^="/days/"]')
        .evaluateAll((links) => links.map((one) => one.getAttribute('href') ?? ''));
      await other.close();
      return new Set(hrefs);
    }

    test('a title with an urgent break waits, the other titles of its day do not, and the page says why', async () => {
      const [urgent = ''] = await urgentDays();
      await page.goto(new URL(urgent, link).href);
      await page.getByRole('button', { name: 'Sign off' }).click();
      await page.getByText('The day is signed off.').waitFor();
      await page.goto(new URL('/booking-lines', link).href);
      await page.getByText('Single titles wait because of their payables').waitFor();
      const breaks = urgent.replace('/days/', '/breaks?date=');
      expect(await page.locator(`main a[href="${breaks}"]`).count()).toBe(1);
    });

    test('the administrator signs no day off, and has the page of users and keys', async () => {
      const apart = await browser.newContext({ locale: 'en' });
      const admin = await apart.newPage();
      await admin.goto(adminLink.href);
      await admin.getByRole('button', { name: 'Open the console' }).click();
      await admin.locator('.months a.is-reconciled').first().click();
      await admin.getByText('A reviewer signs it off.').waitFor();
      expect(await admin.getByRole('button', { name: 'Sign off' }).count()).toBe(0);
      await admin.locator('summary', { hasText: 'Administration' }).click();
      await admin.getByRole('link', { name: 'Users and keys' }).click();
      await admin.getByRole('heading', { name: 'Users and keys' }).waitFor();
      const users = (await admin.locator('main').textContent()) ?? '';
      expect(users).toMatch(/admin[\s\S]*reviewer/);
      await apart.close();
    });

    test.each(Object.entries(LOOKS))(
      'the pages are accessible and fit, %s',
      async (look, options) => {
        const shots = new BrowserWorld();
        const looking = await browser.newContext({
          baseURL: link.origin,
          locale: 'en',
          viewport: { width: 1280, height: 860 },
          storageState: await context.storageState(),
          ...options,
        });
        const shown = await looking.newPage();
        await shown.goto('/booking-lines');
        const line = await shown.locator('main a[href^="/bookings/"]').first().getAttribute('href');
        for (const [name, path] of [
          ['bookings', '/booking-lines'],
          ['booking', line ?? ''],
        ] as const) {
          const answer = await shown.goto(path);
          expect(answer?.status()).toBe(200);
          expect(await findViolations(shown), `${name}, ${look}`).toEqual([]);
          await expectNoOverflow(shown);
          await shots.shoot(shown, `${name}-${look}`);
        }
        await looking.close();
      },
    );
  },
);
