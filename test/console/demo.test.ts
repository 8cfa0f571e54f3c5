/** Finance in a real browser: from a fresh demo to the first title that the made-up ERP has posted, with counted clicks. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type ChildCommand, startCommand } from '../support/child-command.ts';
import { forFile, openFolder } from '../support/for-tests.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { countClicks, describeInBrowser } from './browser.ts';

describeInBrowser('the demo in a browser', (browser) => {
  const folder = forFile(openFolder);
  let demo: ChildCommand;
  let link: URL;
  let adminLink: URL;
  let page: Page;
  beforeAll(async () => {
    demo = startCommand(['demo'], { DATA_DIR: folder.path });
    const linkOf = (user: string) => {
      const found = new RegExp(`${user}.* (http://127\\.0\\.0\\.1:\\d+/link/\\S+)`).exec(
        demo.stdout(),
      );
      if (found?.[1] === undefined) throw new Error(`no link of the ${user} in: ${demo.stdout()}`);
      return new URL(found[1]);
    };
    [link, adminLink] = await vi.waitFor(() => [linkOf('reviewer'), linkOf('administrator')], {
      timeout: PATIENCE_MS,
      interval: 250,
    });
    page = await browser.newPage(link.origin);
  });
  afterAll(async () => {
    await page.context().close();
    demo.kill('SIGINT');
    const { exit, stderr } = await demo.ended;
    expect({ exit, stderr }).toMatchObject({ exit: 0 });
  });

  const hrefs = (of: Page) =>
    of
      .locator('main a[href^="/days/"]')
      .evaluateAll((links) => links.map((one) => one.getAttribute('href') ?? ''));

  /** The pages of the days with a title that the ERP has paid to the supplier. */
  async function urgentDays(): Promise<string[]> {
    const other = await page.context().newPage();
    await other.goto('/breaks?kind=paid_to_supplier');
    const found = await hrefs(other);
    await other.close();
    return found;
  }

  test('the first title is posted after 4 clicks', async () => {
    const counter = countClicks();
    const { click } = counter;
    await page.goto(link.href);
    await click(page.getByRole('button', { name: 'Open the console' }));
    await page.getByText('Days that need a person').first().waitFor();
    const urgent = await urgentDays();
    const calm = (await hrefs(page)).find((day) => !urgent.includes(day)) ?? '';
    await click(page.locator(`main a[href="${calm}"]`).first());
    await click(page.getByRole('button', { name: 'Sign off' }));
    await page.getByText('The day is signed off.').waitFor();
    await click(page.locator('nav').first().getByRole('link', { name: 'Bookings' }));
    // The page is loaded again until the text is there, which is no click of a person who waits.
    const text = await vi.waitFor(
      async () => {
        await page.reload();
        const shown = (await page.locator('main').textContent()) ?? '';
        expect(shown).toMatch(/Released \(0\)[\s\S]*ERP-\d/);
        return shown;
      },
      { timeout: PATIENCE_MS, interval: 500 },
    );
    const [, all, posted] = /All \((\d+)\)[\s\S]*Posted \((\d+)\)/.exec(text) ?? [];
    expect(Number(posted)).toBeGreaterThan(0);
    expect(posted).toBe(all);
    expect(counter.clicks).toBe(4);
  });

  test('a title with an urgent break waits, the other titles of its day do not, and the page says why', async () => {
    const [urgent = ''] = await urgentDays();
    await page.goto(urgent);
    await page.getByRole('button', { name: 'Sign off' }).click();
    await page.getByText('The day is signed off.').waitFor();
    await page.goto('/bookings');
    await page.getByText('Single titles wait because of their payables').waitFor();
    const breaks = urgent.replace('/days/', '/breaks?date=');
    expect(await page.locator(`main a[href="${breaks}"]`).count()).toBe(1);
  });

  test('the administrator signs no day off, and has the page of users and keys', async () => {
    const admin = await browser.newPage(adminLink.origin);
    await admin.goto(adminLink.href);
    await admin.getByRole('button', { name: 'Open the console' }).click();
    await admin.locator('main a[href^="/days/"]').first().click();
    await admin.getByText('A reviewer signs it off.').waitFor();
    expect(await admin.getByRole('button', { name: 'Sign off' }).count()).toBe(0);
    await admin.getByRole('link', { name: 'Users' }).click();
    await admin.getByRole('heading', { name: 'Users and keys' }).waitFor();
    expect(await admin.locator('main').textContent()).toMatch(/admin[\s\S]*reviewer/);
  });

  test('the pages are accessible and fit', async () => {
    const storageState = await page.context().storageState();
    await browser.checkLooks((locale) => browser.newPage(link.origin, { locale, storageState }), {
      bookings: '/bookings',
      booking: (own) => own.locator('main a[href^="/bookings/"]').first().click(),
    });
  });
});
