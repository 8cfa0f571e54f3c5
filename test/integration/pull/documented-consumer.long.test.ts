/** The consumer of docs/integration.md, as the document has it, beside merges. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type QueryResult } from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { createSeededRandom } from '../../../src/demo/synthetic-titles.ts';
import { repairDay } from '../../support/days.ts';
import { daysFrom, worldWithUsers } from '../../support/pull-world.ts';
import { titlesOf, titleText } from '../../support/titles.ts';

const PAGE = ', 1000)';
const MIN_PAGES = 20;
/** Enough for titles that change more than once, with all kinds of changes. */
const MIN_ROUNDS = 8;
let repairs = 0;
const dates = [1, 2, 3, 4].map((days) => daysFrom(days));

const world = worldWithUsers();
const { users } = world;
let once: string;
let again: string;
beforeAll(async () => {
  const document = await readFile('docs/integration.md', 'utf8');
  [once = '', again = ''] = [...document.matchAll(/```sql\n(.*?)```/gs)].map(
    ([, sql]) => sql ?? '',
  );
  // Smaller pages, so that there are many; some titles change twice within one.
  expect(again).toContain(PAGE);
  again = again.replace(PAGE, ', 7)');
  await world.database.pool.query(`CREATE SCHEMA erp AUTHORIZATION ${users.nameOf('erp')}`);
});

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: users.urlOf('erp') });
  // A session that is ended says so twice.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** One reading. Returns whether there was anything to read. */
async function read(client: Client): Promise<boolean> {
  // Several statements have several results.
  const results = (await client.query(again)) as unknown as QueryResult[];
  return results.find(({ command }) => command === 'UPDATE')?.rowCount === 1;
}

async function readToTheEnd(): Promise<void> {
  const client = await connect();
  while (await read(client));
  await client.end();
}

/** Some of the titles that the date could have, with one of few values each. */
function answerOf(date: CivilDate, random: () => number): string[] {
  return Array.from({ length: 30 }, (_, index) =>
    index > 0 && random() < 0.3
      ? null
      : titleText({ uid: `t${index}`, date, discount: `${Math.floor(random() * 3)}.5` }),
  ).filter((text) => text !== null);
}

/** Merges until the consumers have had enough: on a busy machine they read fewer pages beside one merge. */
async function merge(seed: string, isEnough: () => boolean): Promise<void> {
  const next = createSeededRandom(seed);
  const random = () => next(1_000_000) / 1_000_000;
  for (let round = 0; round < MIN_ROUNDS || !isEnough(); round += 1) {
    for (const date of dates) world.sandbox.setDayTexts(date, answerOf(date, random));
    await Promise.all(dates.map((date) => world.pull(date, { withdrawalLimitPercent: 100 })));
  }
}

const COLUMNS = `id, status, order_uid, accepted_date, anticipated_due_date, provider_external_id,
  financial_agent_identification, original_value::text, financial_discounted_value::text`;

test('two consumers, one of them killed again and again, end with exactly the titles', async () => {
  const setup = await connect();
  await setup.query(once);
  await setup.end();

  let isOver = false;
  let pages = 0;
  let deaths = 0;
  const merging = merge('consumer', () => pages > MIN_PAGES && deaths > 0).finally(() => {
    isOver = true;
  });
  const consume = async () => {
    let client = await connect();
    while (!isOver) {
      try {
        if (await read(client)) pages += 1;
        else await delay(5);
      } catch (error) {
        // The errors of a client whose session was ended, during a statement and before a statement.
        if (!/terminat|not queryable/i.test(String(error))) throw error;
        deaths += 1;
        client = await connect();
      }
    }
    await client.end().catch(() => undefined);
  };
  // A kill follows a page: kills at fixed times would end every reading that a busy machine makes slower.
  const kill = async () => {
    for (let killed = 0; !isOver; ) {
      await delay(20);
      if (pages === killed) continue;
      killed = pages;
      await world.database.pool.query(`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE usename = '${users.nameOf('erp')}' AND datname = current_database() ORDER BY random() LIMIT 1`);
    }
  };
  const work = [merging, consume(), consume(), kill()];
  await Promise.allSettled(work);
  await Promise.all(work);

  await readToTheEnd();
  const query = (table: string) =>
    world.database.pool.query(`SELECT ${COLUMNS} FROM ${table} ORDER BY id`);
  const { rows: titles } = await query('conciliation.title');
  expect((await query('erp.title')).rows).toEqual(titles);
  const { rows } = await world.database.pool.query(`
    SELECT last_change_seq = (SELECT max(change_seq) FROM conciliation.title_feed) AS "isAtEnd",
           (SELECT count(*)::int FROM conciliation.title_feed) AS changes,
           (SELECT count(DISTINCT change_kind)::int FROM conciliation.title_feed) AS kinds
    FROM erp.feed_position`);
  expect(rows).toMatchObject([{ isAtEnd: true, kinds: 4 }]);
  // The test has tested something: titles that changed more than once.
  expect(rows[0].changes).toBeGreaterThan(2 * titles.length);
});

test.each([
  ['whose status was altered', `UPDATE conciliation.title SET status = 'withdrawn'`],
  ['that was deleted', 'DELETE FROM conciliation.title'],
  ['whose key was altered', 'UPDATE conciliation.title SET id = id + 1000000'],
  ['that was moved to another date', `UPDATE conciliation.title SET accepted_date = '2026-04-02'`],
])('a repair brings a title %s to the consumer', async (_, statement) => {
  const { database } = world;
  const date = daysFrom(40 + repairs++);
  const current = (table: string) =>
    database.pool.query(`SELECT ${COLUMNS} FROM ${table} WHERE status = 'current' ORDER BY id`);
  const uids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const titles = titlesOf(uids, { date });
  await world.serve(date, titles);
  // Another date of the ledger, from which a moved row is withdrawn.
  const other = toCivilDate('2026-04-02');
  await world.serve(other, titles);
  await readToTheEnd();
  await database.pool.query('ALTER TABLE conciliation.title DISABLE TRIGGER title_kept');
  await database.pool.query(`${statement} WHERE accepted_date = '${date}' AND order_uid = 'c'`);
  await database.pool.query('ALTER TABLE conciliation.title ENABLE TRIGGER title_kept');
  for (const each of [date, other]) await repairDay(world, each);
  await readToTheEnd();
  expect((await current('erp.title')).rows).toEqual((await current('conciliation.title')).rows);
  const { rows } = await database.pool.query(`
    SELECT order_uid FROM conciliation.title
    WHERE accepted_date = '${date}' AND status = 'current' ORDER BY order_uid`);
  expect(rows.map((row) => row.order_uid)).toEqual(uids);
});
