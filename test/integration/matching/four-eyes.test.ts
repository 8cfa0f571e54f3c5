/** A person who decided about the matches of a day is not the person who signs the day off. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { addUser, changeUser } from '../../../src/console/access/console-users.sql.ts';
import { releaseWaitingDays } from '../../../src/features/bookings/release.sql.ts';
import {
  confirmAgent,
  confirmCompanies,
  setRules,
} from '../../../src/features/matching/confirmations.sql.ts';
import {
  readOwnSealOfMatch,
  undoMatch,
} from '../../../src/features/matching/match-decisions.sql.ts';
import { readOwnSeals } from '../../../src/features/review/own-seal.sql.ts';
import { reopenDay, signCleanDays } from '../../../src/features/review/sign-off.sql.ts';
import { fourEyesFault, pullDay, signDay } from '../../support/days.ts';
import { judgedWorldOfFile } from '../../support/judged-world.ts';
import {
  clearMatching,
  listMatches,
  match,
  matchPair,
  payablesOf,
  resolveListed,
} from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';

const { world, judged } = judgedWorldOfFile();

let date = DAY;
beforeEach(async () => {
  date = daysFrom(1, date);
  await clearMatching(world.database);
});

const rita = { by: 'rita', code: 'other' as const, reason: 'seen in the ERP', fourEyes: true };
const ana = { ...rita, by: 'ana' };

const orderOf = () => `order-of-${date}`;
const pull = (value: string, on: CivilDate = date) => pullDay(world, on, { uid: orderOf(), value });
const sign = (by: string, on: CivilDate = date, fourEyes = true) =>
  signDay(world.database, on, { by, fourEyes });

const load = (openValue: string, status = 'open') =>
  importPayables(world.database, payablesOf(`k1 ${openValue} ${status} order=${orderOf()}`));
const refused = (fault: 'own_decision' | 'own_seal', cause = 'signed') => ({
  context: { fault, ...(fault === 'own_seal' && { date, cause }) },
});
/** The title of the date, whose payable the ERP has paid, is matched. */
async function pullPaid(): Promise<void> {
  await pull('10');
  await load('10', 'paid');
  await match(world.database);
}

const title = () =>
  world.prisma.title.findFirstOrThrow({ where: { acceptedDate: date, status: 'current' } });
const titleId = async () => (await title()).id;

async function resolve(kind: 'paid_to_supplier' | 'value_differs', decision: typeof rita) {
  const one = { kind, title: Number(await titleId()), payable: 'k1' };
  await resolveListed(world.database, one, { ...decision, code: 'other' });
}

const lastMatch = async () => {
  const newest = { orderBy: { id: 'desc' } } as const;
  return (await world.prisma.titleMatch.findFirstOrThrow(newest)).id;
};

const decisions: Record<string, () => Promise<unknown>> = {
  'made a match': async () => {
    await load('11');
    await matchPair(world.database, { titleId: await titleId(), erpKeys: ['k1'] }, rita);
  },
  'undid a match': async () => {
    await load('10');
    await match(world.database);
    await undoMatch(world.database, await lastMatch(), rita);
  },
  'resolved a break': async () => {
    await load('11');
    await match(world.database);
    await resolve('value_differs', rita);
  },
};

test.each(Object.keys(decisions))('a person who %s does not sign the day off', async (name) => {
  await pull('10');
  await decisions[name]?.();
  await expect(sign('rita')).rejects.toMatchObject(refused('own_decision'));
  await sign('ana');
});

test('a person who undid a sum of titles of two dates cannot sign off either date', async () => {
  const other = date;
  date = daysFrom(1, date);
  await pull('30000', other);
  await pull('31000');
  await load('61000');
  expect(await match(world.database)).toMatchObject({ matched: 1 });
  await undoMatch(world.database, await lastMatch(), rita);
  for (const on of [other, date]) {
    await expect(sign('rita', on)).rejects.toMatchObject(refused('own_decision'));
    const where = { action: 'match.undo', date: new Date(on) };
    expect(await world.prisma.auditEntry.count({ where })).toBe(1);
  }
});

const pair = async (uid: string) => {
  const where = { acceptedDate: date, orderUid: uid, status: 'current' };
  const { id } = await world.prisma.title.findFirstOrThrow({ where });
  return { titleId: id, erpKeys: [`payable of ${uid}`] };
};

