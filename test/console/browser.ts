import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';

/** TEST_BROWSER, or a Chromium on the PATH; null: the tests that need one are skipped and say so. */
export function findBrowser(): string | null {
  const given = process.env['TEST_BROWSER'];
  if (given !== undefined && given !== '') return given;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return paths.find((path) => existsSync(path)) ?? null;
}

export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Errors of a page that the page itself does not show. */
export interface PageWatch {
  readonly problems: string[];
}

/**
 * Notes errors, refused scripts and styles, and every request that leaves for another host. The pages wait longer than
 * the half minute of the library.
 */
export function watchPages(context: BrowserContext, url: string): PageWatch {
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
  return { problems };
}

interface AxeResult {
  readonly passes: readonly unknown[];
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Everything that axe holds against a page, by WCAG 2.2 AA and its best practices. */
export async function findViolations(page: Page): Promise<string[]> {
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
export async function expectNoOverflow(page: Page): Promise<void> {
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
