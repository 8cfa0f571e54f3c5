import { expect, test } from 'vitest';
import { titleText } from '../support/titles.ts';
import { disclose, textOf } from './browser.ts';
import type { ConsoleFlows } from './console-flows.ts';

/** The decisions of finance, in this order: each flow leaves a day in the state that a later flow expects. */
export function addDayFlows({ stage, browser, people }: ConsoleFlows): void {
  /** The platform has these titles now; an operator asks for a pull, and waits until the day has the sentence. */
  async function pullUntil(
    date: typeof stage.dates.open,
    titles: readonly string[],
    sentence: string,
  ): Promise<void> {
    const { operator } = people;
    stage.setTitles(date, titles);
    await operator.goto(`/days/${date}`);
    await disclose(operator, 'Pull again');
    await operator.getByText('The pull is requested').waitFor();
    await expect
      .poll(async () => {
        await operator.goto(`/days/${date}`);
        return operator.getByText(sentence).count();
      })
      .toBe(1);
  }
  async function release(reason: string): Promise<void> {
    const { operator } = people;
    await operator.getByLabel('Why is this right?').fill(reason);
    await operator.getByRole('button', { name: 'Release' }).click();
    await operator.getByText('The pull is released.').waitFor();
  }

  test('the start page shows the state of every day, and links to each', async () => {
    const { reviewer } = people;
    await reviewer.goto('/');
    const heading = reviewer.getByRole('heading', { level: 1 });
    await heading.filter({ hasText: /needs? a person/ }).waitFor();
    await reviewer.locator(`.month a[href="/days/${stage.dates.open}"]`).click();
    await reviewer.waitForURL(`**/days/${stage.dates.open}`);
  });

  test('a day that is restated by one cent after its sign-off shows exactly that', async () => {
    const { signed } = stage.dates;
    const restated = stage
      .titles(signed, 42)
      .map((text, index) =>
        index === 6
          ? text.replace('"platformDiscountedValue":12.34', '"platformDiscountedValue":12.35')
          : text,
      );
    await pullUntil(signed, restated, 'This day changed after it was signed off');
    const row = people.operator.locator('tr', { hasText: 'PO-2026-0007' }).first();
    expect(await textOf(row)).toMatch(
      /Changed[\s\S]*platformDiscountedValue[\s\S]*12\.34[\s\S]*12\.35/,
    );
  });

  test('rejects are looked at, accepted, and then signed off by somebody else', async () => {
    const { reviewer, operator } = people;
    const { attention } = stage.dates;
    await operator.goto(`/days/${attention}`);
    await disclose(operator, 'Show the raw text');
    await operator.getByText('PO-2026-9001').waitFor();
    await disclose(operator, 'Accept the rejects', 'a test title of the platform');
    await operator.getByText('The rejects are accepted.').waitFor();
    await reviewer.goto(`/days/${attention}`);
    await reviewer.getByLabel('Note (optional)').fill('agrees with the ERP');
    await reviewer.getByRole('button', { name: 'Sign off' }).click();
    await reviewer.getByText('Signed off by rita').waitFor();
  });

  test('what a response could not be read for is said in numbers, and asks for no release', async () => {
    const { operator } = people;
    const { unreadable } = stage.dates;
    const broken = Array.from({ length: 64 }, (_, index) =>
      titleText({ uid: `PO-${9000 + index}`, date: unreadable, value: '"12,50"' }),
    );
    await pullUntil(unreadable, broken, '64 titles came, none could be read');
    await browser.check(operator, 'day-unreadable');
    expect(await operator.getByRole('link', { name: 'Preview the release' }).count()).toBe(0);
    const nameless = `{"order":{},"acceptedDate":"${unreadable}"}`;
    const stay = '30 titles are not in the newest response and stay as they were';
    await pullUntil(unreadable, [nameless], stay);
    await browser.check(operator, 'day-withheld');
  });

  test('undocumented fields are acknowledged once for all, with a reason', async () => {
    const { operator } = people;
    const { unreadable } = stage.dates;
    const more = ',"campaign":"spring","batch":{"id":7}';
    const titles = Array.from({ length: 29 }, (_, index) =>
      titleText({ uid: `PO-${index}`, date: unreadable, more }),
    );
    await pullUntil(unreadable, titles, 'A pull is held');
    const card = operator.locator('#drift');
    await expect
      .poll(async () => {
        await operator.goto('/alerts');
        return [await card.count(), await operator.getByText('Interface differs').count()];
      })
      .toEqual([1, 1]);
    await card.getByText('titles[].campaign').waitFor();
    await card.locator('summary', { hasText: 'Acknowledge all of them' }).click();
    await browser.check(operator, 'alerts-with-drift');
    await card.getByLabel('Reason').fill('announced by the platform');
    await card.getByRole('button', { name: 'Acknowledge all of them' }).click();
    await operator.getByText('The fields and values are acknowledged.').waitFor();
    expect(await card.count()).toBe(0);
  });

  test('a held pull is released by who has seen what goes', async () => {
    const { operator } = people;
    await pullUntil(stage.dates.held, [], 'A pull is held');
    await browser.check(operator, 'day-held');
    await operator.getByRole('link', { name: 'Preview the release' }).click();
    await operator.getByRole('heading', { name: /Titles that would be withdrawn/ }).waitFor();
    await browser.check(operator, 'release');
    await release('cancelled by the platform, confirmed');
    expect(await textOf(operator.locator('main'))).toContain('Withdrawn: 36');
  });

  test('the identifiers of a title are shown on the record', async () => {
    const { reviewer } = people;
    await reviewer.goto(`/days/${stage.dates.signed}/titles?order=PO-2026-0007`);
    await reviewer.getByRole('link', { name: 'PO-2026-0007' }).click();
    await reviewer.getByRole('heading', { name: 'History' }).waitFor();
    await reviewer.getByRole('button', { name: 'Show them' }).click();
    await reviewer.getByText('52998224725').waitFor();
    await browser.check(reviewer, 'title-revealed');
  });

  test('a backfill is started and followed to its end', async () => {
    const { operator } = people;
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
    const { reviewer, operator } = people;
    const { open } = stage.dates;
    const titles = stage
      .titles(open, 130)
      .map((text) => text.replace('"bank":"001"', '"bank":"260"').replace('7654321', '9998887'));
    stage.setTitles(open, titles);
    await operator.goto(`/days/${open}`);
    await disclose(operator, 'Pull again');
    await expect
      .poll(async () => {
        await reviewer.goto('/account-changes');
        return reviewer.getByText('Bank 260').count();
      })
      .toBeGreaterThan(0);
    await browser.check(reviewer, 'providers-change');
    await reviewer.getByRole('button', { name: 'Show them' }).click();
    await reviewer.getByText('9998887-0').first().waitFor();
    await reviewer.getByRole('checkbox', { name: 'Choose' }).first().check();
    const confirm = 'Confirm: the account now replaces the account before';
    await reviewer.getByRole('radio', { name: confirm }).check();
    await reviewer.getByLabel('Your findings').fill('called them, it is theirs');
    await reviewer.getByRole('button', { name: 'Record the decision' }).click();
    await reviewer.getByText('The accounts are confirmed.').waitFor();
  });
}
