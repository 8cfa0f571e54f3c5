import { expect, test } from 'vitest';
import { type BrowserWorld, PASSWORD, textOf } from './browser-world.ts';

/** Getting in and about: signing in, who sees what, keyboard, language, no script. */
export function addAccessFlows(world: BrowserWorld): void {
  test('a person signs in with the password of the link, out, and in again', async () => {
    const { stage } = world;
    const page = await world.enter('nina', 'viewer');
    await page.getByText('nina', { exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${stage.url}/login`);
    await page.goto('/audit');
    await page.getByLabel('User name').fill('nina');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${stage.url}/audit`);
    await page.context().close();
  });

  test('everything can be reached by keyboard', async () => {
    const { stage, reviewer } = world;
    await reviewer.goto(`/days/${stage.dates.held}`);
    await reviewer.keyboard.press('Tab');
    expect(await reviewer.evaluate('document.activeElement.textContent.trim()')).toBe(
      'Skip to the content',
    );
    await reviewer.keyboard.press('Enter');
    expect(await reviewer.evaluate('document.activeElement.id')).toBe('content');
    await reviewer.locator('.menu:has([action="/preferences"]) summary').focus();
    await reviewer.keyboard.press('Enter');
    await reviewer.getByLabel('Language').waitFor();
    await reviewer.keyboard.press('Escape');
    expect(await reviewer.getByLabel('Language').isVisible()).toBe(false);
    expect(await reviewer.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
  });

  test('language and colours are switched and stay', async () => {
    const { stage, viewer } = world;
    await viewer.goto(`/days/${stage.dates.signed}`);
    await viewer.locator('.menu:has([action="/preferences"]) summary').click();
    await viewer.getByLabel('Language').selectOption('pt-BR');
    await viewer.getByLabel('Colours').selectOption('dark');
    await viewer.getByRole('button', { name: 'Apply' }).click();
    await viewer.getByText('Totais de controle').waitFor();
    expect(await viewer.evaluate('getComputedStyle(document.body.parentElement).colorScheme')).toBe(
      'dark',
    );
    const text = await textOf(viewer.locator('main'));
    expect(text).toMatch(/\d{1,3}\.\d{3},\d{2}/);
    await viewer.goto('/');
    await viewer.getByText('A fazer, do maior risco ao menor').waitFor();
    await viewer.locator('.menu:has([action="/preferences"]) summary').click();
    await viewer.getByLabel('Idioma').selectOption('en');
    await viewer.getByLabel('Tema').selectOption('auto');
    await viewer.getByRole('button', { name: 'Aplicar' }).click();
    await viewer.getByText('To do, the greatest risk first').waitFor();
  });

  test('it works without any script', async () => {
    const { stage, reviewer } = world;
    const context = await world.openContext({
      javaScriptEnabled: false,
      storageState: await reviewer.context().storageState(),
    });
    const page = await context.newPage();
    await page.goto(`/days/${stage.dates.held}`);
    await page.getByRole('button', { name: 'Sign off' }).click();
    await page.getByText('Signed off by rita').waitFor();
    await page.locator('summary', { hasText: 'Reopen' }).click();
    await page.getByLabel('Reason').fill('only a try');
    await page.locator('.disclosed').getByRole('button', { name: 'Reopen' }).click();
    await page.getByText('The day is open again.').waitFor();
    await context.close();
  });
}
