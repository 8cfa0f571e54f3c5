import { expect, test } from 'vitest';
import type { BrowserWorld } from './browser-world.ts';

/** Every page in every look: accessible, no wider than the screen, and kept as a picture. */
export function addLooks(world: BrowserWorld): void {
  const LOOKS = {
    light: {},
    dark: { colorScheme: 'dark' },
    'pt-br': { locale: 'pt-BR' },
    laptop: { viewport: { width: 1440, height: 900 } },
    wide: { viewport: { width: 1920, height: 1080 }, locale: 'pt-BR' },
    phone: { viewport: { width: 360, height: 740 } },
    'phone-dark-pt-br': {
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
      locale: 'pt-BR',
    },
  } as const;

  test.each(Object.entries(LOOKS))(
    'every page is accessible and fits, %s',
    async (look, options) => {
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
        ['day-titles', `/days/${stage.dates.open}/titles`],
        ['titles', '/titles'],
        ['schedule', `/schedule?date=${titleRow.anticipatedDueDate}`],
        ['schedule-day', `/schedule?view=day&date=${titleRow.anticipatedDueDate}`],
        ['titles-of-payee', `/titles?status=current&payeeOf=${titleRow.id}&dueFrom=2020-01-01`],
        ['title', `/titles/${titleRow.id}`],
        ['backfills', '/backfills'],
        ['backfill', '/backfills/1'],
        ['providers', '/providers'],
        ['provider', '/provider?id=P-1'],
        ['account-changes', '/account-changes?state=all'],
        ['alerts', '/alerts'],
        ['exports', '/exports'],
        ['audit', '/audit'],
        ['account', '/account'],
        ['release-gone', '/pulls/999999/release'],
        ['second-factor', '/account/second-factor'],
        ['not-found', '/nothing'],
      ];
      const context = await world.openContext({
        storageState: await operator.context().storageState(),
        ...options,
      });
      const page = await context.newPage();
      for (const [name, path] of pages) {
        await page.goto(path);
        await world.checkPage(page, `${name}, ${look}`);
        await world.shoot(page, `${name}-${look}`);
      }
      await context.clearCookies();
      await page.goto('/login');
      await world.checkPage(page, `login, ${look}`);
      await world.shoot(page, `login-${look}`);
      await context.close();
      const ofAdmin = await world.openContext({
        storageState: await admin.context().storageState(),
        ...options,
      });
      const users = await ofAdmin.newPage();
      await users.goto('/users');
      await world.checkPage(users, `users, ${look}`);
      await world.shoot(users, `users-${look}`);
      await users.goto('/users');
      const forms = await users.locator('.disclosure > summary').all();
      for (const summary of [...forms.slice(0, 2), ...forms.slice(-2)]) await summary.click();
      await world.checkPage(users, `users, forms open, ${look}`);
      await world.shoot(users, `users-forms-${look}`);
      await ofAdmin.close();
      // A page that does not exist is an error to the browser, and was asked for on purpose.
      const problems = world.takeProblems();
      expect(
        problems.filter((problem) => !/(nothing|release): Failed to load/.test(problem)),
      ).toEqual([]);
    },
  );
}
