/** The payment schedule: pages, lists of titles, files and the API have the figures of the tables. */
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ensureCalendar } from '../../../src/features/calendar/business-days.sql.ts';
import { makeKey, openConsole } from '../../support/console-client.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { type TitleFields, titleText } from '../../support/titles.ts';
import { readCsv, readWorkbook } from '../../unit/export/file-readers.ts';

const DUE = '2026-12-10';

const { world, console, viewer, reviewer } = pagesForFile();
beforeAll(async () => {
  await world.database.prisma.$transaction(ensureCalendar);
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
  await pull(42, { dueDate: '2026-12-12', value: '3', agent: '90400888000142' });
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

test('a due date has its groups, and a group leads to exactly its titles', async () => {
  const { text } = await viewer.get(`/schedule?view=day&date=${DUE}`);
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

test('the page opens on the first due date from today on, or on the date that is asked for', async () => {
  const shownOn = async (today: string, query: string) => {
    const now = () => new Date(`${today}T15:00:00Z`);
    const opened = await openConsole(world.database, { now });
    onTestFinished(() => opened.close());
    const { text } = await (await opened.as('viewer', 'vera')).get(`/schedule${query}`);
    return /<h2>([^<]+)<\/h2><\/header><nav class="pager"/.exec(text)?.[1];
  };
  expect(await shownOn('2026-05-15', '')).toBe('December 2026');
  expect(await shownOn('2026-05-15', '?view=day')).toBe('Thursday, 10 December 2026');
  expect(await shownOn('2026-05-15', '?date=2026-06-15')).toBe('June 2026');
  // Every title is due earlier.
  expect(await shownOn('2027-01-15', '')).toBe('January 2027');
});

test('the API has the whole account of a party, masked', async () => {
  const key = await makeKey(world.database, 'viewer', ['read'], 'vera');
  const path = '/api/payment-schedule?dueFrom=2026-12-12&dueTo=2026-12-12';
  const { groups } = (await console.call(key, path)).json();
  expect(groups.map(({ payee }: { payee: object }) => payee)).toMatchObject([
    { account: { account: '••••67', destination: { pixKey: '••••om' } } },
  ]);
});

test('identifiers are shown on the record, to roles that may see them', async () => {
  const path = `/schedule?view=day&date=${DUE}`;
  const { text } = await reviewer.post(path);
  expect(text).toContain('account 7777777-8');
  expect(text).toContain('52998224725');
  expect(await lastAudit(world)).toMatchObject({
    ...{ actor: 'rita', action: 'schedule.reveal' },
    details: { dueFrom: DUE, dueTo: DUE, titleIds: expect.objectContaining({ length: 5 }) },
  });
});

const month = { view: 'month', date: '2026-12-15' };

test('the files have a row for each due date, party and account, in the language of the reader', async () => {
  const csv = { ...month, format: 'csv' };
  const { text, headers } = await reviewer.post('/schedule/file', csv, {
    headers: { 'accept-language': 'pt-BR' },
  });
  expect(headers['content-disposition']).toBe(
    'attachment; filename="agenda-de-pagamentos-2026-12-01-2026-12-31.csv"',
  );
  const [head = [], ...rows] = readCsv(text.slice(1), ';');
  const cells = rows.map((row) =>
    Object.fromEntries(head.map((name, index) => [name, row[index]])),
  );
  expect(
    cells.map((row) => [row['Vencimento'], row['Conta'], row['Títulos'], row['Valor original']]),
  ).toEqual([
    ['10/12/2026', '="7654321"', '1', '12345678901234567,89'],
    ['10/12/2026', '="1234567"', '81', '5004,40'],
    ['10/12/2026', '', '1', '100,10'],
    ['10/12/2026', '="7777777"', '1', '50'],
    ['10/12/2026', '', '1', '7'],
    ['12/12/2026', '="1234567"', '1', '3'],
  ]);
  const paidOn = cells.slice(-2).map((row) => row['Dia do pagamento']);
  expect(paidOn).toEqual(['10/12/2026', '14/12/2026']);
  const day = await viewer.get('/schedule?view=day&date=2026-12-12');
  expect(day.text).toContain('2026-12-14');
  expect(cells[3]?.['Conta alterada, não confirmada']).toBe('sim');
  expect(cells[1]?.['Títulos de dias com pendência']).toBe('1');
  expect(await lastAudit(world)).toMatchObject({
    ...{ actor: 'rita', action: 'schedule.export' },
    details: { dueFrom: '2026-12-01', dueTo: '2026-12-31', format: 'csv', rows: 6, titles: 86 },
  });
  const masked = (await viewer.post('/schedule/file', csv)).text;
  expect(masked).not.toMatch(/1234567;|1234567,|7654321|52998224725/);
  expect(masked).toContain('••••21');
  const workbook = await reviewer.post('/schedule/file', { ...month, format: 'xlsx' });
  const [sheet, totals] = readWorkbook(workbook.bytes);
  expect([sheet?.rows.length, totals?.rows.at(-1)?.[2]?.value]).toEqual([7, '86']);
});
