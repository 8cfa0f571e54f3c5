/** The payment schedule: pages, lists of titles, files and the API have the figures of the tables. */
import { beforeAll, expect, test } from 'vitest';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { readCsv } from '../../unit/export/csv-reader.ts';
import { readWorkbook } from '../../unit/export/workbook-reader.ts';
import { scheduleTitle, type TitleFields } from '../schedule/schedule-world.ts';

const portuguese = { 'accept-language': 'pt-BR' };
const DUE = '2026-12-10';
const MONTH = `/schedule?view=month&date=${DUE}`;
const AGENT = '11222333000181';

const pages = pagesForFile();
beforeAll(async () => {
  const { world } = pages;
  const pull = async (index: number, ...titles: Partial<TitleFields>[]) => {
    const date = daysFrom(index, DAY);
    return world.serve(
      date,
      titles.map((fields, place) =>
        scheduleTitle({
          uid: `o-${index}-${place}`,
          date,
          dueDate: DUE,
          value: '100.10',
          isBuyer: false,
          agent: AGENT,
          agentAccount: '1234567',
          provider: 'P-1',
          providerAccount: '7654321',
          ...fields,
        }),
      ),
      { withdrawalLimitPercent: 50 },
    );
  };
  // 40 acceptance dates, more than a month of them, with two titles each for one agent.
  for (let index = 0; index < 40; index += 1) await pull(index, {}, { value: '0.01' });
  // The buyer advances the money itself; a party without account; no party at all; no due date.
  await pull(
    40,
    { isBuyer: true, value: '12345678901234567.89' },
    { agent: '44555666000181', agentAccount: null },
  );
  await pull(41, { agent: null, agentAccount: null, value: '7' }, { dueDate: null, value: '5' });
  await pull(42, { dueDate: '2026-12-11', value: '3' });
  // A day whose newest response is held: it would withdraw all titles.
  await pull(43, { value: '1000' });
  await world.serve(daysFrom(43, DAY), []);
  // The agent's account changes.
  await pull(44, { agentAccount: '7777777', value: '50' });
});

/** The cells of the row that has the text. */
function rowWith(text: string, part: string): string[] {
  const row = [...text.matchAll(/<tr>.*?<\/tr>/gs)].find(([found]) => found.includes(part));
  return [...(row?.[0] ?? '').matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) =>
    cell
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
}
const linksIn = (text: string) =>
  [...text.matchAll(/href="(\/titles\?[^"]+)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  );

test('the month has its due dates, groups and marks', async () => {
  const { text } = await pages.viewer.get(MONTH);
  expect(text).toContain('86 titles · 12,345,678,901,239,732.39');
  expect(rowWith(text, '>10 Dec 2026</a>')).toEqual([
    '10 Dec 2026',
    '10 Dec 2026',
    '85',
    '12,345,678,901,239,729.39',
    '1 waiting',
  ]);
  expect(rowWith(text, '>11 Dec 2026</a>')).toEqual([
    '11 Dec 2026',
    '11 Dec 2026',
    '1',
    '3.00',
    '',
  ]);
  // The provider is paid where the buyer is the financial agent.
  expect(rowWith(text, 'P-1')).toEqual([
    'P-1 · ••••25 Provider',
    'Bank 001, branch ••••, account ••••21',
    '1',
    '12,345,678,901,234,567.89',
    '',
  ]);
  expect(rowWith(text, 'Changed account')).toEqual([
    `Agente ${AGENT} · ••••81 Financial agent`,
    'Bank 341, branch ••••, account ••••77',
    '1',
    '50.00',
    'Changed account',
  ]);
  expect(rowWith(text, 'No account stated')[2]).toBe('1');
  expect(rowWith(text, 'Neither party nor account')[3]).toBe('7.00');
  expect(text).toContain('1 to 5 of 5');
  expect(text).toContain('1 title · 5.00');
});

