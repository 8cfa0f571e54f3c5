import type { Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import type { ConsoleRole } from '../../src/base/values/role.ts';
import { type ConsoleWorld, openConsole } from '../support/console-client.ts';
import { forFile } from '../support/for-tests.ts';
import { openPullWorld, type PullWorld, type PullWorldOptions } from '../support/pull-world.ts';
import type { TestBrowser, WindowOptions } from './browser.ts';

/** A pull world and its console, with windows in which users are signed in. */
export interface BrowserWorld {
  readonly world: PullWorld;
  readonly console: ConsoleWorld;
  /** A window of a user; the name is the role's unless told. */
  enter(role: ConsoleRole, name?: string, options?: WindowOptions): Promise<Page>;
}

/** For the tests of a file, after each of which no page may have had a problem. */
export function browserWorldForFile(
  browser: TestBrowser,
  options: PullWorldOptions = {},
): BrowserWorld {
  const world = forFile(() => openPullWorld(options));
  const console = forFile(() => openConsole(world.database));
  afterEach(() => {
    expect(browser.takeProblems()).toEqual([]);
  });
  return {
    world,
    console,
    async enter(role, name, windowOptions) {
      const { cookies } = await console.as(role, name);
      const page = await browser.open(console.url, windowOptions);
      const value = cookies.get('conciliation') ?? '';
      await page.context().addCookies([{ name: 'conciliation', value, url: console.url }]);
      return page;
    },
  };
}
