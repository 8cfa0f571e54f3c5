/** A person who decided about the matches of a day is not the person who signs the day off. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { releaseWaitingDays } from '../../../src/bookings/release.sql.ts';
import { checkDays } from '../../../src/checks/check-day.sql.ts';
import { addUser, changeUser } from '../../../src/console/access/console-users.sql.ts';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { signOffDay } from '../../../src/ledger/sign-off.sql.ts';
import { readBreak } from '../../../src/matching/breaks.sql.ts';
import { confirmAgent, confirmCompanies } from '../../../src/matching/confirmations.sql.ts';
import {
  matchByPerson,
  resolveBreak,
  undoMatch,
} from '../../../src/matching/match-decisions.sql.ts';
import { ANY_DAY_RULES } from '../../support/check-rules.ts';
import { clearMatching, match } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

let date: CivilDate = DAY;
beforeEach(async () => {
  date = daysFrom(1, date);
  await clearMatching(world.database);
});

const rita = { by: 'rita', reason: 'seen in the ERP', fourEyes: true };
const ana = { ...rita, by: 'ana' };

async function pull(value: string, on: CivilDate = date): Promise<void> {
  const uid = `order of ${date}`;
  world.sandbox.setDayTexts(on, [titleText({ uid, value, date: on })]);
  await world.pull(on);
  await checkDays(world.database, ANY_DAY_RULES);
}

async function sign(by: string, on: CivilDate = date, fourEyes = true): Promise<void> {
  const { contentDigest } = await world.database.prisma.day.findUniqueOrThrow({
    where: { date: on },
  });
  await signOffDay(world.database, on, {
    ...{ by, reason: null, seenDigest: contentDigest ?? '', fourEyes, bookingsFrom: DAY },
  });
}

const load = (openValue: string, status = 'open') =>
  importPayables(world.database, [
    { erpKey: 'k1', openValue, status, orderUid: `order of ${date}` },
  ]);

async function titleId(): Promise<bigint> {
  const where = { acceptedDate: new Date(date), status: 'current' };
  const { id } = await world.database.prisma.title.findFirstOrThrow({ where });
  return id;
}

async function resolve(kind: 'paid_to_supplier' | 'value_differs', decision: typeof rita) {
  const key = { kind, titleId: await titleId(), erpKey: 'k1' };
  const found = await readBreak(world.database.prisma, key);
  await resolveBreak(world.database, { ...key, seenGround: found?.ground ?? '' }, decision);
}

async function lastMatch(): Promise<bigint> {
  const { id } = await world.database.prisma.titleMatch.findFirstOrThrow({
    orderBy: { id: 'desc' },
  });
  return id;
}

const decisions: Record<string, () => Promise<unknown>> = {
  'made a match': async () => {
    await load('11');
    await matchByPerson(world.database, { titleId: await titleId(), erpKey: 'k1' }, rita);
  },
  'undid a match': async () => {
    await load('10');
    await match(world.database);
    await undoMatch(world.database, await lastMatch(), rita);
  },
  'resolved a break': async () => {
    await load('11');
    await resolve('value_differs', rita);
  },
};

test.each(Object.keys(decisions))('a person who %s does not sign the day off', async (name) => {
  await pull('10');
  await decisions[name]?.();
  await expect(sign('rita')).rejects.toMatchObject({ context: { fault: 'own_decision' } });
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
    await expect(sign('rita', on)).rejects.toMatchObject({ context: { fault: 'own_decision' } });
  }
});

const confirmations: Record<string, (by: typeof rita) => Promise<unknown>> = {
  async company(by) {
    const { buyerIdentification } = await world.database.prisma.title.findFirstOrThrow({
      where: { id: await titleId() },
    });
    const pair = { company: `company of ${date}`, buyer: String(buyerIdentification) };
    await confirmCompanies(world.database, [pair], by);
  },
  async agent(by) {
    const { financialAgentIdentification } = await world.database.prisma.title.findFirstOrThrow({
      where: { id: await titleId() },
    });
    const pair = { taxId: '11444777000161', sameAs: String(financialAgentIdentification) };
    await confirmAgent(world.database, pair, by);
  },
};

// The buyer and the agent are those of every date, of which some wait.
const person = () => ({ ...rita, by: `person of ${date}` });

describe.each(Object.entries(confirmations))(
  'a person who confirmed the %s of a title',
  (_, confirm) => {
    afterEach(async () => {
      await world.database.prisma.companyBuyer.deleteMany();
      await world.database.prisma.partyEquivalent.deleteMany();
    });

    test('does not sign its day off', async () => {
      await pull('10');
      await confirm(person());
      await expect(sign(person().by)).rejects.toMatchObject({ context: { fault: 'own_decision' } });
      await sign('ana');
    });

    test('signs a later day off', async () => {
      await pull('10');
      await confirm(person());
      await world.database.prisma.companyBuyer.updateMany({
        data: { confirmedAt: new Date(date) },
      });
      await world.database.prisma.partyEquivalent.updateMany({
        data: { confirmedAt: new Date(date) },
      });
      await sign(person().by);
    });

    test('has not signed off the day that waits', async () => {
      await pull('10');
      await load('10', 'paid');
      await match(world.database);
      await sign(person().by);
      await expect(confirm(person())).rejects.toMatchObject({
        context: { fault: 'own_seal', date },
      });
      await confirm({ ...ana, by: 'bia' });
    });
  },
);

const released = () => releaseWaitingDays(world.database, {});

test('the person who signed a day off does not end the urgent break that keeps it from being released', async () => {
  await pull('10');
  await load('10', 'paid');
  await match(world.database);
  await sign('rita');
  await expect(resolve('paid_to_supplier', rita)).rejects.toMatchObject({
    context: { fault: 'own_seal', date },
  });
  await match(world.database);
  expect(await released()).not.toContain(date);
  await resolve('paid_to_supplier', ana);
  await match(world.database);
  expect(await released()).toContain(date);
  // The bookings are released: a match decides nothing about them any more.
  await importPayables(world.database, [{ erpKey: 'k2', openValue: '10' }]);
  await matchByPerson(world.database, { titleId: await titleId(), erpKey: 'k2' }, rita);
});

test('with SIGN_OFF_FOUR_EYES=off one person does both', async () => {
  await pull('10');
  await load('10', 'paid');
  await match(world.database);
  await sign('rita', date, false);
  await resolve('paid_to_supplier', { ...rita, fourEyes: false });
});

test('a sign-off and a decision of the same person at the same time: one of them is refused', async () => {
  await pull('10');
  await load('10', 'paid');
  await match(world.database);
  const outcomes = await Promise.allSettled([sign('rita'), resolve('paid_to_supplier', rita)]);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a person who was an administrator when a day was signed off does not end its urgent break', async () => {
  await pull('10');
  await load('10', 'paid');
  await match(world.database);
  await sign('rita');
  for (const name of ['alma', 'alex']) {
    await addUser(world.database, { name, role: 'admin', by: 'test' });
  }
  await changeUser(world.database, { name: 'alex', role: 'reviewer', by: 'alma' });
  const alex = { ...rita, by: 'alex' };
  await expect(resolve('paid_to_supplier', alex)).rejects.toMatchObject({
    context: { fault: 'own_seal', date },
  });
  await resolve('paid_to_supplier', ana);
});
