/** Schedulers and workers may be any number: together they ask for what one alone would ask for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type CivilDate, datesBetween } from '../../../src/base/values/business-day.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { errorsOf } from '../../support/service-process.ts';
import { predictTitles, readTitles } from '../../support/service-titles.ts';
import {
  eventually,
  inServiceWorld,
  SANDBOX,
  type ServiceWorld,
} from '../../support/service-world.ts';

const DAYS = 10;
const LOOKBACK_DAYS = 7;
/** Ahead of the database's clock, by which every fetch since a slot counts as a pull of the slot. */
const START = daysFrom(2, TODAY);
const noonOf = (date: CivilDate) => new Date(`${date}T15:00:00Z`);
/** An hour after the sweep is due, so that all dates have been pulled before. */
const eveningOf = (date: CivilDate) => new Date(`${date}T22:00:00Z`);

const OPTIONS = {
  redisDatabase: 12,
  now: noonOf(daysFrom(1, START)),
  environment: {
    START_DATE: START,
    LOOKBACK_DAYS: String(LOOKBACK_DAYS),
    SWEEP_CRON: '0 18 * * *',
  },
};

test('two processes ask for what the schedules of ten simulated days say', () =>
  inServiceWorld('PostgreSQL', OPTIONS, liveThrough));

async function liveThrough(world: ServiceWorld): Promise<void> {
  const running = await Promise.all([world.start(), world.start()]);
  for (let day = 1; day <= DAYS; day += 1) {
    await world.setNow(noonOf(daysFrom(day, START)));
    // Yesterday, and the lookback as far as the ledger goes.
    await untilPulled(world, daysFrom(day, START), Math.min(day, LOOKBACK_DAYS + 1));
    await world.setNow(eveningOf(daysFrom(day, START)));
    await untilSwept(world, day);
  }
  // A tick or two, in which the slower process would ask again.
  await sleep(2_500);
  expect(requestCounts(world)).toEqual(expectedCounts());
  const last = daysFrom(DAYS - 1, START);
  expect(await readTitles(world.database)).toMatchObject(predictTitles(SANDBOX, START, last));
  for (const process of running) expect(errorsOf(process)).toEqual([]);
}

/** Waits until every pull of that date's slots has ended. */
async function untilPulled(world: ServiceWorld, date: CivilDate, pulls: number): Promise<void> {
  await eventually(async () => {
    const [row] = await world.database.prisma.$queryRaw<unknown[]>`
      SELECT count(*)::int AS pulls,
             count(*) FILTER (WHERE state IN ('merged', 'unchanged', 'superseded'))::int AS ended
      FROM conciliation.pull
      WHERE (slot_at AT TIME ZONE 'America/Sao_Paulo')::date = ${date}::date`;
    expect(row).toEqual({ pulls, ended: pulls });
  });
}

/** Waits until as many sweeps have ended, all of which found that every date agrees. */
async function untilSwept(world: ServiceWorld, sweeps: number): Promise<void> {
  await eventually(async () => {
    const [row] = await world.database.prisma.$queryRaw<unknown[]>`
      SELECT count(*)::int AS sweeps, count(*) FILTER (WHERE state = 'complete')::int AS complete,
             sum(dates_differing)::int AS differing
      FROM conciliation.sweep`;
    expect(row).toEqual({ sweeps, complete: sweeps, differing: 0 });
  });
}

/** How often each date was asked for by itself, and how often everything since it. */
function requestCounts(world: ServiceWorld): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { query } of world.sandbox.requests) {
    const asked = new URLSearchParams(query).toString();
    counts[asked] = (counts[asked] ?? 0) + 1;
  }
  return counts;
}

/** The expectation from the schedules alone, without a planner. */
function expectedCounts(): Record<string, number> {
  const counts: Record<string, number> = {};
  const count = (name: string, date: CivilDate) => {
    const asked = `${name}=${date}`;
    counts[asked] = (counts[asked] ?? 0) + 1;
  };
  for (let day = 1; day <= DAYS; day += 1) {
    const yesterday = daysFrom(day - 1, START);
    for (const date of datesBetween(daysFrom(-LOOKBACK_DAYS, yesterday), yesterday)) {
      if (date >= START) count('conciliationDate', date);
    }
    count('anticipationDate', START);
  }
  return counts;
}
