/** One account in several writings is no change; another account is one, whatever names it. */
import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { decideOpenChanges, findAlterations, signDay } from '../../support/days.ts';
import { freshDays, worldOfFile } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

const nextDay = freshDays();

type Members = Readonly<Record<string, unknown>>;

const BASE = {
  bank: '001',
  agency: '0987',
  agencyDigit: null,
  account: '12345',
  accountDigit: '6',
};
const NONE = { bank: null, agency: null, agencyDigit: null, account: null, accountDigit: null };

interface Party {
  readonly name: string;
  readonly account: Members;
}

/** A title of a provider and of an agent that state the same account. */
function title(date: CivilDate, { name, account }: Party, agentId = `agent ${name}`): string {
  const text = JSON.parse(titleText({ date, uid: name }));
  text.providerExternalId = name;
  text.provider = { identification: `number ${name}`, externalId: name, bankAccount: account };
  text.financialAgent.identificationNumber = agentId;
  text.financialAgent.payment = { type: 'BANK_TRANSFER', ...account };
  return JSON.stringify(text);
}

const pull = (date: CivilDate, titles: readonly string[]) => world.serve(date, titles);

const openChanges = (acceptedDate: CivilDate) =>
  world.prisma.accountChange.findMany({
    where: { state: 'open', acceptedDate: new Date(acceptedDate) },
    orderBy: { id: 'asc' },
  });

/** Writings of one account, and other accounts; test/unit/domain/bank-account.test.ts has all of them. */
const QUIET: Readonly<Record<string, Members>> = {
  'bank with name': { bank: '001 - Banco do Brasil' },
  'account with NBSP': { account: '12345\u00a0' },
  '1/987/12345-6': { bank: '1', agency: '987', account: '12345-6', accountDigit: null },
  'bank null, its ispb': { bank: null, ispb: '00000000' },
  'type checking': { type: 'CHECKING' },
};
const ALARM: Readonly<Record<string, Members>> = {
  'another ispb': { bank: null, ispb: '60701190' },
  'type savings': { type: 'SAVINGS' },
  'no account': NONE,
  'bank and agency alone': { ...NONE, bank: '033', agency: '0987' },
  'digit missing': { accountDigit: null },
  'a key instead': { ...NONE, key: 'thief@evil.com' },
  'a key beside': { pixKey: 'thief@evil.com' },
  'another operation': { operation: '013' },
};

test('a second date is quiet for each writing of an account, and an alarm for each other account', async () => {
  const [first, second] = [nextDay(), nextDay()];
  const rows = Object.entries({ ...QUIET, ...ALARM });
  const titlesOn = (date: CivilDate, stated: (account: Members) => Members) =>
    rows.map(([name, account]) => title(date, { name, account: stated(account) }));
  await pull(
    first,
    titlesOn(first, () => BASE),
  );
  await pull(
    second,
    titlesOn(second, (account) => ({ ...BASE, ...account })),
  );
  const changes = await openChanges(second);
  const changed = (kind: string) =>
    changes.filter((change) => change.kind === kind).map(({ partyKey }) => partyKey);
  expect(changed('provider').sort()).toEqual(Object.keys(ALARM).sort());
  // The type of a payment is documented, and names no account.
  expect(changed('financial_agent')).toHaveLength(Object.keys(ALARM).length - 1);
  const where = { acceptedDate: second };
  const held = await world.prisma.paymentHold.count({ where });
  expect(held).toBe(2 * Object.keys(ALARM).length - 1);
});

/** One title on each of consecutive dates, and the number of changes that each date begins. */
async function follow<S extends readonly unknown[]>(
  steps: readonly (readonly [...stated: S, changes: number])[],
  titleOn: (date: CivilDate, ...stated: S) => string,
  decides = true,
): Promise<void> {
  for (const step of steps) {
    const date = nextDay();
    await pull(date, [titleOn(date, ...(step.slice(0, -1) as unknown as S))]);
    expect(await openChanges(date), JSON.stringify(step)).toHaveLength(Number(step.at(-1)));
    if (decides) await decideOpenChanges(world.database);
  }
}

