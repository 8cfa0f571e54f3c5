import { beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import {
  type AccountChange,
  type AccountDecision,
  decideAccountChanges,
  readAccountChanges,
} from '../../../src/features/accounts/account-changes.sql.ts';
import { decideOpenChanges } from '../../support/days.ts';
import { daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { type TitleFields, titleText } from '../../support/titles.ts';

const world = worldOfFile();

/** Each test has separate dates and parties. */
let firstDay = 0;
let party = 0;
beforeEach(async () => {
  firstDay += 10;
  party += 1;
  await world.prisma.$executeRaw`TRUNCATE conciliation.account_change`;
});
const day = (index: number): CivilDate => daysFrom(firstDay + index);

/** A title of this test's provider and financial agent, on the accounts A and X unless told. */
const title = (date: CivilDate, fields: TitleFields = {}) =>
  titleText({
    ...{ date, discount: '1', account: 'A', agentAccount: 'X' },
    ...{ code: `P-${party}`, taxId: `provider ${party}`, agent: `agent ${party}`, ...fields },
  });

/** Fields in words, such as "account=B code=other-#". # is the number of the party, and no value is null. */
const fieldsOf = (words: string): TitleFields =>
  Object.fromEntries(
    words.split(' ').flatMap((word) => {
      const [name = '', value = ''] = word.replace('#', String(party)).split('=');
      return name === '' ? [] : [[name, value === '' ? null : value]];
    }),
  );

async function pull(index: number, ...titles: readonly TitleFields[]): Promise<bigint> {
  const texts = titles.map((fields) => title(day(index), fields));
  return (await world.serve(day(index), texts)).pullId;
}

const changes = () =>
  readAccountChanges(world.prisma, { state: 'open', providerKey: null }, { offset: 0, limit: 100 });
const told = (list: readonly AccountChange[]) =>
  list.map((change) => `${change.kind} ${change.before.account} -> ${change.after.account}`);
/**
 * Steps in words: the index of a day with its titles, which are pulled; a decision about all open changes; or, after
 * "is", the changes that are open.
 */
async function follow(...steps: readonly string[]): Promise<void> {
  for (const step of steps) {
    const [first = ''] = step.split(' ');
    const rest = step.slice(first.length + 1);
    if (first === 'is')
      expect(
        told(await changes())
          .sort()
          .join(', '),
      ).toBe(rest);
    else if (/^\d+$/.test(first)) await pull(Number(first), ...rest.split(', ').map(fieldsOf));
    else await decideOpenChanges(world.database, step as AccountDecision);
  }
}

const held = (acceptedDate: CivilDate) =>
  world.prisma.paymentHold.count({ where: { acceptedDate } });

describe('a change', () => {
  test('is an account that differs from the one last seen; the first account is no change', async () => {
    await follow('0', 'is ');
    const pullId = await pull(1, { account: 'B' });
    const [change, ...others] = await changes();
    expect(others).toEqual([]);
    const account = { bank: '001', agency: '1111', agencyDigit: 'X', accountDigit: '0' };
    expect(change).toMatchObject({
      ...{ kind: 'provider', partyKey: `P-${party}`, acceptedDate: day(1), pullId: Number(pullId) },
      before: { ...account, account: 'A' },
      after: { ...account, account: 'B' },
    });
    const rows = await world.prisma.$queryRaw`
      SELECT provider_account, accepted_date::text FROM conciliation.title WHERE id = ${change?.titleId}`;
    expect(rows).toEqual([{ provider_account: 'B', accepted_date: day(1) }]);
  });

  test('is found when a held pull is released', async () => {
    await follow('0 uid=a, uid=b');
    const { state, pullId } = await world.serve(day(0), [
      title(day(0), { uid: 'c', account: 'B' }),
    ]);
    expect(state).toBe('held');
    await follow('is ');
    await releasePull(world.parts, pullId, { by: 'ana', reason: 'test' });
    await follow('is provider A -> B');
  });
});

const histories: Record<string, readonly string[]> = {
  'a change is watched for providers and financial agents, each digit of it': [
    ...['0', '1 agentAccount=Y accountDigit=7', 'is financial_agent X -> Y, provider A -> A'],
  ],
  'a change is found in a title that was restated, although newer ones name the old account': [
    ...['0 uid=old', '5', '0 uid=old account=B', 'is provider A -> B'],
  ],
  'a change is found in a title restated to an account that the party had before': [
    ...['0 account=B', '3', '5', 'confirmed', '3 account=B', 'is provider A -> B'],
  ],
  'no change is a late title of an old date, with the account of then': [
    ...['0', '5 account=B', 'confirmed', '2', '6 account=B', 'is '],
  ],
  'no change is a restated amount of an old title': [
    ...['0', '5 account=B', 'confirmed', '0 discount=2', 'is '],
  ],
  // Of two accounts of one date, the one with the greater hash is the change.
  'no change is a party with two accounts, once both are known': [
    ...['0 uid=first, account=B uid=second', 'is provider A -> B', 'parallel'],
    ...['1 uid=first, account=B uid=second', '2 uid=first, account=B uid=second'],
    ...['3', '4 account=B', '5', '6 account=B', 'is '],
  ],
  'no change is recorded once until a person decides': [
    ...['0', '1 account=B', '2', '3 account=B', '4', '5 account=B', '6', 'is provider A -> B'],
  ],
  'going back to an account is a change again once the earlier one was acknowledged': [
    ...['0', '1 account=B', 'confirmed', '2', 'confirmed', '3 account=B', 'is provider A -> B'],
  ],
  'an account to which a title was restated back is the one last seen': [
    ...['0', '0 account=B', 'confirmed', '0', 'is provider B -> A'],
    ...['confirmed', '1', 'is ', '2 account=B', 'is provider A -> B'],
  ],
  'a party that is registered again is no change with a known account, nor with the punctuation of the tax identifier':
    [
      ...['0 taxId=PROVIDER.#', '1 code=same-#', 'is '],
      ...['2 code=third-# account=C', 'is provider A -> C'],
    ],
  'a party with accounts of its own that states the tax identifier of another one is a change': [
    ...['0', '1 taxId=x-# code=x-# account=B', '2 code=x-# account=B', 'is provider A -> B'],
  ],
  'an agent whose number has lost its zeros is the agent of before': [
    ...['0 agent=00.000.000/0002-72', '1 agent=00000000000272 agentAccount=Y'],
    ...['2 agent=272 agentAccount=Z', '3 agent=00000000272 agentAccount=W', '4 agent=272'],
    'is financial_agent X -> W, financial_agent X -> Y, financial_agent X -> Z',
  ],
};
test.each(Object.entries(histories))('%s', (_, steps) => follow(...steps));

test('a party without an identifier is known by its name, and otherwise the same as others without any', async () => {
  const unnamed = 'code= taxId= agent= name=';
  await follow(`0 ${unnamed}, uid=b agent= name=agent-#`, 'is ');
  await follow('1 agent= name=agent-# agentAccount=Z', 'is financial_agent X -> Z');
  await follow(`2 ${unnamed} account=B agentAccount=Y`);
  await follow('is financial_agent X -> Y, financial_agent X -> Z, provider A -> B');
  expect(await held(day(2))).toBe(2);
});

test('no change is the first account of a party, nor blanks around it', async () => {
  const without = title(day(0)).replace(/"(bankAccount|payment)":\{[^}]*\}/g, '"$1":null');
  expect(without.match(/:null/g)).toHaveLength(2);
  await world.serve(day(0), [without]);
  await pull(1, {});
  await pull(2, { account: ' A ' });
  await follow('is ');
});

describe('a party that is registered again', () => {
  test.each(['other', null])('has the accounts of its tax identifier (%s)', async (prefix) => {
    const code = prefix && `${prefix}-${party}`;
    const again = `account=B code=${code ?? ''}`;
    await follow('0', `1 ${again}`, 'is provider A -> B');
    const key = (await changes())[0]?.partyKey.toLowerCase().replace(' ', '');
    expect(key).toBe(code ?? `no-cpf-or-cnpj:provider${party}`);
    expect(await held(day(1))).toBe(1);
    await follow('confirmed', `2 ${again}, uid=a`, 'is ');
  });

  test('has no account that waits for a person at another party', async () => {
    await follow('0 code=other-# account=B', '1', 'is provider B -> A', 'parallel', '2 account=B');
    await follow('is provider A -> B', '3 code=again-# account=B');
    expect(await held(day(3))).toBe(1);
  });

  test('does not escape the open change of its account', async () => {
    await follow('0', '1 account=B', '2 account=B code=again-#');
    await follow('is provider A -> B, provider A -> B');
    expect(await held(day(2))).toBe(1);
    await follow('confirmed', '3 account=B code=third-#', 'is ');
  });
});

test('a tax identifier without its leading zeros, or with other characters, has the accounts of before', async () => {
  const named = (taxId: string, account: string, uid: string) => ({
    ...{ code: null, taxId, agent: taxId, account, agentAccount: account, uid },
  });
  await pull(
    0,
    named('00.000.000/0001-91', 'A', 'company'),
    named('012.345.678-90', 'C', 'person'),
  );
  await follow('is ');
  await pull(1, named('000000000191', 'B', 'company'), named('1234567890\t', 'D', 'person'));
  await follow(
    'is financial_agent A -> B, financial_agent C -> D, provider A -> B, provider C -> D',
  );
  expect(await held(day(1))).toBe(4);
});

test('a party without an external id is known by its number, a very long one by its hash', async () => {
  const long = `code= taxId=${party}${'9'.repeat(900)}`;
  await follow(`0 ${long}`, `1 ${long} account=B`, 'is provider A -> B');
  expect((await changes())[0]?.partyKey).toMatch(/^md5:[0-9a-f]{32}$/);
});

test('two different accounts of one party are not confirmed by one decision', async () => {
  await follow('0', '1 account=B', '2 account=C');
  const ids = (await changes()).map(({ id }) => BigInt(id));
  expect(ids).toHaveLength(2);
  const decide = (state: AccountDecision) =>
    decideAccountChanges(world.database, ids, {
      by: 'ana',
      state,
      list: 'open',
      reason: 'called them',
    });
  await expect(decide('confirmed')).rejects.toThrow('Choose one account of each party');
  expect(await changes()).toHaveLength(2);
  // Beside each other they are no replacement, and none of them may be refused.
  await decide('parallel');
  expect(await changes()).toEqual([]);
});
