/** The command `export`: its content, its file, its memory, and the snapshot that it reads. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/base/database/database.ts';
import { ShutdownError } from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import {
  readTitleSnapshot,
  type TitleSnapshot,
  titlesAccepted,
} from '../../../src/features/titles/export-titles.sql.ts';
import { runCommand, runMeasured, startCommand } from '../../support/child-command.ts';
import { forFile, forTest, openFolder } from '../../support/for-tests.ts';
import { logger } from '../../support/logger.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { worldOfFile } from '../../support/pull-world.ts';
import { readCsv } from '../../unit/export/file-readers.ts';

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

const environment = () => ({ DATABASE_URL: world.databaseUrl });
const run = (...args: readonly string[]) => runCommand(['export', ...args], environment());

async function exportTo(format: string, ...more: string[]) {
  const done = await run(...MARCH, '--format', format, '--out', file, '--json', ...more);
  expect(done).toMatchObject({ exit: 0, stderr: '' });
  return JSON.parse(done.stdout);
}

async function readCsvFile() {
  const [header = [], ...rows] = readCsv((await readFile(file, 'utf8')).slice(1), ';');
  return rows.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index]])));
}

const auditCount = () => world.prisma.auditEntry.count();

describe('an export', () => {
  test('has the current titles of the range by date, order and occurrence, every digit kept', async () => {
    await exportTo('csv');
    expect(await lastAudit(world)).toMatchObject({ details: { format: 'csv', rows: 5 } });
    const rows = await readCsvFile();
    const columns = ['accepted_date', 'order_uid', 'occurrence', 'original_value'];
    expect(rows.map((row) => columns.map((column) => row[column]))).toEqual([
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
  test('is never written over', async () => {
    await symlink('/dev/null', file);
    const before = await auditCount();
    for (const path of [file, folder.path, '/dev/null']) {
      expect(await run(...MARCH, '--format', 'csv', '--out', path)).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining('exists already'),
      });
    }
    expect(await auditCount()).toBe(before);
  });
});

test('a range that ends before it begins is wrong usage', async () => {
  const before = await auditCount();
  const range = ['--from', '2026-03-02', '--to', '2026-03-01'];
  const refused = await run(...range, '--format', 'csv', '--out', file);
  expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('is after --to') });
  expect(await auditCount()).toBe(before);
});

/** Many titles of one date, quick to make, none like another. */
const insertTitles = (date: string, count: number) =>
  world.database.pool.query(`
    INSERT INTO conciliation.title
      (order_uid, occurrence, accepted_date, anticipated_due_date, buyer_identification,
       provider_external_id, provider_identification, provider_bank, provider_account,
       financial_agent_name, buyer_is_financial, payment_type, original_value,
       platform_discounted_value, billing_fee, identity_hash, content_hash, raw_hash,
       first_pull_id, last_change_pull_id)
    SELECT md5(n::text), 1, '${date}'::date, '${date}'::date + 30, '12345678000195', 'provider ' || n % 5000,
           lpad(n::text, 14, '0'), '341', lpad(n::text, 9, '0'), 'Agent of order ' || n, n % 2 = 0,
           'BANK_TRANSFER', n + 0.01, n + 0.005, 0.1, gen_random_uuid(), gen_random_uuid(),
           gen_random_uuid(), 1, 1
    FROM generate_series(1, ${count}::int) AS n`);

