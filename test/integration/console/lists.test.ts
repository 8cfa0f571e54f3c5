/** What every declared list does, on the list of findings; the files of titles; what changed since the sign-off. */
import pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { DEFAULT_SEVERITIES } from '../../../src/base/values/checks.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { decideOpenChanges, signDay } from '../../support/days.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { clearProviders, providerOf, writeProviders } from '../../support/provider-rows.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';
import { readCsv, readWorkbook } from '../../unit/export/file-readers.ts';

/** After the dates that are signed off below. */
const FIRST = daysFrom(50);
const [NEXT, OTHER] = [daysFrom(51), daysFrom(52)];
const TITLES = 60;
const portuguese = { 'accept-language': 'pt-BR' };

const { world, viewer, reviewer } = pagesForFile();
beforeAll(async () => {
  for (const date of [FIRST, NEXT]) {
    const negative = titleText({ uid: `=${date}`, date, value: '-1234.5' });
    const others = titleTexts(date === FIRST ? TITLES - 1 : 0, { date, value: '0.00' });
    await world.serve(date, [negative, ...others]);
  }
  await checkDays(world.database, DEFAULT_SEVERITIES);
  await world.serve(OTHER, [
    titleText({ uid: 'a', date: OTHER, more: ',"secretField":"CANARY-EXTRA"' }),
  ]);
  await signDay(world.database, OTHER, { bookingsFrom: null });
});

test('the page shows a part, says of how many, and links to the next one with the same filter', async () => {
  const { text } = await viewer.get(`/findings?check=value_not_positive&date=${FIRST}`);
  expect(text).toContain('1 to 50 of 60');
  const next = `/findings?date=${FIRST}&amp;check=value_not_positive&amp;page=2`;
  expect(text).toContain(`<a rel="next" href="${next}">`);
  const second = await viewer.get(next.replaceAll('&amp;', '&'));
  expect(second.text).toContain('51 to 60 of 60');
  expect(second.text.match(/<th scope="row"><a href="\/titles\/\d+">/g)).toHaveLength(10);
  const beyond = await viewer.get(next.replaceAll('&amp;', '&').replace('page=2', 'page=99'));
  expect(beyond.text).toContain('51 to 60 of 60');
});

test('a tab keeps the other conditions, and the default one is not in the address', async () => {
  const { text } = await viewer.get(`/findings?state=resolved&date=${FIRST}`);
  expect(text).toContain(`<a href="/findings?date=${FIRST}">Open</a>`);
  expect(text).toContain(`<a href="/findings?state=all&amp;date=${FIRST}">`);
  expect(text).toContain('No finding.');
});

test.each([
  ['/findings', 'date', ['2026-02-30'], 'Date', 'one date as YYYY-MM-DD'],
  ['/findings', 'check', ['none'], 'Check', 'one of the offered values'],
  ['/titles', 'maxValue', ['a'], 'Value to', 'one amount, such as 1,234.50 or -250.75'],
  ['/titles', 'from', [DAY, DAY], 'Accepted from', 'one date as YYYY-MM-DD'],
])('%s and its file refuse %s=%j', async (path, name, texts, label, expected) => {
  const address = `${path}?${new URLSearchParams(texts.map((text) => [name, text]))}`;
  const file = await viewer.post(`${path}/file`, { [name]: texts, format: 'csv' });
  const sentence = expect.stringContaining(`${label}: expected ${expected}.`);
  for (const answer of [await viewer.get(address), file])
    expect(answer).toMatchObject({ status: 400, text: sentence });
  const program = await viewer.get(address, { accept: 'application/json' });
  expect(program.json().message).toBe(`${name}: expected ${expected}.`);
});

test('a file has all selected rows, in the notation of its language, and leaves an entry in the audit log', async () => {
  const fields = { format: 'csv', check: 'value_not_positive', date: FIRST };
  const english = await viewer.post('/findings/file', fields);
  const name = /filename="findings-\d{4}-\d\d-\d\d\.csv"/;
  expect(english.headers['content-disposition']).toMatch(name);
  const lines = english.text.trimEnd().split('\r\n');
  expect(lines).toHaveLength(TITLES + 1);
  expect(lines[0]).toBe(
    '\uFEFFaccepted_date,order_uid,provider_external_id,original_value,check,compared,state,reason',
  );
  expect(lines.find((line) => line.includes('-1234.5'))).toContain(`'=${FIRST}`);
  expect(await lastAudit(world)).toMatchObject({
    ...{ actor: 'vera', action: 'list.export' },
    details: { list: 'findings', format: 'csv', rows: TITLES },
  });
  const { text } = await viewer.post('/findings/file', fields, { headers: portuguese });
  expect(text).toContain('-1234,5');
  expect(text.split('\r\n')[0]).toContain(';');
});

