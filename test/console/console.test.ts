/**
 * Every flow of the console in a real browser, against the whole service, PostgreSQL and the sandbox.
 * With SCREENSHOTS=<folder> every page is kept as a picture, in light, dark, Portuguese and phone width.
 */
import { expect, test } from 'vitest';
import { addAccessFlows } from './access-flows.ts';
import { describeInBrowser } from './browser.ts';
import { openFlows } from './console-flows.ts';
import { addDayFlows } from './day-flows.ts';

describeInBrowser('the console in a browser', (browser) => {
  const flows = openFlows(browser);
  addDayFlows(flows);
  addAccessFlows(flows);

  const pageOf = (role: 'operator' | 'admin') => async (locale: string) =>
    flows.newPage({ locale, storageState: await flows.people[role].context().storageState() });

  test('every page is accessible and fits in every look', async () => {
    const { stage } = flows;
    const title = await stage.database.prisma.title.findFirstOrThrow({
      where: { orderUid: 'PO-2026-0007', acceptedDate: stage.dates.signed },
    });
    const due = title.anticipatedDueDate;
    await browser.checkLooks(pageOf('operator'), {
      days: '/',
      day: `/days/${stage.dates.open}`,
      'day-restated': `/days/${stage.dates.signed}`,
      'day-released': `/days/${stage.dates.held}`,
      restated: '/restated',
      findings: `/findings?date=${stage.dates.open}&check=equal_in_day&state=all`,
      'day-titles': `/days/${stage.dates.open}/titles`,
      titles: '/titles',
      schedule: `/schedule?date=${due}`,
      'schedule-day': `/schedule?view=day&date=${due}`,
      'titles-of-payee': `/titles?status=current&payeeOf=${title.id}&dueFrom=2020-01-01`,
      title: `/titles/${title.id}`,
      backfills: '/backfills',
      backfill: '/backfills/1',
      providers: '/providers',
      provider: '/provider?id=P-1',
      'account-changes': '/account-changes?state=all',
      alerts: '/alerts',
      exports: '/exports',
      audit: '/audit',
      account: '/account',
      'release-gone': '/pulls/999999/release',
      'second-factor': '/account/second-factor',
      'not-found': '/nothing',
      login: async (page) => {
        await page.context().clearCookies();
        await page.goto('/login');
      },
    });
    await browser.checkLooks(pageOf('admin'), {
      users: '/users',
      'users-forms': async (page) => {
        const forms = await page.locator('.disclosure > summary').all();
        for (const summary of [...forms.slice(0, 2), ...forms.slice(-2)]) await summary.click();
      },
    });
    // A page that does not exist is an error to the browser, and was asked for on purpose.
    const problems = browser.takeProblems();
    expect(
      problems.filter((problem) => !/(nothing|release): Failed to load/.test(problem)),
    ).toEqual([]);
  });
});
