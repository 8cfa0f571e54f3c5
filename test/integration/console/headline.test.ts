/** The state of the ledger in words: the same in the console, in `conciliation status` and in the API. */
import { expect, test } from 'vitest';
import { lastClosedDate } from '../../../src/base/values/business-day.ts';
import type { ConsoleRole } from '../../../src/base/values/role.ts';
import {
  headlineOf,
  moneyText,
  needsPerson,
  readOpenItems,
} from '../../../src/features/home/open-items.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { openConsole } from '../../support/console-client.ts';
import { signDay } from '../../support/days.ts';
import { forFile } from '../../support/for-tests.ts';
import { match } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { providerOf, writeProviders } from '../../support/provider-rows.ts';
import { daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { type TitleFields, titleText } from '../../support/titles.ts';

const TIME_ZONE = 'America/Sao_Paulo';
const CLOSED = lastClosedDate(TIME_ZONE, new Date());
const [FIRST, SECOND, THIRD] = [daysFrom(-3, CLOSED), daysFrom(-2, CLOSED), daysFrom(-1, CLOSED)];
const brazilian = (date: string) => date.split('-').reverse().join('/');

const world = worldOfFile({ startDate: FIRST });
const console = forFile(() => openConsole(world.database));

/** Two titles of a date; what the first one has. */
const titlesFor = (date: typeof FIRST, first: TitleFields = {}) => [
  titleText({ date, uid: `first-${date}`, ...first }),
  titleText({ date, uid: 'second' }),
];
const sign = (date: typeof FIRST) => signDay(world.database, date, { bookingsFrom: null });

const bare = (html = '') => html.replace(/<[^>]+>/g, '').replaceAll('&#39;', "'");

/** Reads the headline of the pages and of the API, and expects the same words. */
async function headline() {
  const viewer = await console.as('viewer', 'vera');
  const answer = await viewer.get('/api/status');
  expect(answer.status).toBe(200);
  const api = answer.json().headline;
  for (const language of ['en', 'pt-BR']) {
    const page = (await viewer.get('/', { 'accept-language': language })).text;
    expect(bare(/<h1>(.*?)<\/h1>/s.exec(page)?.[1])).toBe(api[language].title);
    const task = /<li class="task [^"]*">.*?<p>(.*?)<\/p><span[^>]*>(.*?)<\/span>/gs;
    // The page links each date; the other sources list the dates.
    const lines = [...page.matchAll(task)].map(([, words = '', value = '']) =>
      [bare(words.replace(/ <a.*/s, '')), value].filter((part) => part !== '').join(' · '),
    );
    const listed = api[language].lines as string[];
    if (lines.length === 0) expect(page).toContain(`<p class="quiet">${listed[0]}</p>`);
    else expect(lines).toEqual(listed.map((line, index) => line.slice(0, lines[index]?.length)));
  }
  return { en: api.en, pt: api['pt-BR'] };
}

/** The same of the command. Returns its exit status. */
async function statusLike(en: { title: string; lines: string[] }) {
  const [command, json] = await Promise.all([
    runCommand(['status'], environmentOf(world)),
    runCommand(['status', '--json'], environmentOf(world)),
  ]);
  const [title, ...rest] = command.stdout.split('\n');
  const lines = rest.filter((line) => line.startsWith('- ')).map((line) => line.slice(2));
  expect({ title, lines }).toEqual({ title: en.title, lines: en.lines });
  expect(JSON.parse(json.stdout).headline).toEqual(en);
  return command.exit;
}

test('an empty ledger is not in order', async () => {
  const { en, pt } = await headline();
  expect(en).toMatchObject({ inOrder: false, title: `Yesterday, ${CLOSED}: no data yet.` });
  expect(en.lines).toEqual([`4 days without data · ${FIRST} to ${CLOSED}`]);
  expect(pt.title).toBe(`Ontem, ${brazilian(CLOSED)}: ainda sem dados.`);
});

test('nothing is open when every closed date is reconciled and signed off', async () => {
  for (const date of [FIRST, SECOND, THIRD, CLOSED]) {
    await world.serve(date, titlesFor(date));
  }
  const sum = 'R$ 2,001.00';
  expect((await headline()).en).toMatchObject({
    title: `Yesterday, ${CLOSED}: 2 titles, ${sum}, complete, not signed off yet.`,
    lines: ['4 days to sign off · R$ 8,004.00'],
  });
  for (const date of [FIRST, SECOND, THIRD, CLOSED]) await sign(date);
  const { en, pt } = await headline();
  expect(en).toEqual({
    inOrder: true,
    title: `Yesterday, ${CLOSED}: 2 titles, ${sum}, complete and signed off.`,
    lines: ['Nothing waits for a person.'],
  });
  expect(pt.lines).toEqual(['Nada pendente.']);
  expect(await statusLike(en)).toBe(0);
});

