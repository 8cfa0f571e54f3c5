/** A process that is stopped in the middle of its pull, and the pulls of other dates meanwhile. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { FaultPoint } from '../../../src/base/runtime/fault-points.ts';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { FaultyService, type FiredFault } from '../../faults/faulty-service.ts';
import { environmentOf } from '../../support/child-command.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { daysFrom, freshDays, TODAY, worldOfFile } from '../../support/pull-world.ts';
import { dueSince, eventually } from '../../support/service-world.ts';
import { titleTexts } from '../../support/titles.ts';

/** The only date that the service has to pull by itself, and has pulled. */
const YESTERDAY = daysFrom(-1, TODAY);

const world = worldOfFile({ startDate: YESTERDAY });
const folder = forFile(openFolder);
beforeAll(async () => {
  setTitles(YESTERDAY, 1);
  await world.pull(YESTERDAY);
});

/** Each test has separate dates: the date of the stopped process, and other dates. */
const freshDay = freshDays(daysFrom(-1000, TODAY));
let date: CivilDate;
beforeEach(() => {
  date = freshDay();
});

function setTitles(of: CivilDate, count: number, discount = '1'): void {
  world.sandbox.setDayTexts(of, titleTexts(count, { date: of, discount }));
}

/** Sessions of the service that do what `condition` says, SQL on pg_stat_activity. */
async function sessionsThat(condition: string): Promise<number> {
  const { rowCount } = await world.database.pool.query(`
    SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND application_name LIKE 'conciliation%' AND ${condition}`);
  return rowCount ?? 0;
}

/** Starts a service that halts at a point of the pull of `date`, and stops the process there. */
async function stopAt(point: FaultPoint): Promise<FaultyService> {
  const armFile = join(folder.path, 'armed');
  await writeFile(armFile, '');
  let fire: (fired: FiredFault) => void = () => undefined;
  const fired = new Promise<FiredFault>((resolve) => {
    fire = resolve;
  });
  const service = new FaultyService({
    environment: { ...environmentOf(world), ...dueSince(YESTERDAY), CONSOLE_PORT: '0' },
    overrides: {
      tickMs: 1_000,
      planner: { grace: { runningMs: 120_000, requestedQueuedMs: 0, requestedRunningMs: 120_000 } },
    },
    onFired: fire,
  });
  await world.newPull(date);
  service.start({ point, hit: 1, armFile });
  const { process, release } = await fired;
  process.send('SIGSTOP');
  release();
  return service;
}

/** Goes on with the stopped process, which ends what it had begun. */
async function resume(service: FaultyService, titles: number): Promise<void> {
  service.send('SIGCONT');
  await eventually(async () => {
    const { rows } = await world.database.pool.query(`
      SELECT pull.state, count(title.id)::int AS titles FROM conciliation.pull
      LEFT JOIN conciliation.title ON accepted_date = '${date}' AND status = 'current'
      AND platform_discounted_value = 2
      WHERE pull.id = (SELECT max(id) FROM conciliation.pull WHERE pull.date = '${date}')
      GROUP BY pull.state`);
    expect(rows).toEqual([{ state: 'merged', titles }]);
  });
}

/** Pulls a date that has no titles and then again, restated. */
async function pullOther(): Promise<void> {
  const other = freshDay();
  setTitles(other, 5);
  expect(await world.pull(other)).toMatchObject({ state: 'merged', inserted: 5 });
  setTitles(other, 5, '2');
  expect(await world.pull(other)).toMatchObject({ state: 'merged', changed: 5 });
}

/** The session that has written titles. The process may have been stopped in other transactions, too. */
const MERGES = `state = 'idle in transaction' AND pid IN (
  SELECT pid FROM pg_locks WHERE relation = 'conciliation.title'::regclass AND mode = 'RowExclusiveLock')`;

test.each([
  ['while it stages a date', 'mid-copy', 2000, `query LIKE 'COPY conciliation.staged_title (%'`],
  ['in its merge, before the closing phase,', 'applied', 20, MERGES],
  ['in its closing phase', 'closing', 20, MERGES],
] as const)(
  'a process that is stopped %s keeps no other date waiting for ever',
  async (_, point, titles, condition) => {
    setTitles(date, titles);
    await world.pull(date);
    setTitles(date, titles, '2');
    const service = await stopAt(point);
    onTestFinished(() => service.kill());
    expect(await sessionsThat(condition)).toBeGreaterThan(0);
    await pullOther();
    // PostgreSQL has ended a session in its closing phase, and no other session that waits for its process.
    if (point === 'closing') expect(await sessionsThat(condition)).toBe(0);
    await resume(service, titles);
  },
);
