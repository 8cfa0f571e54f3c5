/**
 * What only a browser shows of the console: keyboard, script, policy, looks.
 * With SCREENSHOTS=<folder> every page is kept as a picture, in light, dark, Portuguese and phone width.
 */
import { beforeAll, expect, test } from 'vitest';
import { type CivilDate, lastClosedDate } from '../../src/base/values/business-day.ts';
import type { ConsoleRole } from '../../src/base/values/role.ts';
import { addUser, createLink } from '../../src/console/access/console-users.sql.ts';
import { deriveAlerts } from '../../src/features/alerts/alerts.sql.ts';
import { runMatching } from '../../src/features/matching/run-matching.sql.ts';
import { checkAnyDay, signDay } from '../support/days.ts';
import { openCertifiedWorld } from '../support/oidc-world.ts';
import { giveBackPort, takePort } from '../support/own-port.ts';
import { importPayables } from '../support/payables.ts';
import { providerOf, writeProviders } from '../support/provider-rows.ts';
import { daysFrom, TODAY } from '../support/pull-world.ts';
import { codeOf, PASSWORD } from '../support/second-factor.ts';
import { titleText } from '../support/titles.ts';
import { browserWorldForFile, describeInBrowser, look, lookNow, textOf } from './browser.ts';

const TIME_ZONE = 'America/Sao_Paulo';
const LAST = lastClosedDate(TIME_ZONE, new Date());
/** Dates with a story each. */
const [START, RESTATED, ATTENTION] = [daysFrom(-9, LAST), daysFrom(-4, LAST), daysFrom(-3, LAST)];
const [CHANGED, HELD, OPEN] = [daysFrom(-2, LAST), daysFrom(-1, LAST), LAST];

const NAMES = [
  'Banco Ipê S.A.',
  'Jatobá Securitizadora',
  'Araújo Factoring & Filhos',
  'Érica d’Ávila',
];

/** Titles, of which the seventh has that discount. */
const titlesOf = (date: CivilDate, count: number, discount = '12.34') =>
  Array.from({ length: count }, (_, index) =>
    titleText({
      uid: `PO-2026-${String(index + 1).padStart(4, '0')}`,
      date,
      value: `${1_237 + index * 37}.${String((index + 1) % 100).padStart(2, '0')}`,
      name: NAMES[index % NAMES.length] ?? '',
      dueDate: TODAY,
      ...(index === 6 && { discount }),
    }),
  );
const otherSupplier = (date: CivilDate, account: string) =>
  titleText({ uid: 'PO-2026-9000', date, code: 'P-2', dueDate: TODAY, account });

