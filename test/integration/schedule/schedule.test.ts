/** The payment schedule: its pages, files and API have the figures of the tables; who writes its totals, and when. */
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { ensureCalendar } from '../../../src/features/calendar/business-days.sql.ts';
import { hasOtherTotals, writeTotals } from '../../../src/features/schedule/payee.sql.ts';
import {
  hasPayeeOf,
  readGroupTotals,
  readSchedule,
} from '../../../src/features/schedule/schedule.sql.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { makeKey, openConsole } from '../../support/console-client.ts';
import { erase, findAlterations, repairDay } from '../../support/days.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom, freshDays, pause } from '../../support/pull-world.ts';
import { type TitleFields, titleText } from '../../support/titles.ts';
import { readCsv, readWorkbook } from '../../unit/export/file-readers.ts';

const DUE = '2026-11-12';

const { world, console, viewer, reviewer } = pagesForFile();
beforeAll(async () => {
  await world.prisma.$transaction(ensureCalendar);
  const pull = async (index: number, ...titles: TitleFields[]) => {
    const date = daysFrom(index, DAY);
    const texts = titles.map((fields, place) =>
      titleText({ uid: `o-${index}-${place}`, date, dueDate: DUE, value: '100.10', ...fields }),
    );
    const pixKey = index === 42 ? '"pixKey":"key@x.com",' : '';
    await world.serve(
      date,
      texts.map((text) => text.replace('"payment":{', `"payment":{${pixKey}`)),
    );
  };
  // 40 acceptance dates, more than a month of them, with two titles each for one agent.
  for (let index = 0; index < 40; index += 1) await pull(index, {}, { value: '0.01' });
  // The buyer advances the money itself; a party without account; no party at all; no due date.
  await pull(
    40,
    { isBuyer: true, value: '12345678901234567.89' },
    { agent: '44555666000181', name: 'Outro', agentAccount: null },
  );
  await pull(
    41,
    { agent: null, name: null, agentAccount: null, value: '7' },
    { dueDate: null, value: '5' },
  );
  // A Saturday.
  await pull(42, { dueDate: '2026-11-14', value: '3', agent: '90400888000142' });
  // A day whose newest response is held: it would withdraw all titles.
  await pull(43, { value: '1000' });
  await world.serve(daysFrom(43, DAY), []);
  // The agent's account changes.
  await pull(44, { agentAccount: '7777777', value: '50' });
});

const linksIn = (text: string) =>
  [...text.matchAll(/href="(\/titles\?[^"]+)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  );

test('a due date has its lines, and a line leads to exactly its titles', async () => {
  const { text } = await viewer.get(`/schedule?dueFrom=${DUE}&dueTo=${DUE}`);
  const links = [...new Set(linksIn(text))];
  expect(links).toContain('/titles?undated=true&status=current');
  const groups = links.filter((link) => link.includes('payeeOf='));
  expect(groups).toHaveLength(5);
  const counts = await Promise.all(
    groups.map(async (link) => {
      const list = await viewer.get(link);
      expect(list.status).toBe(200);
      const [, shown, count] = /1 to ([\d,]+) of ([\d,]+)</.exec(list.text) ?? [];
      const sum = /<tfoot>.*>([\d,.]+)</s.exec(list.text)?.[1];
      const rows = [...list.text.matchAll(/<a href="\/titles\/\d+">/g)].length;
      expect(String(rows)).toBe(shown);
      return [count, sum];
    }),
  );
  expect(counts.map((pair) => pair.join(' ')).sort()).toEqual(
    ['1 100.10', '1 12,345,678,901,234,567.89', '1 50.00', '1 7.00', '81 5,004.40'].sort(),
  );
  const undated = await viewer.get('/titles?undated=true&status=current');
  expect(undated.text).toMatch(/<tfoot>.*>5\.00<.*1 to 1 of 1/s);
});

