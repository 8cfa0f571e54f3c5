import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readCsv } from '../../unit/export/csv-reader.ts';
import { type ExportWorld, openExportWorld } from './export-fixture.ts';

const MARCH = ['--from', '2026-03-01', '--to', '2026-03-31'];

let world: ExportWorld;
let files = 0;
let file = '';

beforeAll(async () => {
  world = await openExportWorld();
  const insert = (uid: string, date: string, value: string, more = {}) =>
    world.insertTitle({ order_uid: uid, accepted_date: date, original_value: value, ...more });
  await insert('b', '2026-03-02', '12345678901234567.89', {
    anticipated_due_date: '2026-04-01',
    provider_account: '000123',
    platform_discounted_value: '0.1',
    buyer_is_financial: true,
    extra: '{"rate": 0.10000000000000000001}',
  });
  await insert('a', '2026-03-02', '0.10');
  await insert('a', '2026-03-02', '3', { occurrence: 10 });
  await insert('a', '2026-03-02', '-1.5', { occurrence: 2 });
  await insert('B', '2026-03-01', '7');
  await insert('gone', '2026-03-01', '1000', { status: 'withdrawn' });
  await insert('x', '2026-02-28', '1');
  await insert('y', '2026-04-01', '1');
});
afterAll(() => world.close());
beforeEach(() => {
  files += 1;
  file = join(world.folder, `export-${files}`);
});

async function exportTo(format: string, ...more: string[]) {
  const args = [...MARCH, '--format', format, '--out', file, '--json', ...more];
  const run = await world.runExport(args);
  expect(run.stderr).toBe('');
  expect(run.status).toBe(0);
  return JSON.parse(run.stdout.toString());
}

async function readCsvFile(separator = ';') {
  const [header = [], ...rows] = readCsv((await readFile(file, 'utf8')).slice(1), separator);
  return rows.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index]])));
}

async function lastAudit() {
  const { rows } = await world.client.query(
    'SELECT actor, action, details FROM conciliation.audit_entry ORDER BY id DESC LIMIT 1',
  );
  return rows[0];
}

const auditCount = async () =>
  (await world.client.query('SELECT FROM conciliation.audit_entry')).rows.length;

describe('an export', () => {
  test('has the current titles of the range by date, order and occurrence, every digit kept', async () => {
    await exportTo('csv');
    const rows = await readCsvFile();
    expect(
      rows.map((row) => [
        row['accepted_date'],
        row['order_uid'],
        row['occurrence'],
        row['original_value'],
      ]),
    ).toEqual([
      ['2026-03-01', 'B', '1', '7'],
      ['2026-03-02', 'a', '1', '0,10'],
      ['2026-03-02', 'a', '2', '-1,5'],
      ['2026-03-02', 'a', '10', '3'],
      ['2026-03-02', 'b', '1', '12345678901234567,89'],
    ]);
    expect(rows[4]).toMatchObject({
      status: 'current',
      anticipated_due_date: '2026-04-01',
      provider_account: '000123',
      buyer_is_financial: 'true',
      billing_fee: '',
      extra: '{"rate": 0.10000000000000000001}',
    });
  });

  test('has withdrawn titles where asked to, and no sum counts them', async () => {
    const document = await exportTo('jsonl', '--include-withdrawn');
    expect(document).toMatchObject({
      rows: 6,
      withdrawn: 1,
      sums: { original_value: '12345678901234576.49' },
    });
    const titles = (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(titles.map(({ order_uid, status }) => `${order_uid} ${status}`)).toContain(
      'gone withdrawn',
    );
    expect(titles.at(-1)).toMatchObject({
      order_uid: 'b',
      occurrence: 1,
      original_value: '12345678901234567.89',
      billing_fee: null,
      buyer_is_financial: true,
    });
  });

  test('to standard output has the titles there and the summary beside it', async () => {
    const run = await world.runExport([...MARCH, '--format', 'jsonl', '--out', '-']);
    expect(run.status).toBe(0);
    const lines = run.stdout.toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).order_uid)).toEqual(['B', 'a', 'a', 'a', 'b']);
    expect(run.stderr).toContain('5 title(s) accepted from 2026-03-01 to 2026-03-31');
    expect((await lastAudit()).details).toMatchObject({ format: 'jsonl', rows: 5 });
  });
});

describe('the file of an export', () => {
  test('is never written over unless that is asked for', async () => {
    await writeFile(file, 'what was there');
    const args = [...MARCH, '--format', 'csv', '--out', file];
    const before = await auditCount();
    const refused = await world.runExport(args);
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('exists already') });
    expect(await readFile(file, 'utf8')).toBe('what was there');
    expect(await auditCount()).toBe(before);

    expect((await world.runExport([...args, '--force'])).status).toBe(0);
    expect(await readCsvFile()).toHaveLength(5);
  });

  test('replaces no folder, no device and no link', async () => {
    await symlink('/dev/null', file);
    for (const path of [file, world.folder, '/dev/null']) {
      const run = await world.runExport([...MARCH, '--format', 'csv', '--out', path, '--force']);
      expect(run).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('not a regular file'),
      });
    }
  });
});

describe('wrong usage', () => {
  const RANGE_REVERSED = ['--from', '2026-03-02', '--to', '2026-03-01'];
  test.each([
    ['a range that ends before it begins', [...RANGE_REVERSED, '--format', 'csv'], 'is after --to'],
    [
      'a workbook on standard output',
      [...MARCH, '--format', 'xlsx', '--out', '-'],
      'goes to a file',
    ],
  ])('is %s', async (_, args, message) => {
    const before = await auditCount();
    const run = await world.runExport(args.includes('--out') ? args : [...args, '--out', file]);
    expect(run).toMatchObject({ status: 2, stderr: expect.stringContaining(message) });
    expect(await auditCount()).toBe(before);
  });
});
