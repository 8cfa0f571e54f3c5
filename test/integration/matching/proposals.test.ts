/** What the rules leave, the payables that are proposed for it, and what a person confirms. */
import { beforeEach, describe, expect, test } from 'vitest';
import { addDays } from '../../../src/base/values/business-day.ts';
import { readAlertsNow } from '../../../src/features/alerts/alerts.sql.ts';
import { openCalendar } from '../../../src/features/calendar/own-holidays.ts';
import { listBreaks } from '../../../src/features/matching/break-list.sql.ts';
import { readRules, setRules, tryRules } from '../../../src/features/matching/confirmations.sql.ts';
import {
  confirmProposals,
  exclusively,
  makeMatches,
  undoMatch,
} from '../../../src/features/matching/match-decisions.sql.ts';
import {
  type ProposalFilter,
  type ProposalList,
  readProposals,
} from '../../../src/features/matching/proposals.sql.ts';
import { pullDay, signDay } from '../../support/days.ts';
import {
  clearMatching,
  currentTitleId,
  listMatches,
  match,
  matchPair,
  OPEN_BREAKS,
  play,
} from '../../support/matching-world.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { DAY, TODAY, worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
beforeEach(async () => {
  await clearMatching(world.database);
  await openCalendar(world.database, 'following');
});

const rita = { by: 'rita', code: 'accepted', reason: 'the ERP rounds' } as const;
const ALL = { title: 0, kind: null, date: null, supplier: null };

const list = (filter: Partial<ProposalFilter> = {}): Promise<ProposalList> =>
  world.prisma.$transaction((tx) =>
    readProposals(tx, { ...ALL, ...filter }, { offset: 0, limit: 100 }),
  );

/** As "order place kind keys difference days", with an exclamation mark where one decision confirms it with others. */
const namesOf = (rows: ProposalList['rows']) =>
  rows.map(
    ({ orderUid, place, kind, isClear, erpKeys, difference, days }) =>
      `${orderUid} ${place} ${kind}${isClear ? '!' : ''} ${erpKeys.join('+')} ${Number(difference)} ${days}`,
  );

const SUM = 'k1 33.33 doc=1, k2 33.33 doc=2, k3 33.34 doc=3';
/** As "titles | payables | proposals". */
const cases: Record<string, string> = {
  'one cent': 'a 1000.01 | k1 1000.00 | a 1 value! k1 -0.01 0',
  'two cents are beyond the tolerance': 'a 1000.02 | k1 1000.00',
  'two cents, and the order': 'a 1000.02 | k1 1000.00 order=a',
  'one cent, and another due date': 'a 1000.01 | k1 1000.00 due=2026-07-01',
  'one cent, another due date, and the order':
    'a 1000.01 | k1 1000.00 due=2026-07-01 order=a | a 1 value! k1 -0.01 1',
  'the order counts before the value':
    'a 10 | k1 9.99 order=a, k2 10 | a 1 value! k1 -0.01 0, a 2 same k2 0 0',
  'a payable of another order is not proposed': 'a 10 | k1 10 order=x',
  'two payables fit equally well':
    'a 10 | k1 10 doc=1, k2 10 doc=2 | a 1 same k1 0 0, a 2 same k2 0 0',
  // Monday and Tuesday of Carnival are 16 and 17 February 2026, so Saturday 14 is paid on Wednesday 18.
  'the due date before the business day, and that before a day that is nearer':
    'a 10 due=2026-02-14 | k1 10 due=2026-02-13 doc=1, k2 10 due=2026-02-18 doc=2, k3 10 due=2026-02-14 doc=3, k4 10 due=2026-02-14 doc=4 | a 1 same k3 0 0, a 2 same k4 0 0, a 3 date k2 0 4, a 4 date k1 0 1',
  'one cent, on the business day after Carnival':
    'a 10.01 due=2026-02-14 | k1 10 due=2026-02-18 | a 1 value! k1 -0.01 4',
  'one cent, on the day before it': 'a 10.01 due=2026-02-14 | k1 10 due=2026-02-13',
  'three payables': `a 100 | ${SUM} | a 1 sum! k1+k2+k3 0 0`,
  'three payables that lack one cent':
    'a 100 | k1 33.33 doc=1, k2 33.33 doc=2, k3 33.33 doc=3 | a 1 sum! k1+k2+k3 -0.01 0',
  'three payables of three due dates':
    'a 100 | k1 33.33, k2 33.33 due=2026-07-01, k3 33.34 due=2026-07-02',
  'four payables': 'a 100 | k1 25 doc=1, k2 25 doc=2, k3 25 doc=3, k4 25 doc=4',
  'two titles want one payable':
    'a 10.01, b 9.99 | k1 10 | a 1 value k1 -0.01 0, b 1 value k1 0.01 0',
  'two titles that may be one anticipation':
    'a 10 due=2026-06-06, b 10 due=2026-06-08 | k1 10 due=2026-06-08 | a 1 date k1 0 2, b 1 same k1 0 0',
  'a title that the ERP has paid to the supplier': 'a 10 | k1 10 paid, k2 10.01',
  'another supplier': 'a 10 | k1 10.01 code=P-2',
};

