/**
 * Pulls, sweeps, backfills, decisions, sign-offs, crashes and clocks in any order, beside a model in
 * memory that says what the tables have to hold after each. 500 runs by default;
 * `npm run model -- --runs 20000 --seed 7` for as many as wanted. A failure prints seed and path, with
 * which fast-check runs it again.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, datesBetween, toCivilDate } from '../../src/domain/business-day.ts';
import { openPullWorld, type PullWorld } from '../support/pull-world.ts';
import { COMMANDS, MODEL_DATES, type Real, sweepAndPull } from './commands.ts';
import { differingDates, type Model, newDay } from './day-model.ts';
import { expectHistory, FeedConsumer } from './tables.ts';

const RUNS = Number(process.env['MODEL_RUNS'] ?? 500);
const SEED = process.env['MODEL_SEED'];
const MAX_COMMANDS = 14;
const PROGRESS_EVERY = 100;

let world: PullWorld;
/** Far from today, so that the sandbox has no titles of these dates. Each run has later dates than the previous run. */
let nextDate = toCivilDate('2030-01-01');

beforeAll(async () => {
  world = await openPullWorld({ startDate: nextDate });
  // Its crashes are of processes, none of the server, so that no commit need wait for the disk.
  const name = new URL(world.databaseUrl).pathname.slice(1);
  await world.database.pool.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
  await world.database.pool.query('SET synchronous_commit = off');
});
afterAll(() => world.close());

/** For a long run: how fast it is, and whether anything grows. */
let runsBegun = 0;
const startMs = performance.now();

function reportProgress(): void {
  runsBegun += 1;
  if (process.env['MODEL_RUNS'] === undefined || runsBegun % PROGRESS_EVERY !== 0) return;
  const seconds = (performance.now() - startMs) / 1000;
  const { heapUsed, rss } = process.memoryUsage();
  const [heapUsedMiB, rssMiB] = [heapUsed, rss].map((bytes) => Math.round(bytes / 2 ** 20));
  const perSecond = Number((runsBegun / seconds).toFixed(1));
  const line = { runs: runsBegun, seconds: Math.round(seconds), perSecond, heapUsedMiB, rssMiB };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function begin(): Promise<{ model: Model; real: Real }> {
  const startDate = nextDate;
  nextDate = addDays(nextDate, MODEL_DATES);
  await world.database.prisma.$executeRaw`
    UPDATE conciliation.checkpoint SET start_date = ${startDate}::date, last_reconciled_date = NULL`;
  const dates = datesBetween(startDate, addDays(nextDate, -1));
  const days = new Map(dates.map((date) => [date, newDay()]));
  return {
    model: { days, startDate, lastReconciledDate: null, today: addDays(startDate, 3) },
    real: { world, consumer: await FeedConsumer.begin(world), abandoned: [] },
  };
}

test(`after each of ${RUNS} runs of commands the tables are what the model says`, {
  timeout: 0,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.commands(COMMANDS, { maxCommands: MAX_COMMANDS, size: 'max' }),
      async (commands) => {
        const { model, real } = await begin();
        await fc.asyncModelRun(() => ({ model, real }), commands);
        // After any history, a sweep and its pulls make the tables equal to the platform.
        if (await sweepAndPull(model, real)) expect(differingDates(model)).toEqual([]);
        await expectHistory(world, model, real.consumer);
        reportProgress();
      },
    ),
    { numRuns: RUNS, ...(SEED !== undefined && { seed: Number(SEED) }) },
  );
  expect(nextDate > addDays(toCivilDate('2030-01-01'), RUNS)).toBe(true);
});
