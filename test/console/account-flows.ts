import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { codeOf } from '../support/second-factor.ts';
import { type BrowserWorld, PASSWORD, textOf } from './browser-world.ts';

const NEW = 'outra frase bem diferente';

const WORDS = {
  en: {
    newPassword: 'New password',
    again: 'Repeat the password',
    saveAndSignIn: 'Save and sign in',
    account: 'My account',
    setUp: 'Set up a second factor',
    code: 'Code that the app shows',
    present: 'Current password',
    confirm: 'Confirm',
    kept: 'I have kept the codes',
    left: 'Recovery codes left: 10',
    change: 'Change the password',
    codeOrRecovery: 'Code of the app, or a recovery code',
    guessable: 'This password is easy to guess',
    changed: 'Your password is changed',
    signOut: 'Sign out',
    name: 'User name',
    password: 'Password',
    codeIfSet: 'Code, if you set up a second factor',
    signIn: 'Sign in',
  },
  'pt-BR': {
    newPassword: 'Nova senha',
    again: 'Repita a nova senha',
    saveAndSignIn: 'Salvar e entrar',
    account: 'Minha conta',
    setUp: 'Ativar a verificação em duas etapas',
    code: 'Código que o aplicativo mostra',
    present: 'Senha atual',
    confirm: 'Confirmar',
    kept: 'Guardei os códigos',
    left: 'Códigos de recuperação restantes: 10',
    change: 'Trocar a senha',
    codeOrRecovery: 'Código do aplicativo ou de recuperação',
    guessable: 'Esta senha é fácil de adivinhar',
    changed: 'Sua senha foi trocada',
    signOut: 'Sair',
    name: 'Usuário',
    password: 'Senha',
    codeIfSet: 'Código, se você ativou a verificação em duas etapas',
    signIn: 'Entrar',
  },
} as const;

const WIDTHS = [
  ['desktop', { width: 1280, height: 860 }],
  ['phone', { width: 360, height: 740 }],
] as const;

/** The pages of the user's own account, in both languages, on a desktop and on a phone. */
export function addAccountFlows(world: BrowserWorld): void {
  async function checkWidths(page: Page, name: string): Promise<void> {
    for (const [width, size] of WIDTHS) {
      await page.setViewportSize(size);
      await world.checkPage(page, `${name}, ${width}`);
      await world.shoot(page, `${name}-${width}`);
    }
  }

  test.each(['en', 'pt-BR'] as const)(
    'a person sets up a second factor, changes the password, and signs in with a code, %s',
    async (locale) => {
      const { stage } = world;
      const words = WORDS[locale];
      const name = `nara-${locale.toLowerCase()}`;
      const page = await (await world.openContext({ locale })).newPage();
      const label = (text: string) => page.getByLabel(text, { exact: true });
      const press = (text: string) => page.getByRole('button', { name: text, exact: true }).click();
      await page.goto(await stage.invite(name, 'viewer'));
      await label(words.newPassword).fill('password1234');
      await label(words.again).fill('password1234');
      await press(words.saveAndSignIn);
      await page.getByText(words.guessable).waitFor();
      await checkWidths(page, `link-refused-${locale}`);
      await label(words.newPassword).fill(PASSWORD);
      await label(words.again).fill(PASSWORD);
      await press(words.saveAndSignIn);
      await page.waitForURL(`${stage.url}/`);
      await page.getByText(name, { exact: true }).click();
      await page.getByRole('link', { name: words.account }).click();
      await checkWidths(page, `account-${locale}`);

      await page.getByRole('link', { name: words.setUp }).click();
      await page.locator('svg.qr').waitFor();
      await checkWidths(page, `second-factor-${locale}`);
      const secret = (await textOf(page.locator('span.mono'))).replaceAll(' ', '');
      await label(words.code).fill(codeOf(secret));
      await label(words.present).fill(PASSWORD);
      await press(words.confirm);
      await page.getByText(words.kept).waitFor();
      expect(await page.locator('ol.recovery-codes li').count()).toBe(10);
      await checkWidths(page, `recovery-codes-${locale}`);
      const recovery = await textOf(page.locator('ol.recovery-codes li').first());
      await page.getByRole('link', { name: words.kept }).click();
      await page.getByText(words.left).waitFor();
      await page.locator('summary', { hasText: words.change }).click();
      await checkWidths(page, `account-with-factor-${locale}`);

      await label(words.present).first().fill(PASSWORD);
      await label(words.codeOrRecovery).first().fill(recovery);
      await label(words.newPassword).fill(NEW);
      await label(words.again).fill(NEW);
      await press(words.change);
      await page.getByText(words.changed).waitFor();
      await page.getByText(name, { exact: true }).click();
      await press(words.signOut);
      await page.waitForURL(`${stage.url}/login`);
      await checkWidths(page, `login-${locale}`);
      await label(words.name).fill(name);
      await label(words.password).fill(NEW);
      // The code of the present step was used to confirm.
      await label(words.codeIfSet).fill(codeOf(secret, 1));
      await press(words.signIn);
      await page.waitForURL(`${stage.url}/`);
      await page.context().close();
      // The refused password was answered 400.
      const problems = world.takeProblems();
      expect(problems.filter((problem) => !/ 400 /.test(problem))).toEqual([]);
    },
  );
}
