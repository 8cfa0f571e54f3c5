/** The evidence of a month whose titles were altered outside of the program, and then repaired by a pull. */
import { beforeAll, expect, test } from 'vitest';
import type { ExportRow } from '../../../src/base/export/table.ts';
import {
  addDays,
  type CivilDate,
  datesBetween,
  toCivilDate,
} from '../../../src/base/values/business-day.ts';
import { pastTitles, readChangedTitles } from '../../../src/features/review/changed-titles.sql.ts';
import {
  EVIDENCE_COLUMNS,
  readEvidence,
} from '../../../src/features/review/months/evidence.sql.ts';
import {
  type CivilMonth,
  parseMonth,
  readMonths,
  sealMonth,
} from '../../../src/features/review/months/month-seal.sql.ts';
import { findAlterations, repairDay, signDay } from '../../support/days.ts';
import { documentedSql } from '../../support/documented-sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { TODAY } from '../../support/pull-world.ts';
import { titlesOf } from '../../support/titles.ts';

const MARCH = parseMonth('2026-03') as CivilMonth;
const [FIRST, LAST] = [toCivilDate('2026-03-28'), toCivilDate('2026-03-31')];
const DATES = datesBetween(FIRST, LAST);
const UIDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const { signal } = new AbortController();

const world = worldOfFile({ startDate: FIRST });
const signed = new Map<CivilDate, ExportRow[]>();
beforeAll(async () => {
  for (const date of DATES) {
    await pull(date);
    await signDay(world.database, date, { bookingsFrom: null });
  }
  await sealMonth(world.database, MARCH, { by: 'ana', reason: null, seenDigest: null });
  for (const date of DATES) signed.set(date, await evidenceOf(date));
});

const pull = (date: CivilDate, discount = '1', uids = UIDS) =>
  world.serve(date, titlesOf(uids, { date, value: '10.00', discount }));

/** The titles of the evidence; without the columns that no digest covers. */
const evidenceOf = (date: CivilDate) =>
  readEvidence(world.database, { month: MARCH, actor: 'test' }, signal, async (evidence) => {
    const day = evidence.days.find((each) => each.date === date);
    if (day === undefined) throw new Error('the day is missing');
    const rows: ExportRow[] = [];
    for await (const batch of evidence.titlesOf(day)) rows.push(...batch);
    return rows;
  });

async function alterAndRepair(date: CivilDate, set: string) {
  const { rowCount } = await world.database.pool.query(
    `UPDATE conciliation.title SET ${set} WHERE accepted_date = $1 AND order_uid = 'b'`,
    [date],
  );
  expect(rowCount).toBe(1);
  expect((await repairDay(world, date)).alterations).not.toEqual([]);
  expect(await findAlterations(world.database, date)).toEqual([]);
}

test.each([
  [FIRST, "original_value = 99.99, payment_account = '666'"],
  [addDays(FIRST, 1), "status = 'withdrawn'"],
  [addDays(FIRST, 2), 'original_value = 77, content_hash = gen_random_uuid()'],
])('%s: the evidence has the signed titles after %s was repaired', async (date, set) => {
  await alterAndRepair(date, set);
  const [month] = await readMonths(world.database.prisma, TODAY, MARCH);
  expect(month?.state).toBe('sealed');
  expect(await evidenceOf(date)).toEqual(signed.get(date));
});

test('so have the evidence, the documented query and the list of what changed where the day was restated before and after', async () => {
  const { database } = world;
  const { fence } = await database.prisma.signOff.findFirstOrThrow({ where: { date: LAST } });
  await pull(LAST, '2');
  await alterAndRepair(LAST, 'original_value = 99.99');
  await pull(LAST, '3', UIDS.slice(1));
  expect(await evidenceOf(LAST)).toEqual(signed.get(LAST));
  const place = EVIDENCE_COLUMNS.findIndex(({ name }) => name === 'original_value');
  const values = (signed.get(LAST) ?? []).map((row) => row[place]);
  const outside = await database.prisma.$queryRaw<{ value: string }[]>`
    SELECT past.original_value::text AS value ${pastTitles(LAST, fence)}`;
  expect(outside.map(({ value }) => value)).toEqual(values);
  const query = await documentedSql('docs/data-dictionary.md', 'jsonb_populate_record');
  const { rows } = await database.pool.query<{ original_value: string }>(
    query.replaceAll(':fence', String(fence)).replaceAll(':date', `'${LAST}'`),
  );
  expect(rows.map((row) => row.original_value)).toEqual(values);
  const moved = await readChangedTitles(database, LAST, fence, 100);
  const fields = moved.titles.flatMap((title) => title.fields.map(({ column }) => column));
  expect(new Set(fields)).toEqual(new Set(['platform_discounted_value']));
});