test('a workbook has the same rows on one sheet, and an unknown format is refused', async () => {
  const refused = await viewer.post('/findings/file', { format: 'pdf' });
  expect(refused.status).toBe(400);
  expect(refused.text).not.toContain('content-disposition');
  const { bytes } = await viewer.post('/findings/file', { format: 'xlsx', state: 'all' });
  const sheets = readWorkbook(bytes);
  expect(sheets.map(({ name }) => name)).toEqual(['findings']);
  expect(sheets[0]?.rows).toHaveLength(TITLES + 2);
});

test('a file of more rows than one statement reads has all of them, which are counted once', async () => {
  const { database } = world;
  const suppliers = Array.from({ length: 5_001 }, (_, number) => providerOf(number));
  await writeProviders(database, suppliers);
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const { text } = await viewer.post('/providers/file', { format: 'csv' });
  const texts = query.mock.calls.map(([first]) => String(Reflect.get(Object(first), 'text')));
  query.mockRestore();
  await clearProviders(database);
  expect(text.trimEnd().split('\r\n')).toHaveLength(suppliers.length + 1);
  const reads = texts.filter((statement) => statement.includes('FROM conciliation.provider '));
  expect(reads.filter((statement) => statement.includes('count(*)'))).toHaveLength(1);
  // The total comes with a row of its own, and the rows in two parts.
  expect(reads.filter((statement) => statement.includes('OFFSET'))).toHaveLength(3);
});

test('the API has the same filter and rows, and an amount may be negative', async () => {
  const answer = (await viewer.get('/api/findings?state=all&offset=60&limit=5')).json();
  expect(answer).toMatchObject({ total: TITLES + 1, rows: [{ date: FIRST, state: 'open' }] });
  for (const query of ['maxValue=-1,234.50', 'search=−1.234,5', 'search=-R$ 1234.5']) {
    const found = (await viewer.get(`/api/titles?${encodeURI(query)}`)).json();
    expect(found, query).toMatchObject({ total: 2, sums: { original_value: '-2469.0' } });
  }
});

const take = (format: string, client = reviewer, headers: Record<string, string> = portuguese) =>
  client.post('/titles/file', { from: OTHER, to: OTHER, status: 'current', format }, { headers });

test('a file of titles for a Portuguese reader has Portuguese headings, words and name; JSON has the names of the columns', async () => {
  const csv = await take('csv');
  const name = `attachment; filename="titulos-${OTHER}-${OTHER}.csv"`;
  expect(csv.headers['content-disposition']).toBe(name);
  const [head = '', line = ''] = csv.text.slice(1).split('\r\n');
  expect(head).toMatch(/^Número do título;Situação;Pedido;Ocorrência;/);
  expect(head).toContain(';Valor original;');
  expect(head).not.toContain('_');
  expect(line).toMatch(/^\d+;vigente;a;1;/);
  expect(line).toContain(';1000,50;');
  // Days as in Brazil, flags in words, local time, and identifiers that Excel does not turn into numbers.
  const cells = readCsv(csv.text.slice(1), ';')[1] ?? [];
  const [year, month, day] = OTHER.split('-');
  const cell = (heading: string) => cells[head.split(';').indexOf(heading)];
  expect(cell('Aceite')).toBe(`${day}/${month}/${year}`);
  expect(cell('Comprador')).toMatch(/^="\d{11,14}"$/);
  expect(cells).toContain('não');
  expect(cells).not.toContain('false');
  expect(cells.at(-3)).toMatch(/^="\d\d\/\d\d\/\d{4},? \d\d:\d\d"$/);
  const [titles] = readWorkbook((await take('xlsx')).bytes);
  expect(titles?.name).toBe('títulos');
  expect(titles?.rows[0]?.map((cell) => cell?.value)).toEqual(head.split(';'));
  const jsonl = await take('jsonl');
  expect(JSON.parse(jsonl.text)).toMatchObject({ order_uid: 'a', status: 'current' });
  const english = await take('csv', reviewer, {});
  expect(english.text.slice(1)).toMatch(/^id,status,order_uid,/);
});