test('of two persons who each matched a title of a day, one signs it off after the other made both matches', async () => {
  await pullDay(world, date, { uid: 'a', value: '10' }, { uid: 'b', value: '20' });
  const payables = { 'payable of a': '11', 'payable of b': '21' };
  await importPayables(
    world.database,
    Object.entries(payables).map(([erpKey, openValue]) => ({ erpKey, openValue })),
  );
  const first = await matchPair(world.database, await pair('a'), ana);
  await undoMatch(world.database, first, rita);
  await matchPair(world.database, await pair('a'), ana);
  const ofRita = await matchPair(world.database, await pair('b'), rita);
  for (const name of ['ana', 'rita']) {
    await expect(sign(name)).rejects.toMatchObject(refused('own_decision'));
  }
  await undoMatch(world.database, ofRita, ana);
  await matchPair(world.database, await pair('b'), ana);
  await expect(sign('ana')).rejects.toMatchObject(refused('own_decision'));
  await sign('rita');
});

test('of two persons who each resolved a break of a day, one signs it off after the other resolved both', async () => {
  await pullDay(world, date, { uid: 'a', value: '10' }, { uid: 'b', value: '20' });
  const state = (b: string) =>
    importPayables(world.database, payablesOf(`ka 11 order=a, kb ${b} order=b`));
  await state('21');
  await match(world.database);
  const decide = async (uid: string, by: typeof rita, state?: 'resolved') => {
    const one = { kind: 'value_differs', title: Number((await pair(uid)).titleId) } as const;
    const open = { ...one, payable: `k${uid}` };
    if (state === 'resolved') {
      await resolveListed(world.database, { ...open, state }, { ...by, code: 'reopened' });
    }
    await resolveListed(world.database, open, by);
  };
  await decide('a', ana);
  await decide('b', rita);
  for (const name of ['ana', 'rita']) {
    await expect(sign(name)).rejects.toMatchObject(refused('own_decision'));
  }
  await decide('b', ana, 'resolved');
  await expect(sign('ana')).rejects.toMatchObject(refused('own_decision'));
  expect(await fourEyesFault(world.database, date, 'rita')).toBeNull();
  // A resolution of a break that has changed since decides nothing.
  await decide('b', rita, 'resolved');
  await state('22');
  await match(world.database);
  await sign('rita');
});

test('nobody decides about the matches of a day that the program signed off, until it is reopened for another person', async () => {
  const dueDate = '2099-06-30';
  await pullDay(world, date, { uid: orderOf(), value: '10', dueDate });
  const load = (openValue: string) =>
    importPayables(world.database, [{ erpKey: 'k1', openValue, orderUid: orderOf(), dueDate }]);
  await load('10');
  await match(world.database);
  await signCleanDays(world.database, { bookingsFrom: date, to: date });
  await judged.answer(date, 'failed');
  const id = await lastMatch();
  await expect(undoMatch(world.database, id, rita)).rejects.toMatchObject(
    refused('own_seal', 'program'),
  );
  await reopenDay(world.database, date, rita);
  await undoMatch(world.database, id, rita);
  await load('500');
  await matchPair(world.database, { titleId: await titleId(), erpKeys: ['k1'] }, rita);
  expect(await released()).not.toContain(date);
  await expect(sign('rita')).rejects.toMatchObject(refused('own_decision'));
  await sign('ana');
  expect(await judged.lines(date)).toEqual([`book ${orderOf()} k1 1`, `adjust ${orderOf()} k1 2`]);
});

test('a person whose match a title of another date takes over does not sign that date off', async () => {
  const moved = { uid: orderOf(), value: '10' };
  await pullDay(world, date, moved);
  await load('11');
  await matchPair(world.database, { titleId: await titleId(), erpKeys: ['k1'] }, rita);
  await match(world.database);
  await sign('ana');
  await judged.answer(date, 'posted');
  await pullDay(world, date, { uid: 'rest', value: '1' });
  date = daysFrom(1, date);
  await pullDay(world, date, moved);
  await expect(sign('rita')).rejects.toMatchObject(refused('own_decision'));
  await match(world.database);
  expect(await listMatches(world.database)).toEqual([`${moved.uid}=k1 person`]);
  await expect(sign('rita')).rejects.toMatchObject(refused('own_decision'));
  await sign('ana');
});

const confirmations: Record<string, (by: typeof rita) => Promise<unknown>> = {
  async company(by) {
    const buyer = String((await title()).buyerIdentification);
    await confirmCompanies(world.database, [{ company: `company of ${date}`, buyer }], by);
  },
  async agent(by) {
    const sameAs = String((await title()).financialAgentIdentification);
    await confirmAgent(world.database, { taxId: '11444777000161', sameAs }, by);
  },
  async tolerances(by) {
    await setRules(world.database, { dueDays: 8, valueTolerance: '0.01' }, by);
  },
};

