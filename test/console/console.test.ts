/**
 * Every flow of the console in a real browser, against the whole service, PostgreSQL and the sandbox.
 * With SCREENSHOTS=<folder> every page is kept as a picture, in light, dark, Portuguese and phone width.
 */
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { addAccessFlows } from './access-flows.ts';
import { addAccountFlows } from './account-flows.ts';
import { findBrowser } from './browser.ts';
import { BrowserWorld } from './browser-world.ts';
import { addDayFlows } from './day-flows.ts';
import { addLooks } from './looks.ts';
import { addQuestionFlows } from './question-flows.ts';
import { addTitleFlows } from './title-flows.ts';
import { addUserFlows } from './user-flows.ts';

const executable = findBrowser();
const inBrowser = executable === null ? describe.skip : describe;

inBrowser(
  `the console in a browser${executable === null ? ' (skipped: no Chromium on the PATH, no TEST_BROWSER)' : ''}`,
  () => {
    const world = new BrowserWorld();
    beforeAll(() => world.open(executable ?? ''));
    afterAll(() => world.close());
    afterEach(() => {
      expect(world.takeProblems()).toEqual([]);
    });

    addDayFlows(world);
    addQuestionFlows(world);
    addTitleFlows(world);
    addAccessFlows(world);
    addUserFlows(world);
    addAccountFlows(world);
    addLooks(world);
  },
);