test('a file of titles has identifiers for roles that may see them, and is noted', async () => {
  const secrets = /52998224725|11222333000181|7654321|90021382000122|CANARY-EXTRA/g;
  expect(new Set((await take('jsonl')).text.match(secrets)).size).toBe(5);
  expect(await lastAudit(world)).toMatchObject({ actor: 'rita', action: 'export' });
  expect((await take('jsonl', viewer)).text).not.toMatch(secrets);
  expect((await take('exe')).status).toBe(400);
});

const [RESTATED, SAME] = [DAY, daysFrom(1)];
beforeAll(async () => {
  const { database } = world;
  for (const date of [RESTATED, SAME]) {
    const title = (uid: string, more = {}) => titleText({ uid, date, value: '100.10', ...more });
    const commission = (text: string) => title('d', { value: '1' }).replace('"0.5%"', `"${text}"`);
    const pull = async (...texts: string[]) => {
      await world.serve(date, texts);
      // The account that changes below is not the subject here.
      await decideOpenChanges(database);
    };
    const rest = titleTexts(8, { uid: 'r', date, value: '100.10' });
    await pull(title('a'), title('b'), title('c'), commission('0.17'), ...rest);
    await signDay(database, date, { by: 'helena', bookingsFrom: null });
    if (date === SAME) continue;
    await pull(
      // A discount of one cent more, one title withdrawn, one new, a commission and an account restated.
      title('a', { discount: '12.35' }),
      title('b', { account: '9999977' }),
      commission('0.18'),
      title('n', { value: '5.00' }),
      ...rest,
    );
  }
});

test('the start page leads to a day that changed after its sign-off, which says what changed', async () => {
  const home = await viewer.get('/');
  expect(home.text).toMatch(
    /1 day changed after the sign-off.*?<a class="button" href="\/days\/2026-03-02">/s,
  );
  const { text } = await viewer.get(`/days/${RESTATED}`);
  const plain = text.replace(/<[^>]+>/g, '');
  expect(plain).toContain('Changed: 3Withdrawn: 1New: 1');
  expect(plain).toContain('Platform commissionBefore: 0.17 → After: 0.18');
});

test('the changed fields are exported whole, in the language of the reader', async () => {
  const take = async (date: string, client = reviewer, headers = {}) => {
    const answer = await client.post(`/days/${date}/changes`, {}, { headers });
    const [head = '', ...lines] = answer.text.slice(1).trim().split('\r\n');
    return { ...answer, head, lines };
  };
  const fields = await take(RESTATED, reviewer, { 'accept-language': 'pt-BR' });
  const entry = { actor: 'rita', action: 'restated.export', date: RESTATED };
  expect(await lastAudit(world)).toMatchObject(entry);
  expect(fields.headers['content-disposition']).toContain(`alterados-campos-${RESTATED}.csv`);
  expect(fields.head).toBe(
    'Data;Número do título;Pedido;Ocorrência;Mudança;Valor original;Campo;Antes;Depois;Valor antes;Valor depois;Busca',
  );
  // The discount, the account, the commission, the withdrawn and the new title.
  expect(fields.lines).toHaveLength(5);
  for (const change of [
    /^02\/03\/2026;.*;a;1;alterado;100,10;platformDiscountedValue;;;12,34;12,35;/,
    /;Comissão da plataforma;"=""0,17""";"=""0,18""";;;/,
    /;Conta do fornecedor;"=""7654321""";"=""9999977""";;;/,
  ]) {
    expect(fields.lines.filter((line) => change.test(line))).toHaveLength(1);
  }

  expect((await take(SAME)).lines).toEqual([]);
  expect((await take(FIRST)).status).toBe(400);
  const masked = await take(RESTATED, viewer);
  expect(masked.lines).toHaveLength(5);
  expect(masked.text).toContain('provider_account,••••21,••••77');
  expect(masked.text).not.toContain('9999977');
});