test('an ISPB that is stated later is no change, and the next one is', () =>
  follow<[Members]>(
    [
      [{}, 0],
      [{ ispb: '11111111' }, 0],
      [{}, 0],
      [{ ispb: '22222222' }, 2],
      [{ holder: 'Ana' }, 0],
    ],
    (date, more) => title(date, { name: 'late ispb', account: { ...BASE, bank: '999', ...more } }),
    false,
  ));

test('an account that disappears is a change, and the account that follows a confirmed one too', () =>
  follow<[Members]>(
    [
      [NONE, 0],
      [BASE, 0],
      [NONE, 2],
      [BASE, 2],
    ],
    (date, account) => title(date, { name: 'gone', account }),
  ));

test('a changed key restates a signed day, with a revision and a hold; another undocumented field does not', async () => {
  const date = nextDay();
  const texts = (members: Members) => [
    title(date, { name: 'key', account: { ...NONE, key: 'a@b.com', ...members } }),
    title(date, { name: 'no members', account: BASE }),
  ];
  await pull(date, texts({ stamp: '1' }));
  const where = { date: new Date(date) };
  const sign = () => signDay(world.database, date, { bookingsFrom: date });
  await sign();
  // A time stamp of the response, and another writing of the key, are no change.
  expect(await pull(date, texts({ stamp: '2' }))).toMatchObject({ changed: 0, unchanged: 2 });
  expect(await pull(date, texts({ key: 'x@y.com' }))).toMatchObject({ changed: 1, unchanged: 1 });
  const day = await world.prisma.day.findUniqueOrThrow({ where });
  expect(day.restatedAfterSignOff).toBe(true);
  const changes = await openChanges(date);
  expect(changes.map(({ kind }) => kind).sort()).toEqual(['financial_agent', 'provider']);
  expect(changes[0]).toMatchObject({
    before: { destination: { key: 'a@b.com' } },
    after: { destination: { key: 'x@y.com' } },
  });
  const revisions = await world.prisma.titleRevision.findMany({
    where: { titleId: changes[0]?.titleId ?? 0n },
  });
  expect(revisions).toMatchObject([
    { before: { extra: { financialAgent: { payment: { key: 'a@b.com' } } } } },
  ]);
  // The database computes the same content hashes.
  expect(await findAlterations(world.database, date)).toEqual([]);
  // The correction tells the ERP the new key.
  await decideOpenChanges(world.database);
  await sign();
  const { lines } = await readFeed(world.database, 'erp', { after: 0n, limit: 10 });
  const told = lines.map(
    ({ kind, title }) => `${kind} ${JSON.stringify(title['payment_destination'])}`,
  );
  expect(told.sort()).toEqual(['adjust {"key":"x@y.com"}', 'book null', 'book {"key":"a@b.com"}']);
});

test('a key that is an object is a destination: another value is a change', async () => {
  const [first, second, third] = [nextDay(), nextDay(), nextDay()];
  const key = (value: string, type = 'EMAIL') => ({
    name: 'object key',
    account: { ...BASE, pixKey: { type, value, n: [1.5e3, 0.25] } },
  });
  await pull(first, [title(first, key('a@example.com'))]);
  await pull(second, [title(second, key('a@example.com'))]);
  expect(await openChanges(second)).toEqual([]);
  await pull(third, [title(third, key('b@example.com'))]);
  expect(await openChanges(third)).toHaveLength(2);
  expect(await pull(first, [title(first, key('c@example.com'))])).toMatchObject({ changed: 1 });
  expect(await findAlterations(world.database, first)).toEqual([]);
});

test('a title without a tax identifier makes no account known to the party that a later one names', async () => {
  const [first, second, third] = [nextDay(), nextDay(), nextDay()];
  const of = (
    date: CivilDate,
    externalId: string,
    identification: string | null,
    digit: string,
  ) => {
    const text = JSON.parse(title(date, { name: externalId, account: BASE }, 'agent of all'));
    text.provider = {
      ...{ externalId, identification },
      bankAccount: { ...BASE, accountDigit: digit },
    };
    return JSON.stringify(text);
  };
  await pull(first, [of(first, 'known', 'number known', '6')]);
  await pull(second, [of(second, 'new', null, '7')]);
  expect(await openChanges(second)).toEqual([]);
  await pull(third, [of(third, 'new', 'number known', '7')]);
  expect(await openChanges(third)).toMatchObject([{ kind: 'provider' }]);
});
