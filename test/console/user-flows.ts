import { expect, test } from 'vitest';
import type { BrowserWorld } from './browser-world.ts';

/** Signing in with a company account, whose provider is another site to the browser. */
export function addUserFlows(world: BrowserWorld): void {
  test('a person signs in with the company account and out of it, and is told when that opens nothing', async () => {
    const { stage } = world;
    await stage.invite('ana', 'reviewer', 'ana@example.com');
    const page = await (await world.openContext()).newPage();
    stage.provider.addAccount({ sub: 'stranger', email: 'x@example.com', email_verified: true });
    stage.provider.addAccount({ sub: 'ana', email: 'ana@example.com', email_verified: true });
    const enterAs = async (account: string) => {
      await page.goto('/audit');
      await page.getByRole('link', { name: 'Sign in with your company account' }).click();
      await page.getByLabel('Account').fill(account);
      await page.getByRole('button', { name: 'Enter' }).click();
    };
    await enterAs('stranger');
    await page.getByText('has no user here').waitFor();
    await world.checkPage(page, 'login, refused');
    // Another account in this browser.
    await page.context().clearCookies();
    await enterAs('ana');
    await page.waitForURL(`${stage.url}/audit`);
    // The policy of the page's forms also applies to redirects after them.
    await page.getByText('ana', { exact: true }).first().click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Leave the company account' }).click();
    await page.waitForURL(`${stage.url}/login`);
    await page.getByRole('link', { name: 'Sign in with your company account' }).click();
    await page.getByLabel('Account').waitFor();
    await page.context().close();
    const asked = world.takeProblems().filter((problem) => !/ 403 /.test(problem));
    expect(asked.length).toBeGreaterThan(0);
    expect(
      asked.filter((problem) => !problem.startsWith(`asked ${stage.provider.issuer}/`)),
    ).toEqual([]);
  });
}
