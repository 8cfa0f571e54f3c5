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
import { type TitleFields, titleText } from '../../support/titles.ts';

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

/** A title of this test's provider and financial agent, on the accounts A and X unless told. */
const title = (date: CivilDate, fields: TitleFields = {}) =>
  titleText({
    ...{ date, discount: '1', account: 'A', agentAccount: 'X' },
    ...{ code: `P-${party}`, taxId: `provider ${party}`, agent: `agent ${party}`, ...fields },
  });

/** Pulls these titles of a day, or one. */
async function pull(index: number, ...titles: readonly TitleFields[]): Promise<bigint> {
  const texts = (titles.length === 0 ? [{}] : titles).map((fields) => title(day(index), fields));
  return (await world.serve(day(index), texts)).pullId;
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

const B: TitleFields = { account: 'B' };

describe('a change', () => {
  test('is an account that differs from the one last seen; the first account is no change', async () => {
    await pull(0);
    expect(await changes()).toEqual([]);
    const pullId = await pull(1, B);
    const [change, ...others] = await changes();
    expect(others).toEqual([]);
    expect(change).toMatchObject({
      kind: 'provider',
      partyKey: `P-${party}`,
      before: { bank: '001', agency: '1111', agencyDigit: 'X', account: 'A', accountDigit: '0' },
      after: { bank: '001', agency: '1111', agencyDigit: 'X', account: 'B', accountDigit: '0' },
      acceptedDate: day(1),
      pullId: Number(pullId),
    });
    const rows = await world.database.prisma.$queryRaw`
      SELECT provider_account, accepted_date::text FROM conciliation.title WHERE id = ${change?.titleId}`;
    expect(rows).toEqual([{ provider_account: 'B', accepted_date: day(1) }]);
  });

  test('is found when a held pull is released', async () => {
    await pull(0, { uid: 'a' }, { uid: 'b' });
    const held = await world.serve(day(0), [title(day(0), { uid: 'c', ...B })]);
    expect(held.state).toBe('held');
    expect(await changes()).toEqual([]);
    const decision = { by: 'ana', reason: 'test' };
    await releasePull(world.parts, held.pullId, decision);
    expect(told(await changes())).toEqual(['provider A -> B']);
  });
});

/** A pull of the titles of a day, a decision about all open changes, or the changes that are then open. */
type Step = readonly [index: number, ...titles: TitleFields[]] | 'confirm' | 'parallel' | string;

const OLD: TitleFields = { uid: 'old' };
const BOTH: TitleFields[] = [{}, { ...B, uid: 'second' }];
const histories: Record<string, readonly Step[]> = {
  'a change is watched for providers and financial agents, each digit of it': [
    [0],
    [1, { agentAccount: 'Y', accountDigit: '7' }],
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
    // Of two accounts of one date, the one with the greater hash is the change.
    [0, ...BOTH],
    'provider A -> B',
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
    else await pull(...(step as [number, ...TitleFields[]]));
  }
});

test('no change is the first account of a party, nor blanks around it', async () => {
  const without = title(day(0)).replace(/"(bankAccount|payment)":\{[^}]*\}/g, '"$1":null');
  expect(without.match(/:null/g)).toHaveLength(2);
  await world.serve(day(0), [without]);
  await pull(1);
  await pull(2, { account: ' A ' });
  expect(await changes()).toEqual([]);
});

const held = (acceptedDate: CivilDate) =>
  world.database.prisma.paymentHold.count({ where: { acceptedDate } });

describe('a party that is registered again', () => {
  test.each(['other', null])('has the accounts of its tax identifier (%s)', async (prefix) => {
    const code = prefix && `${prefix}-${party}`;
    await pull(0);
    await pull(1, { ...B, code });
    expect(told(await changes())).toEqual(['provider A -> B']);
    const key = (await changes())[0]?.partyKey.toLowerCase().replace(' ', '');
    expect(key).toBe(code ?? `no-cpf-or-cnpj:provider${party}`);
    expect(await held(day(1))).toBe(1);
    await confirm();
    await pull(2, { ...B, code }, { uid: 'a' });
    expect(told(await changes())).toEqual([]);
  });

  test('does not escape the open change of its account', async () => {
    await pull(0);
    await pull(1, B);
    await pull(2, { ...B, code: `again-${party}` });
    expect(told(await changes())).toEqual(['provider A -> B', 'provider A -> B']);
    expect(await held(day(2))).toBe(1);
    await confirm();
    await pull(3, { ...B, code: `third-${party}` });
    expect(told(await changes())).toEqual([]);
  });

  test('is no change with a known account, nor with the punctuation of the tax identifier', async () => {
    await pull(0, { taxId: `PROVIDER.${party}` });
    await pull(1, { code: `same-${party}` });
    expect(told(await changes())).toEqual([]);
    await pull(2, { code: `third-${party}`, account: 'C' });
    expect(told(await changes())).toEqual(['provider A -> C']);
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
  expect(await changes()).toEqual([]);
  await pull(1, named('000000000191', 'B', 'company'), named('1234567890\t', 'D', 'person'));
  expect(told(await changes()).sort()).toEqual([
    'financial_agent A -> B',
    'financial_agent C -> D',
    'provider A -> B',
    'provider C -> D',
  ]);
  expect(await held(day(1))).toBe(4);
});

test('a party without an external id is known by its number, a very long one by its hash', async () => {
  const long = { code: null, taxId: `${party}${'9'.repeat(900)}` };
  await pull(0, long);
  await pull(1, { ...long, ...B });
  expect(told(await changes())).toEqual(['provider A -> B']);
  expect((await changes())[0]?.partyKey).toMatch(/^md5:[0-9a-f]{32}$/);
});

test('two different accounts of one party are not confirmed by one decision', async () => {
  await pull(0);
  await pull(1, B);
  await pull(2, { account: 'C' });
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
