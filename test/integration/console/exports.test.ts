import { beforeAll, expect, test } from 'vitest';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { readCsv } from '../../unit/export/csv-reader.ts';
import { readWorkbook } from '../../unit/export/workbook-reader.ts';

const PORTUGUESE = { 'accept-language': 'pt-BR' };
const [SIGNED, REJECTS, NEVER, EMPTY] = [DAY, daysFrom(1), daysFrom(2), daysFrom(3)];

const OF_SIGNED = { from: SIGNED, to: SIGNED, status: 'current' };

const { world, viewer, reviewer } = pagesForFile();
let digest: string | null;
beforeAll(async () => {
  const texts = {
    [SIGNED]: [titleText({ uid: 'a', date: SIGNED, more: ',"secretField":"CANARY-EXTRA"' })],
    [REJECTS]: [titleText({ uid: 'b', date: REJECTS }), `{"order":{},"acceptedDate":"${REJECTS}"}`],
    [EMPTY]: [],
  };
  for (const [date, titles] of Object.entries(texts)) {
    await world.serve(date as typeof DAY, titles);
  }
  const where = { date: new Date(SIGNED) };
  ({ contentDigest: digest } = await world.database.prisma.day.findUniqueOrThrow({ where }));
  await reviewer.post(`/days/${SIGNED}/sign-off`, { digest: digest ?? '' });
});

test('a file for a Portuguese reader has Portuguese headings, words and name; JSON has the names of the columns', async () => {
  const take = (format: string) =>
    reviewer.post('/titles/file', { ...OF_SIGNED, format }, { headers: PORTUGUESE });
  const csv = await take('csv');
  expect(csv.headers['content-disposition']).toBe(
    `attachment; filename="titulos-${SIGNED}-${SIGNED}.csv"`,
  );
  const [head = '', line = ''] = csv.text.slice(1).split('\r\n');
  expect(head).toMatch(/^Número do título;Situação;Pedido;Ocorrência;/);
  expect(head).toContain(';Valor original;');
  expect(head).not.toContain('_');
  expect(line).toMatch(/^\d+;vigente;a;1;/);
  expect(line).toContain(';1000,50;');
  // Days as in Brazil, flags in words, local time, and identifiers that Excel does not turn into numbers.
  const cells = readCsv(csv.text.slice(1), ';')[1] ?? [];
  const [year, month, day] = SIGNED.split('-');
  const cell = (heading: string) => cells[head.split(';').indexOf(heading)];
  expect(cell('Aceite')).toBe(`${day}/${month}/${year}`);
  expect(cell('Comprador')).toMatch(/^="\d{11,14}"$/);
  expect(cells).toContain('não');
  expect(cells).not.toContain('false');
  expect(cells.at(-3)).toMatch(/^="\d\d\/\d\d\/\d{4},? \d\d:\d\d"$/);
  const [titles, totals] = readWorkbook((await take('xlsx')).bytes);
  expect([titles?.name, totals?.name]).toEqual(['títulos', 'totais']);
  // A workbook has a sheet of totals instead of the last four columns.
  expect(titles?.rows[0]?.map((cell) => cell?.value)).toEqual(head.split(';').slice(0, -4));
  const jsonl = await take('jsonl');
  expect(JSON.parse(jsonl.text)).toMatchObject({ order_uid: 'a', status: 'current' });
  const english = await reviewer.post('/titles/file', { ...OF_SIGNED, format: 'csv' });
  expect(english.text.slice(1)).toMatch(/^id,status,order_uid,/);
});

test('a workbook has state, seal and digest of each day of the ledger, also of days without titles', async () => {
  const fields = { from: SIGNED, to: EMPTY, format: 'xlsx' };
  const { bytes } = await reviewer.post('/titles/file', fields);
  const [heads = [], ...rows] = readWorkbook(bytes)[1]?.rows ?? [];
  const columns = ['state', 'signed_off_by', 'signed_off_digest', 'content_digest', 'title_count'];
  const cells = rows.map((row) =>
    columns.map((name) => row[heads.findIndex((cell) => cell?.value === name)]?.value),
  );
  expect(cells).toEqual([
    ['reconciled', 'rita', digest, digest, '1'],
    ['attention', undefined, undefined, expect.stringMatching(/^\w+/), '1'],
    ['reconciled', undefined, undefined, expect.stringMatching(/^\w+/), '0'],
    [undefined, undefined, undefined, undefined, '2'],
  ]);
});

test('CSV and JSON lines have state, seal and digest of the day beside each title', async () => {
  const take = async (format: string) =>
    (await reviewer.post('/titles/file', { from: SIGNED, to: EMPTY, format })).text;
  const [signed, attention] = (await take('jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(signed).toMatchObject({
    day_state: 'reconciled',
    day_signed_off_at: expect.stringMatching(/^\d{4}-/),
    day_signed_off_digest: digest,
    day_content_digest: digest,
  });
  expect(attention).toMatchObject({
    day_state: 'attention',
    day_signed_off_at: null,
    day_signed_off_digest: null,
    day_content_digest: expect.stringMatching(/^\w+$/),
  });
  const [head = '', line = ''] = (await take('csv')).split('\r\n');
  expect(head).toMatch(/,day_state,day_signed_off_at,day_signed_off_digest,day_content_digest$/);
  expect(line).toMatch(new RegExp(`,reconciled,[^,]+,${digest},${digest}$`));
});

test('beside the files, the page says which dates of the selection are not complete', async () => {
  const doubtOf = async (from: string, to: string) =>
    (await reviewer.get(`/titles?from=${from}&to=${to}`, PORTUGUESE)).text.match(
      /Nem todas as datas[\s\S]*?<\/ul>/,
    )?.[0];
  expect(await doubtOf(SIGNED, EMPTY)).toMatch(/Nunca buscadas: 1<[\s\S]*Atenção: 1</);
  expect(await doubtOf(SIGNED, SIGNED)).toBeUndefined();
  expect(await doubtOf('', REJECTS)).toMatch(/<ul><li>Atenção: 1</);
  expect(await doubtOf(NEVER, '')).toMatch(/Nunca buscadas: \d+<\/li><\/ul>/);
});

test('a file has the titles of the filter, without bounds too, and the audit log says so', async () => {
  const take = async (fields: Record<string, string>) => {
    const { text, headers } = await reviewer.post('/titles/file', { ...fields, format: 'jsonl' });
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).order_uid);
    return { lines, name: headers['content-disposition'] };
  };
  const { lines, name } = await take({ search: '90.021.382/0001-22', order: 'b' });
  expect(lines).toEqual(['b']);
  expect(name).toMatch(/"titles-\d{4}-\d\d-\d\d\.jsonl"/);
  const details = { from: null, to: null, includeWithdrawn: true, isPart: true, rows: 1 };
  expect(await lastAudit(world)).toMatchObject({ action: 'export', details });
  expect((await take({})).lines).toEqual(['a', 'b']);
});

test('a file has identifiers for roles that may see them, and is noted', async () => {
  const take = (client = reviewer, format = 'jsonl') =>
    client.post('/titles/file', { ...OF_SIGNED, format });
  const secrets = /52998224725|11222333000181|7654321|90021382000122|CANARY-EXTRA/g;
  expect(new Set((await take()).text.match(secrets)).size).toBe(5);
  expect(await lastAudit(world)).toMatchObject({ actor: 'rita', action: 'export' });
  expect((await take(viewer)).text).not.toMatch(secrets);
  expect((await take(reviewer, 'exe')).status).toBe(400);
});
