/** Rows are counted twice: as PostgreSQL says it took them, and as they lie there before the merge. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { StagingUnavailableError } from '../../../src/base/runtime/errors.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';
import { titlesOf } from '../../support/titles.ts';

const world = worldOfFile();
beforeAll(async () => {
  world.sandbox.setDayTexts(DAY, titlesOf(['a', 'b', 'c'], { date: DAY }));
});
afterEach(() => world.database.pool.query('DROP FUNCTION conciliation.lose_a_row() CASCADE'));

async function loseRows(trigger: string, body: string): Promise<void> {
  await world.database.pool.query(`
    CREATE FUNCTION conciliation.lose_a_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
    CREATE TRIGGER lose_a_row ${trigger} EXECUTE FUNCTION conciliation.lose_a_row()`);
}

async function expectNothingMerged(message: string): Promise<void> {
  const outcome = await world.attempt(DAY);
  expect(outcome).toMatchObject({ kind: 'retry', error: { message } });
  expect(outcome.kind !== 'done' && outcome.error).toBeInstanceOf(StagingUnavailableError);
  expect(await world.database.prisma.title.count()).toBe(0);
  const pull = await world.database.prisma.pull.findFirst({ orderBy: { id: 'desc' } });
  // A trigger loses the row again in each attempt, so the attempts must end.
  expect(pull).toMatchObject({ state: 'queued', attempts: 1 });
}

test('a title that PostgreSQL did not take fails the attempt', async () => {
  await loseRows(
    'BEFORE INSERT ON conciliation.staged_title FOR EACH ROW',
    `IF NEW.order_uid = 'b' THEN RETURN NULL; END IF; RETURN NEW;`,
  );
  await expectNothingMerged('PostgreSQL took another number of rows than were sent');
});

test('a title that is missing before the merge fails the attempt', async () => {
  await loseRows(
    'AFTER INSERT ON conciliation.staged_title FOR EACH STATEMENT',
    `DELETE FROM conciliation.staged_title WHERE order_uid = 'b'; RETURN NULL;`,
  );
  await expectNothingMerged('the staged rows are not the rows that were read');
});
