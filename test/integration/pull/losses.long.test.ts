/** The limits of withdrawals remember earlier responses, and hold over the dates of a run. */
import { describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { decideRuns, readHeldRun, releaseRun } from '../../../src/core/merge/decide-runs.sql.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import type { PullParts } from '../../../src/core/work/run-pull.ts';
import { createSeededRandom } from '../../../src/demo/synthetic-titles.ts';
import {
  createBackfill,
  readBackfillProgress,
} from '../../../src/features/backfills/backfill-ledger.sql.ts';
import { signCleanDays } from '../../../src/features/review/sign-off.sql.ts';
import { signDay } from '../../support/days.ts';
import { DAY, daysFrom, TODAY, worldOfEachTest } from '../../support/pull-world.ts';
import { shuffled } from '../../support/random-runs.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const DECISION = { by: 'rita', reason: 'asked the platform' };
const SLOT = '2026-04-01T09:00:00Z';
const WEEK = [0, 1, 2, 3, 4, 5, 6].map((days) => daysFrom(days));

const world = worldOfEachTest();

const titles = (date: CivilDate, count: number, from = 0, uid = `${date} `) =>
  titleTexts(from + count, { date, uid }).slice(from);

const pull = (date: CivilDate, texts: readonly string[], parts?: Partial<PullParts>) =>
  world.serve(date, texts, parts);

const current = (date: CivilDate) =>
  world.prisma.title.count({ where: { acceptedDate: date, status: 'current' } });

/** Moves every record of a decision and of a change of a date into the past. */
async function age(date: CivilDate, days: number) {
  await world.prisma.$executeRaw`
    UPDATE conciliation.title SET changed_at = changed_at - make_interval(days => ${days}::int)
    WHERE accepted_date = ${date}::date`;
}

const sign = (date: CivilDate) => signDay(world.database, date, { bookingsFrom: null });

describe('the withdrawals of a date', () => {
  test('count over several responses: eight that each lose 19 % of the rest', async () => {
    let left = 100;
    await pull(DAY, titles(DAY, left));
    const states: string[] = [];
    for (let answer = 0; answer < 8; answer += 1) {
      left -= Math.floor(left * 0.19);
      states.push((await pull(DAY, titles(DAY, left))).state);
    }
    expect(states).toEqual(['merged', ...Array(7).fill('held')]);
    expect(await current(DAY)).toBe(81);
  });

  test('of one buyer count in the same way', async () => {
    const buyer = (count: number) => titleTexts(count, { uid: 'b', buyer: '11444777000161' });
    const others = titles(DAY, 200);
    const parts = { checksPlausibility: true };
    await pull(DAY, [...others, ...buyer(20)], parts);
    expect(await pull(DAY, [...others, ...buyer(16)], parts)).toMatchObject({ state: 'merged' });
    expect(await pull(DAY, [...others, ...buyer(13)], parts)).toMatchObject({
      state: 'held',
      holdReason: 'buyer_withdrawals',
      holdDetail: { buyer: '11444777000161', found: 7, of: 20, limit: 20 },
    });
  });

  test('count for 30 days', async () => {
    await pull(DAY, titles(DAY, 100));
    await pull(DAY, titles(DAY, 81));
    await age(DAY, 29);
    expect((await pull(DAY, titles(DAY, 79))).state).toBe('held');
    await age(DAY, 2);
    expect((await pull(DAY, titles(DAY, 79))).state).toBe('merged');
  });

  test('count from a release on, and from the sign-off of a person', async () => {
    await pull(DAY, titles(DAY, 100));
    const held = await pull(DAY, titles(DAY, 70));
    await releasePull(world.parts, held.pullId, DECISION);
    expect((await pull(DAY, titles(DAY, 60))).state).toBe('merged');
    expect((await pull(DAY, titles(DAY, 50))).state).toBe('held');
    await pull(DAY, titles(DAY, 60));
    await sign(DAY);
    expect((await pull(DAY, titles(DAY, 50))).state).toBe('merged');
  });

  test('are not forgotten at an automatic sign-off', async () => {
    await pull(DAY, titles(DAY, 100));
    await pull(DAY, titles(DAY, 81));
    await world.prisma.$executeRaw`
      INSERT INTO conciliation.day_check (date, content_digest, rules)
      SELECT date, content_digest, 'test' FROM conciliation.day`;
    expect(await signCleanDays(world.database, { bookingsFrom: DAY, to: DAY })).toEqual([DAY]);
    expect((await pull(DAY, titles(DAY, 66))).state).toBe('held');
  });

  test('do not count when the titles are back', async () => {
    await pull(DAY, titles(DAY, 100));
    await pull(DAY, titles(DAY, 81));
    await pull(DAY, titles(DAY, 100));
    expect((await pull(DAY, titles(DAY, 81, 19))).state).toBe('merged');
  });
});

describe('a title with a successor is not lost', () => {
  const instalments = (dueDate: string) =>
    Array.from({ length: 40 }, (_, index) =>
      titleText({ uid: `u${index % 25}`, value: `${100 + index}`, dueDate }),
    );

  test('where a moved holiday gives a whole date other due dates', async () => {
    await pull(DAY, instalments('2026-06-30'));
    const report = await pull(DAY, instalments('2026-07-01'), { checksPlausibility: true });
    expect(report).toMatchObject({ state: 'merged', withdrawn: 40, inserted: 40 });
    // Also not later, and not when the titles get their first due dates again.
    expect((await pull(DAY, instalments('2026-07-01').slice(1))).state).toBe('merged');
    expect((await pull(DAY, instalments('2026-06-30').slice(1))).state).toBe('merged');
    expect((await pull(DAY, instalments('2026-06-30').slice(12))).state).toBe('held');
  });

  test('where all titles of a date move to the next date', async () => {
    const next = daysFrom(1);
    await pull(next, titles(next, 5));
    await pull(DAY, titles(DAY, 30, 0, 'moved'));
    await pull(next, [...titles(next, 5), ...titles(next, 30, 0, 'moved')]);
    expect(await pull(DAY, [])).toMatchObject({ state: 'merged', withdrawn: 30 });
  });

  test('but an equal title that another date had beside the title is no successor', async () => {
    const next = daysFrom(1);
    await pull(next, titles(next, 30, 0, 'both'));
    await pull(DAY, titles(DAY, 30, 0, 'both'));
    expect(await pull(DAY, [])).toMatchObject({ state: 'held', holdReason: 'emptied' });
  });
});

/** Creates the pulls of one run; `pulls.get(date)` is the pull. */
async function createRun(dates: readonly CivilDate[], slotAt = SLOT) {
  const pulls = new Map<CivilDate, bigint>();
  for (const date of dates) {
    const data = { origin: 'lookback', date, slotAt: new Date(slotAt), requestedBy: 'scheduler' };
    pulls.set(date, (await world.prisma.pull.create({ data })).id);
  }
  return pulls;
}

async function attempt(pullId: bigint | undefined) {
  const outcome = await world.run(pullId ?? -1n);
  if (outcome.kind !== 'done') throw outcome.error;
  return outcome.report;
}

async function runOf(dates: readonly CivilDate[], slotAt = SLOT) {
  const pulls = await createRun(dates, slotAt);
  for (const date of dates) await attempt(pulls.get(date));
  await decideRuns(world.parts, 'schedule');
  return pulls;
}

async function stateOf(date: CivilDate) {
  const day = await world.prisma.day.findUniqueOrThrow({ where: { date } });
  return `${day.state} ${day.titleCount}`;
}
const states = (dates: readonly CivilDate[]) => Promise.all(dates.map(stateOf));

async function load(count: number, dates = WEEK) {
  for (const date of dates) await pull(date, titles(date, count));
}

const releaseAll = async (one: bigint) =>
  releaseRun(world.parts, one, { ...DECISION, seen: await readHeldRun(world.database, one) });

describe('the limit of a run', () => {
  test('holds seven dates that each lose 19 %, and one decision releases them', async () => {
    await load(100);
    for (const date of WEEK) world.sandbox.setDayTexts(date, titles(date, 81));
    const pulls = await runOf(WEEK);
    expect(await states(WEEK)).toEqual(WEEK.map(() => 'held 100'));
    const held = await world.prisma.pull.findMany({ where: { state: 'held' } });
    expect(held).toHaveLength(7);
    for (const { holdReason, holdDetail } of held) {
      expect({ holdReason, holdDetail }).toEqual({
        holdReason: 'run_withdrawals',
        holdDetail: { buyer: null, found: 133, of: 700, limit: 10 },
      });
    }
    const one = [...pulls.values()][3] ?? 0n;
    await expect(releaseRun(world.parts, one, { ...DECISION, seen: [one] })).rejects.toMatchObject({
      context: { fault: 'run_changed' },
    });
    expect(await states(WEEK)).toEqual(WEEK.map(() => 'held 100'));
    const reports = await releaseAll(one);
    expect(reports).toHaveLength(7);
    expect(await states(WEEK)).toEqual(WEEK.map(() => 'reconciled 81'));
  });

  test('lets one date lose what it may, at the end of the run', async () => {
    await load(100);
    world.sandbox.setDayTexts(DAY, titles(DAY, 81));
    const pulls = await createRun(WEEK);
    expect(await attempt(pulls.get(DAY))).toMatchObject({
      state: 'held',
      holdReason: 'run_withdrawals',
    });
    await decideRuns(world.parts, 'schedule');
    expect(await stateOf(DAY)).toBe('held 100');
    for (const date of WEEK.slice(1)) await attempt(pulls.get(date));
    await decideRuns(world.parts, 'schedule');
    expect(await stateOf(DAY)).toBe('reconciled 81');
    const row = await world.prisma.pull.findUniqueOrThrow({ where: { id: pulls.get(DAY) ?? 0n } });
    expect(row).toMatchObject({ state: 'merged', decidedBy: null, decidedAt: null });
  });

  test('goes on where a person decides about one of its dates meanwhile', async () => {
    const [first = DAY, second = DAY] = WEEK;
    await load(60, [first, second]);
    for (const date of [first, second]) world.sandbox.setDayTexts(date, titles(date, 52));
    const pulls = await createRun([first, second]);
    for (const date of [first, second]) await attempt(pulls.get(date));
    // The second is released by a person while the end of the run releases the first.
    const person = {
      name: 'person',
      engine: {
        async beforePlan(_: unknown, { pullId }: { readonly pullId: bigint }) {
          const other = pulls.get(second) ?? 0n;
          if (releases++ === 2 && pullId !== other) await releasePull(world.parts, other, DECISION);
        },
      },
    };
    let releases = 0;
    const parts = { ...world.parts, features: [...world.parts.features, person] };
    expect(await decideRuns(parts, 'schedule')).toBe(1);
    expect(await states([first, second])).toEqual(['reconciled 52', 'reconciled 52']);
  });

  test('merges the responses that add titles, and a first load', async () => {
    await load(100, WEEK.slice(0, 3));
    for (const date of WEEK.slice(0, 3)) world.sandbox.setDayTexts(date, titles(date, 81));
    for (const date of WEEK.slice(3)) world.sandbox.setDayTexts(date, titles(date, 10));
    await runOf(WEEK);
    expect(await states(WEEK)).toEqual([
      ...Array(3).fill('held 100'),
      ...Array(4).fill('reconciled 10'),
    ]);
  });

  test('counts no titles that move to another date of the run, in either order', async () => {
    for (const [index, isReversed] of [false, true].entries()) {
      const [from, to] = [daysFrom(index * 2), daysFrom(index * 2 + 1)];
      await pull(from, titles(from, 30, 0, `moved${index}`));
      await pull(to, titles(to, 30));
      world.sandbox.setDayTexts(from, []);
      world.sandbox.setDayTexts(to, [...titles(to, 30), ...titles(to, 30, 0, `moved${index}`)]);
      await runOf(isReversed ? [to, from] : [from, to], `2026-04-0${index + 1}T09:00:00Z`);
      expect(await states([from, to])).toEqual(['reconciled 0', 'reconciled 60']);
    }
  });

  test('counts no titles of a waiting response that move to another date of the run', async () => {
    const [from = DAY, to = DAY, other = DAY] = WEEK;
    await pull(from, [...titles(from, 80), ...titles(from, 20, 0, 'moved')]);
    await pull(to, titles(to, 100));
    await pull(other, titles(other, 100));
    world.sandbox.setDayTexts(from, titles(from, 80));
    world.sandbox.setDayTexts(to, [...titles(to, 100), ...titles(to, 20, 0, 'moved')]);
    world.sandbox.setDayTexts(other, titles(other, 85));
    await runOf([from, to, other]);
    expect(await states([from, to, other])).toEqual([
      'reconciled 80',
      'reconciled 120',
      'reconciled 85',
    ]);
  });

  test('a backfill over a purged history is one decision', async () => {
    await load(30);
    for (const date of WEEK) world.sandbox.setDayTexts(date, []);
    const range = { from: WEEK[0] ?? DAY, to: WEEK[6] ?? DAY };
    const id = await createBackfill(world.database, { range, concurrency: 2, by: 'rita' }, TODAY);
    const pull = { origin: 'backfill', backfillId: id, requestedBy: 'scheduler' };
    const pulls = await world.prisma.pull.createManyAndReturn({
      data: WEEK.map((date) => ({ ...pull, date })),
    });
    for (const row of pulls) await attempt(row.id);
    await decideRuns(world.parts, 'backfill');
    expect(await readBackfillProgress(world.database, id)).toMatchObject({ held: 7 });
    await releaseAll(pulls[0]?.id ?? 0n);
    expect(await states(WEEK)).toEqual(WEEK.map(() => 'reconciled 0'));
  });

  test('has one result for every order of the responses', async () => {
    const random = createSeededRandom('losses');
    const dates = WEEK.slice(0, 4);
    for (let history = 0; history < 3; history += 1) {
      // Each date loses up to 24 %, so that small, waiting and held responses meet.
      const plan = new Map(dates.map((date) => [date, random(25)]));
      const results: string[][] = [];
      for (let order = 0; order < 3; order += 1) {
        const slotAt = new Date(Date.UTC(2026, 4, 1 + history, order)).toISOString();
        const uid = (date: CivilDate) => `${date} ${history} ${order} `;
        for (const date of dates) {
          const loaded = await pull(date, titles(date, 100, 0, uid(date)));
          if (loaded.state === 'held') await releasePull(world.parts, loaded.pullId, DECISION);
        }
        for (const date of dates) {
          const lost = plan.get(date) ?? 0;
          world.sandbox.setDayTexts(date, titles(date, 100 - lost, 0, uid(date)));
        }
        await runOf(shuffled(dates, random), slotAt);
        results.push(await states(dates));
      }
      expect(results[1], [...plan.values()].join()).toEqual(results[0]);
      expect(results[2], [...plan.values()].join()).toEqual(results[0]);
    }
  });
});
