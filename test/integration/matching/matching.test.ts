import { beforeEach, describe, expect, test } from 'vitest';
import { readOpenItems } from '../../../src/features/home/open-items.sql.ts';
import { listBreaks } from '../../../src/features/matching/break-list.sql.ts';
import { writeBreaks } from '../../../src/features/matching/breaks.sql.ts';
import type { BreakKind } from '../../../src/features/matching/judgement.sql.ts';
import { resolveBreaks, undoMatch } from '../../../src/features/matching/match-decisions.sql.ts';
import { arePayablesStale } from '../../../src/features/matching/payables/payable-state.sql.ts';
import {
  isMatchingDue,
  startMatchingLoop,
} from '../../../src/features/matching/run-matching.sql.ts';
import { readErpStages } from '../../../src/features/review/months/month-seal.sql.ts';
import { logger } from '../../support/logger.ts';
import {
  clearMatching,
  currentTitleId,
  listBreakNames,
  match,
  matchPair,
  OPEN_BREAKS,
  play,
  resolveListed,
  type Step,
} from '../../support/matching-world.ts';
import { DAY, worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
beforeEach(() => clearMatching(world.database));

const decision = { by: 'rita', code: 'agreed', reason: 'confirmed with the supplier' } as const;
const run = () => match(world.database);
const titleId = (uid: string) => currentTitleId(world.database, uid);
const list = (kind: BreakKind | null = null, date: typeof DAY | null = null) =>
  listBreaks(world.prisma, { ...OPEN_BREAKS, kind, date });
async function urgentTasks() {
  const policy = { timeZone: 'America/Sao_Paulo' };
  const { tasks } = await readOpenItems(world.database, { now: new Date(), policy });
  return tasks.filter(({ key }) => key === 'urgent_breaks');
}

const cases: Record<string, readonly Step[]> = {
  'a title with two possible payables is matched with neither': [
    { titles: 'a 10', load: 'k1 10 doc=NF-1, k2 10 doc=NF-2', matches: '' },
    { breaks: 'in_doubt a k1' },
    { load: 'k2 10 doc=NF-1', breaks: 'duplicated_in_erp a k1' },
  ],
  // k1 is of order a. Title b still has two payables of its supplier, value and due date.
  'an alternative counts although an earlier rule has taken it': [
    { titles: 'a 10, b 10', load: 'k1 10 order=a, k2 10', matches: 'a=k1 order' },
  ],
  'equal titles and as many equal payables are matched; one payable fewer, and none is': [
    { titles: 'a 10, a 10, a 10', load: 'k1 10, k2 10', matches: '' },
    { load: 'k3 10', matches: 'a=k1 exact, a=k2 exact, a=k3 exact' },
  ],
  'each kind of break is found once': [
    { titles: 'gone 80' },
    {
      titles:
        'paid 10, value 20 due=2026-07-15, due 30, missing 40 due=2026-08-15, double 50 due=2026-09-15, payee 60 due=2026-10-15',
    },
    { load: 'k-paid 10 paid, k-value 20.01 due=2026-07-15, k-due 30 due=2026-12-30' },
    { load: 'k-double-1 50 due=2026-09-15 doc=N order=double, k-double-2 50 due=2026-09-15 doc=N' },
    { load: 'k-payee 60 due=2026-10-15 payee=11444777000161, k-gone 80 order=gone code=P-9' },
    { load: 'k-unknown 90 order=unknown code=P-9, k-other 99 code=P-9' },
    { matches: 'double=k-double-1 order, payee=k-payee exact' },
    {
      breaks:
        'paid_to_supplier paid k-paid, payee_changed payee k-payee, withdrawn_open gone k-gone, ' +
        'duplicated_in_erp double k-double-2, value_differs value k-value, due_date_differs due k-due, ' +
        'missing_in_erp missing -, missing_on_platform - k-unknown',
    },
  ],
};
test.each(Object.entries(cases))('%s', (_, steps) => play(world, steps));

test('each rule matches, and says which rule matched', async () => {
  await play(world, [
    { titles: 'a 10.10, b 20, c 30.5' },
    { snapshot: 'k1 10.1 order=a due=2026-07-05, k2 20.00, k3 30.50 due=2026-07-05' },
  ]);
  expect(await isMatchingDue(world.database, 24)).toBe(true);
  expect(await run()).toMatchObject({ matched: 3, reopened: 0 });
  await play(world, [{ matches: 'a=k1 order, b=k2 exact, c=k3 tolerance' }]);
  expect(await isMatchingDue(world.database, 24)).toBe(false);
  // BOOKINGS_FROM was set since.
  expect(await isMatchingDue(world.database, 24, DAY)).toBe(true);
  expect(await run()).toMatchObject({ matched: 0, reopened: 0 });
});

test('a match whose title or payable changed is opened again; that of a person is not', async () => {
  await play(world, [
    { titles: 'a 10, b 20, c 30', load: 'k1 10, k2 20, k3 31', matches: 'a=k1 exact, b=k2 exact' },
    { person: 'c=k3' },
    { titles: 'b 20, c 30', load: 'k2 21, k3 99 due=2026-09-01' },
  ]);
  expect(await run()).toMatchObject({ matched: 0, reopened: 2 });
  await play(world, [{ matches: 'c=k3 person' }]);
  const ended = await world.prisma.titleMatch.findMany({
    where: { endedAt: { not: null } },
    select: { erpKey: true, endReason: true },
    orderBy: { erpKey: 'asc' },
  });
  expect(ended).toEqual([
    { erpKey: 'k1', endReason: 'the title is withdrawn' },
    { erpKey: 'k2', endReason: 'the payable has changed' },
  ]);
});

test('a withdrawn title is in no break before the run that ends its match', async () => {
  await play(world, [
    { titles: 'a 10, b 20', load: 'k1 11, k2 20' },
    { person: 'a=k1', breaks: '' },
  ]);
  const id = await titleId('a');
  // Less of the payable is open, of which a withdrawn title asks for nothing.
  await play(world, [{ titles: 'b 20', load: 'k1 5' }]);
  await world.prisma.$transaction((tx) => writeBreaks(tx, [id]));
  expect(await listBreakNames(world.database)).toEqual([]);
});

test('a match that a person has undone is not made again until a side changes', async () => {
  const undo = async () => {
    const where = { endedAt: null };
    const { id } = await world.prisma.titleMatch.findFirstOrThrow({ where });
    await undoMatch(world.database, id, decision);
    await play(world, [{ matches: '' }]);
    await expect(undoMatch(world.database, id, decision)).rejects.toThrow('has ended');
  };
  await play(world, [{ titles: 'a 10', load: 'k1 10', matches: 'a=k1 exact' }]);
  await undo();
  await play(world, [{ load: 'k1 10 doc=NF-1', matches: 'a=k1 exact' }]);
  await undo();
});

test('no title and no payable is matched twice', async () => {
  await play(world, [{ titles: 'a 10, b 11', load: 'k1 10', matches: 'a=k1 exact' }]);
  await expect(
    matchPair(world.database, { titleId: await titleId('b'), erpKeys: ['k1'] }, decision),
  ).rejects.toThrow('The proposals have changed');
  await expect(
    world.prisma.$executeRaw`
      INSERT INTO conciliation.title_match
        (title_id, erp_key, rule, rule_version, made_by, title_ground, erp_ground)
      SELECT title_id, erp_key, 'person', 1, 'x', title_ground, erp_ground FROM conciliation.title_match`,
  ).rejects.toThrow();
});

test('a resolved break is back once a side changes', async () => {
  await play(world, [{ titles: 'value 20', load: 'k1 20.01', matches: '' }]);
  const key = { title: Number(await titleId('value')), payable: 'k1' };
  const one = { ...OPEN_BREAKS, kind: 'value_differs' as const, ...key };
  await expect(
    resolveBreaks(world.database, { ...one, seenDigest: 'x' }, decision),
  ).rejects.toThrow('have changed');
  await expect(resolveListed(world.database, { ...one, payable: null }, decision)).rejects.toThrow(
    'have changed',
  );
  await resolveListed(world.database, one, decision);
  expect(await listBreakNames(world.database)).toEqual([]);
  await play(world, [{ load: 'k1 20.02', breaks: 'value_differs value k1' }]);
});

test.each([
  [
    'new',
    `INSERT INTO conciliation.erp_payable (erp_key, supplier_external_id, open_value) VALUES ('k2', 'P-1', 20)`,
  ],
  ['changed', `UPDATE conciliation.erp_payable SET status = 'paid' WHERE erp_key = 'k1'`],
])('a %s payable that is committed after a run began makes a run due', async (_, statement) => {
  const isDue = () => isMatchingDue(world.database, 24);
  await play(world, [{ titles: 'a 10', snapshot: 'k1 10', matches: 'a=k1 exact' }]);
  expect(await isDue()).toBe(false);
  await world.prisma.$transaction(
    async (tx) => {
      await tx.$executeRawUnsafe(statement);
      await run();
      expect(await isDue()).toBe(false);
    },
    { timeout: 60_000 },
  );
  expect(await isDue()).toBe(true);
  await run();
  expect(await isDue()).toBe(false);
});

describe('urgent breaks', () => {
  const newestRun = () => world.prisma.matchRun.findFirstOrThrow({ orderBy: { id: 'desc' } });

  test('are counted, and a decision of a person counts at once', async () => {
    const snapshot = 'k1 10 order=paid paid, k2 20 order=open';
    await play(world, [{ titles: 'paid 10, open 20', snapshot, matches: 'open=k2 order' }]);
    expect(await newestRun()).toMatchObject({ breaksKnown: true });
    expect(await urgentTasks()).toMatchObject([{ count: 1, value: '10' }]);
    expect(await isMatchingDue(world.database, 24)).toBe(false);
    const [urgent] = (await list('paid_to_supplier', DAY)).breaks;
    // The date has no bookings.
    expect(urgent).toMatchObject({ isUrgent: true, waits: false });
    await resolveListed(
      world.database,
      { kind: 'paid_to_supplier', title: Number(await titleId('paid')), payable: 'k1' },
      decision,
    );
    expect(await newestRun()).toMatchObject({ breaksKnown: false });
    // At once, and not after the next run.
    expect(await urgentTasks()).toEqual([]);
    expect(await isMatchingDue(world.database, 24)).toBe(true);
    await run();
    expect(await newestRun()).toMatchObject({ breaksKnown: true });
  });

  test('are not counted on stale payables: the service does not match them', async () => {
    await play(world, [{ titles: 'a 10', snapshot: 'k1 10' }]);
    expect(await isMatchingDue(world.database, 30)).toBe(true);
    for (const [hours, matched, isStale] of [
      [31, 0, true],
      [29, 1, false],
    ] as const) {
      await world.prisma.$executeRaw`
        UPDATE conciliation.erp_payable_import SET started_at = now() - make_interval(hours => ${hours}::int)`;
      expect(await isMatchingDue(world.database, 30)).toBe(!isStale);
      const { database } = world;
      const config = {
        ...{ erpPayablesMaxAgeHours: 30, timezone: 'America/Sao_Paulo', bookingsFrom: null },
      };
      await startMatchingLoop({ database, logger, config }).stop();
      const { sum } = await readErpStages(database, { from: DAY, to: DAY });
      expect(sum).toMatchObject({ titles: 1, agreed: matched || null });
      expect(await arePayablesStale(database.prisma, 30)).toBe(isStale);
    }
  });
});