test.each(Object.entries(cases))('proposals: %s', async (_, words) => {
  const [titles = '', load = '', proposals = ''] = words.split(' | ');
  await play(world, [{ titles, load, matches: '' }]);
  expect(namesOf((await list()).rows).join(', ')).toBe(proposals);
});

test('the proposals of one title have, last, what is beyond the tolerances', async () => {
  await play(world, [
    {
      titles: 'a 10, b 20 due=2026-07-15',
      load: 'k1 9.99 doc=1, k2 25 due=2026-07-15, k3 10 order=x, k4 10 due=2026-08-01',
      matches: '',
    },
  ]);
  const namesOfTitle = async (order: string) =>
    namesOf((await list({ title: Number(await currentTitleId(world.database, order)) })).rows);
  expect(await namesOfTitle('a')).toEqual([
    ...['a 1 value k1 -0.01 0', 'a 2 other k3 0 0', 'a 3 other k4 0 32'],
  ]);
  expect(await namesOfTitle('b')).toEqual(['b 1 other k2 5 0']);
  expect(namesOf((await list()).rows)).toEqual(['a 1 value k1 -0.01 0']);
});

test('a company of another buyer is not proposed', async () => {
  await play(world, [
    { titles: 'a 10', load: 'k1 10.01 company=0002, k2 5' },
    { company: '0002=11444777000161', matches: '' },
  ]);
  expect(namesOf((await list()).rows)).toEqual([]);
});

test('a pair that a person has undone is proposed last, on the page of the title only', async () => {
  await play(world, [{ titles: 'a 1000.01', load: 'k1 1000', person: 'a=k1' }]);
  const { id } = await world.prisma.titleMatch.findFirstOrThrow();
  await undoMatch(world.database, id, rita);
  await match(world.database);
  expect((await list()).rows).toEqual([]);
  const title = Number(await currentTitleId(world.database, 'a'));
  const { rows } = await list({ title });
  expect(namesOf(rows)).toEqual(['a 1 other k1 -0.01 0']);
  await play(world, [{ load: 'k1 1000 doc=NF-1' }]);
  expect(namesOf((await list()).rows)).toEqual(['a 1 value! k1 -0.01 0']);
});

const readMade = () =>
  world.prisma.titleMatch.findMany({
    where: { endedAt: null },
    orderBy: [{ titleId: 'asc' }, { titlePart: 'asc' }],
    select: { erpKey: true, code: true, difference: true, titlePart: true, rule: true },
  });

