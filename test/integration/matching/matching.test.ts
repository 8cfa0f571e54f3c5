import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readWaitingDays, releaseWaitingDays } from '../../../src/bookings/release.sql.ts';
import { readReleaseFaults } from '../../../src/bookings/release-conditions.sql.ts';
import { checkDays } from '../../../src/checks/check-day.sql.ts';
import { signOffDay } from '../../../src/ledger/sign-off.sql.ts';
import { listBreaks, readCandidates } from '../../../src/matching/breaks.sql.ts';
import {
  matchByPerson,
  resolveBreak,
  undoMatch,
} from '../../../src/matching/match-decisions.sql.ts';
import { isMatchingDue, runMatching } from '../../../src/matching/run-matching.sql.ts';
import { ANY_DAY_RULES } from '../../support/check-rules.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.database.prisma.$executeRaw`
    TRUNCATE conciliation.title_match, conciliation.match_run, conciliation.break_decision,
             conciliation.erp_payable, conciliation.erp_payable_reject, conciliation.erp_payable_import`;
});

const decision = { by: 'rita', reason: 'confirmed with the supplier' };
const run = () => runMatching(world.database, { by: 'test' });

/** Titles of the day: the order and the value of each. */
async function pullTitles(...titles: readonly (readonly [string, string, string?])[]) {
  world.sandbox.setDayTexts(
    DAY,
    titles.map(([uid, value, dueDate = '2026-06-30']) => titleText({ uid, value, dueDate })),
  );
  await world.pull(DAY, { withdrawalLimitPercent: 100 });
}

const matches = () => world.database.prisma.$queryRaw<unknown[]>`
  SELECT order_uid AS "order", erp_key AS key, rule FROM conciliation.title_match
  JOIN conciliation.title ON title.id = title_id WHERE ended_at IS NULL ORDER BY order_uid, erp_key`;
const breaks = async () => {
  const { breaks: found } = await listBreaks(world.database, {
    kind: null,
    date: null,
    supplier: null,
    offset: 0,
    limit: 50,
  });
  return found.map(({ kind, title, payable }) => [
    kind,
    title?.orderUid ?? null,
    payable?.erpKey ?? null,
  ]);
};
const titleId = async (orderUid: string) =>
  (await world.database.prisma.title.findFirstOrThrow({ where: { orderUid, status: 'current' } }))
    .id;

test('each rule matches, and says which rule matched', async () => {
  await pullTitles(['a', '10.10'], ['b', '20'], ['c', '30.5']);
  await importPayables(
    world.database,
    [
      { erpKey: 'k1', openValue: '10.1', orderUid: 'a', dueDate: '2026-07-05' },
      { erpKey: 'k2', openValue: '20.00' },
      { erpKey: 'k3', openValue: '30.50', dueDate: '2026-07-05' },
    ],
    'snapshot',
  );
  expect(await isMatchingDue(world.database, 24)).toBe(true);
  expect(await run()).toMatchObject({ matched: 3, reopened: 0 });
  expect(await matches()).toEqual([
    { order: 'a', key: 'k1', rule: 'order' },
    { order: 'b', key: 'k2', rule: 'exact' },
    { order: 'c', key: 'k3', rule: 'tolerance' },
  ]);
  expect(await isMatchingDue(world.database, 24)).toBe(false);
  // BOOKINGS_FROM was set since.
  expect(await isMatchingDue(world.database, 24, DAY)).toBe(true);
  expect(await run()).toMatchObject({ matched: 0, reopened: 0 });
});

test('a title with two possible payables is matched with neither', async () => {
  await pullTitles(['a', '10']);
  await importPayables(world.database, [
    { erpKey: 'k1', openValue: '10', document: 'NF-1' },
    { erpKey: 'k2', openValue: '10', document: 'NF-2' },
  ]);
  expect(await run()).toMatchObject({ matched: 0 });
  expect(await breaks()).toEqual([['in_doubt', 'a', 'k1']]);
  await importPayables(world.database, [{ erpKey: 'k2', openValue: '10', document: 'NF-1' }]);
  expect(await breaks()).toEqual([['duplicated_in_erp', 'a', 'k1']]);
});

test('an alternative counts although an earlier rule has taken it', async () => {
  await pullTitles(['a', '10'], ['b', '10']);
  // k1 is of order a. Title b still has two payables of its supplier, value and due date.
  await importPayables(world.database, [
    { erpKey: 'k1', openValue: '10', orderUid: 'a' },
    { erpKey: 'k2', openValue: '10' },
  ]);
  await run();
  expect(await matches()).toEqual([{ order: 'a', key: 'k1', rule: 'order' }]);
});

test('equal titles and as many equal payables are matched; one payable fewer, and none is', async () => {
  await pullTitles(['a', '10'], ['a', '10'], ['a', '10']);
  const copies = ['k1', 'k2', 'k3'].map((erpKey) => ({ erpKey, openValue: '10' }));
  await importPayables(world.database, copies.slice(0, 2));
  expect(await run()).toMatchObject({ matched: 0 });
  await importPayables(world.database, copies);
  expect(await run()).toMatchObject({ matched: 3 });
});

test('a match whose title or payable changed is opened again; that of a person is not', async () => {
  await pullTitles(['a', '10'], ['b', '20'], ['c', '30']);
  const payables = [
    { erpKey: 'k1', openValue: '10' },
    { erpKey: 'k2', openValue: '20' },
    { erpKey: 'k3', openValue: '31' },
  ];
  await importPayables(world.database, payables);
  await run();
  await matchByPerson(world.database, { titleId: await titleId('c'), erpKey: 'k3' }, decision);
  await pullTitles(['b', '20'], ['c', '30']);
  await importPayables(world.database, [
    { erpKey: 'k2', openValue: '21' },
    { erpKey: 'k3', openValue: '99' },
  ]);
  expect(await run()).toMatchObject({ matched: 0, reopened: 2 });
  expect(await matches()).toEqual([{ order: 'c', key: 'k3', rule: 'person' }]);
  expect(
    await world.database.prisma.titleMatch.findMany({
      where: { endedAt: { not: null } },
      select: { erpKey: true, endReason: true },
      orderBy: { erpKey: 'asc' },
    }),
  ).toEqual([
    { erpKey: 'k1', endReason: 'the title is withdrawn' },
    { erpKey: 'k2', endReason: 'the payable has changed' },
  ]);
});

test('a match that a person has undone is not made again until a side changes', async () => {
  await pullTitles(['a', '10']);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }]);
  await run();
  const { id } = await world.database.prisma.titleMatch.findFirstOrThrow();
  await undoMatch(world.database, id, decision);
  expect(await run()).toMatchObject({ matched: 0 });
  await expect(undoMatch(world.database, id, decision)).rejects.toThrow('has ended');
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10', document: 'NF-1' }]);
  expect(await run()).toMatchObject({ matched: 1 });
  const again = await world.database.prisma.titleMatch.findFirstOrThrow({
    where: { endedAt: null },
  });
  await undoMatch(world.database, again.id, decision);
  expect(await run()).toMatchObject({ matched: 0 });
});

test('no title and no payable is matched twice', async () => {
  await pullTitles(['a', '10'], ['b', '11']);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }]);
  await run();
  await expect(
    matchByPerson(world.database, { titleId: await titleId('b'), erpKey: 'k1' }, decision),
  ).rejects.toThrow('the payable is not open, or has a match');
  await expect(
    world.database.prisma.$executeRaw`
      INSERT INTO conciliation.title_match
        (title_id, erp_key, rule, rule_version, made_by, title_ground, erp_ground)
      SELECT title_id, erp_key, 'person', 1, 'x', title_ground, erp_ground FROM conciliation.title_match`,
  ).rejects.toThrow();
});

test('each kind of break is found once', async () => {
  await pullTitles(['gone', '80']);
  await pullTitles(
    ['paid', '10'],
    ['value', '20', '2026-07-15'],
    ['due', '30'],
    ['missing', '40', '2026-08-15'],
    ['double', '50', '2026-09-15'],
    ['payee', '60', '2026-10-15'],
  );
  await importPayables(world.database, [
    { erpKey: 'k-paid', openValue: '10', status: 'paid' },
    { erpKey: 'k-value', openValue: '20.01', dueDate: '2026-07-15' },
    { erpKey: 'k-due', openValue: '30', dueDate: '2026-12-30' },
    {
      erpKey: 'k-double-1',
      openValue: '50',
      dueDate: '2026-09-15',
      document: 'N',
      orderUid: 'double',
    },
    { erpKey: 'k-double-2', openValue: '50', dueDate: '2026-09-15', document: 'N' },
    { erpKey: 'k-payee', openValue: '60', dueDate: '2026-10-15', payee: '11444777000161' },
    { erpKey: 'k-gone', openValue: '80', orderUid: 'gone', supplierExternalId: 'P-9' },
    { erpKey: 'k-unknown', openValue: '90', orderUid: 'unknown', supplierExternalId: 'P-9' },
    { erpKey: 'k-other', openValue: '99', supplierExternalId: 'P-9' },
  ]);
  await run();
  expect(await breaks()).toEqual([
    ['paid_to_supplier', 'paid', 'k-paid'],
    ['payee_changed', 'payee', 'k-payee'],
    ['withdrawn_open', 'gone', 'k-gone'],
    ['duplicated_in_erp', 'double', 'k-double-2'],
    ['value_differs', 'value', 'k-value'],
    ['due_date_differs', 'due', 'k-due'],
    ['missing_in_erp', 'missing', null],
    ['missing_on_platform', null, 'k-unknown'],
  ]);
  const { counts, total } = await listBreaks(world.database, {
    kind: 'value_differs',
    date: DAY,
    supplier: 'P-1',
    offset: 0,
    limit: 1,
  });
  expect(total).toBe(1);
  expect(counts.find(({ kind }) => kind === 'value_differs')).toEqual({
    kind: 'value_differs',
    breaks: 1,
    value: '20',
  });
  expect(await readCandidates(world.database, await titleId('value'))).toMatchObject([
    { payable: { erpKey: 'k-value' }, sameValue: false, sameDue: true, sameOrder: false },
  ]);
});

test('a resolved break is back once a side changes', async () => {
  await pullTitles(['value', '20']);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '20.01' }]);
  await run();
  const list = () =>
    listBreaks(world.database, { kind: null, date: null, supplier: null, offset: 0, limit: 9 });
  const [found] = (await list()).breaks;
  const key = { kind: 'value_differs', titleId: await titleId('value'), erpKey: 'k1' } as const;
  await expect(
    resolveBreak(
      world.database,
      { ...key, seenGround: '00000000-0000-0000-0000-000000000000' },
      decision,
    ),
  ).rejects.toThrow('has changed');
  await resolveBreak(world.database, { ...key, seenGround: found?.ground ?? '' }, decision);
  expect((await list()).total).toBe(0);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '20.02' }]);
  expect((await list()).breaks).toMatchObject([{ kind: 'value_differs' }]);
});

describe('urgent breaks', () => {
  const newestRun = () =>
    world.database.prisma.matchRun.findFirstOrThrow({ orderBy: { id: 'desc' } });

  test('are counted by the run, and again after a decision of a person', async () => {
    await pullTitles(['paid', '10'], ['open', '20']);
    await importPayables(
      world.database,
      [
        { erpKey: 'k1', openValue: '10', orderUid: 'paid', status: 'paid' },
        { erpKey: 'k2', openValue: '20', orderUid: 'open' },
      ],
      'snapshot',
    );
    await run();
    expect(await newestRun()).toMatchObject({
      breaksKnown: true,
      breaks: [{ date: DAY, kind: 'paid_to_supplier', isUrgent: true, breaks: 1, value: '10' }],
    });
    expect(await isMatchingDue(world.database, 24)).toBe(false);
    const { breaks: found } = await listBreaks(world.database, {
      ...{ kind: 'paid_to_supplier', date: DAY, supplier: null, offset: 0, limit: 9 },
    });
    const [urgent] = found;
    await resolveBreak(
      world.database,
      {
        kind: 'paid_to_supplier',
        titleId: BigInt(urgent?.title?.id ?? 0),
        erpKey: 'k1',
        seenGround: urgent?.ground ?? '',
      },
      decision,
    );
    expect(await newestRun()).toMatchObject({ breaksKnown: false });
    expect(await isMatchingDue(world.database, 24)).toBe(true);
    await run();
    expect(await newestRun()).toMatchObject({
      breaksKnown: true,
      breaks: [],
    });
  });

  test('of a date keep its bookings from being released, and so do titles that were not matched', async () => {
    const prisma = world.database.prisma;
    const dueDate = '2099-06-30';
    await pullTitles(['a', '10', dueDate]);
    await importPayables(
      world.database,
      [{ erpKey: 'k1', openValue: '10', dueDate, status: 'paid' }],
      'snapshot',
    );
    await checkDays(world.database, ANY_DAY_RULES);
    const { contentDigest } = await prisma.day.findUniqueOrThrow({ where: { date: DAY } });
    await signOffDay(world.database, DAY, {
      ...{
        by: 'rita',
        reason: null,
        seenDigest: contentDigest ?? '',
        fourEyes: false,
        bookingsFrom: DAY,
      },
    });
    const faults = () => readReleaseFaults(prisma, DAY, {});
    expect(await faults()).toEqual(['not_matched']);
    const waiting = { days: 1, titles: 0, dates: [DAY] };
    expect(await readWaitingDays(world.database, {})).toEqual([
      { ...waiting, value: '10', fault: 'not_matched' },
    ]);
    expect(await releaseWaitingDays(world.database, {})).toEqual([]);
    await run();
    // The title waits, and not the day.
    expect(await faults()).toEqual([]);
    expect(await releaseWaitingDays(world.database, {})).toEqual([]);
    expect(await readWaitingDays(world.database, {})).toEqual([
      { ...waiting, value: null, titles: 1, fault: 'titles' },
    ]);
    expect(await prisma.bookingLine.count()).toBe(0);
    // The ERP takes the payment back.
    await importPayables(world.database, [
      { erpKey: 'k1', openValue: '10', dueDate, status: 'open' },
    ]);
    await run();
    expect(await faults()).toEqual([]);
    expect(await readWaitingDays(world.database, {})).toEqual([
      { ...waiting, value: null, titles: 1, fault: 'titles' },
    ]);
    expect(await releaseWaitingDays(world.database, {})).toEqual([DAY]);
    expect(await prisma.bookingLine.findMany({ select: { erpKey: true } })).toEqual([
      { erpKey: 'k1' },
    ]);
  });

  test('are not counted on stale payables: the service does not match them', async () => {
    await pullTitles(['a', '10']);
    await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }], 'snapshot');
    expect(await isMatchingDue(world.database, 24)).toBe(true);
    await world.database.prisma.$executeRaw`
      UPDATE conciliation.erp_payable_import SET started_at = now() - interval '25 hours'`;
    expect(await isMatchingDue(world.database, 24)).toBe(false);
    expect(await isMatchingDue(world.database, 26)).toBe(true);
  });
});
