import { randomUUID } from 'node:crypto';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../../support/child-command.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { forTest, openFolder } from '../../support/for-tests.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { readCsv } from '../../unit/export/csv-reader.ts';

const MARCH = ['--from', '2026-03-01', '--to', '2026-03-31'];

const world = worldOfFile();
const folder = forTest(openFolder);
let file = '';

beforeAll(async () => {
  const insert = (uid: string, date: string, value: string, more = {}) => {
    const row = {
      ...{ order_uid: uid, occurrence: 1, accepted_date: date, original_value: value },
      ...{ identity_hash: randomUUID(), content_hash: randomUUID(), raw_hash: randomUUID() },
      ...{ first_pull_id: 1, last_change_pull_id: 1, ...more },
    };
    return world.database.pool.query(
      `INSERT INTO conciliation.title (${Object.keys(row)})
       VALUES (${Object.keys(row).map((_, index) => `$${index + 1}`)})`,
      Object.values(row),
    );
  };
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
beforeEach(() => {
  file = join(folder.path, 'export');
});

const run = (...args: readonly string[]) =>
  runCommand(['export', ...args], { DATABASE_URL: world.databaseUrl });

async function exportTo(format: string, ...more: string[]) {
  const done = await run(...MARCH, '--format', format, '--out', file, '--json', ...more);
  expect(done).toMatchObject({ exit: 0, stderr: '' });
  return JSON.parse(done.stdout);
}

async function readCsvFile(separator = ';') {
  const [header = [], ...rows] = readCsv((await readFile(file, 'utf8')).slice(1), separator);
  return rows.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index]])));
}

const auditCount = () => world.database.prisma.auditEntry.count();

describe('an export', () => {
  test('has the current titles of the range by date, order and occurrence, every digit kept', async () => {
    await exportTo('csv');
    expect(await lastAudit(world)).toMatchObject({ details: { format: 'csv', rows: 5 } });
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
});

describe('the file of an export', () => {
  test('is never written over unless that is asked for', async () => {
    await writeFile(file, 'what was there');
    const args = [...MARCH, '--format', 'csv', '--out', file];
    const before = await auditCount();
    const refused = await run(...args);
    expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('exists already') });
    expect(await readFile(file, 'utf8')).toBe('what was there');
    expect(await auditCount()).toBe(before);

    expect(await run(...args, '--force')).toMatchObject({ exit: 0 });
    expect(await readCsvFile()).toHaveLength(5);
  });

  test('replaces no folder, no device and no link', async () => {
    await symlink('/dev/null', file);
    for (const path of [file, folder.path, '/dev/null']) {
      expect(await run(...MARCH, '--format', 'csv', '--out', path, '--force')).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining('not a regular file'),
      });
    }
  });
});

describe('wrong usage', () => {
  test('is a range that ends before it begins', async () => {
    const before = await auditCount();
    const range = ['--from', '2026-03-02', '--to', '2026-03-01'];
    const refused = await run(...range, '--format', 'csv', '--out', file);
    expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('is after --to') });
    expect(await auditCount()).toBe(before);
  });
});