test('the page opens on the month of the next payment, or on the range that is asked for', async () => {
  const shownOn = async (today: string, query: string) => {
    const now = () => new Date(`${today}T15:00:00Z`);
    const opened = await openConsole(world.database, { now });
    onTestFinished(() => opened.close());
    const { text } = await (await opened.as('viewer', 'vera')).get(`/schedule${query}`);
    return /<h2>([^<]+)<\/h2><\/header><nav class="pager"/.exec(text)?.[1];
  };
  expect(await shownOn('2026-05-15', '')).toBe('2026-11-01 – 2026-11-30');
  expect(await shownOn('2026-05-15', '?dueTo=2026-06-15')).toBe('2026-06-01 – 2026-06-15');
  expect(await shownOn('2026-05-15', '?dueFrom=2026-12-01')).toBe('2026-12-01 – 2026-12-31');
  // Every title is due earlier.
  expect(await shownOn('2027-01-15', '')).toBe('2027-01-01 – 2027-01-31');
  const refused = await viewer.get('/schedule?dueFrom=2026-01-01&dueTo=2027-01-02');
  expect(refused.text).toContain('in order, with at most 366 days between them');
});

test('the API has the whole account of a party, masked', async () => {
  const key = await makeKey(world.database, 'viewer', ['read'], 'vera');
  const path = '/api/schedule?dueFrom=2026-11-14&dueTo=2026-11-14';
  const { rows } = (await console.call(key, path)).json();
  expect(rows.map(({ payee }: { payee: object }) => payee)).toMatchObject([
    { account: { account: '••••67', destination: { pixKey: '••••om' } } },
  ]);
});

test('identifiers are shown on the record, to roles that may see them', async () => {
  const path = `/schedule?dueFrom=${DUE}&dueTo=${DUE}`;
  const { text } = await reviewer.post(path);
  expect(text).toContain('account 7777777-8');
  expect(text).toContain('52998224725');
  expect(await lastAudit(world)).toMatchObject({
    ...{ actor: 'rita', action: 'schedule.reveal' },
    details: { dueFrom: DUE, dueTo: DUE, titleIds: expect.objectContaining({ length: 5 }) },
  });
});

const month = { dueFrom: '2026-11-01', dueTo: '2026-11-30' };

test('the files have a row for each due date, party and account, in the language of the reader', async () => {
  const csv = { ...month, format: 'csv' };
  const { text, headers } = await reviewer.post('/schedule/file', csv, {
    headers: { 'accept-language': 'pt-BR' },
  });
  expect(headers['content-disposition']).toMatch(/filename="agenda-de-pagamentos-[\d-]+\.csv"/);
  const [head = [], ...rows] = readCsv(text.slice(1), ';');
  const cells = rows.map((row) =>
    Object.fromEntries(head.map((name, index) => [name, row[index]])),
  );
  expect(
    cells.map((row) => [row['Vencimento'], row['Conta'], row['Títulos'], row['Valor original']]),
  ).toEqual([
    ['12/11/2026', '="7654321"', '1', '12345678901234567,89'],
    ['12/11/2026', '="1234567"', '81', '5004,40'],
    ['12/11/2026', '', '1', '100,10'],
    ['12/11/2026', '="7777777"', '1', '50'],
    ['12/11/2026', '', '1', '7'],
    ['14/11/2026', '="1234567"', '1', '3'],
  ]);
  const paidOn = cells.slice(-2).map((row) => row['Dia do pagamento']);
  expect(paidOn).toEqual(['12/11/2026', '16/11/2026']);
  const day = await viewer.get('/schedule?dueFrom=2026-11-14&dueTo=2026-11-14');
  expect(day.text).toContain('2026-11-16');
  expect(cells[3]?.['Conta alterada, não confirmada']).toBe('sim');
  expect(cells[1]?.['Títulos de dias com pendência']).toBe('1');
  expect(await lastAudit(world)).toMatchObject({
    ...{ actor: 'rita', action: 'list.export' },
    details: { list: 'schedule', format: 'csv', rows: 6 },
  });
  const masked = (await viewer.post('/schedule/file', csv)).text;
  expect(masked).not.toMatch(/1234567;|1234567,|7654321|52998224725/);
  expect(masked).toContain('••••21');
  const workbook = await reviewer.post('/schedule/file', { ...month, format: 'xlsx' });
  expect(readWorkbook(workbook.bytes)[0]?.rows).toHaveLength(7);
});

