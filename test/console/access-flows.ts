import { expect, test } from 'vitest';
import { codeOf, PASSWORD } from '../support/second-factor.ts';
import { disclose, textOf } from './browser.ts';
import type { ConsoleFlows } from './console-flows.ts';

/** Getting in and about: signing in and out, accounts, users and keys, keyboard, language, no script. */
export function addAccessFlows({ stage, browser, people, ...flows }: ConsoleFlows): void {
  test('everything can be reached by keyboard', async () => {
    const { reviewer } = people;
    await reviewer.goto(`/days/${stage.dates.held}`);
    await reviewer.keyboard.press('Tab');
    expect(await reviewer.evaluate('document.activeElement.textContent.trim()')).toBe(
      'Skip to the content',
    );
    await reviewer.keyboard.press('Enter');
    expect(await reviewer.evaluate('document.activeElement.id')).toBe('content');
    await reviewer.locator('.menu summary').first().focus();
    await reviewer.keyboard.press('Enter');
    await reviewer.getByLabel('Language').waitFor();
    await reviewer.keyboard.press('Escape');
    expect(await reviewer.getByLabel('Language').isVisible()).toBe(false);
    expect(await reviewer.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
  });

  test('language and colours are switched and stay', async () => {
    const { viewer } = people;
    await viewer.goto(`/days/${stage.dates.signed}`);
    await viewer.locator('.menu summary').first().click();
    await viewer.getByLabel('Language').selectOption('pt-BR');
    await viewer.getByLabel('Colours').selectOption('dark');
    await viewer.getByRole('button', { name: 'Apply' }).click();
    await viewer.getByText('Totais de controle').waitFor();
    expect(await viewer.evaluate('getComputedStyle(document.body.parentElement).colorScheme')).toBe(
      'dark',
    );
    expect(await textOf(viewer.locator('main'))).toMatch(/\d{1,3}\.\d{3},\d{2}/);
    await viewer.goto('/');
    await viewer.getByText('Conciliado até').waitFor();
  });

  test('it works without any script', async () => {
    const storageState = await people.reviewer.context().storageState();
    const page = await flows.newPage({ javaScriptEnabled: false, storageState });
    await page.goto(`/days/${stage.dates.held}`);
    await page.getByRole('button', { name: 'Sign off' }).click();
    await page.getByText('Signed off by rita').waitFor();
    await disclose(page, 'Reopen', 'only a try');
    await page.getByText('The day is open again.').waitFor();
  });

  test('a person signs in with the company account and out of it, and is told when that opens nothing', async () => {
    await stage.invite('ana', 'reviewer', 'ana@example.com');
    const page = await flows.newPage();
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
    await browser.check(page, 'login-refused');
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
    const asked = browser.takeProblems().filter((problem) => !/ 403 /.test(problem));
    expect(asked.length).toBeGreaterThan(0);
    const toProvider = `asked ${stage.provider.issuer}/`;
    expect(asked.filter((problem) => !problem.startsWith(toProvider))).toEqual([]);
  });

  test('an administrator adds somebody, who comes in by the link and is kept out again', async () => {
    const { admin } = people;
    await admin.goto('/users');
    await admin.locator('summary', { hasText: 'Add a user' }).click();
    await admin.getByLabel('User name').fill('beto');
    const form = admin.locator('form[action="/users"]');
    await form.getByLabel('Role').selectOption('reviewer');
    await form.getByRole('button', { name: 'Add and make a link' }).click();
    const link = await textOf(admin.locator('.secret .mono'));
    await browser.check(admin, 'users-with-a-link');
    const beto = await flows.choosePassword(await flows.newPage(), link);
    await admin.goto('/users');
    await admin.locator('summary', { hasText: 'Change beto' }).click();
    await browser.check(admin, 'users-changing-one');
    await admin.locator('form[action="/users/beto/disable"] button').click();
    await admin.getByText('The user is disabled, and signed out.').waitFor();
    await beto.goto('/audit');
    expect(new URL(beto.url()).pathname).toBe('/login');
  });

  test('a key is made, shown once, and revoked', async () => {
    const { admin } = people;
    await admin.goto('/users');
    await admin.locator('summary', { hasText: 'Make a key' }).click();
    await admin.getByLabel('Purpose', { exact: true }).fill('ERP import');
    await admin.getByLabel('Export titles').check();
    await admin.getByRole('button', { name: 'Make the key' }).click();
    expect(await textOf(admin.locator('.secret .mono'))).toMatch(/^conciliation_[\w-]{43}$/);
    await browser.check(admin, 'users-with-a-key');
    await admin.goto('/users');
    expect(await textOf(admin.locator('main'))).not.toMatch(/conciliation_[\w-]{43}/);
    await admin.locator('summary', { hasText: 'Revoke the key “ERP import”' }).click();
    await admin.getByRole('button', { name: 'Revoke', exact: true }).click();
    await admin.getByText('The key is revoked.').waitFor();
  });

  // In Portuguese, whose words are longer.
  test('a person sets up a second factor, changes the password, and signs in with a code, on a phone too', async () => {
    const page = await flows.newPage({ locale: 'pt-BR' });
    const fill = (label: string, text: string) =>
      page.getByLabel(label, { exact: true }).first().fill(text);
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const check = async (name: string) => {
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 860 });
        await browser.check(page, name, `pt-br-${width}`);
      }
    };
    const choose = async (password: string, button: string) => {
      await fill('Nova senha', password);
      await fill('Repita a nova senha', password);
      await press(button);
    };
    await page.goto(await stage.invite('nara', 'viewer'));
    await choose('password1234', 'Salvar e entrar');
    await page.getByText('Esta senha é fácil de adivinhar').waitFor();
    await check('link-refused');
    await choose(PASSWORD, 'Salvar e entrar');
    await page.waitForURL(`${stage.url}/`);

    await page.goto('/account/second-factor');
    await page.locator('svg.qr').waitFor();
    await check('second-factor');
    const secret = (await textOf(page.locator('span.mono'))).replaceAll(' ', '');
    await fill('Código que o aplicativo mostra', codeOf(secret));
    await fill('Senha atual', PASSWORD);
    await press('Confirmar');
    await page.getByText('Guardei os códigos').waitFor();
    expect(await page.locator('ol.recovery-codes li').count()).toBe(10);
    await check('recovery-codes');
    const recovery = await textOf(page.locator('ol.recovery-codes li').first());
    await page.getByRole('link', { name: 'Guardei os códigos' }).click();
    await page.getByText('Códigos de recuperação restantes: 10').waitFor();
    await page.locator('summary', { hasText: 'Trocar a senha' }).click();
    await check('account-with-factor');

    await fill('Senha atual', PASSWORD);
    await fill('Código do aplicativo ou de recuperação', recovery);
    await choose('outra frase bem diferente', 'Trocar a senha');
    await page.getByText('Sua senha foi trocada').waitFor();
    await page.getByText('nara', { exact: true }).click();
    await press('Sair');
    await page.waitForURL(`${stage.url}/login`);
    await fill('Usuário', 'nara');
    await fill('Senha', 'outra frase bem diferente');
    // The code of the present step was used to confirm.
    await fill('Código, se você ativou a verificação em duas etapas', codeOf(secret, 1));
    await press('Entrar');
    await page.waitForURL(`${stage.url}/`);
    // The refused password was answered 400.
    const problems = browser.takeProblems();
    expect(problems.filter((problem) => !/ 400 /.test(problem))).toEqual([]);
  });
}
