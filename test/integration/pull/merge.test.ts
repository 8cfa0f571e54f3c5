import { beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { discardStrayRows } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { acceptRejects } from '../../../src/features/review/sign-off.sql.ts';
import { withClient } from '../../support/client.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { titlesOf, titleText, titleTexts } from '../../support/titles.ts';
import { countWritten } from '../../support/written-rows.ts';

const world = worldOfFile();
/** Each test has a separate date, so that no test sees the titles of another test. */
let date = DAY;
beforeEach(() => {
  date = daysFrom(1, date);
});

const dayRow = () => world.prisma.day.findUnique({ where: { date } });

const titles = () =>
  world.prisma.$queryRaw<{ order_uid: string }[]>`
    SELECT order_uid, status, occurrence, platform_discounted_value::text AS discount,
           money_transfer_fee::text AS fee
    FROM conciliation.title WHERE accepted_date = ${date}::date ORDER BY order_uid, occurrence`;

const decision = { by: 'tester', reason: 'asked the platform' };

describe('a day', () => {
  test.each([1000, 0])(
    'keeps two identical titles as two rows, and withdraws one when one is missing, with %i texts known',
    async (maxKnownTitles) => {
      const twin = titleText({ date, uid: 'twin' });
      const others = titleTexts(8, { date });
      const pull = (...texts: string[]) => world.serve(date, texts, { maxKnownTitles });
      await pull(twin, ...others);
      expect(await pull(twin, ...others, twin)).toMatchObject({ inserted: 1 });
      expect((await titles()).filter((title) => title.order_uid === 'twin')).toMatchObject([
        { occurrence: 1, status: 'current' },
        { occurrence: 2, status: 'current' },
      ]);
      expect(await pull(twin, ...others)).toMatchObject({ withdrawn: 1, unchanged: 9 });
      expect(await pull(twin, ...others, twin)).toMatchObject({ restored: 1, unchanged: 9 });
      expect(await titles()).toHaveLength(10);
    },
  );

  test('changes a restated title in place and keeps its earlier states, digit by digit', async () => {
    const restate = (discount: string, fee: string) =>
      world.serve(date, [titleText({ date, discount }).replace('3.90', fee)]);
    await restate('12.34', '3.90');
    for (const [discount, fee] of [
      ['12.35', '3.9'],
      ['12.36', '3.900'],
    ] as const) {
      const report = await restate(discount, fee);
      expect(report).toMatchObject({ changed: 1, inserted: 0, withdrawn: 0 });
    }
    expect(await titles()).toMatchObject([{ discount: '12.36', fee: '3.900', occurrence: 1 }]);
    const { rows } = await world.database.pool.query(`
      SELECT concat_ws(' ', revision, kind, before, '->', after) AS text
      FROM conciliation.title_revision JOIN conciliation.title ON title.id = title_id
      WHERE accepted_date = '${date}' ORDER BY revision`);
    expect(rows.map(({ text }) => text)).toEqual([
      '1 changed {"money_transfer_fee": 3.90, "platform_discounted_value": 12.34} -> {"money_transfer_fee": 3.9, "platform_discounted_value": 12.35}',
      '2 changed {"money_transfer_fee": 3.9, "platform_discounted_value": 12.35} -> {"money_transfer_fee": 3.900, "platform_discounted_value": 12.36}',
    ]);
  });
});

describe('a hold', () => {
  test('leaves an emptied day unchanged until a person releases it', async () => {
    await world.serve(date, [titleText({ date })]);
    const report = await world.serve(date, [], { withdrawalLimitPercent: 100 });
    expect(report).toMatchObject({ state: 'held', holdReason: 'emptied', withdrawn: 1 });
    expect(await dayRow()).toMatchObject({
      state: 'held',
      titleCount: 1,
      heldPullId: report.pullId,
    });

    await releasePull(world.parts, report.pullId, decision);
    expect(await dayRow()).toMatchObject({
      state: 'reconciled',
      titleCount: 0,
      withdrawnCount: 1,
      heldPullId: null,
    });
    await expect(releasePull(world.parts, report.pullId, decision)).rejects.toThrow(
      /holds no date/,
    );
    const audit = await world.prisma.auditEntry.findMany({ where: { pullId: report.pullId } });
    expect(audit).toMatchObject([
      { actor: 'tester', action: 'pull.release', reason: decision.reason },
    ]);
  });

  test('counts withdrawals against the limit: at it they pass, beyond it they wait', async () => {
    const ten = titleTexts(10, { date });
    await world.serve(date, ten);
    expect(await world.serve(date, ten.slice(2))).toMatchObject({ state: 'merged', withdrawn: 2 });
    expect(await world.serve(date, ten.slice(4))).toMatchObject({
      state: 'held',
      holdReason: 'withdrawal_limit',
    });
    // Withdrawn titles are in no sum.
    const day = await dayRow();
    expect(day).toMatchObject({ titleCount: 8, withdrawnCount: 2 });
    expect(String(day?.originalValueSum)).toBe('8004');
  });

  test('whose staged titles a crash has emptied cannot be released', async () => {
    const ten = titleTexts(10, { date });
    await world.serve(date, ten);
    const held = await world.serve(date, ten.slice(5));
    // The effect of recovery on unlogged tables.
    await world.prisma.$executeRaw`
      TRUNCATE conciliation.staged_title, conciliation.staged_reject, conciliation.staged_base,
               conciliation.staged_missing, conciliation.staged_change`;
    await expect(releasePull(world.parts, held.pullId, decision)).rejects.toThrow(
      /the date is pulled again/,
    );
    expect(await dayRow()).toMatchObject({ state: 'held', titleCount: 10 });
  });
});

describe('rejected titles', () => {
  const bad = () => titleText({ date, uid: 'bad', value: '"12"' });

  test('are kept apart, the rest is merged, and the day needs attention', async () => {
    const report = await world.serve(date, [titleText({ date }), bad()]);
    expect(report).toMatchObject({ titles: 2, rejected: 1, inserted: 1 });
    expect(await dayRow()).toMatchObject({ state: 'attention', titleCount: 1, rejectedCount: 1 });
    const rejects = await world.prisma.rejectedTitle.findMany({
      where: { lastPullId: report.pullId },
    });
    expect(rejects).toMatchObject([{ status: 'open', ordinal: 1, raw: bad() }]);
    expect(rejects[0]?.reasons.join()).toMatch(/originalValue/);
  });

  test('once accepted stay accepted when they come again', async () => {
    await world.serve(date, [titleText({ date }), bad(), bad()]);
    expect(await acceptRejects(world.database, date, decision)).toBe(2);
    expect(await dayRow()).toMatchObject({ state: 'reconciled', rejectedCount: 2 });
    await world.pull(date);
    expect(await dayRow()).toMatchObject({ state: 'reconciled' });
    await world.serve(date, [titleText({ date }), bad(), bad(), bad()]);
    expect(await dayRow()).toMatchObject({ state: 'attention', rejectedCount: 3 });
    await expect(acceptRejects(world.database, daysFrom(900), decision)).rejects.toThrow(
      /no rejected titles/,
    );
  });
});

test('a second identical pull writes no row of titles or revisions, in any order of the response', async () => {
  const texts = Array.from({ length: 500 }, (_, index) =>
    titleText({ date, uid: `t${index % 400}`, discount: `${index % 7}.5` }),
  );
  expect(await world.serve(date, texts)).toMatchObject({ inserted: 500 });

  for (const order of [texts, texts.toReversed(), texts.toSorted()]) {
    const [report, written] = await countWritten(world.database, () => world.serve(date, order));
    expect(report).toMatchObject({ state: 'unchanged', unchanged: 500, changed: 0 });
    // The row of the pull, and the day's: when it was last compared.
    expect(written).toEqual({ day: 1, pull: 1 });
  }
});

test('titles that differ in undocumented fields alone are unchanged, and no seal breaks', async () => {
  const answer = (more: string) => world.sandbox.setDayTexts(date, titleTexts(50, { date, more }));
  const readDay = async () => {
    const { contentDigest, changedAt } = (await dayRow()) ?? {};
    return { contentDigest, changedAt };
  };
  answer(',"answeredAt":"2026-03-03T06:00:00Z"');
  await world.pull(date);
  const day = await readDay();

  // A field whose value changes, a field that is new, and a field that is gone.
  for (const more of [',"answeredAt":"2026-03-04T06:00:00Z"', ',"a":1,"b":{"c":[2]}', '']) {
    answer(more);
    const [report, written] = await countWritten(world.database, () => world.pull(date));
    expect(report).toMatchObject({ state: 'unchanged', unchanged: 50, changed: 0 });
    expect(Object.keys(written).filter((table) => table.startsWith('title'))).toEqual([]);
  }
  expect(await readDay()).toEqual(day);
});

test('the feed shows one restated title', async () => {
  for (const dueDate of ['2027-01-31', '2027-02-28']) {
    const texts = [titleText({ uid: 'one', date, dueDate })];
    await world.serve(date, texts, { withdrawalLimitPercent: 100 });
  }
  const [gone, came] = await world.prisma.title.findMany({
    where: { acceptedDate: date },
    orderBy: { id: 'asc' },
  });
  const feed = await world.prisma.$queryRaw<object[]>`
    SELECT change_kind AS kind, predecessor_id AS "from", successor_id AS "to"
    FROM conciliation.title_feed WHERE accepted_date = ${date}::date ORDER BY change_seq`;
  expect(feed.slice(-2)).toEqual(
    expect.arrayContaining([
      { kind: 'withdrawn', from: null, to: came?.id },
      { kind: 'inserted', from: gone?.id, to: null },
    ]),
  );
});

test('a title whose buyer is written in another way replaces the title with the other writing', async () => {
  const serve = (...titles: (readonly [uid: string, buyer: string])[]) => {
    const texts = titles.map(([uid, buyer]) => titleText({ uid, date, buyer }));
    return world.serve(date, texts, { withdrawalLimitPercent: 100 });
  };
  await serve(['one', '90021382000122'], ['two', '90021382000122'], ['three', '00000000000191']);
  await serve(['one', '90.021.382/0001-22'], ['two', '11444777000161'], ['three', '191']);
  const links = await world.prisma.$queryRaw<object[]>`
    SELECT came.order_uid AS uid, gone.buyer_identification AS before, came.buyer_identification AS after
    FROM conciliation.title_succession AS link
    JOIN conciliation.title AS came ON came.id = link.title_id
    JOIN conciliation.title AS gone ON gone.id = link.predecessor_id
    WHERE link.accepted_date = ${date}::date ORDER BY came.order_uid`;
  expect(links).toEqual([
    { uid: 'one', before: '90021382000122', after: '90.021.382/0001-22' },
    { uid: 'three', before: '00000000000191', after: '191' },
  ]);
});

test('the staged rows of a killed process are removed, those of running and held pulls stay', async () => {
  const ten = titleTexts(10, { date });
  await world.serve(date, ten);
  const restated = titleText({ date, uid: 't0', discount: '1.5' });
  const { state, pullId } = await world.serve(date, [restated, ...ten.slice(6)]);
  expect(state).toBe('held');
  const { prisma } = world;
  const { fence } = await prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
  const staged = ['staged_title', 'staged_base', 'staged_missing'];
  for (const table of staged) {
    await prisma.$executeRawUnsafe(
      `INSERT INTO conciliation.${table}
       SELECT (jsonb_populate_record(staged, '{"fence": 999999}')).* FROM conciliation.${table} staged
       WHERE fence = ${fence}`,
    );
  }
  expect(await discardStrayRows(world.database)).toBe(1);
  expect(await discardStrayRows(world.database)).toBe(0);
  const rows = staged.map((table) =>
    prisma.$queryRawUnsafe(
      `SELECT count(*)::int AS rows FROM conciliation.${table} WHERE fence IN (${fence}, 999999)`,
    ),
  );
  // One title differs, and six texts are missing: that of the one, and those of the five.
  expect(await Promise.all(rows)).toEqual([[{ rows: 1 }], [{ rows: 1 }], [{ rows: 6 }]]);
});

let last = 0n;

/** The feed rows after the last position of an ERP. */
async function readFeed() {
  const rows = await world.prisma.$queryRaw<
    { seq: bigint; uid: string; status: string; discount: string }[]
  >`
    SELECT change_seq AS seq, order_uid AS uid, status, platform_discounted_value::text AS discount
    FROM conciliation.title_feed WHERE change_seq > ${last} ORDER BY change_seq`;
  last = rows.at(-1)?.seq ?? last;
  return rows.map(({ uid, status, discount }) => `${uid} ${status} ${discount}`);
}

test('the feed has each inserted, changed, withdrawn and restored title, and no other', async () => {
  await readFeed();
  const pull = (...texts: string[]) => world.serve(date, texts);
  const uids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const [a = '', b = '', ...rest] = titlesOf(uids, { date, discount: '1' });
  const restated = titleText({ uid: 'b', date, discount: '2' });
  await pull(a, b, ...rest);
  expect((await readFeed()).sort()).toEqual(uids.map((uid) => `${uid} current 1`));
  await pull(a, b, ...rest);
  expect(await readFeed()).toEqual([]);
  await pull(b, ...rest);
  expect(await readFeed()).toEqual(['a withdrawn 1']);
  await pull(restated, ...rest);
  expect(await readFeed()).toEqual(['b current 2']);
  await pull(restated, ...rest, a);
  expect(await readFeed()).toEqual(['a current 1']);
});

test('the numbers of a merge that has not committed are not passed by those of another merge', async () => {
  // No other test has the first date of the ledger, with which the checkpoint moves.
  const [first, second] = [DAY, date];
  // The parties of the second date are others: merges that write the same bank account wait for each other.
  const others = { code: 'P-2', agent: '11444777000161' };
  const serve = (of: CivilDate, discount: string) =>
    world.sandbox.setDayTexts(of, [
      titleText({ uid: of, date: of, discount, ...(of === second && others) }),
    ]);
  serve(first, '1');
  serve(second, '1');
  await world.pull(second);
  await readFeed();
  serve(second, '2');

  await withClient(world.databaseUrl, async (client) => {
    // The first merge has numbered its changes and waits for the checkpoint. The second one moves no checkpoint.
    await client.query('BEGIN');
    await client.query('SELECT FROM conciliation.checkpoint FOR UPDATE');
    const merging = world.pull(first);
    await lockWaits(world.database);
    const later = world.pull(second);
    await Promise.race([later, lockWaits(world.database, 2)]);
    const early = await readFeed();
    await client.query('COMMIT');
    await Promise.all([merging, later]);
    expect([...early, ...(await readFeed())]).toEqual([
      `${first} current 1`,
      `${second} current 2`,
    ]);
  });
});
