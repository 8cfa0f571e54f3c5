import { expect, test } from 'vitest';
import { titleText } from '../support/titles.ts';
import { type BrowserWorld, textOf } from './browser-world.ts';

/** The decisions of finance about days, in this order: each flow leaves a day in the state that a later flow expects. */
export function addDayFlows(world: BrowserWorld): void {
  test('the start page shows the state of every day, and links to each', async () => {
    const { stage, reviewer } = world;
    await reviewer.goto('/');
    await reviewer.getByRole('heading', { level: 1, name: /^Yesterday, / }).waitFor();
    await reviewer.locator(`.month a[href="/days/${stage.dates.open}"]`).click();
    await reviewer.waitForURL(`**/days/${stage.dates.open}`);
  });

  test('a day is signed off, restated by one cent, and shows exactly that', async () => {
    const { stage, reviewer, operator } = world;
    const { signed } = stage.dates;
    const { rows } = await stage.database.pool.query<{ text: string }>(
      `SELECT order_uid AS text FROM conciliation.title WHERE accepted_date = $1 ORDER BY order_uid`,
      [signed],
    );
    expect(rows).toHaveLength(42);
    await reviewer.goto(`/days/${signed}`);
    await reviewer.getByText('Signed off by helena').waitFor();
    const platform = await (
      await fetch(
        `${stage.sandbox.baseUrl}/api/anticipations/conciliation?conciliationDate=${signed}`,
        { headers: { authorization: `Bearer ${stage.sandbox.issueToken()}` } },
      )
    ).text();
    const texts = [...platform.matchAll(/\{"order":.*?"accountDigit":"0"\}\}\}/g)].map(
      ([text]) => text,
    );
    expect(texts).toHaveLength(42);
    stage.setTitles(
      signed,
      texts.map((text, index) =>
        index === 6
          ? text.replace('"platformDiscountedValue":12.34', '"platformDiscountedValue":12.35')
          : text,
      ),
    );
    await operator.goto(`/days/${signed}`);
    await operator.getByRole('button', { name: 'Pull again' }).click();
    await operator.getByText('The pull is requested').waitFor();
    await expect
      .poll(async () => {
        await reviewer.goto(`/days/${signed}`);
        return reviewer.getByText('This day changed after it was signed off').count();
      })
      .toBe(1);
    const row = reviewer.locator('tr', { hasText: 'PO-2026-0007' }).first();
    expect(await textOf(row)).toMatch(
      /Changed[\s\S]*platformDiscountedValue[\s\S]*12\.34[\s\S]*12\.35/,
    );
    await expect
      .poll(async () => {
        await reviewer.goto('/alerts');
        return reviewer.getByRole('row', { name: 'Restated after sign-off' }).count();
      })
      .toBeGreaterThan(0);
  });

  test('rejects are looked at, accepted, and then signed off by somebody else', async () => {
    const { stage, reviewer, operator } = world;
    const { attention } = stage.dates;
    await operator.goto(`/days/${attention}`);
    await operator.locator('summary', { hasText: 'Show the raw text' }).click();
    await operator.locator('.disclosed').getByRole('button', { name: 'Show the raw text' }).click();
    await operator.getByText('PO-2026-9001').waitFor();
    await operator.locator('summary', { hasText: 'Accept the rejects' }).click();
    await operator.getByLabel('Reason').fill('a test title of the platform');
    await operator
      .locator('.disclosed')
      .getByRole('button', { name: 'Accept the rejects' })
      .click();
    await operator.getByText('The rejects are accepted.').waitFor();
    await reviewer.goto(`/days/${attention}`);
    await reviewer.getByLabel('Note (optional)').fill('agrees with the ERP');
    await reviewer.getByRole('button', { name: 'Sign off' }).click();
    await reviewer.getByText('Signed off by rita').waitFor();
  });

  test('what a response could not be read for is said in numbers, and asks for no release', async () => {
    const { stage, operator } = world;
    const { unreadable } = stage.dates;
    const path = `/days/${unreadable}`;
    const pullUntil = async (titles: readonly string[], sentence: string) => {
      stage.setTitles(unreadable, titles);
      await operator.goto(path);
      await operator.getByRole('button', { name: 'Pull again' }).click();
      await expect
        .poll(async () => {
          await operator.goto(path);
          return operator.getByText(sentence).count();
        })
        .toBe(1);
      await world.checkPage(operator, sentence);
    };
    const title = (number: number, value: string) =>
      titleText({ uid: `PO-${number}`, date: unreadable, value });
    const broken = Array.from({ length: 64 }, (_, index) => title(9000 + index, '"12,50"'));
    await pullUntil(broken, '64 titles came, none could be read');
    expect(await operator.getByRole('link', { name: 'See what would change' }).count()).toBe(0);
    await operator.getByText('originalValue: expected a number, got a string').waitFor();
    await operator.getByText('not merged; would be 0 · 0 · 30 · 0').waitFor();

    await pullUntil(
      [`{"order":{},"acceptedDate":"${unreadable}"}`],
      '30 titles are not in the newest response and stay as they were',
    );
  });

  test('undocumented fields are acknowledged once for all, with a reason', async () => {
    const { stage, operator } = world;
    const { unreadable } = stage.dates;
    const fields = ',"campaign":"spring","batch":{"id":7}';
    stage.setTitles(unreadable, [
      ...Array.from({ length: 29 }, (_, index) =>
        titleText({ uid: `PO-${index}`, date: unreadable, more: fields }),
      ),
    ]);
    await operator.goto(`/days/${unreadable}`);
    await operator.getByRole('button', { name: 'Pull again' }).click();
    const card = operator.locator('#drift');
    await expect
      .poll(async () => {
        await operator.goto('/alerts');
        return [
          await card.count(),
          await operator.getByRole('row', { name: 'Interface differs' }).count(),
        ];
      })
      .toEqual([1, 1]);
    await card.getByText('titles[].campaign').waitFor();
    await card.locator('summary', { hasText: 'Acknowledge all of them' }).click();
    await world.checkPage(operator, 'alerts with drift');
    await card.getByLabel('Reason').fill('announced by the platform');
    await card.getByRole('button', { name: 'Acknowledge all of them' }).click();
    await operator.getByText('The fields and values are acknowledged.').waitFor();
    expect(await card.count()).toBe(0);
  });

  test('a held pull is released by who has seen what goes', async () => {
    const { stage, operator } = world;
    const { held } = stage.dates;
    stage.setTitles(held, []);
    await operator.goto(`/days/${held}`);
    await operator.getByRole('button', { name: 'Pull again' }).click();
    await expect
      .poll(async () => {
        await operator.goto(`/days/${held}`);
        return operator.getByText('A newer answer of the platform waits').count();
      })
      .toBe(1);
    await world.keep('day-held', `/days/${held}`, operator.context());
    await operator.getByRole('link', { name: 'See what would change' }).click();
    await operator.getByText('Withdrawn: 36').waitFor();
    await world.checkPage(operator, 'release');
    await world.keep('release', new URL(operator.url()).pathname, operator.context());
    await operator.getByLabel('Why is this right?').fill('cancelled by the platform, confirmed');
    await operator.getByRole('button', { name: 'Accept this version' }).click();
    await operator.getByText('The pull is released.').waitFor();
    expect(await textOf(operator.locator('main'))).toContain('Withdrawn: 36');
  });
}
