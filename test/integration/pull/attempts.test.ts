/** Attempts that do not end well: their outcome, what counts as an attempt, and the alert. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  PlatformUnavailableError,
  StagingUnavailableError,
  StaleFenceError,
  TokenUnusableError,
} from '../../../src/base/runtime/errors.ts';
import { startAttempt } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { fileToken } from '../../../src/core/platform/token.ts';
import type { PullParts } from '../../../src/core/work/run-pull.ts';
import { openPlatform } from '../../support/platform-client.ts';
import { freshDays, worldOfFile } from '../../support/pull-world.ts';
import { titlesOf, titleText } from '../../support/titles.ts';
import { openKeys } from '../alerts/alert-table.ts';

const ATTEMPTS = 3;

const world = worldOfFile();
const freshDay = freshDays();
/** Another for each test, without a title so far, and a pull of it. */
let date = freshDay();
let pullId: bigint;
beforeEach(async () => {
  date = freshDay();
  world.sandbox.setDayTexts(date, [titleText({ date })]);
  pullId = await world.newPull(date);
});

const attempt = (parts: Partial<PullParts> = {}) =>
  world.run(pullId, { random: () => 1, ...parts });
const readPull = () => world.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
const failOnce = () => world.sandbox.faults.add({ kind: 'status', status: 500, date });
const open = () => openKeys(world.database);

/** Until `endTrigger`: what a trigger does, such as `BEFORE INSERT ON conciliation.title FOR EACH ROW`. */
const trigger = (when: string, body: string) =>
  world.database.pool.query(`
    CREATE OR REPLACE FUNCTION public.hinder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
    CREATE TRIGGER hinder ${when} EXECUTE FUNCTION public.hinder()`);
const onInsert = (body: string, table = 'title') =>
  trigger(`BEFORE INSERT ON conciliation.${table} FOR EACH STATEMENT`, `${body}; RETURN NEW;`);
const endTrigger = () =>
  world.database.pool.query('DROP FUNCTION IF EXISTS public.hinder() CASCADE');

// A later pull that ends well ends the alert of the date.
afterEach(async () => {
  await endTrigger();
  world.sandbox.faults.clear();
  await world.pull(date);
  expect(await open()).toEqual([]);
});

test.each([
  ['an answer that may be better next time spends one', 500, 3, 'retry', 'queued', 1],
  ['the last attempt is the last', 500, 1, 'failed', 'failed', 1],
  ['a refused token spends none: it is no fault of the pull', 401, 3, 'unauthorized', 'queued', 0],
  ['a refused request is not repeated', 400, 3, 'failed', 'failed', 1],
] as const)('%s', async (_, status, attempts, kind, state, spent) => {
  world.sandbox.faults.add({ kind: 'status', status });
  const outcome = await attempt({ retry: { attempts, backoffSeconds: 1 } });
  const pull = await readPull();
  expect([outcome.kind, pull.state, pull.attempts]).toEqual([kind, state, spent]);
});

test('a token that cannot be read spends none', async () => {
  const token = fileToken(join(tmpdir(), 'conciliation-no-token'));
  const platform = openPlatform('http://127.0.0.1:1', token);
  onTestFinished(() => platform.close());
  expect(await attempt({ platform })).toMatchObject({
    kind: 'unauthorized',
    error: { name: TokenUnusableError.name },
  });
  expect(await readPull()).toMatchObject({ state: 'queued', attempts: 0 });
});

