import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectNoOverflow } from './browser.ts';
import type { BrowserWorld } from './browser-world.ts';

const WINDOW = { width: 1280, height: 860 };
const PHONE = { width: 360, height: 740 };

interface Look {
  readonly name: string;
  readonly viewport: typeof WINDOW;
  readonly colorScheme: 'light' | 'dark';
  /** Light, dark, Portuguese and a phone are each judged once; the others show what fits. */
  readonly isJudged: boolean;
}

const LOOKS: Readonly<Record<'en' | 'pt-BR', readonly Look[]>> = {
  en: [
    { name: 'light', viewport: WINDOW, colorScheme: 'light', isJudged: true },
    { name: 'dark', viewport: WINDOW, colorScheme: 'dark', isJudged: true },
    { name: 'phone', viewport: PHONE, colorScheme: 'light', isJudged: true },
    {
      name: 'laptop',
      viewport: { width: 1440, height: 900 },
      colorScheme: 'light',
      isJudged: false,
    },
  ],
  'pt-BR': [
    { name: 'pt-br', viewport: WINDOW, colorScheme: 'light', isJudged: true },
    {
      name: 'wide',
      viewport: { width: 1920, height: 1080 },
      colorScheme: 'light',
      isJudged: false,
    },
    { name: 'phone-dark-pt-br', viewport: PHONE, colorScheme: 'dark', isJudged: false },
  ],
};

/** Every page in every look: accessible, no wider than the screen, and kept as a picture. */
export function addLooks(world: BrowserWorld): void {
  async function look(page: Page, name: string, looks: readonly Look[]): Promise<void> {
    for (const { name: look, viewport, colorScheme, isJudged } of looks) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      if (isJudged) await world.checkPage(page, `${name}, ${look}`);
      else await expectNoOverflow(page);
      await world.shoot(page, `${name}-${look}`);
    }
  }

  test.each(['en', 'pt-BR'] as const)(
    'every page is accessible and fits in every look, %s',
    async (locale) => {
      const looks = LOOKS[locale];
      const { stage, operator, admin } = world;
      const titleRow = await stage.database.prisma.title.findFirstOrThrow({
        where: { orderUid: 'PO-2026-0007', acceptedDate: stage.dates.signed },
      });
      const pages: readonly (readonly [string, string])[] = [
        ['days', '/'],
        ['day', `/days/${stage.dates.open}`],
        ['day-restated', `/days/${stage.dates.signed}`],
        ['day-released', `/days/${stage.dates.held}`],
        ['restated', '/restated'],
        ['findings', `/findings?date=${stage.dates.open}&check=equal_in_day&state=all`],
        ['day-titles', `/titles?from=${stage.dates.open}&to=${stage.dates.open}`],
        ['titles', '/titles'],
        ['schedule', `/schedule?date=${titleRow.anticipatedDueDate}`],
        ['schedule-day', `/schedule?view=day&date=${titleRow.anticipatedDueDate}`],
        ['titles-of-payee', `/titles?status=current&payeeOf=${titleRow.id}&dueFrom=2020-01-01`],
        ['title', `/titles/${titleRow.id}`],
        ['holidays', '/holidays?year=2026'],
        ['backfills', '/backfills'],
        ['backfill', '/backfills/1'],
        ['providers', '/providers'],
        ['provider', '/provider?id=P-1'],
        ['account-changes', '/account-changes?state=all'],
        ['alerts', '/alerts'],
        ['audit', '/audit'],
        ['account', '/account'],
        ['release-gone', '/pulls/999999/release'],
        ['second-factor', '/account/second-factor'],
        ['not-found', '/nothing'],
      ];
      const context = await world.openContext({
        storageState: await operator.context().storageState(),
        locale,
      });
      const page = await context.newPage();
      for (const [name, path] of pages) {
        await page.goto(path);
        await look(page, name, looks);
      }
      await context.clearCookies();
      await page.goto('/login');
      await look(page, 'login', looks);
      await context.close();
      const ofAdmin = await world.openContext({
        storageState: await admin.context().storageState(),
        locale,
      });
      const users = await ofAdmin.newPage();
      await users.goto('/users');
      await look(users, 'users', looks);
      await users.setViewportSize(WINDOW);
      const forms = await users.locator('.disclosure > summary').all();
      for (const summary of [...forms.slice(0, 2), ...forms.slice(-2)]) await summary.click();
      await look(users, 'users-forms', looks);
      await ofAdmin.close();
      // A page that does not exist is an error to the browser, and was asked for on purpose.
      const problems = world.takeProblems();
      expect(
        problems.filter((problem) => !/(nothing|release): Failed to load/.test(problem)),
      ).toEqual([]);
    },
  );
}