test('a break with the payables of the ERP is no state in order', async () => {
  const payable = { erpKey: 'k1', openValue: '7', orderUid: 'unknown' };
  await importPayables(world.database, [payable], 'snapshot');
  await match(world.database);
  const { en, pt } = await headline();
  expect(en.inOrder).toBe(false);
  // Eight titles without a payable, and a payable without a title.
  expect(en.lines).toEqual(['9 other breaks with the payables of the ERP · R$ 8,011.00']);
  expect(pt.lines).toEqual(['9 outras divergências com as contas a pagar do ERP · R$ 8.011,00']);
  await world.prisma.$executeRaw`
    TRUNCATE conciliation.title_match, conciliation.match_run, conciliation.erp_break, conciliation.erp_payable,
             conciliation.erp_payable_reject, conciliation.erp_payable_import`;
});

test('each open item has a line, and the command ends with 3', async () => {
  // A held day in the reconciled range, a rejected title, and a day that differs from its sign-off.
  await world.serve(FIRST, []);
  await world.serve(SECOND, [...titlesFor(SECOND), '{"order":{}}']);
  const restated = await runCommandWith(THIRD, ...titlesFor(THIRD, { discount: '12.35' }));
  expect(restated.exit).toBe(3);
  expect(restated.stdout).toContain('the difference from the sign-off');
  // Another account of the same provider; `pull` says so too.
  const changed = await runCommandWith(CLOSED, ...titlesFor(CLOSED, { account: '9999977' }));
  expect(changed.exit).toBe(3);
  expect(changed.stdout).toMatch(/\d changed bank account\(s\)/);
  await writeProviders(world.database, [providerOf(1)]);
  await world.prisma.provider.updateMany({ data: { syncState: 'invalid' } });
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.process_fault (process_id, kind) VALUES (gen_random_uuid(), 'token_refused')`;

  const { en, pt } = await headline();
  expect(await statusLike(en)).toBe(3);
  expect(en.inOrder).toBe(false);
  expect(en.title).toContain(
    `Yesterday, ${CLOSED}: 2 titles, R$ 2,001.00, changed after the sign-off.`,
  );
  expect(en.lines).toEqual([
    expect.stringMatching(/^\d bank accounts? changed; 1 title is on hold · R\$ [\d,.]+$/),
    `1 day is held: a newer answer waits for a decision · R$ 2,001.00 · ${FIRST}`,
    `1 day has rejected titles or findings to resolve · ${SECOND}`,
    expect.stringMatching(`^2 days changed after the sign-off · .* to ${CLOSED}`),
    '6 findings of the checks for information · R$ 6,003.00',
    expect.stringMatching(/^No accepted token: the platform refuses the token of 1 process: /),
    expect.stringMatching(
      /^Provider refused: of the providers written on .*, 1 invalid and not sent$/,
    ),
  ]);
  expect(pt.lines[1]).toBe(
    `1 dia retido: uma resposta mais nova aguarda decisão · R$ 2.001,00 · ${brazilian(FIRST)}`,
  );
  expect(pt.lines.join('\n')).not.toMatch(/\d{4}-\d\d-\d\d/);
});

test('a lock of the ERP on its table delays the headline by a quarter of a second, and is told', async () => {
  const { pool } = world.database;
  const erp = await pool.connect();
  try {
    await erp.query('BEGIN');
    await erp.query('LOCK TABLE conciliation.provider IN ACCESS EXCLUSIVE MODE');
    const at = { now: new Date(), policy: { timeZone: TIME_ZONE } };
    const items = await readOpenItems(world.database, at);
    expect(headlineOf(items, 'en').lines.at(-1)).toContain('locked by another session');
    expect(needsPerson(items)).toBe(true);
  } finally {
    await erp.query('ROLLBACK');
    erp.release();
  }
});

test('a button names a decision for a person who may decide; others see', async () => {
  const buttonsFor = async (role: ConsoleRole) => {
    const page = (await (await console.as(role)).get('/')).text;
    return [...page.matchAll(/<a class="button" href="([^"]*)">([^<]*)</g)].map(
      ([, href, label]) => `${href}: ${label}`,
    );
  };
  const viewer = await buttonsFor('viewer');
  expect(viewer.length).toBeGreaterThan(5);
  expect(viewer.filter((button) => !button.endsWith(': See'))).toEqual([]);
  expect(await buttonsFor('reviewer')).toEqual(
    expect.arrayContaining(['/account-changes: Confirm or refuse', `/days/${SECOND}: Resolve`]),
  );
});

test('an amount has whole cents, and a sign where it has digits beyond', () => {
  expect(moneyText('8940.20', 'pt-BR')).toBe('R$ 8.940,20');
  expect(moneyText('8940.2256', 'pt-BR')).toBe('≈ R$ 8.940,23');
  expect(moneyText('12345678901234567890.125', 'en')).toBe('≈ R$ 12,345,678,901,234,567,890.13');
});

function runCommandWith(date: typeof FIRST, ...texts: string[]) {
  world.sandbox.setDayTexts(date, texts);
  return runCommand(['pull', date], environmentOf(world));
}
