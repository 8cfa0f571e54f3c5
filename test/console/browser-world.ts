import { afterEach, expect } from 'vitest';
import type { ConsoleRole } from '../../src/base/values/role.ts';
import { openConsole } from '../support/console-client.ts';
import { forFile } from '../support/for-tests.ts';
import { openPullWorld, type PullWorldOptions } from '../support/pull-world.ts';
import type { TestBrowser, WindowOptions } from './browser.ts';

/** A pull world and its console for the tests of a file, after each of which no page may have had a problem. */
export function browserWorldForFile(browser: TestBrowser, options: PullWorldOptions = {}) {
  const world = forFile(() => openPullWorld(options));
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
