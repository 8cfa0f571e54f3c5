/** Finance in a real browser: from a fresh demo to the first title that the made-up ERP has posted, with counted clicks. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type ChildCommand, startCommand } from '../support/child-command.ts';
import { forFile, openFolder } from '../support/for-tests.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { countClicks, describeInBrowser, look, textOf } from './browser.ts';

describeInBrowser('the demo in a browser', (browser) => {
  const folder = forFile(openFolder);
  let demo: ChildCommand;
  let start: URL;
  let password: string;
  let page: Page;
  beforeAll(async () => {
    demo = startCommand(['demo'], { DATA_DIR: folder.path });
    const readUser = () => {
      const lines = /The console is at (http:\S+)\. .*\n\n +reviewer +password (\S+)/;
      const [, address, found] = lines.exec(demo.stdout()) ?? [];
      if (address === undefined || found === undefined) {
        throw new Error(`no password of the reviewer in: ${demo.stdout()}`);
      }
      start = new URL(address);
      password = found;
    };
    await vi.waitFor(readUser, { timeout: PATIENCE_MS, interval: 250 });
    page = await browser.open(start.origin);
  });
  afterAll(async () => {
    const problems = browser.takeProblems();
    demo.kill('SIGINT');
    const { exit, stderr } = await demo.ended;
    expect(problems).toEqual([]);
    expect({ exit, stderr }).toMatchObject({ exit: 0 });
  });

  const hrefsIn = (links: Locator) =>
    links.evaluateAll((found) => found.map((one) => one.getAttribute('href') ?? ''));

  /** The pages of the days with a title that the ERP has paid to the supplier. */
  async function urgentDays(): Promise<string[]> {
    await page.goto('/breaks?kind=paid_to_supplier');
    return hrefsIn(page.locator('main a[href^="/days/"]'));
  }

  test('the first title is posted after 5 clicks', async () => {
    const counted = countClicks();
    const { click } = counted;
    await page.goto(start.href);
    await page.getByLabel('User name').fill('reviewer');
    await page.getByLabel('Password').fill(password);
    await click(page.getByRole('button', { name: 'Sign in' }));
    await page.waitForURL(`${start.origin}/`);
    const urgent = new Set(await urgentDays());
    await page.goto('/');
    const days = await hrefsIn(page.locator('.months a[href^="/days/"]'));
    const calm = days.find((day) => !urgent.has(day)) ?? '';
    await click(page.locator(`main a[href="${calm}"]`).first());
    await click(page.getByRole('button', { name: 'Sign off' }));
    await page.getByText('The day is signed off.').waitFor();
    await click(page.locator('.nav').getByRole('link', { name: 'ERP' }));
    await click(page.locator('main .tabs').getByRole('link', { name: 'Bookings' }));
    // A person waits, and reloads the page without a click.
    const text = await vi.waitFor(
      async () => {
        await page.reload();
        const main = await textOf(page.locator('main'));
        expect(main).toMatch(/Released \(0\)[\s\S]*ERP-\d/);
        return main;
      },
      { timeout: PATIENCE_MS, interval: 500 },
    );
    const [, all, posted] = /All \((\d+)\)[\s\S]*Posted \((\d+)\)/.exec(text) ?? [];
    expect(Number(posted)).toBeGreaterThan(0);
    expect(posted).toBe(all);
    expect(counted.clicks).toBe(5);
  });

  test('a title with an urgent break waits, the other titles of its day do not, and the page says why', async () => {
    const [urgent = ''] = await urgentDays();
    await page.goto(urgent);
    await page.getByRole('button', { name: 'Sign off' }).click();
    await page.getByText('The day is signed off.').waitFor();
    await page.goto('/booking-lines');
    await page.getByText('Single titles wait because of their payables').waitFor();
    const breaks = urgent.replace('/days/', '/breaks?date=');
    expect(await page.locator(`main a[href="${breaks}"]`).count()).toBe(1);
  });

  test('the page of the supplier finance note has the figures of yesterday', async () => {
    const [address = ''] = /\/disclosure\?end=\S+/.exec(demo.stdout()) ?? [];
    await page.goto(address);
    const table = await textOf(page.locator('main table'));
    expect(table).toMatch(/All companies\s+Accepted anticipations\s+Sum\s+[1-9]/);
    expect(table).toMatch(/All companies\s+Comparable payables\s+–?\s+[1-9]/);
    await look(page, address, 'disclosure-demo');
  });

  test('the invoice that the sandbox states without documenting it is a named field', async () => {
    await page.goto('/fields');
    expect(await textOf(page.locator('main table'))).toMatch(/1\s+invoice\s+documentNumber/);
    await page.goto('/titles');
    const [, invoice = ''] = /invoice (NF-\d+)/.exec(await textOf(page.locator('main'))) ?? [];
    await page.goto(`/titles?search=${invoice}`);
    expect(await textOf(page.locator('main table'))).toContain(`invoice ${invoice}`);
  });

  test('the pages of bookings are accessible and fit, in every look', async () => {
    await page.goto('/booking-lines');
    await look(page, '/booking-lines', 'bookings');
  });
});