describe('an export of 300,000 titles, far more than any buffer on the way holds,', () => {
  const ROWS = 300_000;
  const RANGE = ['--from', '2026-05-01', '--to', '2026-05-31'];
  beforeAll(async () => {
    for (const date of ['2026-05-02', '2026-05-03', '2026-05-04']) {
      await insertTitles(date, ROWS / 3);
    }
  });

  async function measure(range: readonly string[], rows: number) {
    await rm(file, { force: true });
    const args = [...range, '--format', 'xlsx', '--out', file, '--json'];
    const { stdout, peakMegabytes } = await runMeasured(['export', ...args], environment());
    const { size: bytes } = await stat(file);
    expect(JSON.parse(stdout)).toMatchObject({ rows, bytes });
    return peakMegabytes;
  }

  test('as a workbook stays within bounded memory', async () => {
    const idle = await measure(['--from', '2020-01-01', '--to', '2020-01-31'], 0);
    // A result held in memory would be hundreds of megabytes.
    expect((await measure(RANGE, ROWS)) - idle).toBeLessThan(150);
  });

  test('that is interrupted leaves no file', async () => {
    const args = [...RANGE, '--format', 'xlsx', '--out', file];
    const child = startCommand(['export', ...args], environment());
    const partialSize = async () => {
      const [partial] = await readdir(folder.path);
      return partial === undefined ? 0 : (await stat(join(folder.path, partial))).size;
    };
    await expect.poll(partialSize, { interval: 20 }).toBeGreaterThan(0);
    child.kill('SIGINT');
    expect(await child.ended).toMatchObject({ exit: 1, signal: null });
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe('the snapshot of an export', () => {
  const DAY = toCivilDate('2026-06-02');
  const SELECTION = titlesAccepted({ from: DAY, to: DAY, includeWithdrawn: false });
  const ROWS = 1800;
  const APPLICATION = 'snapshot test';
  /** Of a statement. */
  const TIMEOUT_MS = 3_000;

  const database = forFile(async () =>
    openDatabase({
      databaseUrl: world.databaseUrl,
      applicationName: APPLICATION,
      statementTimeoutMs: TIMEOUT_MS,
      logger,
    }),
  );
  beforeAll(() => insertTitles(DAY, ROWS));

  const { signal: never } = new AbortController();

  async function countRows(titles: TitleSnapshot['titles'], afterBatch = async () => {}) {
    let rows = 0;
    for await (const batch of titles) {
      rows += batch.length;
      await afterBatch();
    }
    return rows;
  }

  const sessionsInTransaction = async () => {
    const { rows } = await world.database.pool.query(`
      SELECT FROM pg_stat_activity WHERE application_name = '${APPLICATION}' AND xact_start IS NOT NULL`);
    return rows.length;
  };

  test('has totals and titles of one instant, also during merges', async () => {
    const where = { acceptedDate: DAY };
    const rows = await readTitleSnapshot(database, SELECTION, never, async (snapshot) => {
      expect(snapshot.totals.current).toBe(ROWS);
      await world.prisma.title.updateMany({ where, data: { status: 'withdrawn' } });
      return countRows(snapshot.titles);
    });
    expect(rows).toBe(ROWS);
    await world.prisma.title.updateMany({ where, data: { status: 'current' } });
  });

  test('is not cut off by the statement timeout when its reader is slow', async () => {
    // The reader takes longer than the timeout over the first batch, and over the others together.
    let waitMs = 1.1 * TIMEOUT_MS;
    const rows = await readTitleSnapshot(database, SELECTION, never, ({ titles }) =>
      countRows(titles, async () => {
        await sleep(waitMs);
        waitMs = TIMEOUT_MS / 10;
      }),
    );
    expect(rows).toBe(ROWS);
  });

  test('ends with its session at an abort', async () => {
    const abort = new AbortController();
    const reading = readTitleSnapshot(database, SELECTION, abort.signal, ({ titles }) =>
      countRows(titles, async () => abort.abort()),
    );
    await expect(reading).rejects.toBeInstanceOf(ShutdownError);
    await expect.poll(sessionsInTransaction).toBe(0);
  });

  test('leaves no transaction open when its reader gives up midway', async () => {
    const reading = readTitleSnapshot(database, SELECTION, never, async ({ titles }) => {
      for await (const _ of titles) throw new Error('the disk is full');
    });
    await expect(reading).rejects.toThrow('the disk is full');
    await expect.poll(sessionsInTransaction).toBe(0);
  });
});
