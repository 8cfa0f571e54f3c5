import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterEach, describe, expect } from 'vitest';
import type { ConsoleRole } from '../../src/base/values/role.ts';
import { LANGUAGE_COOKIE } from '../../src/console/shell/page-context.ts';
import { openConsole } from '../support/console-client.ts';
import { forFile } from '../support/for-tests.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { findProgram } from '../support/program.ts';
import { type PullWorldOptions, worldOfFile } from '../support/pull-world.ts';

type WindowOptions = Parameters<Browser['newContext']>[0];

type TestBrowser = Awaited<ReturnType<typeof openBrowser>>;

/** TEST_BROWSER, or a Chromium on the PATH. */
function findBrowser(): string | null {
  const given = process.env['TEST_BROWSER'];
  if (given !== undefined && given !== '') return given;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  return names.map(findProgram).find((path) => path !== null) ?? null;
}

/** Tests with a browser. Without one they are skipped and say so. */
export function describeInBrowser(name: string, addTests: (browser: TestBrowser) => void): void {
  const executable = findBrowser();
  const missing = executable === null ? ' (skipped: no Chromium on the PATH, no TEST_BROWSER)' : '';
  describe.skipIf(executable === null)(name + missing, () => {
    addTests(forFile(() => openBrowser(executable ?? '')));
  });
}

async function openBrowser(executablePath: string) {
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  const problems: string[] = [];
  return {
    /** A window of its own, without cookies, for the console at that address. */
    async open(url: string, options: WindowOptions = {}): Promise<Page> {
      const context = await browser.newContext({
        ...{ baseURL: url, locale: 'en', viewport: VIEWPORTS.window },
        ...options,
      });
      // Longer than the half minute of the library.
      context.setDefaultTimeout(PATIENCE_MS);
      context.on('request', (request) => {
        const target = request.url();
        if (!target.startsWith(url) && !target.startsWith('data:'))
          problems.push(`asked ${target}`);
      });
      const page = await context.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(`${page.url()}: ${message.text()}`);
      });
      page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
      return page;
    },
    /** What no page shows since the last call: errors, refused scripts and styles, requests to other hosts. */
    takeProblems: () => problems.splice(0),
    close: () => browser.close(),
  };
}

/** A pull world and its console for the tests of a file, after each of which no page may have had a problem. */
export function browserWorldForFile(browser: TestBrowser, options: PullWorldOptions = {}) {
  const world = worldOfFile(options);
  const console = forFile(() => openConsole(world.database));
  afterEach(() => {
    expect(browser.takeProblems()).toEqual([]);
  });
  return {
    world,
    console,
    /** A window in which a user of the role is signed in; the name is the role's unless told. */
    async enter(role: ConsoleRole, name?: string, windowOptions?: WindowOptions) {
      const { cookies } = await console.as(role, name);
      const page = await browser.open(console.url, windowOptions);
      const value = cookies.get('conciliation') ?? '';
      await page.context().addCookies([{ name: 'conciliation', value, url: console.url }]);
      return page;
    },
  };
}

export const textOf = async (locator: Locator) => (await locator.allInnerTexts()).join('\n');

/** Counts the clicks of a person. */
export function countClicks() {
  const counted = {
    clicks: 0,
    async click(target: Locator): Promise<void> {
      counted.clicks += 1;
      await target.click();
    },
  };
  return counted;
}

const VIEWPORTS = {
  window: { width: 1280, height: 860 },
  laptop: { width: 1440, height: 900 },
  wide: { width: 1920, height: 1080 },
  phone: { width: 360, height: 740 },
} as const;

/**
 * A page has the same elements in each width and in each theme. axe reads it in either language, in either theme, and
 * in the narrowest and in a usual window; whether it fits is compared in each width.
 */
const LOOKS = [
  { locale: 'en', colorScheme: 'light', widths: ['window', 'laptop', 'phone'], axe: 'window' },
  { locale: 'pt-BR', colorScheme: 'dark', widths: ['wide', 'window', 'phone'], axe: 'phone' },
] as const;

