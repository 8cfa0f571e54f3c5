import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import type { ConsoleRole } from '../../src/domain/role.ts';
import type { ConsoleWorld } from '../support/console-client.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** TEST_BROWSER, or a Chromium on the PATH; null: the tests that need one are skipped and say so. */
function findBrowser(): string | null {
  const given = process.env['TEST_BROWSER'];
  if (given !== undefined && given !== '') return given;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return paths.find((path) => existsSync(path)) ?? null;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Notes errors, refused scripts and styles, and every request that leaves for another host. The pages wait longer than
 * the half minute of the library.
 */
function watchPages(context: BrowserContext, url: string): string[] {
  context.setDefaultTimeout(PATIENCE_MS);
  const problems: string[] = [];
  context.on('page', (page) => {
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(`${page.url()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
  });
  context.on('request', (request) => {
    const target = request.url();
    if (!target.startsWith(url) && !target.startsWith('data:')) problems.push(`asked ${target}`);
  });
  return problems;
}

interface AxeResult {
  readonly passes: readonly unknown[];
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Everything that axe holds against a page, by WCAG 2.2 AA and its best practices. */
async function findViolations(page: Page): Promise<string[]> {
  // Evaluated, not added as a script: the page's policy would rightly refuse that.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const result = (await page.evaluate('axe.run(document)')) as AxeResult;
  // Rules that ran, so that no violation is no accident.
  expect(result.passes.length).toBeGreaterThan(10);
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  );
}

/** Pages scroll only vertically; wider content scrolls in a separate frame. */
async function expectNoOverflow(page: Page): Promise<void> {
  const beyond = await page.evaluate(`
    document.documentElement.scrollWidth <= window.innerWidth ? [] :
      [...document.body.querySelectorAll('*')]
        .filter((element) => element.getBoundingClientRect().right > window.innerWidth
          && element.closest('.frame, .nav') === null)
        .map((element) => element.outerHTML.slice(0, 120))`);
  expect(beyond, `${page.url()} is wider than the screen`).toEqual([]);
  const clipped = await page.evaluate(`
    window.innerWidth < 1280 ? [] : [...document.querySelectorAll('.frame')]
      .filter((frame) => frame.scrollWidth > frame.clientWidth)
      .map((frame) => frame.textContent.slice(0, 120))`);
  expect(clipped, `a table of ${page.url()} is clipped on a desktop`).toEqual([]);
}

type ContextOptions = Parameters<Browser['newContext']>[0];

const DESKTOP = { width: 1280, height: 860 };
const PHONE = { width: 360, height: 740 };

interface Look {
  readonly name: string;
  readonly locale: 'en' | 'pt-BR';
  readonly viewport?: typeof DESKTOP;
  readonly colorScheme?: 'dark';
  /** Light, dark, Portuguese and a phone are each judged once; the others show what fits. */
  readonly isJudged?: true;
}
const LOOKS: readonly Look[] = [
  { name: 'light', locale: 'en', isJudged: true },
  { name: 'dark', locale: 'en', colorScheme: 'dark', isJudged: true },
  { name: 'phone', locale: 'en', viewport: PHONE, isJudged: true },
  { name: 'laptop', locale: 'en', viewport: { width: 1440, height: 900 } },
  { name: 'pt-br', locale: 'pt-BR', isJudged: true },
  { name: 'wide', locale: 'pt-BR', viewport: { width: 1920, height: 1080 } },
  { name: 'phone-dark-pt-br', locale: 'pt-BR', viewport: PHONE, colorScheme: 'dark' },
];

/** One browser for the tests of a file. */
export class TestBrowser {
  readonly #watches: string[][] = [];
  #browser: Browser | undefined;

  async launch(executablePath: string): Promise<void> {
    const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
    this.#browser = await chromium.launch({ executablePath, args });
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }

  /** A page of a separate context. */
  async newPage(baseURL: string, options: ContextOptions = {}): Promise<Page> {
    if (this.#browser === undefined) throw new Error('the browser is not launched');
    const defaults = { baseURL, locale: 'en', viewport: DESKTOP };
    const context = await this.#browser.newContext({ ...defaults, ...options });
    this.#watches.push(watchPages(context, baseURL));
    return context.newPage();
  }

  /** The same, with a user who is signed in. */
  async enter(console: ConsoleWorld, role: ConsoleRole, options: ContextOptions = {}) {
    const value = (await console.as(role)).cookies.get('conciliation') ?? '';
    const page = await this.newPage(console.url, options);
    await page.context().addCookies([{ name: 'conciliation', value, url: console.url }]);
    return page;
  }

  /** The errors of all pages since the last call. */
  takeProblems(): string[] {
    return this.#watches.flatMap((problems) => problems.splice(0));
  }

  /** The page is accessible and fits, and is kept as a picture. */
  async check(page: Page, name: string, look = 'light', isJudged = true): Promise<void> {
    if (isJudged) expect(await findViolations(page), `${name}, ${look}`).toEqual([]);
    await expectNoOverflow(page);
    const folder = process.env['SCREENSHOTS'];
    if (!folder) return;
    await mkdir(folder, { recursive: true });
    await page.screenshot({ path: `${folder}/${name}-${look}.png`, fullPage: true });
  }

  /** Checks each page in every look; a page is a path, or what leads to it. */
  async checkLooks(
    open: (locale: string) => Promise<Page>,
    visits: Readonly<Record<string, string | ((page: Page) => Promise<unknown>)>>,
  ): Promise<void> {
    for (const locale of ['en', 'pt-BR']) {
      const page = await open(locale);
      for (const [name, visit] of Object.entries(visits)) {
        await page.setViewportSize(DESKTOP);
        await (typeof visit === 'string' ? page.goto(visit) : visit(page));
        for (const look of LOOKS.filter((each) => each.locale === locale)) {
          await page.setViewportSize(look.viewport ?? DESKTOP);
          await page.emulateMedia({ colorScheme: look.colorScheme ?? 'light' });
          await this.check(page, name, look.name, look.isJudged ?? false);
        }
      }
      await page.context().close();
    }
  }
}

/** Tests in a browser; without one they are skipped, and the name says why. */
export function describeInBrowser(name: string, tests: (browser: TestBrowser) => void): void {
  const executable = findBrowser();
  if (executable === null) {
    describe.skip(`${name} (skipped: no Chromium on the PATH, no TEST_BROWSER)`, () => {});
    return;
  }
  describe(name, () => {
    const browser = new TestBrowser();
    beforeAll(() => browser.launch(executable));
    afterAll(() => browser.close());
    afterEach(() => {
      expect(browser.takeProblems()).toEqual([]);
    });
    tests(browser);
  });
}

/** Counts the clicks of a person, and waits for what each leads to. */
export function countClicks() {
  const counter = {
    clicks: 0,
    async click(target: Locator): Promise<void> {
      counter.clicks += 1;
      await target.click();
      await target.page().waitForLoadState();
    },
  };
  return counter;
}

/** Opens a disclosure and sends its form, whose button has the same name. */
export async function disclose(page: Page, name: string, reason?: string): Promise<void> {
  await page.locator('summary', { hasText: name }).click();
  const form = page.locator('.disclosed');
  if (reason !== undefined) await form.getByLabel('Reason').fill(reason);
  await form.getByRole('button', { name }).click();
}

export const textOf = async (locator: Locator) => (await locator.allInnerTexts()).join('\n');
