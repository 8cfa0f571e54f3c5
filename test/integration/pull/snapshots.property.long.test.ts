import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, type CivilDate, toCivilDate } from '../../../src/domain/business-day.ts';
import { checkDate } from '../../../src/integrity/check-date.sql.ts';
import { releasePull } from '../../../src/pull/decisions.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { assertProperty } from '../../support/random-runs.ts';
import { titleText } from '../../support/titles.ts';

/**
 * After any history of a date at the platform, the table equals the last response, as a multiset, and
 * the revisions fold back to everything it said before.
 */
const AFTER_ALL = addDays(toCivilDate('2030-01-01'), 0);

const { signal } = new AbortController();
let nextDay = toCivilDate('1990-01-01');
const world = worldOfFile({ startDate: nextDay });

/** Few values of each field, so that identities collide, contents repeat and titles come back. */
const kind = fc.record({
  uid: fc.constantFrom('a', 'b', 'c'),
  value: fc.constantFrom('10', '10.00', '0.1', '12345678901234567.89'),
  discount: fc.constantFrom('0.01', '0.02', '3'),
  dueDate: fc.constantFrom('2030-01-01', '2030-01-02'),
});
type Kind = typeof kind extends fc.Arbitrary<infer T> ? T : never;

/** The history of a date: responses that permute, repeat, restate, shrink, grow, empty. */
const responses = fc.array(fc.array(kind, { maxLength: 8 }), { minLength: 1, maxLength: 6 });

/** How many titles may be at hand while a response is read: none, those of some responses, all. */
const knownTitles = fc.constantFrom(0, 3, 1000, 1000);

const toTitle = (date: CivilDate, fields: Kind) => titleText({ date, ...fields });

/** Scaled integers, exact: the sum a person would get on paper. */
function exactSum(values: readonly string[]): bigint {
  return values.reduce((sum, value) => {
    const [whole = '', fraction = ''] = value.split('.');
    return sum + BigInt(whole + fraction.padEnd(2, '0'));
  }, 0n);
}

const scaled = (decimal: string) => exactSum([decimal]);

/** The content of a title, with one text for equal amounts. */
function contentOf(fields: Kind): string {
  return `${fields.uid}|${scaled(fields.value)}|${scaled(fields.discount)}|${fields.dueDate}`;
}

interface Row {
  id: bigint;
  status: string;
  order_uid: string;
  original_value: string;
  platform_discounted_value: string;
  anticipated_due_date: string;
  first_pull_id: bigint;
}

const contentOfRow = (row: Row) =>
  `${row.order_uid}|${scaled(row.original_value)}|${scaled(row.platform_discounted_value)}|${row.anticipated_due_date}`;

const readRows = (date: CivilDate) => world.database.prisma.$queryRaw<Row[]>`
  SELECT id, status, order_uid, original_value::text, platform_discounted_value::text,
         anticipated_due_date::text, first_pull_id
  FROM conciliation.title WHERE accepted_date = ${date}::date`;

interface Revision {
  title_id: bigint;
  pull_id: bigint;
  before: Record<string, unknown>;
}

const readRevisions = (date: CivilDate) => world.database.prisma.$queryRaw<Revision[]>`
  SELECT title_id, pull_id,
         (SELECT jsonb_object_agg(key, CASE WHEN jsonb_typeof(value) = 'number' THEN to_jsonb(value::text) ELSE value END)
          FROM jsonb_each(before)) AS before
  FROM conciliation.title_revision revision JOIN conciliation.title title ON title.id = revision.title_id
  WHERE accepted_date = ${date}::date ORDER BY title_id, revision DESC`;

const current = (rows: readonly Row[]) =>
  rows
    .filter((row) => row.status === 'current')
    .map(contentOfRow)
    .sort();

/** The titles as they stood after the pull `pullId`, folded back from the table's present rows. */
function foldBack(rows: readonly Row[], revisions: readonly Revision[], pullId: bigint): Row[] {
  return rows
    .filter((row) => row.first_pull_id <= pullId)
    .map((row) =>
      revisions
        .filter((revision) => revision.title_id === row.id && revision.pull_id > pullId)
        .reduce<Row>((state, revision) => Object.assign(state, revision.before), { ...row }),
    );
}

test('after any sequence of responses a date is its last response, and its history is every earlier one', async () => {
  await assertProperty(
    50,
    fc.asyncProperty(responses, knownTitles, async (snapshots, maxKnownTitles) => {
      const date = nextDay;
      nextDay = addDays(nextDay, 1);
      expect(date < AFTER_ALL).toBe(true);
      const states: { pullId: bigint; contents: string[] }[] = [];

      for (const snapshot of snapshots) {
        world.sandbox.setDayTexts(
          date,
          snapshot.map((fields) => toTitle(date, fields)),
        );
        const report = await world.pull(date, { maxKnownTitles });
        if (report.state === 'held') {
          // Nothing has changed yet; a person looks, then lets it through.
          expect(current(await readRows(date))).toEqual(states.at(-1)?.contents ?? []);
          await releasePull(world.database, report.pullId, { by: 'test', reason: 'property' });
        }
        const contents = snapshot.map(contentOf).sort();
        expect(current(await readRows(date))).toEqual(contents);
        states.push({ pullId: report.pullId, contents });

        const [day] = await world.database.prisma.$queryRaw<
          [{ titles: number; sum: string; discount: string; state: string }]
        >`SELECT title_count AS titles, original_value_sum::text AS sum,
                 platform_discounted_value_sum::text AS discount, state
          FROM conciliation.day WHERE date = ${date}::date`;
        expect(day.state).toBe('reconciled');
        expect(day.titles).toBe(snapshot.length);
        expect(scaled(day.sum)).toBe(exactSum(snapshot.map((fields) => fields.value)));
        expect(scaled(day.discount)).toBe(exactSum(snapshot.map((fields) => fields.discount)));
      }

      // The database computes the hashes that the reader has computed.
      expect((await checkDate(world.database, date, signal)).alterations).toEqual([]);
      const rows = await readRows(date);
      const revisions = await readRevisions(date);
      for (const { pullId, contents } of states) {
        expect(current(foldBack(rows, revisions, pullId))).toEqual(contents);
      }
    }),
  );
}, 0);
