import { beforeAll, expect, test } from 'vitest';
import { signDay } from '../../support/days.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { readCsv } from '../../unit/export/csv-reader.ts';
import { readWorkbook } from '../../unit/export/workbook-reader.ts';

const PORTUGUESE = { 'accept-language': 'pt-BR' };

const OF_DAY = { from: DAY, to: DAY, status: 'current' };

const { world, viewer, reviewer } = pagesForFile();
beforeAll(async () => {
  await world.serve(DAY, [titleText({ uid: 'a', more: ',"secretField":"CANARY-EXTRA"' })]);
  await signDay(world.database, DAY);
});

test('a file for a Portuguese reader has Portuguese headings, words and name; JSON has the names of the columns', async () => {
  const take = (format: string) =>
    reviewer.post('/titles/file', { ...OF_DAY, format }, { headers: PORTUGUESE });
  const csv = await take('csv');
  expect(csv.headers['content-disposition']).toBe(
    `attachment; filename="titulos-${DAY}-${DAY}.csv"`,
  );
  const [head = '', line = ''] = csv.text.slice(1).split('\r\n');
  expect(head).toMatch(/^Número do título;Situação;Pedido;Ocorrência;/);
  expect(head).toContain(';Valor original;');
  expect(head).not.toContain('_');
  expect(line).toMatch(/^\d+;vigente;a;1;/);
  expect(line).toContain(';1000,50;');
  // Days as in Brazil, flags in words, local time, and identifiers that Excel does not turn into numbers.
  const cells = readCsv(csv.text.slice(1), ';')[1] ?? [];
  const [year, month, day] = DAY.split('-');
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
  const english = await reviewer.post('/titles/file', { ...OF_DAY, format: 'csv' });
  expect(english.text.slice(1)).toMatch(/^id,status,order_uid,/);
});

test('a file has identifiers for roles that may see them, and is noted', async () => {
  const take = (client = reviewer, format = 'jsonl') =>
    client.post('/titles/file', { ...OF_DAY, format });
  const secrets = /52998224725|11222333000181|7654321|90021382000122|CANARY-EXTRA/g;
  expect(new Set((await take()).text.match(secrets)).size).toBe(5);
  expect(await lastAudit(world)).toMatchObject({ actor: 'rita', action: 'export' });
  expect((await take(viewer)).text).not.toMatch(secrets);
  expect((await take(reviewer, 'exe')).status).toBe(400);
});
