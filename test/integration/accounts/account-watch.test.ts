import { beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import {
  type AccountChange,
  type AccountDecision,
  decideAccountChanges,
  readAccountChanges,
} from '../../../src/features/accounts/account-changes.sql.ts';
import { decideOpenChanges } from '../../support/account-decisions.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

/** Each test has separate dates and parties. */
let firstDay = 0;
let party = 0;
beforeEach(async () => {
  firstDay += 10;
  party += 1;
  await world.database.prisma.$executeRaw`TRUNCATE conciliation.account_change`;
});
const day = (index: number): CivilDate => daysFrom(firstDay + index);

interface Accounts {
  readonly provider?: string | null;
  readonly agent?: string | null;
  readonly digit?: string;
  readonly uid?: string;
  readonly discount?: string;
}

/** A title of this test's provider and financial agent, on the accounts given. */
function title(date: CivilDate, accounts: Accounts = {}): string {
  const { provider = 'A', agent = 'X', digit = '0', uid = 'order-1', discount = '1' } = accounts;
  const text = JSON.parse(titleText({ date, uid, discount }));
  text.providerExternalId = `P-${party}`;
  text.provider.bankAccount = {
    bank: '001',
    agency: '1',
    agencyDigit: null,
    account: provider,
    accountDigit: digit,
  };
  text.provider.identification = `provider ${party}`;
  text.financialAgent.identificationNumber = `agent ${party}`;
  text.financialAgent.payment.account = agent;
  return JSON.stringify(text);
}

/** A title whose parties state no account. */
function withoutAccount(text: string): string {
  const stated = JSON.parse(text);
  stated.provider.bankAccount = null;
  stated.financialAgent.payment = null;
  return JSON.stringify(stated);
}

async function pull(date: CivilDate, ...titles: readonly string[]): Promise<bigint> {
  world.sandbox.setDayTexts(date, titles);
  return (await world.pull(date)).pullId;
}

const changes = () =>
  readAccountChanges(
    world.database.prisma,
    { state: 'open', providerKey: null },
    { offset: 0, limit: 100 },
  );
const told = (list: readonly AccountChange[]) =>
  list.map((change) => `${change.kind} ${change.before.account} -> ${change.after.account}`);
const confirm = (state: AccountDecision = 'confirmed') => decideOpenChanges(world.database, state);

describe('a change', () => {
  test('is an account that differs from the one last seen; the first account is no change', async () => {
    await pull(day(0), title(day(0)));
    expect(await changes()).toEqual([]);
    const pullId = await pull(day(1), title(day(1), { provider: 'B' }));
    const [change, ...others] = await changes();
    expect(others).toEqual([]);
    expect(change).toMatchObject({
      kind: 'provider',
      partyKey: `P-${party}`,
      before: { bank: '001', agency: '1', agencyDigit: null, account: 'A', accountDigit: '0' },
      after: { bank: '001', agency: '1', agencyDigit: null, account: 'B', accountDigit: '0' },
      acceptedDate: day(1),
      pullId: Number(pullId),
    });
    const rows = await world.database.prisma.$queryRaw`
      SELECT provider_account, accepted_date::text FROM conciliation.title WHERE id = ${change?.titleId}`;
    expect(rows).toEqual([{ provider_account: 'B', accepted_date: day(1) }]);
  });

  test('is found when a held pull is released', async () => {
    await pull(day(0), title(day(0), { uid: 'a' }), title(day(0), { uid: 'b' }));
    const held = await world.serve(day(0), [title(day(0), { uid: 'c', provider: 'B' })]);
    expect(held.state).toBe('held');
    expect(await changes()).toEqual([]);
    const decision = { by: 'ana', reason: 'test' };
    await releasePull(world.parts, held.pullId, decision);
    expect(told(await changes())).toEqual(['provider A -> B']);
  });
});

/** A pull of the titles of a day, a decision about all open changes, or the changes that are then open. */
type Step = readonly [index: number, ...accounts: Accounts[]] | 'confirm' | 'parallel' | string;

const B: Accounts = { provider: 'B' };
const OLD: Accounts = { uid: 'old' };
const BOTH: Accounts[] = [{}, { ...B, uid: 'second' }];
const histories: Record<string, readonly Step[]> = {
  'a change is watched for providers and financial agents, each digit of it': [
    [0],
    [1, { agent: 'Y', digit: '7' }],
    'financial_agent X -> Y, provider A -> A',
  ],
  'a change is found in a title that was restated, although newer ones name the old account': [
    [0, OLD],
    [5],
    [0, { ...OLD, ...B }],
    'provider A -> B',
  ],
  'a change is found in a title restated to an account that the party had before': [
    ...([[0, B], [3], [5], 'confirm', [3, B]] as const),
    'provider A -> B',
  ],
  'no change is a late title of an old date, with the account of then': [
    ...([[0], [5, B], 'confirm', [2], [6, B]] as const),
    '',
  ],
  'no change is a restated amount of an old title': [
    ...([[0], [5, B], 'confirm', [0, { discount: '2' }]] as const),
    '',
  ],
  'no change is a party with two accounts, once both are known': [
    [0, ...BOTH],
    'provider B -> A',
    'parallel',
    [1, ...BOTH],
    [2, ...BOTH],
    ...([[3], [4, B], [5], [6, B]] as const),
    '',
  ],
  'no change is recorded once until a person decides': [
    ...([[0], [1, B], [2], [3, B], [4], [5, B], [6]] as const),
    'provider A -> B',
  ],
  'going back to an account is a change again once the earlier one was acknowledged': [
    ...([[0], [1, B], 'confirm', [2], 'confirm', [3, B]] as const),
    'provider A -> B',
  ],
  'an account to which a title was restated back is the one last seen': [
    ...([[0], [0, B], 'confirm', [0]] as const),
    'provider B -> A',
    ...(['confirm', [1]] as const),
    '',
    [2, B],
    'provider A -> B',
  ],
};
test.each(Object.entries(histories))('%s', async (_, steps) => {
  for (const step of steps) {
    if (step === 'confirm') await confirm();
    else if (step === 'parallel') await confirm('parallel');
    else if (typeof step === 'string') expect(told(await changes()).join(', ')).toBe(step);
    else {
      const [index, ...accounts] = step as [number, ...Accounts[]];
      const titles = accounts.length === 0 ? [{}] : accounts;
      await pull(day(index), ...titles.map((stated) => title(day(index), stated)));
    }
  }
});

test('no change is the first account of a party, nor blanks around it', async () => {
  await pull(day(0), withoutAccount(title(day(0))));
  await pull(day(1), title(day(1)));
  await pull(day(2), title(day(2), { provider: ' A ', agent: 'X' }));
  expect(await changes()).toEqual([]);
});

const held = (acceptedDate: CivilDate) =>
  world.database.prisma.paymentHold.count({ where: { acceptedDate } });

/** A title of this test's provider, registered with another external identifier, or without one. */
function registered(externalId: string | null, ...given: Parameters<typeof title>): string {
  const text = JSON.parse(title(...given));
  text.providerExternalId = externalId;
  text.provider.externalId = externalId;
  return JSON.stringify(text);
}

describe('a party that is registered again', () => {
  test.each(['other', null])('has the accounts of its tax identifier (%s)', async (prefix) => {
    const externalId = prefix && `${prefix}-${party}`;
    await pull(day(0), title(day(0)));
    await pull(day(1), registered(externalId, day(1), { provider: 'B' }));
    expect(told(await changes())).toEqual(['provider A -> B']);
    const key = (await changes())[0]?.partyKey.toLowerCase().replace(' ', '');
    expect(key).toBe(externalId ?? `no-cpf-or-cnpj:provider${party}`);
    expect(await held(day(1))).toBe(1);
    await confirm();
    const titles = [registered(externalId, day(2), B), title(day(2), { uid: 'a' })];
    await pull(day(2), ...titles);
    expect(told(await changes())).toEqual([]);
  });

  test('does not escape the open change of its account', async () => {
    await pull(day(0), title(day(0)));
    await pull(day(1), title(day(1), { provider: 'B' }));
    await pull(day(2), registered(`again-${party}`, day(2), { provider: 'B' }));
    expect(told(await changes())).toEqual(['provider A -> B', 'provider A -> B']);
    expect(await held(day(2))).toBe(1);
    await confirm();
    await pull(day(3), registered(`third-${party}`, day(3), { provider: 'B' }));
    expect(told(await changes())).toEqual([]);
  });

  test('is no change with a known account, nor with the punctuation of the tax identifier', async () => {
    const one = JSON.parse(title(day(0)));
    one.provider.identification = `PROVIDER.${party}`;
    await pull(day(0), JSON.stringify(one));
    await pull(day(1), registered(`same-${party}`, day(1)));
    expect(told(await changes())).toEqual([]);
    await pull(day(2), registered(`third-${party}`, day(2), { provider: 'C' }));
    expect(told(await changes())).toEqual(['provider A -> C']);
  });
});

test('a tax identifier without its leading zeros, or with other characters, has the accounts of before', async () => {
  const named = (date: CivilDate, identification: string, account: string, uid: string) => {
    const text = JSON.parse(registered(null, date, { provider: account, agent: account, uid }));
    text.provider.identification = identification;
    text.financialAgent.identificationNumber = identification;
    return JSON.stringify(text);
  };
  const pullBoth = (date: CivilDate, company: [string, string], person: [string, string]) =>
    pull(date, named(date, ...company, 'company'), named(date, ...person, 'person'));
  await pullBoth(day(0), ['00.000.000/0001-91', 'A'], ['012.345.678-90', 'C']);
  expect(await changes()).toEqual([]);
  await pullBoth(day(1), ['000000000191', 'B'], ['1234567890\t', 'D']);
  expect(told(await changes()).sort()).toEqual([
    'financial_agent A -> B',
    'financial_agent C -> D',
    'provider A -> B',
    'provider C -> D',
  ]);
  expect(await held(day(1))).toBe(4);
});

test('a party without an external id is known by its number, a very long one by its hash', async () => {
  const of = (date: CivilDate, account: string) => {
    const text = JSON.parse(registered(null, date, { provider: account }));
    text.provider.identification = `${party}${'9'.repeat(900)}`;
    return JSON.stringify(text);
  };
  await pull(day(0), of(day(0), 'A'));
  await pull(day(1), of(day(1), 'B'));
  expect(told(await changes())).toEqual(['provider A -> B']);
  expect((await changes())[0]?.partyKey).toMatch(/^md5:[0-9a-f]{32}$/);
});

test('two different accounts of one party are not confirmed by one decision', async () => {
  await pull(day(0), title(day(0)));
  await pull(day(1), title(day(1), { provider: 'B' }));
  await pull(day(2), title(day(2), { provider: 'C' }));
  const ids = (await changes()).map(({ id }) => BigInt(id));
  expect(ids).toHaveLength(2);
  const decide = (state: AccountDecision) =>
    decideAccountChanges(world.database, ids, { by: 'ana', state, reason: 'called them' });
  await expect(decide('confirmed')).rejects.toThrow('expected one account of each party');
  expect(await changes()).toHaveLength(2);
  // Beside each other they are no replacement, and none of them may be refused.
  await decide('parallel');
  expect(await changes()).toEqual([]);
});
