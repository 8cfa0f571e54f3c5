import { describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { acceptRejects } from '../../../src/features/review/sign-off.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { daysFrom, freshDays } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const world = worldOfFile();
// Each test takes a separate date, so that no test sees the titles of another test.
const freshDay = freshDays();

async function dayRow(date: CivilDate) {
  const [row] = await world.database.prisma.$queryRaw<
    [
      {
        state: string;
        title_count: number;
        withdrawn_count: number;
        rejected_count: number;
        sum: string;
        held: bigint | null;
      },
    ]
  >`SELECT state, title_count, withdrawn_count, rejected_count, original_value_sum::text AS sum, held_pull_id AS held
    FROM conciliation.day WHERE date = ${date}::date`;
  return row;
}

async function titles(date: CivilDate) {
  return world.database.prisma.$queryRaw<
    {
      order_uid: string;
      status: string;
      occurrence: number;
      original_value: string;
      discount: string;
    }[]
  >`SELECT order_uid, status, occurrence, original_value::text, platform_discounted_value::text AS discount
    FROM conciliation.title WHERE accepted_date = ${date}::date ORDER BY order_uid, occurrence`;
}

const decision = { by: 'tester', reason: 'asked the platform' };

describe('a day', () => {
  test.each([1000, 0])(
    'keeps two identical titles as two rows, and withdraws one when one is missing, with %i texts known',
    async (maxKnownTitles) => {
      const date = freshDay();
      const twin = titleText({ date, uid: 'twin' });
      const others = titleTexts(8, { date });
      const pull = (...texts: string[]) => {
        return world.serve(date, texts, { maxKnownTitles });
      };
      await pull(twin, ...others);
      expect(await pull(twin, ...others, twin)).toMatchObject({ inserted: 1 });
      expect((await titles(date)).filter((title) => title.order_uid === 'twin')).toMatchObject([
        { occurrence: 1, status: 'current' },
        { occurrence: 2, status: 'current' },
      ]);
      expect(await pull(twin, ...others)).toMatchObject({ withdrawn: 1, unchanged: 9 });
      expect(await pull(twin, ...others, twin)).toMatchObject({ restored: 1, unchanged: 9 });
      expect(await titles(date)).toHaveLength(10);
    },
  );

  test('changes a restated title in place and keeps its earlier state', async () => {
    const date = freshDay();
    await world.serve(date, [titleText({ date, discount: '12.34' })]);
    expect(await world.serve(date, [titleText({ date, discount: '12.35' })])).toMatchObject({
      changed: 1,
      inserted: 0,
      withdrawn: 0,
    });
    expect(await titles(date)).toMatchObject([{ discount: '12.35', occurrence: 1 }]);
    const revisions = await world.database.prisma.$queryRaw`
      SELECT revision, kind, before, after FROM conciliation.title_revision
      JOIN conciliation.title ON title.id = title_id WHERE accepted_date = ${date}::date`;
    expect(revisions).toEqual([
      {
        revision: 1,
        kind: 'changed',
        before: { platform_discounted_value: 12.34 },
        after: { platform_discounted_value: 12.35 },
      },
    ]);
  });
});

describe('a hold', () => {
  test('leaves an emptied day unchanged until a person releases it', async () => {
    const date = freshDay();
    await world.serve(date, [titleText({ date })]);
    const report = await world.serve(date, [], { withdrawalLimitPercent: 100 });
    expect(report).toMatchObject({ state: 'held', holdReason: 'emptied', withdrawn: 1 });
    expect(await dayRow(date)).toMatchObject({
      state: 'held',
      title_count: 1,
      held: report.pullId,
    });

    await releasePull(world.parts, report.pullId, decision);
    expect(await dayRow(date)).toMatchObject({
      state: 'reconciled',
      title_count: 0,
      withdrawn_count: 1,
      held: null,
    });
    await expect(releasePull(world.parts, report.pullId, decision)).rejects.toThrow(
      /holds no date/,
    );
    const audit = await world.database.prisma.auditEntry.findMany({
      where: { pullId: report.pullId },
    });
    expect(audit).toMatchObject([
      { actor: 'tester', action: 'pull.release', reason: decision.reason },
    ]);
  });

  test('counts withdrawals against the limit: at it they pass, beyond it they wait', async () => {
    const date = freshDay();
    const ten = titleTexts(10, { date });
    await world.serve(date, ten);
    expect(await world.serve(date, ten.slice(2))).toMatchObject({ state: 'merged', withdrawn: 2 });
    expect(await world.serve(date, ten.slice(4))).toMatchObject({
      state: 'held',
      holdReason: 'withdrawal_limit',
    });
    // Withdrawn titles are in no sum.
    expect(await dayRow(date)).toMatchObject({
      title_count: 8,
      withdrawn_count: 2,
      sum: '8004.00',
    });
  });

  test('whose staged titles a crash has emptied cannot be released', async () => {
    const date = freshDay();
    const ten = titleTexts(10, { date });
    await world.serve(date, ten);
    const held = await world.serve(date, ten.slice(5));
    // The effect of recovery on unlogged tables.
    await world.database.prisma.$executeRaw`
      TRUNCATE conciliation.staged_title, conciliation.staged_reject, conciliation.staged_base,
               conciliation.staged_missing, conciliation.staged_change`;
    await expect(releasePull(world.parts, held.pullId, decision)).rejects.toThrow(
      /the date is pulled again/,
    );
    expect(await dayRow(date)).toMatchObject({ state: 'held', title_count: 10 });
  });
});

describe('rejected titles', () => {
  const bad = (date: CivilDate) => titleText({ date, uid: 'bad', value: '"12"' });

  test('are kept apart, the rest is merged, and the day needs attention', async () => {
    const date = freshDay();
    const report = await world.serve(date, [titleText({ date }), bad(date)]);
    expect(report).toMatchObject({ titles: 2, rejected: 1, inserted: 1 });
    expect(await dayRow(date)).toMatchObject({
      state: 'attention',
      title_count: 1,
      rejected_count: 1,
    });
    const rejects = await world.database.prisma.rejectedTitle.findMany({
      where: { lastPullId: report.pullId },
    });
    expect(rejects).toMatchObject([{ status: 'open', ordinal: 1, raw: bad(date) }]);
    expect(rejects[0]?.reasons.join()).toMatch(/originalValue/);
  });

  test('once accepted stay accepted when they come again', async () => {
    const date = freshDay();
    await world.serve(date, [titleText({ date }), bad(date), bad(date)]);
    expect(await acceptRejects(world.database, date, decision)).toBe(2);
    expect(await dayRow(date)).toMatchObject({ state: 'reconciled', rejected_count: 2 });
    await world.pull(date);
    expect(await dayRow(date)).toMatchObject({ state: 'reconciled' });
    await world.serve(date, [titleText({ date }), bad(date), bad(date), bad(date)]);
    expect(await dayRow(date)).toMatchObject({ state: 'attention', rejected_count: 3 });
    await expect(acceptRejects(world.database, daysFrom(900), decision)).rejects.toThrow(
      /no rejected titles/,
    );
  });
});
