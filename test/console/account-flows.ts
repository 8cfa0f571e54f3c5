import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { codeOf } from '../support/second-factor.ts';
import { type BrowserWorld, PASSWORD, textOf } from './browser-world.ts';

const NEW = 'outra frase bem diferente';

const WIDTHS = [
  ['desktop', { width: 1280, height: 860 }],
  ['phone', { width: 360, height: 740 }],
] as const;

/** The pages of the user's own account, on a desktop and on a phone. */
export function addAccountFlows(world: BrowserWorld): void {
  async function checkWidths(page: Page, name: string): Promise<void> {
    for (const [width, size] of WIDTHS) {
      await page.setViewportSize(size);
      await world.checkPage(page, `${name}, ${width}`);
      await world.shoot(page, `${name}-${width}`);
    }
  }

  test('a person sets up a second factor, changes the password, and signs in with a code', async () => {
    const { stage } = world;
    const name = 'nara';
    const page = await (await world.openContext()).newPage();
    const label = (text: string) => page.getByLabel(text, { exact: true });
    const press = (text: string) => page.getByRole('button', { name: text, exact: true }).click();
    await page.goto(await stage.invite(name, 'viewer'));
    await label('New password').fill('password1234');
    await label('Repeat the password').fill('password1234');
    await press('Save and sign in');
    await page.getByText('This password is easy to guess').waitFor();
    await checkWidths(page, 'link-refused');
    await label('New password').fill(PASSWORD);
    await label('Repeat the password').fill(PASSWORD);
    await press('Save and sign in');
    await page.waitForURL(`${stage.url}/`);
    await page.getByText(name, { exact: true }).click();
    await page.getByRole('link', { name: 'My account' }).click();
    await checkWidths(page, 'account');

    await page.getByRole('link', { name: 'Set up a second factor' }).click();
    await page.locator('svg.qr').waitFor();
    await checkWidths(page, 'second-factor');
    const secret = (await textOf(page.locator('span.mono'))).replaceAll(' ', '');
    await label('Code that the app shows').fill(codeOf(secret));
    await label('Current password').fill(PASSWORD);
    await press('Confirm');
    await page.getByText('I have kept the codes').waitFor();
    expect(await page.locator('ol.recovery-codes li').count()).toBe(10);
    await checkWidths(page, 'recovery-codes');
    const recovery = await textOf(page.locator('ol.recovery-codes li').first());
    await page.getByRole('link', { name: 'I have kept the codes' }).click();
    await page.getByText('Recovery codes left: 10').waitFor();
    await page.locator('summary', { hasText: 'Change the password' }).click();
    await checkWidths(page, 'account-with-factor');

    await label('Current password').first().fill(PASSWORD);
    await label('Code of the app, or a recovery code').first().fill(recovery);
    await label('New password').fill(NEW);
    await label('Repeat the password').fill(NEW);
    await press('Change the password');
    await page.getByText('Your password is changed').waitFor();
    await page.getByText(name, { exact: true }).click();
    await press('Sign out');
    await page.waitForURL(`${stage.url}/login`);
    await checkWidths(page, 'login');
    await label('User name').fill(name);
    await label('Password').fill(NEW);
    // The code of the present step was used to confirm.
    await label('Code, if you set up a second factor').fill(codeOf(secret, 1));
    await press('Sign in');
    await page.waitForURL(`${stage.url}/`);
    await page.context().close();
    // The refused password was answered 400.
    const problems = world.takeProblems();
    expect(problems.filter((problem) => !/ 400 /.test(problem))).toEqual([]);
  });
}