/** Dates without the titles above. */
const nextDay = freshDays(daysFrom(100));

function pull(date: CivilDate, ...titles: readonly { uid: string; value?: string }[]) {
  const texts = titles.map((fields) => titleText({ date, ...fields }));
  return world.serve(date, texts, { withdrawalLimitPercent: 100 });
}

/** The rows of a date with their places in the table, which are others once a row is written again. */
async function totals(date: CivilDate) {
  const rows = await world.prisma.$queryRaw<{ place: string; titles: number; value: string }[]>`
    SELECT ctid::text || ' ' || xmin::text AS place, titles, original_value::text AS value
    FROM conciliation.schedule_total WHERE accepted_date = ${date}::date ORDER BY titles`;
  return {
    places: rows.map(({ place }) => place),
    rows: rows.map(({ titles, value }) => [titles, value]),
  };
}

test('a merge writes the totals of its own date, and a pull that changes nothing writes none', async () => {
  const [first, second] = [nextDay(), nextDay()];
  await pull(first, { uid: 'a', value: '10' });
  await pull(second, { uid: 'b', value: '1' }, { uid: 'c', value: '2.50' });
  expect((await totals(first)).rows).toEqual([[1, '10']]);
  const other = await totals(second);
  expect(other.rows).toEqual([[2, '3.50']]);

  const { state } = await pull(first, { uid: 'a', value: '10' });
  expect(state).toBe('unchanged');
  expect(await totals(second)).toEqual(other);
  const before = await totals(first);
  await pull(first, { uid: 'a', value: '10' });
  expect(await totals(first)).toEqual(before);

  await pull(first, { uid: 'd', value: '7' }, { uid: 'e', value: '0.01' });
  expect((await totals(first)).rows).toEqual([[2, '7.01']]);
  await pull(first, { uid: 'e', value: '0.01' });
  expect((await totals(first)).rows).toEqual([[1, '0.01']]);
  await pull(first, { uid: 'd', value: '7' }, { uid: 'e', value: '3' });
  expect((await totals(first)).rows).toEqual([[2, '10']]);
  expect(await totals(second)).toEqual(other);
});

test('totals that something else than a merge has changed are found, and the repair writes them again', async () => {
  const date = nextDay();
  await pull(date, { uid: 'a', value: '10' });
  const { rows } = await totals(date);
  for (const statement of [
    `UPDATE conciliation.schedule_total SET original_value = 11 WHERE accepted_date = $1`,
    `DELETE FROM conciliation.schedule_total WHERE accepted_date = $1`,
    `INSERT INTO conciliation.schedule_total
     SELECT * FROM conciliation.schedule_total WHERE accepted_date = $1`,
  ]) {
    expect(await findAlterations(world.database, date)).toEqual([]);
    await world.database.pool.query(statement, [date]);
    // A repair that has just ended is not repeated.
    await world.database.pool.query(`
      UPDATE conciliation.pull SET finished_at = finished_at - interval '2 hours'`);
    const { alterations } = await repairDay(world, date);
    expect(alterations).toEqual([{ rowKey: null, problem: 'totals' }]);
    expect((await totals(date)).rows).toEqual(rows);
  }
});