// Rows are counted as they lie there before the merge, and as the merge writes.
test.each([
  [
    'that PostgreSQL did not take',
    'BEFORE INSERT ON conciliation.staged_title FOR EACH ROW',
    `IF NEW.order_uid = 'b' THEN RETURN NULL; END IF; RETURN NEW;`,
    'the staged rows are not the rows that were read',
  ],
  [
    'that is missing before the merge',
    'AFTER INSERT ON conciliation.staged_title FOR EACH STATEMENT',
    `DELETE FROM conciliation.staged_title WHERE order_uid = 'b'; RETURN NULL;`,
    'the staged rows are not the rows that were read',
  ],
  [
    'that the merge does not write',
    'BEFORE INSERT ON conciliation.title FOR EACH ROW',
    `IF NEW.order_uid = 'b' THEN RETURN NULL; END IF; RETURN NEW;`,
    '2 changes instead of 3',
  ],
  [
    'that something else inserts during the merge',
    'AFTER INSERT ON conciliation.title FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0)',
    `INSERT INTO conciliation.title (order_uid, occurrence, accepted_date, original_value, identity_hash, content_hash,
       raw_hash, first_pull_id, last_change_pull_id)
     SELECT 'false', 1, accepted_date, 123456, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
            first_pull_id, first_pull_id
     FROM conciliation.title ORDER BY id DESC LIMIT 1;
     RETURN NULL;`,
    '4 changes instead of 3',
  ],
])('a title %s fails the attempt, which leaves no row', async (_, when, body, message) => {
  const texts = titlesOf(['a', 'b', 'c'], { date });
  world.sandbox.setDayTexts(date, [...texts, '{"order":{}}']);
  await trigger(when, body);
  const outcome = await attempt();
  await endTrigger();
  expect(outcome).toMatchObject({
    kind: 'retry',
    error: { message: expect.stringContaining(message) },
  });
  expect(outcome.kind !== 'done' && outcome.error).toBeInstanceOf(StagingUnavailableError);
  const { prisma } = world;
  expect(await prisma.title.count({ where: { acceptedDate: date } })).toBe(0);
  expect(await prisma.rejectedTitle.count({ where: { date } })).toBe(0);
  expect(await prisma.day.count({ where: { date } })).toBe(0);
  // A trigger loses the row again in each attempt, so the attempts must end.
  expect(await readPull()).toMatchObject({ state: 'queued', attempts: 1 });
  const report = await world.serve(date, texts);
  expect(report).toMatchObject({ state: 'merged', inserted: 3, withdrawn: 0 });
});

// A merge that takes longer than its time limit would take as long again: it has to end in an alert.
test('a merge whose statement exceeds the time limit spends attempts, fails and is alerted', async () => {
  await world.serve(date, [titleText({ date, discount: '1' })]);
  world.sandbox.setDayTexts(date, [titleText({ date, discount: '2' })]);
  await onInsert(`RAISE 'refused' USING ERRCODE = '57014'`, 'title_revision');
  const kinds = [];
  for (let made = 0; made < ATTEMPTS; made += 1) kinds.push((await attempt()).kind);
  expect(kinds).toEqual(['retry', 'retry', 'failed']);
  expect(await readPull()).toMatchObject({ state: 'failed', attempts: ATTEMPTS });
  expect(await open()).toEqual(['pull_failed:STAGING_UNAVAILABLE']);
});

test.each([
  ['transaction_timeout', '25P04'],
  ['configuration_limit_exceeded', '53400'],
  ['out_of_memory', '53200'],
  ['admin_shutdown', '57P01'],
  ['too_many_connections', '53300'],
  ['deadlock_detected', '40P01'],
])('an attempt ended by %s (%s) is spent', async (_, sqlState) => {
  await onInsert(`RAISE 'refused' USING ERRCODE = '${sqlState}'`, 'staged_title');
  expect(await attempt()).toMatchObject({ kind: 'retry', error: { code: 'STAGING_UNAVAILABLE' } });
  expect(await readPull()).toMatchObject({ state: 'queued', attempts: 1 });
});

