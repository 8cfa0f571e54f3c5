import { expect, test } from 'vitest';
import { type BrowserWorld, PASSWORD, textOf } from './browser-world.ts';

/** The access to the console: company accounts, users, keys. */
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

  test('an administrator adds somebody, who comes in by the link and is kept out again', async () => {
    const { admin, stage } = world;
    await admin.goto('/');
    await admin.locator('summary', { hasText: 'Administration' }).click();
    await admin.getByRole('link', { name: 'Users and keys' }).click();
    await admin.locator('summary', { hasText: 'Add a user' }).click();
    await admin.getByLabel('User name').fill('beto');
    const form = admin.locator('form[action="/users"]');
    await form.getByLabel('Role').selectOption('reviewer');
    await form.getByRole('button', { name: 'Add and make a link' }).click();
    const link = await textOf(admin.locator('.secret .mono'));
    expect(link).toContain(`${stage.url}/link/`);
    await world.checkPage(admin, 'users with a link');
    const beto = await (await world.openContext()).newPage();
    await beto.goto(link);
    await beto.getByLabel('New password').fill(PASSWORD);
    await beto.getByLabel('Repeat the password').fill(PASSWORD);
    await beto.getByRole('button', { name: 'Save and sign in' }).click();
    await beto.waitForURL(`${stage.url}/`);
    await admin.goto('/users');
    await admin.locator('summary', { hasText: 'Change beto' }).click();
    await world.checkPage(admin, 'users, changing one');
    await admin.locator('form[action="/users/beto/disable"] button').click();
    await admin.getByText('The user is disabled, and signed out.').waitFor();
    await beto.goto('/audit');
    expect(new URL(beto.url()).pathname).toBe('/login');
    await beto.context().close();
  });

  test('a key is made, shown once, and revoked', async () => {
    const { admin } = world;
    await admin.goto('/users');
    await admin.locator('summary', { hasText: 'Make a key' }).click();
    await admin.getByLabel('Purpose', { exact: true }).fill('ERP import');
    await admin.getByLabel('Export titles').check();
    await admin.getByRole('button', { name: 'Make the key' }).click();
    expect(await textOf(admin.locator('.secret .mono'))).toMatch(/^conciliation_[\w-]{43}$/);
    await world.checkPage(admin, 'users with a key');
    await admin.goto('/users');
    expect(await textOf(admin.locator('main'))).not.toMatch(/conciliation_[\w-]{43}/);
    await admin.locator('summary', { hasText: 'Revoke the key “ERP import”' }).click();
    await admin.getByRole('button', { name: 'Revoke', exact: true }).click();
    await admin.getByText('The key is revoked.').waitFor();
  });
}
