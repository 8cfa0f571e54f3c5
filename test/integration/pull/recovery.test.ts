import { expect, test } from 'vitest';
import { discardStrayRows } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const world = worldOfFile();

test('the staged rows of a killed process are removed, those of running and held pulls stay', async () => {
  const date = daysFrom(1);
  const ten = titleTexts(10, { date });
  await world.serve(date, ten);
  const restated = titleText({ date, uid: 't0', discount: '1.5' });
  expect((await world.serve(date, [restated, ...ten.slice(6)])).state).toBe('held');
  const staged = ['staged_title', 'staged_base', 'staged_missing'];
  for (const table of staged) {
    await world.database.prisma.$executeRawUnsafe(
      `INSERT INTO conciliation.${table}
       SELECT (jsonb_populate_record(staged, '{"fence": 999999}')).* FROM conciliation.${table} staged`,
    );
  }
  expect(await discardStrayRows(world.database)).toBe(1);
  expect(await discardStrayRows(world.database)).toBe(0);
  const rows = staged.map(
    async (table) =>
      await world.database.prisma.$queryRawUnsafe(
        `SELECT count(*)::int AS rows FROM conciliation.${table}`,
      ),
  );
  // One title differs, and six texts are missing: that of the one, and those of the five.
  expect(await Promise.all(rows)).toEqual([[{ rows: 1 }], [{ rows: 1 }], [{ rows: 6 }]]);
});
