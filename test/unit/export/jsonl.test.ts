import { expect, test } from 'vitest';
import { type ExportRow, writeJsonl } from '../../../src/base/export/table.ts';
import { batchesOf, COLUMNS, collect, HOSTILE_TEXTS, row } from './rows.ts';

const write = async (...batches: ExportRow[][]) =>
  (await collect(writeJsonl(COLUMNS, batchesOf(...batches)))).toString('utf8');

test('a line is an object with every column, amounts as exact strings, json as stored', async () => {
  const cells = {
    id: '7',
    order_uid: 'A-1',
    accepted_date: '2026-03-02',
    original_value: '12345678901234567.89',
    buyer_is_financial: 'false',
    extra: '{"rate": 0.1000000000000000000001}',
  };
  expect(await write([row(cells)], [row({})])).toBe(
    '{"id":7,"order_uid":"A-1","accepted_date":"2026-03-02","original_value":"12345678901234567.89",' +
      '"buyer_is_financial":false,"extra":{"rate": 0.1000000000000000000001}}\n' +
      '{"id":null,"order_uid":null,"accepted_date":null,"original_value":null,' +
      '"buyer_is_financial":null,"extra":null}\n',
  );
});

test('any text stays on its line and is restored exactly', async () => {
  const text = await write(HOSTILE_TEXTS.map((order_uid) => row({ order_uid })));
  const lines = text.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).order_uid)).toEqual(HOSTILE_TEXTS);
});