test('an erasure waits for a merge of its dates, and has the totals of what that merge wrote', async () => {
  const date = nextDay();
  await pull(date, { uid: 'a', value: '10' });
  const { prisma } = world;
  const [gone, go] = pause();
  let erasing: Promise<unknown> = Promise.resolve();
  // As a merge does: it has locked its date, and has written a title and the totals.
  await prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT FROM conciliation.day WHERE date = ${date}::date FOR UPDATE`;
    await tx.$executeRaw`
      INSERT INTO conciliation.title (order_uid, occurrence, accepted_date, anticipated_due_date, original_value,
        identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id)
      SELECT 'b', 1, accepted_date, anticipated_due_date, 5, gen_random_uuid(), gen_random_uuid(),
             gen_random_uuid(), first_pull_id, first_pull_id
      FROM conciliation.title WHERE accepted_date = ${date}::date`;
    await writeTotals(tx, Prisma.sql`accepted_date = ${date}::date`, null);
    erasing = erase(world.database, { taxId: '11222333000181' }).finally(go);
    await lockWaits(world.database);
  });
  await gone;
  await erasing;
  expect(await prisma.$queryRaw`SELECT ${hasOtherTotals(date)} AS differs`).toEqual([
    { differs: false },
  ]);
  expect((await totals(date)).rows).toHaveLength(2);
});

test('what is paid in a span is counted by the business day, over the ends of the span', async () => {
  const date = nextDay();
  const due = (uid: string, dueDate: string, value: string) =>
    titleText({ date, uid, dueDate, value });
  // 2 January 2027 is a Saturday and 4 January a Monday; 31 December has no service.
  const texts = [
    due('a', '2026-12-30', '1'),
    due('b', '2026-12-31', '10'),
    due('c', '2027-01-01', '100'),
    due('d', '2027-01-03', '1000'),
    due('e', '2027-01-04', '10000'),
    due('f', '2027-01-05', '100000'),
  ];
  await world.serve(date, texts, { withdrawalLimitPercent: 100 });
  const paid = async (from: string, to: string) => {
    const range = { from: toCivilDate(from), to: toCivilDate(to) };
    const schedule = await readSchedule(world.prisma, range, { offset: 0, limit: 10 });
    const { paid } = schedule.figures;
    return `${paid.titles}: ${paid.originalValue}`;
  };
  expect(await paid('2027-01-04', '2027-01-04')).toBe('4: 11110');
  expect(await paid('2026-12-01', '2026-12-31')).toBe('1: 1');
  expect(await paid('2027-01-01', '2027-01-31')).toBe('5: 111110');
});

test('one party in several writings has one line', async () => {
  const date = nextDay();
  const due = toCivilDate('2026-06-29');
  const fields = { date, dueDate: due };
  const agent = (uid: string, number: string) =>
    titleText({ ...fields, uid, value: '100', agent: number });
  /** Paid to the provider, which has no number in the ERP. */
  const provider = (uid: string, taxId: string) =>
    titleText({ ...fields, uid, value: '10', code: null, taxId, isBuyer: true });
  await world.serve(date, [
    agent('a', '00000000000191'),
    agent('b', '00.000.000/0001-91'),
    agent('c', '0000000000191'),
    // A number that may be the agent is no other agent's line, and no line of the agent.
    agent('d', '191'),
    agent('e', '0191'),
    agent('f', '00000000000272'),
    provider('g', '529.982.247-25'),
    provider('h', ' 52998224725'),
  ]);
  const { prisma } = world;
  const range = { from: due, to: due };
  const { lines: found } = await readSchedule(prisma, range, { offset: 0, limit: 10 });
  const lines = found.map(({ payee, titles }) => [payee.kind, titles]);
  expect(lines.sort()).toEqual([
    ['financial_agent', 1],
    ['financial_agent', 2],
    ['financial_agent', 3],
    ['provider', 2],
  ]);
  for (const { titleId, titles } of found) {
    expect((await readGroupTotals(prisma, { range, payeeOf: titleId })).titles).toBe(titles);
    const [{ count }] = await prisma.$queryRaw<[{ count: number }]>(Prisma.sql`
      SELECT count(*)::int AS count FROM conciliation.title
      WHERE accepted_date = ${date}::date AND ${await hasPayeeOf(prisma, titleId)}`);
    expect(count).toBe(titles);
  }
});
