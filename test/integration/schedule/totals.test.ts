/** Who writes the totals of the payment schedule, and when, and the lines of a party that is written in several ways. */
import { expect, test } from 'vitest';
import { type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { ensureCalendar } from '../../../src/features/calendar/business-days.sql.ts';
import { hasOtherTotals, writeTotals } from '../../../src/features/schedule/payee.sql.ts';
import {
  hasPayeeOf,
  readGroupTotals,
  readSchedule,
} from '../../../src/features/schedule/read-schedule.sql.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { findAlterations, repairDay } from '../../support/days.ts';
import { erase } from '../../support/erase.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { daysFrom, pause } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

function pull(date: CivilDate, ...titles: readonly { uid: string; value?: string }[]) {
  const texts = titles.map((fields) => titleText({ date, ...fields }));
  return world.serve(date, texts, { withdrawalLimitPercent: 100 });
}

/** The rows of a date with their places in the table, which are others once a row is written again. */
async function totals(date: CivilDate) {
  const rows = await world.database.prisma.$queryRaw<
    { place: string; titles: number; value: string }[]
  >`
    SELECT ctid::text || ' ' || xmin::text AS place, titles, original_value::text AS value
    FROM conciliation.schedule_total WHERE accepted_date = ${date}::date ORDER BY titles`;
  return {
    places: rows.map(({ place }) => place),
    rows: rows.map(({ titles, value }) => [titles, value]),
  };
}

test('a merge writes the totals of its own date, and a pull that changes nothing writes none', async () => {
  const [first, second] = [daysFrom(0), daysFrom(1)];
  await pull(first, { uid: 'a', value: '10' });
  await pull(second, { uid: 'b', value: '1' }, { uid: 'c', value: '2.50' });
  expect((await totals(first)).rows).toEqual([[1, '10']]);
  const other = await totals(second);
  expect(other.rows).toEqual([[2, '3.50']]);

  const { state } = await pull(first, { uid: 'a', value: '10' });
  expect(state).toBe('unchanged');
  expect(await totals(second)).toEqual(other);
  const before = await totals(first);
  await pull(first, { uid: 'a', value: '10' });
  expect(await totals(first)).toEqual(before);

  await pull(first, { uid: 'd', value: '7' }, { uid: 'e', value: '0.01' });
  expect((await totals(first)).rows).toEqual([[2, '7.01']]);
  await pull(first, { uid: 'e', value: '0.01' });
  expect((await totals(first)).rows).toEqual([[1, '0.01']]);
  await pull(first, { uid: 'd', value: '7' }, { uid: 'e', value: '3' });
  expect((await totals(first)).rows).toEqual([[2, '10']]);
  expect(await totals(second)).toEqual(other);
});

test('totals that something else than a merge has changed are found, and the repair writes them again', async () => {
  const date = daysFrom(2);
  await pull(date, { uid: 'a', value: '10' });
  const { rows } = await totals(date);
  for (const statement of [
    `UPDATE conciliation.schedule_total SET original_value = 11 WHERE accepted_date = $1`,
    `DELETE FROM conciliation.schedule_total WHERE accepted_date = $1`,
    `INSERT INTO conciliation.schedule_total
     SELECT * FROM conciliation.schedule_total WHERE accepted_date = $1`,
  ]) {
    expect(await findAlterations(world.database, date)).toEqual([]);
    await world.database.pool.query(statement, [date]);
    // A repair that has just ended is not repeated.
    await world.database.pool.query(
      `UPDATE conciliation.pull SET finished_at = finished_at - interval '2 hours'`,
    );
    const { alterations } = await repairDay(world, date);
    expect(alterations).toEqual([{ rowKey: null, problem: 'totals' }]);
    expect((await totals(date)).rows).toEqual(rows);
  }
});

test('an erasure waits for a merge of its dates, and has the totals of what that merge wrote', async () => {
  const date = daysFrom(4);
  await pull(date, { uid: 'a', value: '10' });
  const { prisma } = world.database;
  const [gone, go] = pause();
  let erasing: Promise<unknown> = Promise.resolve();
  // As a merge does: it has locked its date, and has written a title and the totals.
  await prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT FROM conciliation.day WHERE date = ${date}::date FOR UPDATE`;
    await tx.$executeRaw`
      INSERT INTO conciliation.title (order_uid, occurrence, accepted_date, anticipated_due_date, original_value,
        identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id)
      SELECT 'b', 1, accepted_date, anticipated_due_date, 5, gen_random_uuid(), gen_random_uuid(),
             gen_random_uuid(), first_pull_id, first_pull_id
      FROM conciliation.title WHERE accepted_date = ${date}::date`;
    await writeTotals(tx, Prisma.sql`accepted_date = ${date}::date`, null);
    erasing = erase(world.database, { taxId: '11222333000181' }).finally(go);
    await lockWaits(world.database);
  });
  await gone;
  await erasing;
  expect(await prisma.$queryRaw`SELECT ${hasOtherTotals(date)} AS differs`).toEqual([
    { differs: false },
  ]);
  expect((await totals(date)).rows).toHaveLength(2);
});

test('what is paid in a span is counted by the business day, over the ends of the span', async () => {
  const date = daysFrom(30);
  const due = (uid: string, dueDate: string, value: string) =>
    titleText({ date, uid, dueDate, value });
  // 2 January 2027 is a Saturday and 4 January a Monday; 31 December has no service.
  const texts = [
    due('a', '2026-12-30', '1'),
    due('b', '2026-12-31', '10'),
    due('c', '2027-01-01', '100'),
    due('d', '2027-01-03', '1000'),
    due('e', '2027-01-04', '10000'),
    due('f', '2027-01-05', '100000'),
  ];
  await world.serve(date, texts, { withdrawalLimitPercent: 100 });
  await world.database.prisma.$transaction((tx) => ensureCalendar(tx));
  const paid = async (from: string, to: string) => {
    const range = { from: toCivilDate(from), to: toCivilDate(to) };
    const schedule = await readSchedule(world.database.prisma, range, { offset: 0, limit: 10 });
    return `${schedule.paid.titles}: ${schedule.paid.originalValue}`;
  };
  expect(await paid('2027-01-04', '2027-01-04')).toBe('4: 11110');
  expect(await paid('2026-12-01', '2026-12-31')).toBe('1: 1');
  expect(await paid('2027-01-01', '2027-01-31')).toBe('5: 111110');
});

test('one party in several writings has one line', async () => {
  const date = daysFrom(31);
  const due = toCivilDate('2026-06-29');
  const fields = { date, dueDate: due };
  const agent = (uid: string, number: string) =>
    titleText({ ...fields, uid, value: '100', agent: number });
  /** Paid to the provider, which has no number in the ERP. */
  const provider = (uid: string, taxId: string) =>
    titleText({ ...fields, uid, value: '10', code: null, taxId, isBuyer: true });
  await world.serve(date, [
    agent('a', '00000000000191'),
    agent('b', '00.000.000/0001-91'),
    agent('c', '0000000000191'),
    // A number that may be the agent is no other agent's line, and no line of the agent.
    agent('d', '191'),
    agent('e', '0191'),
    agent('f', '00000000000272'),
    provider('g', '529.982.247-25'),
    provider('h', ' 52998224725'),
  ]);
  const { prisma } = world.database;
  const range = { from: due, to: due };
  const { groups } = await readSchedule(prisma, range, { offset: 0, limit: 10 });
  const lines = groups.map(({ payee, titles }) => [payee.kind, titles]);
  expect(lines.sort()).toEqual([
    ['financial_agent', 1],
    ['financial_agent', 2],
    ['financial_agent', 3],
    ['provider', 2],
  ]);
  for (const { titleId, titles } of groups) {
    expect((await readGroupTotals(prisma, { range, payeeOf: titleId })).titles).toBe(titles);
    const [{ count }] = await prisma.$queryRaw<[{ count: number }]>(Prisma.sql`
      SELECT count(*)::int AS count FROM conciliation.title
      WHERE accepted_date = ${date}::date AND ${await hasPayeeOf(prisma, titleId)}`);
    expect(count).toBe(titles);
  }
});
