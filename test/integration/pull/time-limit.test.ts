/** A merge that takes longer than its time limit would take as long again: it has to end in an alert. */
import { expect, test } from 'vitest';
import { createPull } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { deriveAlerts } from '../../../src/features/alerts/derive-alerts.sql.ts';
import { environmentOf, runCommand, startCommand } from '../../support/child-command.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

/** The report of PostgreSQL for a statement that exceeds statement_timeout. */
async function whileMergesExceedTheLimit<T>(work: () => Promise<T>): Promise<T> {
  const { pool } = world.database;
  await pool.query(`
    CREATE FUNCTION conciliation.exceed_time_limit() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'canceling statement due to statement timeout' USING ERRCODE = '57014'; END $$;
    CREATE TRIGGER exceed_time_limit BEFORE INSERT ON conciliation.title_revision
      FOR EACH STATEMENT EXECUTE FUNCTION conciliation.exceed_time_limit()`);
  try {
    return await work();
  } finally {
    await pool.query('DROP FUNCTION conciliation.exceed_time_limit() CASCADE');
  }
}

test('a merge whose statement exceeds the time limit spends attempts, fails and is alerted', async () => {
  await world.serve(DAY, [titleText({ date: DAY, discount: '1' })]);
  world.sandbox.setDayTexts(DAY, [titleText({ date: DAY, discount: '2' })]);
  const pull = { origin: 'manual', date: DAY, requestedBy: 'test' } as const;
  const pullId = await createPull(world.database, pull);
  const kinds = await whileMergesExceedTheLimit(async () => {
    const outcomes = [];
    for (let attempt = 0; attempt < world.parts.retry.attempts; attempt += 1) {
      outcomes.push((await world.run(pullId)).kind);
    }
    return outcomes;
  });
  expect(kinds).toEqual(['retry', 'retry', 'failed']);
  const [row] = await world.database.prisma.$queryRaw<[{ state: string; attempts: number }]>`
    SELECT state, attempts FROM conciliation.pull WHERE id = ${pullId}`;
  expect(row).toEqual({ state: 'failed', attempts: 3 });
  const policy = { timeZone: 'America/Sao_Paulo', maxLagDays: 3, maxIdleHours: 26 };
  await deriveAlerts(world.database, new Date(), policy);
  const alerts = await world.database.prisma.$queryRaw<{ kind: string }[]>`
    SELECT kind FROM conciliation.alert WHERE resolved_at IS NULL AND kind = 'pull_failed'`;
  expect(alerts).toHaveLength(1);
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
  await world.database.pool.query(`
    CREATE FUNCTION conciliation.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'refused' USING ERRCODE = '${sqlState}'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON conciliation.staged_title
      FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse()`);
  const pull = { origin: 'manual', date: DAY, requestedBy: 'test' } as const;
  const pullId = await createPull(world.database, pull);
  const outcome = await world.run(pullId);
  await world.database.pool.query('DROP FUNCTION conciliation.refuse() CASCADE');
  expect(outcome).toMatchObject({ kind: 'retry', error: { code: 'STAGING_UNAVAILABLE' } });
  const row = await world.database.prisma.pull.findUnique({ where: { id: pullId } });
  expect(row).toMatchObject({ state: 'queued', attempts });
});

test('the command ends, and the pull has failed after its attempts', async () => {
  const date = daysFrom(1);
  world.sandbox.setDayTexts(date, [titleText({ date, discount: '1' })]);
  const environment = { ...environmentOf(world), PULL_ATTEMPTS: '2' };
  expect((await runCommand(['pull', date], environment)).exit).toBe(0);
  world.sandbox.setDayTexts(date, [titleText({ date, discount: '2' })]);
  const { exit } = await whileMergesExceedTheLimit(async () => {
    const started = startCommand(['pull', date], environment);
    // A command that counts no attempt would never end.
    const patience = setTimeout(() => started.kill('SIGKILL'), PATIENCE_MS);
    return started.ended.finally(() => clearTimeout(patience));
  });
  expect(exit).toBe(1);
  const { rows } = await world.database.pool.query(
    'SELECT state, attempts FROM conciliation.pull ORDER BY id DESC LIMIT 1',
  );
  expect(rows).toEqual([{ state: 'failed', attempts: 2 }]);
});