/** A page, with its forms disclosed, is accessible and no wider than the screen, in every look. */
export async function look(page: Page, path: string, name: string): Promise<void> {
  for (const { locale, colorScheme, widths, axe } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.goto(path);
    // The window's own locale replaces an Accept-Language header.
    const language = { name: LANGUAGE_COOKIE, value: locale, url: page.url() };
    await page.context().addCookies([language]);
    await page.goto(path);
    expect(await page.locator('html').getAttribute('lang')).toBe(locale);
    await disclose(page);
    for (const width of widths) {
      await page.setViewportSize(VIEWPORTS[width]);
      if (width === axe) await expectAccessible(page, `${name}, ${locale}, ${colorScheme}`);
      await expectNoOverflow(page);
      const theme = colorScheme === 'dark' ? `-dark-${locale.toLowerCase()}` : '';
      await shoot(page, `${name}-${width}${theme}`.replace(/-window$/, '-light'));
    }
  }
  await page.context().clearCookies({ name: LANGUAGE_COOKIE });
}

/** The same for what the page shows now, as it is after a form was sent. */
export async function lookNow(page: Page, name: string): Promise<void> {
  await expectAccessible(page, name);
  for (const width of ['phone', 'window'] as const) {
    await page.setViewportSize(VIEWPORTS[width]);
    await expectNoOverflow(page);
  }
  await shoot(page, `${name}-light`);
}

const disclose = (page: Page) =>
  page.evaluate(
    `for (const form of document.querySelectorAll('main details.disclosure')) form.open = true`,
  );

/** A picture of the whole page, if pictures are requested; in English in both themes. */
async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder === undefined || folder === '') return;
  await mkdir(folder, { recursive: true });
  const keep = (as: string) => page.screenshot({ path: `${folder}/${as}.png`, fullPage: true });
  await keep(name);
  if (!name.endsWith('-light')) return;
  await page.emulateMedia({ colorScheme: 'dark' });
  await keep(name.replace(/light$/, 'dark'));
  await page.emulateMedia({ colorScheme: 'light' });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly passes: readonly unknown[];
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Nothing is held against a page by WCAG 2.2 AA and the best practices of axe. */
async function expectAccessible(page: Page, name: string): Promise<void> {
  // Evaluated, not added as a script: the page's policy would rightly refuse that.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  // What passes is counted alone: the descriptions of hundreds of elements would take most of the time.
  const options = `{ resultTypes: ['violations'], iframes: false }`;
  const result = (await page.evaluate(`axe.run(document, ${options})`)) as AxeResult;
  // Rules that ran, so that no violation is no accident.
  expect(result.passes.length).toBeGreaterThan(10);
  const violations = result.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  );
  expect(violations, name).toEqual([]);
}

/**
 * Pages scroll only vertically; wider content scrolls in a separate frame, which a desktop has room for. There no word
 * is broken in the middle.
 */
async function expectNoOverflow(page: Page): Promise<void> {
  const beyond = await page.evaluate(`[
    ...(document.documentElement.scrollWidth <= window.innerWidth ? [] :
      [...document.body.querySelectorAll('*')]
        .filter((element) => element.getBoundingClientRect().right > window.innerWidth
          && element.closest('.frame, .nav') === null)
        .map((element) => element.outerHTML)),
    ...(window.innerWidth < 1280 ? [] : [...document.querySelectorAll('.frame')]
      .filter((frame) => frame.scrollWidth > frame.clientWidth)
      .map((frame) => 'clipped: ' + frame.textContent)),
    ...(window.innerWidth < 1280 ? [] : [...document.querySelectorAll('main *')]
      .flatMap((element) => [...element.childNodes])
      .filter((node) => node.nodeType === Node.TEXT_NODE)
      .flatMap((node) => [...node.data.matchAll(/\\p{L}+/gu)].filter(({ 0: word, index }) => {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
      }))
      .map(([word]) => 'broken: ' + word)),
  ].map((text) => text.slice(0, 120))`);
  expect(beyond, `${page.url()} is wider than the screen`).toEqual([]);
}
