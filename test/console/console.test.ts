/**
 * Every flow of the console in a real browser, against the whole service, PostgreSQL and the sandbox.
 * With SCREENSHOTS=<folder> every page is kept as a picture, in light, dark, Portuguese and phone width.
 */
import { mkdir, readFile } from 'node:fs/promises';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../src/domain/business-day.ts';
import type { ConsoleRole } from '../../src/domain/role.ts';
import {
  expectNoOverflow,
  findBrowser,
  findViolations,
  launchBrowser,
  type PageWatch,
  watchPages,
} from './browser.ts';
import { type ConsoleStage, openStage } from './console-stage.ts';

const textOf = async (locator: Locator) => (await locator.allInnerTexts()).join('\n');

const PASSWORD = 'quatro palavras ao acaso';
const executable = findBrowser();
const inBrowser = executable === null ? describe.skip : describe;

inBrowser(
  `the console in a browser${executable === null ? ' (skipped: no Chromium on the PATH, no TEST_BROWSER)' : ''}`,
  () => {
    let stage: ConsoleStage;
    let browser: Browser;
    let reviewer: Page;
    let operator: Page;
    let viewer: Page;

    async function openContext(options: Parameters<Browser['newContext']>[0] = {}) {
      const context = await browser.newContext({
        baseURL: stage.url,
        locale: 'en',
        viewport: { width: 1280, height: 860 },
        ...options,
      });
      const own = watchPages(context, stage.url);
      watches.push(own);
      return context;
    }
    const watches: PageWatch[] = [];

    async function enter(name: string, role: ConsoleRole): Promise<Page> {
      const page = await (await openContext()).newPage();
      await page.goto(await stage.invite(name, role));
      await page.getByLabel('New password').fill(PASSWORD);
      await page.getByLabel('The same again').fill(PASSWORD);
      await page.getByRole('button', { name: 'Save and sign in' }).click();
      await page.waitForURL(`${stage.url}/`);
      return page;
    }

    beforeAll(async () => {
      stage = await openStage();
      browser = await launchBrowser(executable ?? '');
      viewer = await enter('vera', 'viewer');
      reviewer = await enter('rita', 'reviewer');
      operator = await enter('otto', 'operator');
    });
    afterAll(async () => {
      await browser?.close();
      await stage?.close();
    });
    afterEach(() => {
      const problems = watches.flatMap((own) => own.problems.splice(0));
      expect(problems).toEqual([]);
    });

    const title = (uid: string, date: CivilDate, page: Page) =>
      page.goto(`/days/${date}/titles?order=${uid}`);

    test('a person signs in with the password of the link, out, and in again', async () => {
      const page = await enter('nina', 'viewer');
      await page.getByText('nina', { exact: true }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`${stage.url}/login`);
      await page.goto('/audit');
      await page.getByLabel('User name').fill('nina');
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(`${stage.url}/audit`);
      await page.context().close();
    });

    test('the days say at a glance where everything stands, and lead to each', async () => {
      await reviewer.goto('/');
      await reviewer
        .getByRole('heading', { level: 1 })
        .filter({ hasText: /needs? a person/ })
        .waitFor();
      await reviewer.locator(`.month a[href="/days/${stage.dates.open}"]`).click();
      await reviewer.waitForURL(`**/days/${stage.dates.open}`);
    });

    test('a day is signed off, restated by one cent, and shows exactly that', async () => {
      const { signed } = stage.dates;
      const { rows } = await stage.database.pool.query<{ text: string }>(
        `SELECT order_uid AS text FROM conciliation.title WHERE accepted_date = $1 ORDER BY order_uid`,
        [signed],
      );
      expect(rows).toHaveLength(42);
      await reviewer.goto(`/days/${signed}`);
      await reviewer.getByText('Signed off by helena').waitFor();
      const platform = await (
        await fetch(
          `${stage.sandbox.baseUrl}/api/anticipations/conciliation?conciliationDate=${signed}`,
          { headers: { authorization: `Bearer ${stage.sandbox.issueToken()}` } },
        )
      ).text();
      const texts = [...platform.matchAll(/\{"order":.*?"accountDigit":"0"\}\}\}/g)].map(
        ([text]) => text,
      );
      expect(texts).toHaveLength(42);
      stage.setTitles(
        signed,
        texts.map((text, index) =>
          index === 6
            ? text.replace('"platformDiscountedValue":12.34', '"platformDiscountedValue":12.35')
            : text,
        ),
      );
      await operator.goto(`/days/${signed}`);
      await operator.locator('summary', { hasText: 'Pull again' }).click();
      await operator.locator('.disclosed').getByRole('button', { name: 'Pull again' }).click();
      await operator.getByText('The pull is asked for').waitFor();
      await expect
        .poll(
          async () => {
            await reviewer.goto(`/days/${signed}`);
            return reviewer.getByText('restated this day after it was signed off').count();
          },
          { timeout: 30_000 },
        )
        .toBe(1);
      const row = reviewer.locator('tr', { hasText: 'PO-2026-0007' }).first();
      expect(await textOf(row)).toMatch(
        /Changed[\s\S]*Platform discount[\s\S]*12\.34[\s\S]*12\.35/,
      );
      await expect
        .poll(async () => {
          await reviewer.goto('/alerts');
          return reviewer.getByText('Restated after sign-off').count();
        })
        .toBeGreaterThan(0);
    });

    test('rejects are looked at, accepted, and then signed off by somebody else', async () => {
      const { attention } = stage.dates;
      await operator.goto(`/days/${attention}`);
      await operator.locator('summary', { hasText: 'Show the raw text' }).click();
      await operator
        .locator('.disclosed')
        .getByRole('button', { name: 'Show the raw text' })
        .click();
      await operator.getByText('PO-2026-9001').waitFor();
      await operator.locator('summary', { hasText: 'Accept the rejects' }).click();
      await operator.getByLabel('Reason').fill('a test title of the platform');
      await operator
        .locator('.disclosed')
        .getByRole('button', { name: 'Accept the rejects' })
        .click();
      await operator.getByText('The rejects are accepted.').waitFor();
      await reviewer.goto(`/days/${attention}`);
      await reviewer.getByLabel('Note (optional)').fill('agrees with the ERP');
      await reviewer.getByRole('button', { name: 'Sign off' }).click();
      await reviewer.getByText('Signed off by rita').waitFor();
    });

    test('a held pull is released by who has seen what goes', async () => {
      const { held } = stage.dates;
      stage.setTitles(held, []);
      await operator.goto(`/days/${held}`);
      await operator.locator('summary', { hasText: 'Pull again' }).click();
      await operator.locator('.disclosed').getByRole('button', { name: 'Pull again' }).click();
      await expect
        .poll(
          async () => {
            await operator.goto(`/days/${held}`);
            return operator.getByText('A pull is held').count();
          },
          { timeout: 30_000 },
        )
        .toBe(1);
      await keep('day-held', `/days/${held}`, operator.context());
      await operator.getByRole('link', { name: 'See what a release would do' }).click();
      await operator.getByRole('heading', { name: /Titles that would be withdrawn/ }).waitFor();
      await checkPage(operator, 'release');
      await keep('release', new URL(operator.url()).pathname, operator.context());
      await operator.getByLabel('Why is this right?').fill('cancelled by the platform, confirmed');
      await operator.getByRole('button', { name: 'Release' }).click();
      await operator.getByText('The pull is released.').waitFor();
      expect(await textOf(operator.locator('main'))).toContain('Withdrawn: 36');
    });

    test('titles are filtered, sorted and paged', async () => {
      const { open } = stage.dates;
      await viewer.goto(`/days/${open}/titles`);
      const first = () => textOf(viewer.locator('.data tbody th a').first());
      expect(await first()).toBe('PO-2026-0001');
      await viewer.getByRole('link', { name: 'Next →' }).click();
      await expect.poll(first).toBe('PO-2026-0051');
      await viewer.getByRole('link', { name: '← Previous', exact: true }).click();
      await expect.poll(first).toBe('PO-2026-0001');
      await viewer.locator('thead').getByRole('link', { name: 'Original value' }).click();
      await viewer.locator('thead').getByRole('link', { name: 'Original value' }).click();
      await expect.poll(first).toBe('PO-2026-0130');
      await viewer.getByLabel('Agent’s name contains').fill('ipê');
      await viewer.getByRole('button', { name: 'Apply' }).click();
      await viewer.getByText(/^3\d titles, original value/).waitFor();
    });

    test('a title shows its history, and its identifiers only on the record', async () => {
      await title('PO-2026-0007', stage.dates.signed, reviewer);
      await reviewer.getByRole('link', { name: 'PO-2026-0007' }).click();
      await reviewer.getByRole('heading', { name: 'History' }).waitFor();
      expect(await textOf(reviewer.locator('main'))).not.toContain('52998224725');
      await reviewer.getByRole('button', { name: 'Show them' }).click();
      await reviewer.getByText('52998224725').waitFor();
      await checkPage(reviewer, 'title revealed');
      await reviewer.goto('/audit');
      await reviewer.getByText('looked at identifiers of a title').first().waitFor();
    });

    test('an export is downloaded, in the language of the reader', async () => {
      await reviewer.goto(`/exports?from=${stage.dates.open}&to=${stage.dates.open}`);
      const [download] = await Promise.all([
        reviewer.waitForEvent('download'),
        reviewer.getByRole('button', { name: 'Download' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(
        `titles-${stage.dates.open}-${stage.dates.open}.csv`,
      );
      const text = await readFile(await download.path(), 'utf8');
      expect(text.trim().split('\r\n')).toHaveLength(131);
      expect(text).toContain('Banco Ipê S.A.');
    });

    test('a backfill is looked at, started, followed live to its end', async () => {
      const { from, to } = stage.dates.backfill;
      await operator.goto('/backfills');
      await operator.getByLabel('From').fill(from);
      await operator.getByLabel('to', { exact: true }).fill(to);
      await operator.getByRole('button', { name: 'See what it would do' }).click();
      await operator.getByText('12 dates, one request each').waitFor();
      await operator.getByText(/are signed off/).waitFor();
      await checkPage(operator, 'backfill preview');
      await keep(
        'backfill-preview',
        new URL(operator.url()).pathname + new URL(operator.url()).search,
        operator.context(),
      );
      await operator.getByRole('button', { name: 'Start the backfill' }).click();
      // The page itself tells, without being asked again.
      await operator.getByText('Done', { exact: true }).waitFor({ timeout: 60_000 });
      await operator.getByText('12 of 12 dates').waitFor();
    });

    test('a changed bank account is revealed on the record and acknowledged', async () => {
      const { open } = stage.dates;
      stage.setTitles(open, [
        ...Array.from({ length: 130 }, (_, index) => index + 1).map((index) =>
          JSON.stringify({
            order: { uid: `PO-2026-${String(index).padStart(4, '0')}` },
            acceptedDate: open,
            originalValue: index,
            providerExternalId: 'P-1',
            provider: {
              externalId: 'P-1',
              identification: '52998224725',
              bankAccount: { bank: '260', agency: '0001', account: '9998887', accountDigit: '1' },
            },
          }),
        ),
      ]);
      await operator.goto(`/days/${open}`);
      await operator.locator('summary', { hasText: 'Pull again' }).click();
      await operator.locator('.disclosed').getByRole('button', { name: 'Pull again' }).click();
      await expect
        .poll(
          async () => {
            await operator.goto(`/days/${open}`);
            const link = operator.getByRole('link', { name: 'See what a release would do' });
            return link.count();
          },
          { timeout: 30_000 },
        )
        .toBe(1);
      await operator.getByRole('link', { name: 'See what a release would do' }).click();
      await operator.getByLabel('Why is this right?').fill('the platform restated the whole day');
      await operator.getByRole('button', { name: 'Release' }).click();
      await operator.getByText('The pull is released.').waitFor();
      await reviewer.goto('/providers');
      await reviewer.getByText('Bank 260').first().waitFor();
      await checkPage(reviewer, 'providers with a change');
      await keep('providers', '/providers', reviewer.context());
      await reviewer.getByRole('button', { name: 'Show them' }).click();
      await reviewer.getByText('9998887-1').first().waitFor();
      await reviewer.locator('summary', { hasText: 'Acknowledge' }).first().click();
      await reviewer.getByLabel('What did you find out?').first().fill('called them, it is theirs');
      await reviewer
        .locator('.disclosed')
        .getByRole('button', { name: 'Acknowledge' })
        .first()
        .click();
      await reviewer.getByText('The change is acknowledged.').waitFor();
    });

    test('the queue is there for operators', async () => {
      await operator.goto('/');
      await operator.getByRole('link', { name: 'Queue' }).click();
      await operator.getByText('pulls').first().waitFor();
      // Bull Board asks for fonts that it does without here.
      for (const own of watches) own.problems.splice(0);
      await viewer.goto('/');
      expect(await viewer.getByRole('link', { name: 'Queue' }).count()).toBe(0);
    });

    test('everything can be reached by keyboard', async () => {
      await reviewer.goto(`/days/${stage.dates.held}`);
      await reviewer.keyboard.press('Tab');
      expect(await reviewer.evaluate('document.activeElement.textContent.trim()')).toBe(
        'Skip to the content',
      );
      await reviewer.keyboard.press('Enter');
      expect(await reviewer.evaluate('document.activeElement.id')).toBe('content');
      await reviewer.locator('.menu summary').first().focus();
      await reviewer.keyboard.press('Enter');
      await reviewer.getByLabel('Language').waitFor();
      await reviewer.keyboard.press('Escape');
      expect(await reviewer.getByLabel('Language').isVisible()).toBe(false);
      expect(await reviewer.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
    });

    test('language and colours are switched and stay', async () => {
      await viewer.goto(`/days/${stage.dates.signed}`);
      await viewer.locator('.menu summary').first().click();
      await viewer.getByLabel('Language').selectOption('pt-BR');
      await viewer.getByLabel('Colours').selectOption('dark');
      await viewer.getByRole('button', { name: 'Apply' }).click();
      await viewer.getByText('Totais de controle').waitFor();
      expect(
        await viewer.evaluate('getComputedStyle(document.body.parentElement).colorScheme'),
      ).toBe('dark');
      const text = await textOf(viewer.locator('main'));
      expect(text).toMatch(/\d{1,3}\.\d{3},\d{2}/);
      await viewer.goto('/');
      await viewer.getByText('Ponto de controle').waitFor();
      await viewer.locator('.menu summary').first().click();
      await viewer.getByLabel('Idioma').selectOption('en');
      await viewer.getByLabel('Cores').selectOption('auto');
      await viewer.getByRole('button', { name: 'Aplicar' }).click();
      await viewer.getByText('Checkpoint').waitFor();
    });

    test('it works without any script', async () => {
      const context = await openContext({
        javaScriptEnabled: false,
        storageState: await reviewer.context().storageState(),
      });
      const page = await context.newPage();
      await page.goto(`/days/${stage.dates.held}`);
      await page.getByRole('button', { name: 'Sign off' }).click();
      await page.getByText('Signed off by rita').waitFor();
      await page.locator('summary', { hasText: 'Reopen' }).click();
      await page.getByLabel('Reason').fill('only a try');
      await page.locator('.disclosed').getByRole('button', { name: 'Reopen' }).click();
      await page.getByText('The day is open again.').waitFor();
      await context.close();
    });

    const LOOKS = {
      light: {},
      dark: { colorScheme: 'dark' },
      'pt-br': { locale: 'pt-BR' },
      phone: { viewport: { width: 360, height: 740 } },
      'phone-dark-pt-br': {
        viewport: { width: 360, height: 740 },
        colorScheme: 'dark',
        locale: 'pt-BR',
      },
    } as const;

    test.each(Object.entries(LOOKS))(
      'every page is accessible and fits, %s',
      async (look, options) => {
        const titleRow = await stage.database.prisma.title.findFirstOrThrow({
          where: { order_uid: 'PO-2026-0007', accepted_date: new Date(stage.dates.signed) },
        });
        const pages: readonly (readonly [string, string])[] = [
          ['days', '/'],
          ['day', `/days/${stage.dates.open}`],
          ['day-restated', `/days/${stage.dates.signed}`],
          ['day-released', `/days/${stage.dates.held}`],
          ['day-titles', `/days/${stage.dates.open}/titles`],
          ['titles', '/titles'],
          ['title', `/titles/${titleRow.id}`],
          ['backfills', '/backfills'],
          ['backfill', '/backfills/1'],
          ['alerts', '/alerts'],
          ['exports', '/exports'],
          ['audit', '/audit'],
          ['not-found', '/nothing'],
        ];
        const context = await openContext({
          storageState: await operator.context().storageState(),
          ...options,
        });
        const page = await context.newPage();
        for (const [name, path] of pages) {
          await page.goto(path);
          await checkPage(page, `${name}, ${look}`);
          await shoot(page, `${name}-${look}`);
        }
        await context.clearCookies();
        await page.goto('/login');
        await checkPage(page, `login, ${look}`);
        await shoot(page, `login-${look}`);
        // A page that does not exist is an error to the browser, and was asked for on purpose.
        for (const own of watches) {
          const kept = own.problems.filter((problem) => !/\/nothing: Failed to load/.test(problem));
          own.problems.splice(0, own.problems.length, ...kept);
        }
        await context.close();
      },
    );

    async function checkPage(page: Page, name: string): Promise<void> {
      expect(await findViolations(page), name).toEqual([]);
      await expectNoOverflow(page);
    }

    async function shoot(page: Page, name: string): Promise<void> {
      const folder = process.env['SCREENSHOTS'];
      if (folder === undefined || folder === '') return;
      await mkdir(folder, { recursive: true });
      await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
    }

    /** A page that is only so for a moment, in light and dark. */
    async function keep(name: string, path: string, context: BrowserContext): Promise<void> {
      if (!process.env['SCREENSHOTS']) return;
      for (const look of ['light', 'dark'] as const) {
        const own = await openContext({
          storageState: await context.storageState(),
          colorScheme: look,
        });
        const page = await own.newPage();
        await page.goto(path);
        await shoot(page, `${name}-${look}`);
        await own.close();
      }
    }
  },
);