// The buyer and the agent are those of every date, of which some wait.
const person = () => ({ ...rita, by: `person of ${date}` });

describe.each(Object.entries(confirmations))(
  'a person who confirmed the %s of a title',
  (_, confirm) => {
    afterEach(async () => {
      await world.prisma.companyBuyer.deleteMany();
      await world.prisma.partyEquivalent.deleteMany();
    });

    test('does not sign its day off', async () => {
      await pull('10');
      await confirm(person());
      await expect(sign(person().by)).rejects.toMatchObject(refused('own_decision'));
      await sign('ana');
    });

    test('signs a later day off', async () => {
      await pull('10');
      await confirm(person());
      const data = { confirmedAt: new Date(date) };
      await world.prisma.companyBuyer.updateMany({ data });
      await world.prisma.partyEquivalent.updateMany({ data });
      await world.prisma.matchingRule.updateMany({ data });
      await sign(person().by);
    });

    test('has not signed off the day that waits', async () => {
      await pullPaid();
      await sign(person().by);
      await expect(confirm(person())).rejects.toMatchObject(refused('own_seal'));
      await confirm({ ...ana, by: 'bia' });
    });
  },
);

const released = () => releaseWaitingDays(world.database, {});

test('the person who signed a day off does not end the urgent break that keeps it from being released', async () => {
  await pullPaid();
  await sign('rita');
  await expect(resolve('paid_to_supplier', rita)).rejects.toMatchObject(refused('own_seal'));
  await match(world.database);
  expect(await released()).not.toContain(date);
  await resolve('paid_to_supplier', ana);
  await match(world.database);
  expect(await released()).toContain(date);
});

test('the person who signed a day off decides about its matches once the ERP has posted its bookings', async () => {
  await pull('10');
  await load('10');
  await match(world.database);
  await sign('rita');
  const id = await lastMatch();
  const undo = () => undoMatch(world.database, id, rita);
  await expect(undo()).rejects.toMatchObject(refused('own_seal'));
  // The ERP is asked again, with the present match, although no seal is in force.
  await judged.answer(date, 'failed');
  await expect(undo()).rejects.toMatchObject(refused('own_seal'));
  await reopenDay(world.database, date, rita);
  await expect(undo()).rejects.toMatchObject(refused('own_seal'));
  await judged.answer(date, 'posted');
  await undo();
});

test('the person who signed a day off does not undo a match that its bookings wait for, and is not offered to', async () => {
  await pull('10');
  await load('10');
  await match(world.database);
  await load('10', 'paid');
  await sign('rita');
  const { prisma } = world;
  expect(await readOwnSealOfMatch(prisma, await titleId(), 'rita')).toMatchObject({
    date,
    cause: 'signed',
  });
  expect(await readOwnSealOfMatch(prisma, await titleId(), 'ana')).toBeNull();
  const id = await lastMatch();
  await expect(undoMatch(world.database, id, rita)).rejects.toMatchObject(refused('own_seal'));
  await undoMatch(world.database, id, ana);
  expect(await readOwnSealOfMatch(prisma, await titleId(), 'rita')).toBeNull();
});

test('with SIGN_OFF_FOUR_EYES=off one person does both', async () => {
  await pullPaid();
  await sign('rita', date, false);
  await resolve('paid_to_supplier', { ...rita, fourEyes: false });
});

test('a sign-off and a decision of the same person at the same time: one of them is refused', async () => {
  await pullPaid();
  const outcomes = await Promise.allSettled([sign('rita'), resolve('paid_to_supplier', rita)]);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a person who was an administrator when a day was signed off does not end its urgent break', async () => {
  await pullPaid();
  await sign('rita');
  for (const name of ['alma', 'alex']) {
    await addUser(world.database, { name, role: 'admin', by: 'test' });
  }
  await changeUser(world.database, { name: 'alex', role: 'reviewer', by: 'alma' });
  const alex = { ...rita, by: 'alex' };
  await expect(resolve('paid_to_supplier', alex)).rejects.toMatchObject(
    refused('own_seal', 'administered'),
  );
  await addUser(world.database, { name: 'bruna', role: 'reviewer', by: 'test' });
  expect(await readOwnSeals(world.prisma, [date], 'alex')).toEqual([
    { date, cause: 'administered', deciders: ['bruna'] },
  ]);
  await resolve('paid_to_supplier', ana);
});
