/** Errors that the program does not know, and attempts that the loss of the database ends: neither is silent or for ever. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startAttempt } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { openKeys } from '../alerts/alert-table.ts';

const ATTEMPTS = 3;

const world = worldOfFile();
/** Another for each test, without a title so far. */
let date = DAY;
let pullId: bigint;
beforeEach(async () => {
  date = daysFrom(1, date);
  world.sandbox.setDayTexts(date, [titleText({ date })]);
  pullId = await world.newPull(date);
});

const end = () => world.database.pool.query('DROP TRIGGER IF EXISTS hinder ON conciliation.title');
afterEach(end);

/** Until `end`. */
async function onInsert(body: string): Promise<void> {
  await world.database.pool.query(`
    CREATE OR REPLACE FUNCTION public.hinder() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN ${body}; RETURN NEW; END $$`);
  await world.database.pool.query(`
    CREATE TRIGGER hinder BEFORE INSERT ON conciliation.title
      FOR EACH STATEMENT EXECUTE FUNCTION public.hinder()`);
}

const attempt = () => world.run(pullId, { random: () => 1 });
const readPull = () => world.database.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });

const open = () => openKeys(world.database);

describe('an error that the program does not know', () => {
  test.each([
    ['an exception of a trigger', "RAISE EXCEPTION 'no'", 'SQLSTATE P0001'],
    [
      'a read-only transaction',
      "RAISE SQLSTATE '25006'",
      'the database takes no writes: it is a standby, or default_transaction_read_only is on (SQLSTATE 25006)',
    ],
  ])('is an alert at once, and is tried again after growing waits: %s', async (_, body, what) => {
    await onInsert(body);
    const delays: unknown[] = [];
    for (let made = 0; made < ATTEMPTS; made += 1) {
      const outcome = await attempt();
      expect(outcome).toMatchObject({ kind: 'retry' });
      if (outcome.kind === 'retry') delays.push(outcome.delayMs);
      expect(await open()).toEqual(['pull_failed:INTERRUPTED']);
    }
    // Three losses count as one error of this kind, so the first two attempts that count are the second and the third.
    expect(delays).toEqual([4_000, 8_000, 16_000]);
    expect(await readPull()).toMatchObject({
      state: 'queued',
      attempts: ATTEMPTS - 1,
      errorCode: 'DEFECT',
      errorMessage: `an error that the program does not know (${what}); see its log`,
    });
    expect(await attempt()).toMatchObject({ kind: 'failed' });
    expect(await open()).toEqual(['pull_failed:DEFECT']);
    await end();
    await world.pull(date);
    expect(await open()).toEqual([]);
  });

  test('ends with the next attempt that succeeds', async () => {
    await onInsert("RAISE EXCEPTION 'no'");
    await attempt();
    expect(await open()).toEqual(['pull_failed:INTERRUPTED']);
    await end();
    expect(await attempt()).toMatchObject({ kind: 'done' });
    expect(await open()).toEqual([]);
  });
});

describe('the loss of the connection', () => {
  const terminate = 'PERFORM pg_terminate_backend(pg_backend_pid())';

  test('is counted after the third in a row, waits longer each time, and ends with an alert', async () => {
    await onInsert(terminate);
    const seen: unknown[] = [];
    for (let made = 0; made < 3 + ATTEMPTS; made += 1) {
      const outcome = await attempt();
      const { attempts } = await readPull();
      const [alert = null] = await open();
      seen.push([outcome.kind, outcome.kind === 'retry' ? outcome.delayMs : null, attempts, alert]);
    }
    await end();
    expect(seen).toEqual([
      ['retry', 1_000, 0, null],
      ['retry', 2_000, 0, null],
      ['retry', 4_000, 0, 'pull_failed:INTERRUPTED'],
      ['retry', 8_000, 1, 'pull_failed:INTERRUPTED'],
      ['retry', 16_000, 2, 'pull_failed:INTERRUPTED'],
      ['failed', null, 3, 'pull_failed:STAGING_UNAVAILABLE'],
    ]);
    await world.pull(date);
    expect(await open()).toEqual([]);
  });

  test('three times does not count where another outcome comes between', async () => {
    await onInsert(terminate);
    for (let made = 0; made < 3; made += 1) await attempt();
    world.sandbox.faults.add({ kind: 'status', status: 500, date, times: 1 });
    await attempt();
    expect(await open()).toEqual([]);
    for (let made = 0; made < 3; made += 1) await attempt();
    expect(await readPull()).toMatchObject({ state: 'queued', attempts: 1 });
    await end();
    expect(await attempt()).toMatchObject({ kind: 'done' });
  });

  test('without a record counts in the same way, also for a server that the pull ends', async () => {
    for (let made = 0; made < 3 + ATTEMPTS; made += 1) {
      await startAttempt(world.database, pullId);
      // The first claim follows no other.
      expect(await open()).toEqual(made < 3 ? [] : ['pull_failed:INTERRUPTED']);
    }
    expect(await readPull()).toMatchObject({ state: 'running', attempts: ATTEMPTS - 1 });
    expect(await attempt()).toMatchObject({ kind: 'failed' });
    expect(await open()).toEqual(['pull_failed:ATTEMPT_ABANDONED']);
    await world.pull(date);
  });
});
