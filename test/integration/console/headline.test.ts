/** The state of the ledger in words: the same in the console, in `conciliation status` and in the API. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { headlineOf, needsPerson } from '../../../src/alerts/headline.ts';
import { readOpenItems } from '../../../src/alerts/open-items.sql.ts';
import { STALENESS_LIMITS } from '../../../src/domain/alerts/pull-alerts.ts';
import { lastClosedDate } from '../../../src/domain/business-day.ts';
import { readLedgerDay } from '../../../src/ledger/ledger-days.sql.ts';
import { signOffDay } from '../../../src/ledger/sign-off.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { type ConsoleWorld, openConsole } from '../../support/console-client.ts';
import { match } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { providerOf, writeProviders } from '../../support/provider-rows.ts';
import { daysFrom, openPullWorld, type PullWorld, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const TIME_ZONE = 'America/Sao_Paulo';
const CLOSED = lastClosedDate(TIME_ZONE, new Date());
const [FIRST, SECOND, THIRD] = [daysFrom(-3, CLOSED), daysFrom(-2, CLOSED), daysFrom(-1, CLOSED)];
const brazilian = (date: string) => date.split('-').reverse().join('/');

let world: PullWorld;
let console: ConsoleWorld;
beforeAll(async () => {
  world = await openPullWorld({ startDate: FIRST });
  console = await openConsole(world.database);
});
afterAll(async () => {
  await console.close();
  await world.close();
});

const pull = async (date = FIRST, ...texts: string[]) => {
  world.sandbox.setDayTexts(date, texts);
  await world.pull(date);
};
const sign = async (date: typeof FIRST) => {
  const day = await readLedgerDay(world.database, date, TODAY);
  const seenDigest = day?.contentDigest ?? '';
  await signOffDay(world.database, date, {
    by: 'helena',
    reason: null,
    seenDigest,
    fourEyes: true,
  });
};

/** Reads the headline of each source, and expects the same words. */
async function headline() {
  const viewer = await console.as('viewer', 'vera');
  const { status, text } = await viewer.get('/api/status').then(({ status, text }) => ({
    status,
    text,
  }));
  expect(status).toBe(200);
  const api = JSON.parse(text).headline;
  for (const language of ['en', 'pt-BR']) {
    const page = (await viewer.get('/', { 'accept-language': language })).text;
    const shown = /<section class="headline">.*?<h1>(.*?)<\/h1>.*?<ul[^>]*>(.*?)<\/ul>/s.exec(page);
    expect(shown?.[1]).toBe(api[language].title);
    const lines = [...(shown?.[2] ?? '').matchAll(/<li>(.*?)<\/li>/gs)].map(([, line]) => line);
    expect(lines).toEqual(api[language].lines);
  }
  const [command, json] = await Promise.all([
    runCommand(['status'], environmentOf(world)),
    runCommand(['status', '--json'], environmentOf(world)),
  ]);
  const [title, ...rest] = command.stdout.split('\n');
  const lines = rest.filter((line) => line.startsWith('- ')).map((line) => line.slice(2));
  expect({ title, lines }).toEqual({ title: api.en.title, lines: api.en.lines });
  expect(JSON.parse(json.stdout).headline).toEqual(api.en);
  return { en: api.en, pt: api['pt-BR'], exit: command.exit };
}

test('an empty ledger is not in order', async () => {
  const { en, pt, exit } = await headline();
  expect(en).toMatchObject({ inOrder: false, title: '4 days behind' });
  expect(en.lines).toEqual([`No date is reconciled yet. The ledger begins on ${FIRST}.`]);
  expect(pt.title).toBe('4 dias de atraso');
  expect(exit).toBe(0);
});

test('nothing is open when every closed date is reconciled and signed off', async () => {
  for (const date of [FIRST, SECOND, THIRD, CLOSED]) {
    await pull(date, titleText({ date, uid: `first-${date}` }), titleText({ date, uid: 'second' }));
  }
  expect(await headline()).toMatchObject({ en: { title: '4 to sign off' }, exit: 0 });
  for (const date of [FIRST, SECOND, THIRD, CLOSED]) await sign(date);
  const { en, pt, exit } = await headline();
  expect(en).toEqual({
    inOrder: true,
    title: 'Everything is in order',
    lines: [`Every date from ${FIRST} to ${CLOSED} is reconciled.`],
  });
  expect(pt.lines).toEqual([
    `Todas as datas de ${brazilian(FIRST)} a ${brazilian(CLOSED)} estão conciliadas.`,
  ]);
  expect(exit).toBe(0);
});

