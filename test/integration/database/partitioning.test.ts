/**
 * The files of ops/postgres that partition `title`, run as they are on a database with titles, and everything that
 * reads and writes titles afterwards.
 */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { migrate } from '../../../src/base/database/migrate.ts';
import { type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { clientOfFile, worldWithUsers } from '../../support/file-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const FIRST_YEAR = '2026';
const OLD = toCivilDate('2024-12-30');
const OLDER = daysFrom(-200, OLD);
const LAST_OLD = toCivilDate('2025-12-31');
const FIRST_NEW = toCivilDate('2026-01-01');
const NEW = daysFrom(60, FIRST_NEW);
const TITLES = 1_000;

const world = worldWithUsers({ startDate: OLDER });
const owner = clientOfFile(() => world.databaseUrl);
let before: Awaited<ReturnType<typeof readFeed>>;
beforeAll(async () => {
  for (const date of [OLDER, OLD]) await pull(date, textsOf(date, '1', TITLES));
  await pull(LAST_OLD, textsOf(LAST_OLD, '1'));
  await pull(LAST_OLD, textsOf(LAST_OLD, '2'));
  before = await readFeed();
});

const textsOf = (date: CivilDate, discount: string, count = 30) =>
  Array.from({ length: count }, (_, index) =>
    titleText({ date, uid: `${date} ${index}`, discount }),
  );

async function pull(date: CivilDate, texts: readonly string[]) {
  world.sandbox.setDayTexts(date, texts);
  return world.pull(date);
}

/** All of the feed, as a consumer reads it. */
async function readFeed() {
  const changes: { change_seq: number; id: number; row: string }[] = [];
  for (let last = 0; ; ) {
    const { rows } = await owner.query<{ change_seq: number; id: number; row: string }>(
      `SELECT change_seq::float8 AS change_seq, id::float8 AS id, feed::text AS row
       FROM conciliation.title_feed AS feed
       WHERE change_seq > $1 ORDER BY change_seq LIMIT 500`,
      [last],
    );
    if (rows.length === 0) return changes;
    changes.push(...rows);
    last = rows.at(-1)?.change_seq ?? last;
  }
}

/** The files in their order; each statement by itself, as psql runs them. */
async function partition(): Promise<number> {
  const prepare = await readFile('ops/postgres/partition-prepare.sql', 'utf8');
  const change = await readFile('ops/postgres/partition.sql', 'utf8');
  const statements = [...prepare.split(/;\n/), ...change.split(/(?<=\n\$\$;\n)/)]
    .map((sql) => sql.replaceAll('2027', FIRST_YEAR))
    .filter((sql) => sql.trim() !== '');
  for (const statement of statements) await owner.query(statement);
  return statements.length;
}

test('the files run, and the roles have their rights', async () => {
  expect(await partition()).toBe(6);
  await migrate({ databaseUrl: world.databaseUrl, logger: world.parts.logger, roles: true });
  const { rows } = await owner.query(
    `SELECT relname AS partition, pg_get_expr(relpartbound, oid) AS bound
     FROM pg_inherits JOIN pg_class ON oid = inhrelid
     WHERE inhparent = 'conciliation.title'::regclass ORDER BY relname`,
  );
  expect(rows).toHaveLength(12);
  expect(rows.at(-1)).toEqual({
    partition: 'title_old',
    bound: `FOR VALUES FROM (MINVALUE) TO ('2026-01-01')`,
  });
  expect(rows[0]).toEqual({
    partition: 'title_2026',
    bound: `FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')`,
  });
});

describe('afterwards', () => {
  test('the feed has the same rows as before', async () => {
    // Of the last old date, each title came and was restated.
    expect(before).toHaveLength(2 * TITLES + 2 * 30);
    expect(await readFeed()).toEqual(before);
  });

  test('old dates are found unchanged, and restated', async () => {
    const again = await world.pull(OLD);
    expect(again).toMatchObject({ state: 'unchanged', titles: TITLES });
    const texts = [...textsOf(LAST_OLD, '3').slice(0, 28), ...textsOf(LAST_OLD, '2').slice(28, 29)];
    const restated = await pull(LAST_OLD, [...texts, titleText({ date: LAST_OLD, uid: 'new' })]);
    expect(restated).toMatchObject({
      state: 'merged',
      changed: 28,
      withdrawn: 1,
      inserted: 1,
      unchanged: 1,
    });
    const back = await pull(LAST_OLD, [...texts, ...textsOf(LAST_OLD, '3').slice(29)]);
    expect(back).toMatchObject({ withdrawn: 1, restored: 1, unchanged: 29 });
  });

  test('new dates go into their year’s partition, straight and staged', async () => {
    await pull(FIRST_NEW, textsOf(FIRST_NEW, '1', TITLES));
    await pull(NEW, textsOf(NEW, '1'));
    await pull(NEW, [...textsOf(NEW, '1'), titleText({ date: NEW, uid: 'late' })]);
    const { rows } = await owner.query(
      `SELECT relname AS partition, count(*)::int AS titles
       FROM conciliation.title JOIN pg_class ON pg_class.oid = title.tableoid GROUP BY 1 ORDER BY 1`,
    );
    expect(rows).toEqual([
      { partition: 'title_2026', titles: TITLES + 31 },
      { partition: 'title_old', titles: 2 * TITLES + 31 },
    ]);
  });

  test.each(['title', 'title_old', 'title_2026', 'title_2035'])(
    'no row is deleted from %s',
    async (table) => {
      for (const statement of [
        `DELETE FROM conciliation.${table}`,
        `TRUNCATE conciliation.${table}`,
      ]) {
        await expect(owner.query(statement), statement).rejects.toThrow('append-only');
      }
    },
  );
});
