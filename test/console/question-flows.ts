import { expect, test } from 'vitest';
import { type BrowserWorld, textOf } from './browser-world.ts';

/** The everyday questions of finance, each from the start page with counted clicks. */
export function addQuestionFlows(world: BrowserWorld): void {
  /** Counts the clicks of one question. */
  const asked = async () => {
    const page = world.viewer;
    await page.goto('/');
    let clicks = 0;
    return {
      page,
      clicks: () => clicks,
      async click(name: string | RegExp, within = 'body') {
        clicks += 1;
        await page.locator(within).getByRole('link', { name }).first().click();
      },
      async press(name: string) {
        clicks += 1;
        await page.getByRole('button', { name }).first().click();
      },
    };
  };

  test('is yesterday complete: no click', async () => {
    const { page, clicks } = await asked();
    expect(await textOf(page.locator('h1'))).toMatch(/^Yesterday, \d{4}-\d\d-\d\d: /);
    expect(clicks()).toBe(0);
  });

  test('what changed since the sign-off, over all days: one click', async () => {
    const question = await asked();
    await question.click('Review', '.task:has(a[href="/restated"])');
    await question.page.getByRole('heading', { name: 'Changed since sign-off' }).waitFor();
    await question.page.locator('tr', { hasText: 'Original value' }).first().waitFor();
    expect(question.clicks()).toBe(1);
  });

  test('who is owed how much on a due date, and on which account: two clicks', async () => {
    const question = await asked();
    await question.click('Payments', '.nav');
    // The first due date of this month.
    await question.click(/\d/, 'main .data tbody');
    const payees = question.page.locator('section', { hasText: 'By party and account' });
    expect(await textOf(payees.last())).toMatch(/account [\s\S]*\d,?\d*\.\d\d/);
    expect(question.clicks()).toBe(2);
  });

  test('was a supplier sent: three clicks', async () => {
    const question = await asked();
    await question.click('Payments', '.nav');
    await question.click('Providers', 'main .tabs');
    await question.page.getByLabel('Code, name, or whole CPF/CNPJ').fill('P-1');
    await question.press('Apply');
    expect(await textOf(question.page.locator('main'))).toMatch(
      /P-1[\s\S]*(Synced|Pending|Invalid|Rejected)/,
    );
    expect(question.clicks()).toBe(3);
  });
}