test('a break with the payables of the ERP is no state in order', async () => {
  const payable = { erpKey: 'k1', openValue: '7', orderUid: 'unknown' };
  await importPayables(world.database, [payable], 'snapshot');
  await match(world.database);
  const { en, pt, exit } = await headline();
  expect(en).toMatchObject({ inOrder: false, title: '1 other open item' });
  // Eight titles without a payable, and a payable without a title.
  expect(en.lines.at(-1)).toBe('Breaks with the payables of the ERP: 9.');
  expect(pt.lines.at(-1)).toBe('Divergências com as contas a pagar do ERP: 9.');
  expect(exit).toBe(3);
  await world.database.prisma.$executeRaw`
    TRUNCATE conciliation.title_match, conciliation.match_run, conciliation.erp_payable,
             conciliation.erp_payable_reject, conciliation.erp_payable_import`;
});

test('each open item has a line, and the command ends with 3', async () => {
  // A held day in the reconciled range, a rejected title, and a day that differs from its sign-off.
  await pull(FIRST);
  await pull(
    SECOND,
    titleText({ date: SECOND, uid: `first-${SECOND}` }),
    titleText({ date: SECOND, uid: 'second' }),
    '{"order":{}}',
  );
  const restated = await runCommandWith(
    THIRD,
    titleText({ date: THIRD, uid: `first-${THIRD}`, discount: '12.35' }),
    titleText({ date: THIRD, uid: 'second' }),
  );
  expect(restated.exit).toBe(3);
  expect(restated.stdout).toContain(`${THIRD} differs from its sign-off`);
  // Another account of the same provider; `pull` says so too.
  const changed = await runCommandWith(
    CLOSED,
    titleText({ date: CLOSED, uid: `first-${CLOSED}` }).replaceAll('7654321', '9999977'),
    titleText({ date: CLOSED, uid: 'second' }),
  );
  expect(changed.exit).toBe(3);
  expect(changed.stdout).toMatch(/\d bank account\(s\) changed/);
  await writeProviders(world.database, [providerOf(1)]);
  await world.database.prisma.provider.updateMany({ data: { syncState: 'invalid' } });
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.process_fault (process_id, kind) VALUES (gen_random_uuid(), 'token_refused')`;

  const { en, pt, exit } = await headline();
  expect(exit).toBe(3);
  expect(en.inOrder).toBe(false);
  expect(en.title).toBe('4 days need a person · 3 other open items');
  expect(en.lines).toEqual([
    `Every date from ${FIRST} to ${CLOSED} is reconciled, except 2.`,
    `Restated after the sign-off: 2 days, the oldest ${THIRD}.`,
    `Held, the newest response is not merged: ${FIRST}.`,
    `Rejected titles or findings to resolve: ${SECOND}.`,
    expect.stringMatching(/^Bank account changes without a decision: \d\.$/),
    expect.stringMatching(/^No accepted token: the platform refuses the token of 1 process: /),
    expect.stringMatching(
      /^Provider refused: of the providers written on .*, 1 invalid and not sent\.$/,
    ),
  ]);
  expect(pt.lines).toContain(`Retido, a última resposta não foi incorporada: ${brazilian(FIRST)}.`);
  expect(pt.lines.join('\n')).not.toMatch(/\d{4}-\d\d-\d\d/);
});

test('a lock of the ERP on its table delays the headline by a quarter of a second, and is told', async () => {
  const { pool } = world.database;
  const erp = await pool.connect();
  try {
    await erp.query('BEGIN');
    await erp.query('LOCK TABLE conciliation.provider IN ACCESS EXCLUSIVE MODE');
    const items = await readOpenItems(world.database, {
      now: new Date(),
      policy: { ...STALENESS_LIMITS, timeZone: TIME_ZONE },
      needyDays: 1,
    });
    expect(items.providersRead).toBe(false);
    expect(headlineOf(items, 'en').lines.at(-1)).toContain('locked by another session');
    expect(needsPerson(items)).toBe(true);
  } finally {
    await erp.query('ROLLBACK');
    erp.release();
  }
});

function runCommandWith(date: typeof FIRST, ...texts: string[]) {
  world.sandbox.setDayTexts(date, texts);
  return runCommand(['pull', date], environmentOf(world));
}
