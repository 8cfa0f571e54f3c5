import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';
import { type BrowserWorld, textOf } from './browser-world.ts';

/** Titles and what is done with many of them: lists, history, files, backfills, changed accounts. */
export function addTitleFlows(world: BrowserWorld): void {
  test('titles are filtered, sorted and paged', async () => {
    const { stage, viewer } = world;
    const { open } = stage.dates;
    await viewer.goto(`/titles?from=${open}&to=${open}`);
    const first = () => textOf(viewer.locator('.data tbody th a').first());
    expect(await first()).toBe('PO-2026-0001');
    await viewer.getByRole('link', { name: 'Next →' }).click();
    await expect.poll(first).toBe('PO-2026-0051');
    await viewer.getByRole('link', { name: '← Previous', exact: true }).click();
    await expect.poll(first).toBe('PO-2026-0001');
    await viewer.locator('thead').getByRole('link', { name: 'Original value' }).click();
    await viewer.locator('thead').getByRole('link', { name: 'Original value' }).click();
    await expect.poll(first).toBe('PO-2026-0130');
    await viewer.getByLabel('Agent’s name contains').fill('ipê');
    await viewer.getByRole('button', { name: 'Apply' }).click();
    await viewer.getByText(/^1 to 3\d of 3\d$/).waitFor();
  });

  test('a title shows its history, and its identifiers only on the record', async () => {
    const { stage, reviewer } = world;
    await reviewer.goto(
      `/titles?from=${stage.dates.signed}&to=${stage.dates.signed}&order=PO-2026-0007`,
    );
    await reviewer.getByRole('link', { name: 'PO-2026-0007' }).click();
    await reviewer.getByRole('heading', { name: 'History' }).waitFor();
    expect(await textOf(reviewer.locator('main'))).not.toContain('52998224725');
    await reviewer.getByRole('button', { name: 'Show them' }).click();
    await reviewer.getByText('52998224725').waitFor();
    await world.checkPage(reviewer, 'title revealed');
    await reviewer.goto('/audit');
    await reviewer.getByText('looked at identifiers of a title').first().waitFor();
  });

  test('an export is downloaded, in the language of the reader', async () => {
    const { stage, reviewer } = world;
    await reviewer.goto(`/titles?from=${stage.dates.open}&to=${stage.dates.open}`);
    const [download] = await Promise.all([
      reviewer.waitForEvent('download'),
      reviewer.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`titles-${stage.dates.open}-${stage.dates.open}.csv`);
    const text = await readFile(await download.path(), 'utf8');
    expect(text.trim().split('\r\n')).toHaveLength(131);
    expect(text).toContain('Banco Ipê S.A.');
  });

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
