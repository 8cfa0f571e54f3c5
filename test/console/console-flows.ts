import type { Page } from 'playwright-core';
import { beforeAll } from 'vitest';
import { CONSOLE_ROLES, type ConsoleRole } from '../../src/domain/role.ts';
import { forFile } from '../support/for-tests.ts';
import { PASSWORD } from '../support/second-factor.ts';
import type { TestBrowser } from './browser.ts';
import { openStage } from './console-stage.ts';

export type ConsoleFlows = ReturnType<typeof openFlows>;

/** The service, and a page of a browser in which a user of each role is signed in: vera, rita, otto and alma. */
export function openFlows(browser: TestBrowser) {
  const stage = forFile(openStage);
  const people = {} as Record<ConsoleRole, Page>;
  const choosePassword = async (page: Page, link: string) => {
    await page.goto(link);
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByLabel('Repeat the password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Save and sign in' }).click();
    await page.waitForURL(`${stage.url}/`);
    return page;
  };
  const flows = {
    stage,
    browser,
    people,
    choosePassword,
    newPage: (options: Parameters<TestBrowser['newPage']>[1] = {}) =>
      browser.newPage(stage.url, options),
    /** Adds a person, who chooses a password by the link and is signed in. */
    enter: async (name: string, role: ConsoleRole) =>
      choosePassword(await flows.newPage(), await stage.invite(name, role)),
  };
  const names = { viewer: 'vera', reviewer: 'rita', operator: 'otto', admin: 'alma' };
  beforeAll(async () => {
    for (const role of CONSOLE_ROLES) people[role] = await flows.enter(names[role], role);
  });
  return flows;
}