test('a due date has its groups, and a group leads to exactly its titles', async () => {
  const { text } = await pages.viewer.get(`/schedule?view=day&date=${DUE}`);
  const links = [...new Set(linksIn(text))];
  expect(links).toContain('/titles?undated=true&status=current');
  const groups = links.filter((link) => link.includes('payeeOf='));
  expect(groups).toHaveLength(5);
  const counts = await Promise.all(
    groups.map(async (link) => {
      const list = await pages.viewer.get(link);
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
  const undated = await pages.viewer.get('/titles?undated=true&status=current');
  expect(undated.text).toMatch(/<tfoot>.*>5\.00<.*1 to 1 of 1/s);
});

test('a list by payee combines with the other filters, and names the payee', async () => {
  const { text } = await pages.viewer.get(`/schedule?view=day&date=${DUE}`);
  const link = linksIn(text).find((href) => href.includes('payeeOf=')) ?? '';
  const list = await pages.viewer.get(`${link}&maxValue=1`);
  expect(list.text).toContain('No title matches.');
  expect(list.text).toContain('To be paid: <a href="/provider?id=P-1">P-1</a>');
  expect((await pages.viewer.get('/titles?payeeOf=999999&status=current')).text).toContain(
    'No title matches.',
  );
});

test('identifiers are shown on the record, to roles that may see them', async () => {
  const path = `/schedule?view=day&date=${DUE}`;
  const { text } = await pages.reviewer.post(path);
  expect(text).toContain('account 7777777-8');
  expect(text).toContain('52998224725');
  expect(await lastAudit(pages.world)).toMatchObject({
    actor: 'rita',
    action: 'schedule.reveal',
    details: { dueFrom: DUE, dueTo: DUE, page: 1 },
  });
});

const range = { dueFrom: '2026-12-01', dueTo: '2026-12-31' };

test('the files have a row for each due date, party and account, in the language of the reader', async () => {
  const { text, headers } = await pages.reviewer.post(
    '/schedule/file',
    { ...range, format: 'csv' },
    { headers: portuguese },
  );
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
    ['11/12/2026', '="1234567"', '1', '3'],
  ]);
  expect(cells[3]?.['Conta alterada, não confirmada']).toBe('sim');
  expect(cells[1]?.['Títulos de dias com pendência']).toBe('1');
  expect(await lastAudit(pages.world)).toMatchObject({
    ...{ actor: 'rita', action: 'schedule.export' },
    details: { ...range, format: 'csv', rows: 6, titles: 86 },
  });
  const masked = (await pages.viewer.post('/schedule/file', { ...range, format: 'csv' })).text;
  expect(masked).not.toMatch(/1234567;|1234567,|7654321|52998224725/);
  expect(masked).toContain('••••21');
  const workbook = await pages.reviewer.post('/schedule/file', { ...range, format: 'xlsx' });
  const [sheet, totals] = readWorkbook(workbook.bytes);
  expect([sheet?.rows.length, totals?.rows.at(-1)?.[2]?.value]).toEqual([7, '86']);
});

test('the API has the same figures, with masked identifiers', async () => {
  const path = '/api/payment-schedule?dueFrom=2026-12-01&dueTo=2026-12-31';
  const schedule = (await pages.viewer.get(path)).json();
  expect(schedule).toMatchObject({
    ...range,
    overall: { titles: 86, waitingTitles: 1, waitingValue: '1000' },
    changed: { groups: 1, titles: 1, originalValue: '50' },
    groupCount: 5,
    undated: { titles: 1, originalValue: '5' },
    dates: [
      { date: DUE, titles: 85 },
      { date: '2026-12-11', titles: 1 },
    ],
  });
  expect(JSON.stringify(schedule)).not.toMatch(/7654321|52998224725/);
  const page = (await pages.reviewer.get(`${path}&offset=1&limit=1`)).json();
  expect(page).toMatchObject({
    groupCount: 5,
    groups: [{ titles: 82, payee: { kind: 'financial_agent', identification: '••••81' } }],
  });
  const file = await pages.reviewer.get(
    '/api/payment-schedule/export?dueFrom=2026-12-01&dueTo=2026-12-31&format=csv&locale=en',
  );
  expect(file.text).toContain(`,${AGENT},341,0987,,7777777,8,1,50,`);
  for (const query of ['dueFrom=2026-12-01', 'dueFrom=2026-12-31&dueTo=2026-12-01']) {
    expect((await pages.viewer.get(`/api/payment-schedule?${query}`)).status).toBe(400);
  }
});

test('a date that cannot be read is named, and the present month is shown', async () => {
  const { status, text } = await pages.viewer.get('/schedule?date=2026-02-30');
  expect(status).toBe(200);
  expect(text).toContain('The date could not be read.');
  for (const date of ['0001-01-01', '9999-12-31']) {
    for (const view of ['month', 'day']) {
      const edge = await pages.viewer.get(`/schedule?date=${date}&view=${view}`);
      expect(edge.status).toBe(200);
      expect(edge.text).not.toContain('The date could not be read.');
    }
  }
  const format = await pages.viewer.post('/schedule/file', { ...range, format: 'pdf' });
  expect(format.status).toBe(400);
});
