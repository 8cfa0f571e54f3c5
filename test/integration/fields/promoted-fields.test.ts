/**
 * A named field of titles: content of the dates that are pulled for the first time afterwards, and of no other date. The
 * scenario has two titles of 1,000.00 and 250.50 on each date, with the identifiers of their duplicatas.
 */
import { inspect } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { promoteField } from '../../../src/features/fields/promoted-fields.sql.ts';
import { readPromotedOf } from '../../../src/features/sweep/sweeps.sql.ts';
import type { Prisma } from '../../../src/generated/prisma/client.ts';
import { decideOpenChanges, erase, findAlterations, signDay } from '../../support/days.ts';
import { daysFrom, freshDays, worldOfFile } from '../../support/pull-world.ts';
import { sweep } from '../../support/sweeps.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();
const nextDay = freshDays();
const BEFORE = daysFrom(0);

const duplicata = (number: string, more = '') =>
  `,"duplicata":{"id":"${number}","series":1.50},"sentAt":"x"${more}`;
const texts = (date: CivilDate, first = 'D-1', second = 'D-2', more = '') => [
  titleText({ date, uid: 'one', value: '1000.00', more: duplicata(first, more) }),
  titleText({ date, uid: 'two', value: '250.50', more: duplicata(second, more) }),
];
type Role = Parameters<typeof promoteField>[1]['role'];
const promote = (name: string, path: string, role: Role = 'identifier') =>
  promoteField(world.database, { name, path, role }, { by: 'adm', reason: 'agreed' });
const dayOf = (date: CivilDate) =>
  world.prisma.day.findUniqueOrThrow({ where: { date: new Date(date) } });
const titleOf = (orderUid: string) => world.prisma.title.findFirst({ where: { orderUid } });
const linesOf = (date: CivilDate) =>
  world.prisma.bookingLine.findMany({ where: { date }, orderBy: { orderUid: 'asc' } });
const changesOf = (where: Prisma.AccountChangeWhereInput) =>
  world.prisma.accountChange.count({ where });

let sealed: Awaited<ReturnType<typeof dayOf>>;
beforeAll(async () => {
  await world.serve(BEFORE, texts(BEFORE));
  await signDay(world.database, BEFORE);
  sealed = await dayOf(BEFORE);
  await promote('duplicata', 'extra.duplicata.id');
});

test('a date that was pulled before keeps its hashes and its seal, and a changed value is no change of it', async () => {
  expect(inspect(await dayOf(BEFORE))).toBe(inspect(sealed));
  expect(sealed.contentVersion).toBe(0);
  expect(await findAlterations(world.database, BEFORE)).toEqual([]);
  expect(await world.serve(BEFORE, texts(BEFORE, 'D-9'))).toMatchObject({
    ...{ state: 'unchanged', changed: 0, unchanged: 2 },
  });
  const { contentDigest, restatedAfterSignOff } = await dayOf(BEFORE);
  expect({ contentDigest, restatedAfterSignOff }).toEqual({
    contentDigest: sealed.contentDigest,
    restatedAfterSignOff: false,
  });
});

test('a changed value restates a date that is pulled for the first time afterwards, and the line of the ERP has it', async () => {
  const date = nextDay();
  await world.serve(date, texts(date));
  expect(await dayOf(date)).toMatchObject({ contentVersion: 1 });
  await signDay(world.database, date, { bookingsFrom: date });
  // Another field, and another writing of the JSON, are no change.
  const stamped = texts(date).map((text) => text.replace('"x"', '"y"'));
  expect(await world.serve(date, stamped)).toMatchObject({ changed: 0, unchanged: 2 });
  expect(await world.serve(date, texts(date, 'D-1', 'D-3'))).toMatchObject({
    ...{ changed: 1, unchanged: 1, inserted: 0, withdrawn: 0 },
  });
  expect(await dayOf(date)).toMatchObject({ restatedAfterSignOff: true });
  expect(String((await dayOf(date)).originalValueSum)).toBe('1250.5');
  expect(await findAlterations(world.database, date)).toEqual([]);
  await signDay(world.database, date, { bookingsFrom: date });
  const { lines } = await readFeed(world.database, 'erp', { after: 0n, limit: 10 });
  expect(
    lines
      .filter((line) => line.date === date)
      .map(({ kind, title }) => [kind, title['original_value'], title['promoted']])
      .sort(),
  ).toEqual([
    ['adjust', '250.50', { duplicata: 'D-3' }],
    ['book', '1000.00', { duplicata: 'D-1' }],
    ['book', '250.50', { duplicata: 'D-2' }],
  ]);
  expect(await findAlterations(world.database, date)).toEqual([]);
});

