import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../src/base/database/database.ts';
import { ShutdownError } from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import {
  readTitleSnapshot,
  type TitleSnapshot,
  titlesAccepted,
} from '../../../src/features/titles/export-titles.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { forFile } from '../../support/for-tests.ts';
import { logger } from '../../support/logger.ts';
import { insertTitles } from './export-fixture.ts';

const DAY = toCivilDate('2026-03-02');
const SELECTION = titlesAccepted({ from: DAY, to: DAY, includeWithdrawn: false });
const ROWS = 1800;
const APPLICATION = 'snapshot test';
/** Of a statement. */
const TIMEOUT_MS = 3_000;

const world = worldOfFile();
const database = forFile(async () =>
  openDatabase({
    databaseUrl: world.databaseUrl,
    applicationName: APPLICATION,
    statementTimeoutMs: TIMEOUT_MS,
    logger,
  }),
);
beforeAll(() => insertTitles(world, DAY, ROWS));

const never = new AbortController().signal;

async function countRows(titles: TitleSnapshot['titles'], afterBatch = async () => {}) {
  let rows = 0;
  for await (const batch of titles) {
    rows += batch.length;
    await afterBatch();
  }
  return rows;
}

const sessionsInTransaction = async () => {
  const { rows } = await world.database.pool.query(
    'SELECT FROM pg_stat_activity WHERE application_name = $1 AND xact_start IS NOT NULL',
    [APPLICATION],
  );
  return rows.length;
};

test('totals and titles are of one instant, also during merges', async () => {
  const rows = await readTitleSnapshot(
    database,
    SELECTION,
    never,
    async ({ overall, days, titles }) => {
      expect(overall.current).toBe(ROWS);
      expect(days.map(({ date, current }) => [date, current])).toEqual([[DAY, ROWS]]);
      await world.database.pool.query(`UPDATE conciliation.title SET status = 'withdrawn'`);
      return countRows(titles);
    },
  );
  expect(rows).toBe(ROWS);
  await world.database.pool.query(`UPDATE conciliation.title SET status = 'current'`);
});

test('a slow reader is not cut off by the statement timeout', async () => {
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

test('an abort ends the session and the reading', async () => {
  const abort = new AbortController();
  const reading = readTitleSnapshot(database, SELECTION, abort.signal, ({ titles }) =>
    countRows(titles, async () => abort.abort()),
  );
  await expect(reading).rejects.toBeInstanceOf(ShutdownError);
  await expect.poll(sessionsInTransaction).toBe(0);
});

test('a reader that gives up midway leaves no transaction open', async () => {
  const reading = readTitleSnapshot(database, SELECTION, never, async ({ titles }) => {
    for await (const _ of titles) throw new Error('the disk is full');
  });
  await expect(reading).rejects.toThrow('the disk is full');
  await expect.poll(sessionsInTransaction).toBe(0);
});
