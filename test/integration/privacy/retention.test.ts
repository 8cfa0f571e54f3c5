import { beforeEach, expect, test } from 'vitest';
import { type RetentionRequest, removeOld } from '../../../src/features/privacy/retention.sql.ts';
import { clientOfFile, worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();
const administrator = clientOfFile(() => world.databaseUrl);

const request = (more: Partial<RetentionRequest> = {}): RetentionRequest => ({
  before: daysFrom(-30, TODAY),
  timeZone: 'America/Sao_Paulo',
  by: 'test',
  signal: new AbortController().signal,
  batchSize: 2,
  ...more,
});

let dayCount = 0;
/** Pulls a new date six times, long ago: new, unchanged, restated, and three times unchanged. */
beforeEach(async () => {
  dayCount += 1;
  const date = daysFrom(dayCount, DAY);
  for (const discount of ['1', '1', '2', '2', '2', '2']) {
    await world.serve(date, [titleText({ date, discount })]);
  }
  await administrator.query(
    `UPDATE conciliation.pull SET finished_at = finished_at - interval '1 year' WHERE date = $1`,
    [date],
  );
});

async function readStates(): Promise<string[]> {
  const { rows } = await administrator.query<{ state: string }>(
    'SELECT state FROM conciliation.pull WHERE date = $1 ORDER BY id',
    [daysFrom(dayCount, DAY)],
  );
  return rows.map(({ state }) => state);
}

test('pulls that changed a title stay, and the newest one, in batches smaller than the rest', async () => {
  expect((await removeOld(world.database, request())).pulls).toBe(3);
  expect(await readStates()).toEqual(['merged', 'merged', 'unchanged']);
});