test('a sum is confirmed, kept by a later run, and undone as a whole', async () => {
  await play(world, [
    { titles: 'a 100', load: 'k1 33.33 doc=1, k2 33.33 doc=2, k3 33.33 doc=3', matches: '' },
  ]);
  const titleId = await currentTitleId(world.database, 'a');
  const id = await matchPair(world.database, { titleId, erpKeys: ['k1', 'k2', 'k3'] }, rita);
  await play(world, [{ matches: 'a=k1 person, a=k2 person, a=k3 person', breaks: '' }]);
  expect((await readMade()).map((row) => ({ ...row, difference: Number(row.difference) }))).toEqual(
    [
      { erpKey: 'k1', code: 'accepted', difference: -0.01, titlePart: 0, rule: 'person' },
      { erpKey: 'k2', code: 'accepted', difference: 0, titlePart: 1, rule: 'person' },
      { erpKey: 'k3', code: 'accepted', difference: 0, titlePart: 2, rule: 'person' },
    ],
  );
  await undoMatch(world.database, id, rita);
  expect(await listMatches(world.database)).toEqual([]);
});

test('a sum of which one payable is gone is refused as a whole', async () => {
  await play(world, [{ titles: 'a 100', load: SUM, matches: '' }, { load: 'k3 33.34 doc=3 paid' }]);
  const titleId = await currentTitleId(world.database, 'a');
  await expect(
    matchPair(world.database, { titleId, erpKeys: ['k1', 'k2', 'k3'] }, rita),
  ).rejects.toMatchObject({ context: { fault: 'proposals_changed' } });
  expect(await listMatches(world.database)).toEqual([]);
});

test('a match is refused whose payable changes after the proposals were read', async () => {
  await play(world, [{ titles: 'a 1000.01', load: 'k1 1000', matches: '' }]);
  const { rows } = await list();
  await play(world, [{ load: 'k1 1500' }]);
  await expect(
    exclusively(world.database, (tx) => makeMatches(tx, rows, rita)),
  ).rejects.toMatchObject({ context: { fault: 'proposals_changed' } });
  expect(await listMatches(world.database)).toEqual([]);
});

describe('in bulk', () => {
  const TITLES = 'a 1000.01, b 10.01 due=2026-07-15, c 9.99 due=2026-07-15, d 50 due=2026-08-01';
  const PAYABLES =
    'k1 1000, k2 10 due=2026-07-15, k4 50 due=2026-08-01 doc=1, k5 50 due=2026-08-01 doc=2';
  beforeEach(() => play(world, [{ titles: TITLES, load: PAYABLES, matches: '' }]));
  const confirm = (kind: 'value' | 'same' | null, seen: string, by = 'rita') =>
    confirmProposals(world.database, { ...ALL, kind, seen }, { ...rita, by, fourEyes: true });

  test('a kind is confirmed with a reason; titles that want one payable are left out and counted', async () => {
    const { clear, clearValue, left, digest, value, counts } = await list({ kind: 'value' });
    expect({ clear, clearValue, left, value, counts }).toEqual({
      ...{ clear: 1, clearValue: '1000.01', left: 2, value: '1020.01' },
      counts: { value: 3, same: 2, all: 5 },
    });
    await confirm('value', digest);
    expect(await listMatches(world.database)).toEqual(['a=k1 person']);
    const titleIds = [Number(await currentTitleId(world.database, 'a'))];
    expect(await lastAudit(world)).toMatchObject({
      ...{ action: 'match.make', actor: 'rita', reason: 'the ERP rounds' },
      details: { code: 'accepted', titleIds },
    });
  });

  test.each(['value', 'same', null] as const)(
    'nothing is confirmed that the person has not seen: %s',
    async (kind) => {
      const { digest } = await list({ kind });
      await play(world, [{ load: 'k1 1000.02' }]);
      await expect(confirm(kind, digest)).rejects.toMatchObject({
        context: { fault: 'proposals_changed' },
      });
      expect(await listMatches(world.database)).toEqual([]);
    },
  );

  test('by a person who has not signed the day off, and signs it off afterwards no more', async () => {
    const { digest } = await list({ kind: 'value' });
    await confirm('value', digest);
    await expect(
      signDay(world.database, DAY, { by: 'rita', fourEyes: true }),
    ).rejects.toMatchObject({ context: { fault: 'own_decision' } });
  });
});

