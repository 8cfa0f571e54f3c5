import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';
import { type BrowserWorld, textOf } from './browser-world.ts';

/** Backfills, and changed accounts. */
export function addTitleFlows(world: BrowserWorld): void {
  test('a backfill is started and followed to its end', async () => {
    const { stage, operator } = world;
    const { from, to } = stage.dates.backfill;
    await operator.goto('/backfills');
    await operator.getByLabel('From').fill(from);
    await operator.getByLabel('to', { exact: true }).fill(to);
    await operator.getByRole('button', { name: 'Start the backfill' }).click();
    // The page itself tells, without being asked again.
    await operator.getByText('Done', { exact: true }).waitFor();
    await operator.getByText('12 of 12 dates').waitFor();
  });

  test('a changed bank account is revealed on the record and confirmed', async () => {
    const { stage, reviewer, operator } = world;
    const { open } = stage.dates;
    stage.setTitles(open, [
      ...Array.from({ length: 130 }, (_, index) => index + 1).map((index) =>
        JSON.stringify({
          order: { uid: `PO-2026-${String(index).padStart(4, '0')}` },
          acceptedDate: open,
          originalValue: index,
          providerExternalId: 'P-1',
          provider: {
            externalId: 'P-1',
            identification: '52998224725',
            bankAccount: { bank: '260', agency: '0001', account: '9998887', accountDigit: '1' },
          },
        }),
      ),
    ]);
    await operator.goto(`/days/${open}`);
    await operator.getByRole('button', { name: 'Pull again' }).click();
    await expect
      .poll(async () => {
        await operator.goto(`/days/${open}`);
        const link = operator.getByRole('link', { name: 'See what would change' });
        return link.count();
      })
      .toBe(1);
    await operator.getByRole('link', { name: 'See what would change' }).click();
    await operator.getByLabel('Why is this right?').fill('the platform restated the whole day');
    await operator.getByRole('button', { name: 'Accept this version' }).click();
    await operator.getByText('The pull is released.').waitFor();
    await reviewer.goto('/account-changes');
    await reviewer.getByText('Bank 260').first().waitFor();
    await world.checkPage(reviewer, 'changed accounts');
    await world.keep('providers-change', '/account-changes', reviewer.context());
    await reviewer.getByRole('button', { name: 'Show them' }).click();
    await reviewer.getByText('9998887-1').first().waitFor();
    await reviewer.getByRole('checkbox', { name: 'Choose' }).first().check();
    await reviewer.getByLabel('Your findings').fill('called them, it is theirs');
    await reviewer
      .getByRole('button', { name: 'Confirm: the account now replaces the account before' })
      .click();
    const shown = () => textOf(reviewer.locator('body'));
    await expect.poll(shown, { timeout: PATIENCE_MS }).toContain('The accounts are confirmed.');
  });
}