describeInBrowser('the console in a browser', (browser) => {
  const { world, console, enter } = browserWorldForFile(browser, { startDate: START });
  beforeAll(async () => {
    const { database, serve } = world;
    for (let date = START; date <= HELD; date = daysFrom(1, date)) {
      const others = date === START ? [otherSupplier(date, '1')] : [];
      await serve(date, [...titlesOf(date, 36), ...others]);
      if (date <= RESTATED) await signDay(database, date, { by: 'helena', bookingsFrom: null });
    }
    await serve(RESTATED, titlesOf(RESTATED, 36, '12.35'));
    const reject = `{"order":{"uid":"PO-2026-9001"},"acceptedDate":"${ATTENTION}","originalValue":"12,50"}`;
    await serve(ATTENTION, [...titlesOf(ATTENTION, 36), reject]);
    await serve(CHANGED, [...titlesOf(CHANGED, 36), otherSupplier(CHANGED, '2')]);
    await serve(HELD, []);
    const isNew = titleText({ uid: 'PO-2026-9002', date: OPEN, more: ',"campaign":"spring"' });
    await serve(OPEN, [...titlesOf(OPEN, 129), isNew]);
    await checkAnyDay(database);
    const payables = [
      { erpKey: 'AP-1', openValue: '1000.50', orderUid: 'PO-2026-9002' },
      // Each a cent less than a title of each day: proposals with keys as Protheus has them.
      ...['1237.00', '1274.01'].map((openValue, index) => ({
        ...{ erpKey: `0101|ANT|00010293${index}|001|NF|F000101|01`, document: `00010293${index}` },
        ...{ openValue, dueDate: TODAY },
      })),
    ];
    await importPayables(database, payables, 'snapshot');
    await runMatching(database, { by: 'matching' });
    await writeProviders(database, [
      providerOf(1, { externalId: 'P-1', name: 'Metalúrgica São João Indústria e Comércio Ltda' }),
      providerOf(2, { name: 'Érica d’Ávila' }),
      providerOf(3, { name: 'Sem telefone', phones: [{ number: '' }] }),
    ]);
    const operator = await console.as('operator');
    const range = { from: daysFrom(-20, START), to: daysFrom(-9, START), concurrency: '2' };
    await operator.post('/backfills', range);
    await operator.post('/backfills/1/cancel');
    const policy = { timeZone: TIME_ZONE, maxLagDays: 3, maxIdleHours: 30 };
    await deriveAlerts(database, new Date(), policy);
  });

  const idsOf = async () => {
    const { prisma } = world;
    const where = { orderUid: 'PO-2026-0007', acceptedDate: RESTATED };
    const title = await prisma.title.findFirstOrThrow({ where });
    const matched = await prisma.titleMatch.findFirstOrThrow({ where: { endedAt: null } });
    const pull = await prisma.pull.findFirstOrThrow({ where: { state: 'held' } });
    return { ':title': title.id, ':matched': matched.titleId, ':pull': pull.id };
  };

  test.each<[string, string, ConsoleRole?]>([
    ['days', '/'],
    ['day', `/days/${OPEN}`],
    ['day-attention', `/days/${ATTENTION}`],
    ['day-held', `/days/${HELD}`],
    ['day-restated', `/days/${RESTATED}`],
    ['release', '/pulls/:pull/release'],
    ['findings', `/findings?date=${OPEN}&check=equal_in_day&state=all`],
    ['day-titles', `/titles?from=${OPEN}&to=${OPEN}`],
    ['schedule', `/schedule?dueFrom=${TODAY.slice(0, 7)}-01`],
    ['schedule-day', `/schedule?dueFrom=${TODAY}&dueTo=${TODAY}`],
    ['titles-of-payee', '/titles?status=current&payeeOf=:title&dueFrom=2020-01-01'],
    ['title', '/titles/:title'],
    ['title-matched', '/titles/:matched'],
    ['breaks', '/breaks'],
    ['proposals', '/proposals', 'reviewer'],
    ['matching-rules', '/matching-rules', 'reviewer'],
    ['break', '/breaks?kind=missing_in_erp&title=:title'],
    ['balance', '/balance'],
    ['disclosure', '/disclosure?beginning=2026-01-31'],
    ['holidays', '/holidays?year=2026'],
    ['backfills', '/backfills'],
    ['providers', '/providers'],
    ['provider', '/provider?id=P-1'],
    ['providers-change', '/account-changes'],
    ['alerts', '/alerts'],
    ['audit', '/audit'],
    ['account', '/account'],
    ['not-found', '/nothing'],
    ['login', '/login'],
    ['users', '/users', 'admin'],
  ])('the page %s is accessible and fits, in every look', async (name, path, role = 'operator') => {
    const page = name === 'login' ? await browser.open(console.url) : await enter(role);
    const ids = Object.entries(await idsOf());
    const address = ids.reduce((text, [key, id]) => text.replace(key, String(id)), path);
    await look(page, address, name);
    await page.context().close();
    // A page that does not exist is an error to the browser, and was asked for on purpose.
    const problems = browser.takeProblems();
    expect(problems.filter((problem) => !problem.includes('/nothing: Failed to load'))).toEqual([]);
  });

  test('everything can be reached by keyboard', async () => {
    const page = await enter('viewer');
    const active = (property: string) => page.evaluate(`document.activeElement.${property}`);
    await page.goto(`/days/${HELD}`);
    await page.keyboard.press('Tab');
    expect(await active('textContent.trim()')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await active('id')).toBe('content');
    await page.locator('.menu:has([action="/logout"]) summary').focus();
    await page.keyboard.press('Enter');
    const signOut = page.getByRole('button', { name: 'Sign out' });
    await signOut.waitFor();
    await page.keyboard.press('Escape');
    expect(await signOut.isVisible()).toBe(false);
    expect(await active('tagName')).toBe('SUMMARY');
  });

  test('the amounts and the buttons of the tasks are in columns', async () => {
    const page = await enter('reviewer');
    await page.goto('/');
    const edges = (side: 'left' | 'right', selector: string) =>
      page.evaluate(
        `[...new Set([...document.querySelectorAll('${selector}')].map((part) => part.getBoundingClientRect().${side}))]`,
      );
    expect(await edges('right', '.task .number')).toHaveLength(1);
    expect(await edges('left', '.task .button')).toHaveLength(1);
  });

  test('a page of work under way is asked for again, except while its reader fills in a form', async () => {
    const page = await enter('operator');
    // The interval ends when the test says so.
    const stopped = 'window.setInterval = (run, ms) => Object.assign(window, { run, ms })';
    await page.addInitScript(stopped);
    await page.goto(`/days/${OPEN}`);
    const pull = page.getByRole('button', { name: 'Pull again' });
    await pull.click();
    await page.getByText('queued').first().waitFor();
    expect(await page.evaluate('window.ms')).toBe(2_000);
    const askedAgain = page.waitForEvent('load');
    await page.evaluate('window.run()');
    await askedAgain;
    await pull.focus();
    // A page that leaves ends the evaluation with an error.
    await page.evaluate('window.run(), new Promise((resolve) => setTimeout(resolve, 500))');
    await lookNow(page, 'day-queued');
  });

  test('a person signs in by the link of an administrator', async () => {
    const admin = await enter('admin');
    await admin.goto('/users');
    await admin.locator('summary', { hasText: 'Add a user' }).click();
    await admin.getByLabel('User name').fill('beto');
    const form = admin.locator('form[action="/users"]');
    await form.getByLabel('Role').selectOption('reviewer');
    await form.getByRole('button', { name: 'Add and make a link' }).click();
    const link = await textOf(admin.locator('.secret .mono'));
    // The script has put the address of the console before the path.
    expect(link).toContain(`${console.url}/link/`);
    await lookNow(admin, 'users-link');
    const page = await browser.open(console.url);
    await page.goto(link);
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByLabel('Repeat the password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Save and sign in' }).click();
    await page.waitForURL(`${console.url}/`);
  });

  test('a person signs in with the company account and out of it, and is told when that opens nothing', async () => {
    const port = await takePort();
    const publicUrl = new URL(`http://127.0.0.1:${port}`);
    const oidc = await openCertifiedWorld(world.database, { port, publicUrl });
    const { console: own, provider } = oidc;
    try {
      const email = 'ana@example.com';
      await addUser(world.database, { name: 'ana', role: 'reviewer', email, by: 'test' });
      provider.addAccount({ sub: 'stranger', email: 'x@example.com', email_verified: true });
      provider.addAccount({ sub: 'ana', email, email_verified: true });
      const enterAs = async (account: string) => {
        const page = await browser.open(own.url);
        await page.goto('/audit');
        await page.getByRole('link', { name: 'Sign in with your company account' }).click();
        await page.getByLabel('Account').fill(account);
        await page.getByRole('button', { name: 'Enter' }).click();
        return page;
      };
      const stranger = await enterAs('stranger');
      await stranger.getByText('has no user here').waitFor();
      await lookNow(stranger, 'login-refused');
      const page = await enterAs('ana');
      await page.waitForURL(`${own.url}/audit`);
      // The policy of the page's forms also applies to redirects after them.
      await page.locator('.menu', { hasText: 'ana' }).locator('summary').click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      // The page takes the notice out of its address, so the sentence is waited for and not the address.
      const notice =
        'You are signed out of this console. Your company account may still be signed in.';
      await page.getByText(notice).waitFor();
      expect(new URL(page.url()).pathname).toBe('/login');
      const asked = browser.takeProblems().filter((problem) => !/ 403 /.test(problem));
      expect(asked.length).toBeGreaterThan(0);
      const others = asked.filter((problem) => !problem.startsWith(`asked ${provider.issuer}/`));
      expect(others).toEqual([]);
    } finally {
      await oidc.close();
      giveBackPort(port);
    }
  });

  test('a person chooses a password that is hard to guess, and sets up a second factor, in Portuguese', async () => {
    await addUser(world.database, { name: 'nara', role: 'viewer', by: 'test' });
    const token = await createLink(world.database, { name: 'nara', by: 'test' });
    const page = await browser.open(console.url, { locale: 'pt-BR' });
    const label = (text: string) => page.getByLabel(text, { exact: true });
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    await page.goto(`/link/${token}`);
    const choose = async (password: string) => {
      await label('Nova senha').fill(password);
      await label('Repita a nova senha').fill(password);
      await press('Salvar e entrar');
    };
    await choose('password1234');
    await page.getByText('Esta senha é fácil de adivinhar').waitFor();
    await lookNow(page, 'link-refused');
    await choose(PASSWORD);
    await page.waitForURL(`${console.url}/`);
    await page.goto('/account');

    await page.getByText('Ativar a verificação em duas etapas').click();
    await page.locator('img.qr').waitFor();
    const secret = (await textOf(page.locator('span.mono'))).replaceAll(' ', '');
    await label('Código que o aplicativo mostra').fill(codeOf(secret));
    await label('Senha atual').last().fill(PASSWORD);
    await press('Confirmar');
    await page.getByText('A verificação em duas etapas foi ativada').waitFor();

    await look(page, '/account', 'account-with-factor');
    // The refused password was answered 400.
    const problems = browser.takeProblems();
    expect(problems.filter((problem) => !/ 400 /.test(problem))).toEqual([]);
  });
});