test.each([
  ['an exception of a trigger', "RAISE EXCEPTION 'no'", 'SQLSTATE P0001'],
  [
    'a read-only transaction',
    "RAISE SQLSTATE '25006'",
    'the database takes no writes: it is a standby, or default_transaction_read_only is on (SQLSTATE 25006)',
  ],
])(
  'an error that the program does not know is an alert at once, and is tried again after growing waits: %s',
  async (_, body, what) => {
    await onInsert(body);
    const delays: unknown[] = [];
    for (let made = 1; made < ATTEMPTS; made += 1) {
      const outcome = await attempt();
      expect(outcome).toMatchObject({ kind: 'retry' });
      if (outcome.kind === 'retry') delays.push(outcome.delayMs);
      expect(await open()).toEqual(['pull_failed:INTERRUPTED']);
    }
    expect(delays).toEqual([1_000, 2_000]);
    expect(await readPull()).toMatchObject({
      state: 'queued',
      attempts: ATTEMPTS - 1,
      errorCode: 'DEFECT',
      errorMessage: `an error that the program does not know (${what}); see its log`,
    });
    expect(await attempt()).toMatchObject({ kind: 'failed' });
    expect(await open()).toEqual(['pull_failed:DEFECT']);
  },
);

describe('the loss of the connection', () => {
  const terminate = 'PERFORM pg_terminate_backend(pg_backend_pid())';
  const retry = { attempts: ATTEMPTS + 2, backoffSeconds: 1 };

  test('waits longer each time, is an alert from the third attempt on, and has an end', async () => {
    await onInsert(terminate);
    const seen: unknown[] = [];
    for (let made = 0; made < retry.attempts; made += 1) {
      const outcome = await attempt({ retry });
      const { attempts } = await readPull();
      const [alert = null] = await open();
      seen.push([outcome.kind, outcome.kind === 'retry' ? outcome.delayMs : null, attempts, alert]);
    }
    expect(seen).toEqual([
      ['retry', 1_000, 1, null],
      ['retry', 2_000, 2, null],
      ['retry', 4_000, 3, 'pull_failed:INTERRUPTED'],
      ['retry', 8_000, 4, 'pull_failed:INTERRUPTED'],
      ['failed', null, 5, 'pull_failed:STAGING_UNAVAILABLE'],
    ]);
  });

  test('is no alert any more where another outcome follows', async () => {
    await onInsert(terminate);
    for (let made = 0; made < 3; made += 1) await attempt({ retry });
    expect(await open()).toEqual(['pull_failed:INTERRUPTED']);
    failOnce();
    await attempt({ retry });
    expect(await open()).toEqual([]);
    await endTrigger();
    expect(await attempt({ retry })).toMatchObject({ kind: 'done' });
    expect(await readPull()).toMatchObject({ attempts: 5, errorCode: null });
  });
});

// As where the process or the server ends: the pull is claimed again while it is running.
test('attempts without an outcome are counted, alerted and ended in the same way', async () => {
  for (let made = 0; made < ATTEMPTS + 1; made += 1) {
    await startAttempt(world.database, pullId);
    expect(await open()).toEqual(made < ATTEMPTS ? [] : ['pull_failed:INTERRUPTED']);
  }
  expect(await attempt()).toMatchObject({ kind: 'failed' });
  expect(await open()).toEqual(['pull_failed:ATTEMPT_ABANDONED']);
});

test.each(['whole', 'cut'])(
  'a worker that stood still while another has taken its pull over changes nothing of it, its answer being %s',
  async (answer) => {
    // Each request is sent, and before its response is read, another process takes the pull over.
    const takenOver = world.meanwhile(async () => {
      await startAttempt(world.database, pullId);
      if (answer === 'cut') throw new PlatformUnavailableError('the transfer was cut');
    });
    await expect(attempt(takenOver)).rejects.toThrow(StaleFenceError);
    const { prisma } = world;
    expect(await prisma.title.count({ where: { acceptedDate: date } })).toBe(0);
    const pull = await readPull();
    expect(pull).toMatchObject({ state: 'running', attempts: 2 });
    expect(await attempt()).toMatchObject({ kind: 'done', report: { state: 'merged' } });
  },
);
