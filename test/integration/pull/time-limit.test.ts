/** A merge that takes longer than its time limit would take as long again: it has to end in an alert. */
import { expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { expectDerived } from '../alerts/alert-table.ts';

const world = worldOfFile();
const readPull = (id: bigint) => world.database.prisma.pull.findUnique({ where: { id } });

/** What an insert into a table reports while `work` is done, such as 57014 for an exceeded statement_timeout. */
async function whileInsertsFail<T>(table: string, sqlState: string, work: () => Promise<T>) {
  const { pool } = world.database;
  await pool.query(`
    CREATE FUNCTION conciliation.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'refused' USING ERRCODE = '${sqlState}'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON conciliation.${table}
      FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse()`);
  try {
    return await work();
  } finally {
    await pool.query('DROP FUNCTION conciliation.refuse() CASCADE');
  }
}

test('a merge whose statement exceeds the time limit spends attempts, fails and is alerted', async () => {
  await world.serve(DAY, [titleText({ date: DAY, discount: '1' })]);
  world.sandbox.setDayTexts(DAY, [titleText({ date: DAY, discount: '2' })]);
  const pullId = await world.newPull(DAY);
  const kinds = await whileInsertsFail('title_revision', '57014', async () => {
    const outcomes = [];
    for (let attempt = 0; attempt < world.parts.retry.attempts; attempt += 1) {
      outcomes.push((await world.run(pullId)).kind);
    }
    return outcomes;
  });
  expect(kinds).toEqual(['retry', 'retry', 'failed']);
  expect(await readPull(pullId)).toMatchObject({ state: 'failed', attempts: 3 });
  await expectDerived(world.database, [1, 0], [expect.stringMatching(/^pull_failed:/)]);
});

test.each([
  ['transaction_timeout', '25P04', 1],
  ['configuration_limit_exceeded', '53400', 1],
  ['out_of_memory', '53200', 1],
  ['admin_shutdown', '57P01', 0],
  ['too_many_connections', '53300', 0],
  ['deadlock_detected', '40P01', 0],
])('an attempt ended by %s (%s) spends %i attempts', async (_, sqlState, attempts) => {
  world.sandbox.setDayTexts(DAY, [titleText({ date: DAY, discount: sqlState.slice(-1) })]);
  const pullId = await world.newPull(DAY);
  const outcome = await whileInsertsFail('staged_title', sqlState, () => world.run(pullId));
  expect(outcome).toMatchObject({ kind: 'retry', error: { code: 'STAGING_UNAVAILABLE' } });
  expect(await readPull(pullId)).toMatchObject({ state: 'queued', attempts });
});