test('numbers are compared as numbers, and other values as their text', async () => {
  await promote('series', 'duplicata.series');
  const date = nextDay();
  const of = (series: string, on = date) => [
    titleText({ date: on, more: `,"duplicata":{"series":${series}}` }),
  ];
  await world.serve(date, of('1.50'));
  const changes = [];
  for (const series of ['15e-1', '1.5', '"1.5"', '1.51', 'true', 'null', '{"b":1,"a":[2.0]}']) {
    changes.push((await world.serve(date, of(series))).changed);
    // The database computes the same content hash.
    expect(await findAlterations(world.database, date), series).toEqual([]);
  }
  expect(changes).toEqual([0, 0, 0, 1, 1, 1, 1]);
  await promote('series', 'duplicata.series', null);
  const later = nextDay();
  await world.serve(later, of('1', later));
  expect(await world.serve(later, of('2', later))).toMatchObject({ changed: 0 });
});

test('a field that is named while the first response arrives is content of the second attempt', async () => {
  const date = nextDay();
  const name = 'meanwhile';
  world.sandbox.setDayTexts(date, texts(date));
  const pullId = await world.newPull(date);
  const promoting = world.meanwhile(() => promote(name, 'sentAt'));
  expect(await world.run(pullId, promoting)).toMatchObject({ kind: 'retry' });
  expect(await world.run(pullId)).toMatchObject({ kind: 'done', report: { inserted: 2 } });
  expect(await findAlterations(world.database, date)).toEqual([]);
  const fields = await readPromotedOf(world.database, date);
  expect(fields.get(date)?.map((field) => field.name)).toEqual(['duplicata', name]);
  await promote(name, 'sentAt', null);
});

test('a changed account of a named field is a change with a hold, and its first appearance is none', async () => {
  const first = nextDay();
  const of = (date: CivilDate, key: string) => [
    titleText({ date, uid: `${date}`, code: 'P-key', more: `,"payout":{"chave":"${key}"}` }),
  ];
  await world.serve(first, of(first, 'a@b.com'));
  await promote('chave_pix', 'payout.chave', 'provider_account');
  const changesOn: number[] = [];
  const days: CivilDate[] = [];
  for (const key of ['a@b.com', 'A@B.com', 'x@y.com', 'a@b.com']) {
    const date = nextDay();
    days.push(date);
    await world.serve(date, of(date, key));
    changesOn.push(await changesOf({ acceptedDate: date }));
  }
  expect(changesOn).toEqual([0, 0, 1, 0]);
  const change = await world.prisma.accountChange.findFirstOrThrow();
  expect(change).toMatchObject({
    ...{ kind: 'provider', partyKey: 'P-key', state: 'open' },
    after: { account: '7654321', destination: { chave_pix: 'x@y.com' } },
  });
  expect(await world.prisma.paymentHold.count()).toBe(1);
  await decideOpenChanges(world.database);
  // The title is restated to the account that the confirmed one replaced.
  const [, , replaced = first] = days;
  expect(await world.serve(replaced, of(replaced, 'a@b.com'))).toMatchObject({ changed: 1 });
  expect(await findAlterations(world.database, replaced)).toEqual([]);
  expect(await changesOf({ state: 'open' })).toBe(1);
});

test('a second named account, one that is missing and another name of a field are no change', async () => {
  const serve = async (payout: object) => {
    const date = nextDay();
    const fields = { date, uid: `${date}`, code: 'P-two', taxId: '39053344705' };
    await world.serve(date, [
      titleText({ ...fields, more: `,"payout":${JSON.stringify(payout)}` }),
    ]);
    return changesOf({ partyKey: 'P-two' });
  };
  await promote('first', 'payout.first', 'provider_account');
  await serve({ first: 'x' });
  await promote('second', 'payout.second', 'provider_account');
  const counts = [await serve({ first: 'x', second: 'y' }), await serve({ second: 'y' })];
  await promote('first', 'payout.first', null);
  await promote('renamed', 'payout.first', 'provider_account');
  counts.push(await serve({ first: 'x', second: 'y' }), await serve({ first: 'z', second: 'y' }));
  expect(counts).toEqual([0, 0, 0, 1]);
  await promote('renamed', 'payout.first', null);
  await promote('second', 'payout.second', null);
});

test.for([
  ['title', 'duplicata.id', undefined],
  ['order_uid', 'duplicata.id', 'field_name'],
  ['holder', 'duplicata.id', 'field_name'],
  ['Name', 'duplicata.id', 'field_name'],
  ['content_hash', 'duplicata.id', 'field_name'],
  ['other', 'items.0', 'field_path'],
  ['other', 'items[0].x', 'field_path'],
  ['other', '["a.b","c"]', 'field_path'],
  ['other', 'originalValue', 'field_path'],
  ['other', 'titles[].order.uid', 'field_path'],
  ['other', 'originalValue.x', 'field_path'],
  ['other', '', 'field_path'],
  ['title', 'order.number', 'field_moved'],
] as const)('the name %s of %s is refused', async ([name, path, fault]) => {
  const refused = promote(name, path);
  if (fault === undefined) return expect(await refused).toBeUndefined();
  await expect(refused).rejects.toMatchObject({ context: { fault } });
});

