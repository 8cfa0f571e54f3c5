/**
 * Pulls, sweeps, backfills, decisions, sign-offs, crashes and clocks in any order, beside a model in
 * memory that says what the tables have to hold after each.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, datesBetween, toCivilDate } from '../../src/base/values/business-day.ts';
import { worldOfFile } from '../support/pull-world.ts';
import { assertProperty } from '../support/random-runs.ts';
import { COMMANDS, MODEL_DATES, type Real, sweepAndPull } from './commands.ts';
import { differingDates, type Model, newDay } from './day-model.ts';
import { expectHistory, FeedConsumer } from './tables.ts';

const MAX_COMMANDS = 14;

/** Far from today, so that the sandbox has no titles of these dates. Each run has later dates than the previous run. */
let nextDate = toCivilDate('2030-01-01');
const world = worldOfFile({ startDate: nextDate });

async function begin(): Promise<{ model: Model; real: Real }> {
  const startDate = nextDate;
  nextDate = addDays(nextDate, MODEL_DATES);
  await world.prisma.$executeRaw`
    UPDATE conciliation.checkpoint SET start_date = ${startDate}::date, last_reconciled_date = NULL`;
  const dates = datesBetween(startDate, addDays(nextDate, -1));
  const days = new Map(dates.map((date) => [date, newDay()]));
  return {
    model: { days, startDate, lastReconciledDate: null, today: addDays(startDate, 3) },
    real: { world, consumer: await FeedConsumer.begin(world), abandoned: [] },
  };
}

test('after any commands the tables are what the model says', { timeout: 0 }, async () => {
  await assertProperty(
    100,
    fc.asyncProperty(
      fc.commands(COMMANDS, { maxCommands: MAX_COMMANDS, size: 'max' }),
      async (commands) => {
        const { model, real } = await begin();
        await fc.asyncModelRun(() => ({ model, real }), commands);
        // After any history, a sweep and its pulls make the tables equal to the platform.
        if (await sweepAndPull(model, real)) expect(differingDates(model)).toEqual([]);
        await expectHistory(world, model, real.consumer);
      },
    ),
  );
  expect(nextDate > addDays(toCivilDate('2030-01-01'), 100)).toBe(true);
});