describe('the tolerances', () => {
  const rules = { dueDays: 5, valueTolerance: '0.01' };
  // b is due 7 days after k2.
  const STEP = {
    titles: 'a 1000.05, b 20 due=2026-07-15, c 30 due=2026-08-15',
    load: 'k1 1000, k2 20 due=2026-07-08, k3 30 due=2026-08-17 doc=3, k4 30 due=2026-08-08 doc=4',
    matches: 'c=k3 exact',
  };
  const state = async () => [
    ...(await listMatches(world.database)),
    ...namesOf((await list()).rows),
    String(await world.prisma.matchRun.count()),
  ];

  test('a dry run says what would close and what would get a clear proposal, and changes nothing', async () => {
    await play(world, [STEP]);
    const before = await state();
    const tried = { ...rules, dueDays: 7, valueTolerance: '0.05' };
    const effects = await tryRules(world.database, tried, { by: 'rita' });
    expect(effects.map(({ orderUid, effect }) => `${orderUid} ${effect}`).sort()).toEqual([
      'a proposed',
      'b closes',
    ]);
    expect(await state()).toEqual(before);
    expect(await readRules(world.database)).toEqual(rules);
  });

  test('a match and a clear proposal that other tolerances end are shown before they apply', async () => {
    await play(world, [
      {
        titles: 'a 30 due=2026-08-18, b 1000.01, c 500.02',
        load: 'k1 30 due=2026-08-20 doc=1, k2 30 due=2026-08-11 doc=2, k3 1000 doc=3',
        matches: 'a=k1 tolerance',
      },
    ]);
    const tried = { dueDays: 7, valueTolerance: '0.00' };
    const effects = await tryRules(world.database, tried, { by: 'rita' });
    expect(effects.map(({ orderUid, effect }) => `${orderUid} ${effect}`)).toEqual([
      'a opens',
      'b lost',
    ]);
    await play(world, [{ matches: 'a=k1 tolerance' }]);
  });

  test('the tolerances that a person sets count in the next run, with an entry in the audit log', async () => {
    await play(world, [STEP]);
    await setRules(world.database, { ...rules, dueDays: 7, valueTolerance: '0.05' }, rita);
    await play(world, [{ matches: 'b=k2 tolerance, c=k3 exact' }]);
    expect(namesOf((await list()).rows)).toEqual(['a 1 value! k1 -0.05 0']);
    const entry = { action: 'rules.confirm', actor: 'rita', reason: 'the ERP rounds' };
    expect(await lastAudit(world)).toMatchObject(entry);
    await setRules(world.database, { ...rules, dueDays: 0 }, rita);
    await play(world, [{ matches: 'c=k3 exact' }]);
    expect(namesOf((await list()).rows)).toEqual([]);
  });

  test('a value within the tolerance is never matched by the program', async () => {
    await setRules(world.database, { ...rules, valueTolerance: '10.00' }, rita);
    await play(world, [{ titles: 'a 1000.01', load: 'k1 1000 order=a', matches: '' }]);
  });
});

test('the age of a break is that of the accepted date, and an alert follows age and value', async () => {
  const timeZone = 'America/Sao_Paulo';
  const alerts = async () => {
    const found = await readAlertsNow(world.prisma, new Date(), { timeZone }, 'ledger');
    return found.filter(({ kind }) => kind === 'paid_to_supplier').map(({ message }) => message);
  };
  const old = addDays(TODAY, -30);
  const text = { uid: 'a', value: '10000', dueDate: '2099-06-30' };
  await pullDay(world, old, text, { ...text, uid: 'b', value: '9999.99' });
  await pullDay(world, addDays(old, 1), { ...text, uid: 'c', value: '20000' });
  await play(world, [{ titles: 'd 1', load: 'k1 1', matches: 'd=k1 exact' }]);
  const { breaks } = await listBreaks(world.prisma, OPEN_BREAKS);
  const ages = breaks.map(({ title, age }) => `${title?.orderUid} ${age}`);
  expect(ages).toEqual(['c 29', 'a 30', 'b 30']);
  const message = /^1 break between .* is old and of great value/;
  expect(await alerts()).toEqual([expect.stringMatching(message)]);
  const found = { load: 'k2 10000 order=a due=2099-06-30', matches: 'a=k2 order, d=k1 exact' };
  await play(world, [found]);
  expect(await alerts()).toEqual([]);
});