test('only a named field is ended, and a name keeps its place after its end', async () => {
  const place = 'contract.number';
  await expect(promote('contract', place, null)).rejects.toThrow('contract is no named field now');
  await promote('contract', place);
  await expect(promote('contract', 'contract.id', null)).rejects.toThrow(
    'the name contract belongs to contract.number',
  );
  await promote('contract', place, null);
  await expect(promote('contract', place, null)).rejects.toThrow('contract is no named field now');
  await expect(promote('contract', 'contract.id')).rejects.toThrow('belongs to contract.number');
});

test('a sweep compares each date with its own fields', async () => {
  const [old, young] = [nextDay(), nextDay()];
  await world.serve(old, texts(old));
  await promote('series', 'duplicata.series');
  await world.serve(young, texts(young));
  const differing = async (...of: CivilDate[]) => {
    const { differences } = await sweep(world, BEFORE);
    return differences.map(({ date }) => date).filter((date) => of.includes(date));
  };
  expect(await differing(BEFORE, old, young)).toEqual([]);
  for (const date of [old, young]) {
    const changed = texts(date).map((text) => text.replace('1.50', '1.51'));
    world.sandbox.setDayTexts(date, changed);
  }
  expect(await differing(old, young)).toEqual([young]);
});

test('an erasure takes the values away, and what remains is no alteration', async () => {
  const date = nextDay();
  const erased = `,"duplicata":{"id":"of 111.444.777-35"}`;
  const other = { code: 'P-other', taxId: '11144477735' };
  await world.serve(date, [
    titleText({ date, uid: 'own', more: duplicata('D-1') }),
    titleText({ date, uid: 'of the other', ...other }),
  ]);
  await signDay(world.database, date);
  await erase(world.database, { taxId: '52998224725' });
  expect((await linesOf(date)).map(({ promoted }) => promoted)).toEqual([null, null]);
  expect(await findAlterations(world.database, date)).toEqual([]);
  // A title of another party that names an erased one.
  const later = nextDay();
  await erase(world.database, { taxId: '11144477735' });
  const third = { date: later, code: 'P-third', taxId: '39053344705', uid: 'names it' };
  await world.serve(later, [titleText({ ...third, more: erased })]);
  expect(await titleOf('names it')).toMatchObject({ extra: null });
  expect(await findAlterations(world.database, later)).toEqual([]);
});

test('an erasure replaces the fields of lines of other parties that name the erased one', async () => {
  const taxId = '24681357928';
  const date = nextDay();
  const third = { date, code: 'P-third', taxId: '39053344705', agent: '90400888000142' };
  const of = (uid: string, id: string) =>
    titleText({ ...third, uid, more: duplicata(id) })
      // The agent's Pix key.
      .replace('"accountDigit":"8"', `"accountDigit":"8","pixKey":"${taxId}"`);
  await world.serve(date, [
    titleText({ date, uid: 'own', code: 'P-own', taxId, more: duplicata('D-1') }),
    of('other', 'of 246.813.579-28'),
    of('without', 'D-2'),
  ]);
  await decideOpenChanges(world.database);
  await signDay(world.database, date, { bookingsFrom: date });
  const { pseudonym } = await erase(world.database, { taxId });
  const lines = await linesOf(date);
  expect(lines.map(({ promoted, paymentDestination }) => [promoted, paymentDestination])).toEqual([
    [{ duplicata: pseudonym, title: pseudonym, series: '1.5' }, { pixKey: pseudonym }],
    [null, null],
    [{ duplicata: 'D-2', title: 'D-2', series: '1.5' }, { pixKey: pseudonym }],
  ]);
  expect(await findAlterations(world.database, date)).toEqual([]);
  // A line whose other columns differ from those of its title is found.
  await world.database.pool.query(`
    ALTER TABLE conciliation.booking_line DISABLE TRIGGER booking_line_kept;
    UPDATE conciliation.booking_line SET financial_agent_name = 'another' WHERE order_uid = 'other' AND date = '${date}'`);
  expect(await findAlterations(world.database, date)).toMatchObject([{ problem: 'line' }]);
});

test('a later title of another party loses only the fields that name an erased one', async () => {
  const later = nextDay();
  const changes = await changesOf({});
  await world.serve(later, [
    titleText({
      ...{ date: later, uid: 'keeps', code: 'P-third', taxId: '39053344705' },
      more: ',"duplicata":{"id":"D-7"},"note":"contact 24681357928"',
    }),
  ]);
  const kept = { extra: { duplicata: { id: 'D-7' } }, erasedAt: null };
  expect(await titleOf('keeps')).toMatchObject(kept);
  expect(await changesOf({})).toBe(changes);
  expect(await findAlterations(world.database, later)).toEqual([]);
});
