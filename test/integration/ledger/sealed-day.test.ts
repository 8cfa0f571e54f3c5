/**
 * A day as it was signed off, by the query of docs/data-dictionary.md: taken from the document, run against
 * a day that was sealed and then restated by real pulls, and compared with what the seal says.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { AMOUNT_COLUMNS, TITLE_COLUMNS } from '../../../src/core/title/title.ts';
import { reopenDay } from '../../../src/features/review/sign-off.sql.ts';
import { signDay } from '../../support/days.ts';
import { documentedSql } from '../../support/documented-sql.ts';
import { clientOfFile, worldOfFile } from '../../support/file-world.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { freshDays } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const world = worldOfFile();
const reader = clientOfFile(() => world.databaseUrl);
const blocker = clientOfFile(() => world.databaseUrl);
let documented: string;

beforeAll(async () => {
  documented = await documentedSql('docs/data-dictionary.md', 'jsonb_populate_record');
});

const nextDay = freshDays();
let date: CivilDate;
beforeEach(() => {
  date = nextDay();
});

const title = (uid: string, more: Parameters<typeof titleText>[0] = {}) =>
  titleText({ uid, date, ...more });

const pull = (...texts: string[]) => world.serve(date, texts);

const sign = () => signDay(world.database, date, { bookingsFrom: null });

const columns = ['id', 'status', 'occurrence', ...TITLE_COLUMNS].map((name) => `day.${name}::text`);

/** The date's current titles, column by column. */
async function titlesNow() {
  const { rows } = await reader.query(
    `SELECT ${columns.join(', ')} FROM conciliation.title AS day
     WHERE accepted_date = $1 AND status = 'current' ORDER BY id`,
    [date],
  );
  return rows;
}

/** The result of the document's query for the newest seal of the date. */
async function readSealedDay() {
  const { rows: seals } = await reader.query(
    `SELECT fence, signed_off_at::text AS at FROM conciliation.sign_off WHERE date = $1
     ORDER BY id DESC LIMIT 1`,
    [date],
  );
  const values: Readonly<Record<string, string>> = {
    date: `date '${date}'`,
    fence: String(seals[0]?.fence),
    at: `timestamptz '${seals[0]?.at}'`,
  };
  const sql = documented.replace(/(?<!:):([a-z_]+)/g, (_, name: string) => values[name] ?? 'NULL');
  const { rows: titles } = await reader.query(
    `SELECT ${columns.join(', ')} FROM (${sql}) AS day ORDER BY id`,
  );
  const sums = AMOUNT_COLUMNS.map((name) => `coalesce(sum(${name}), 0)::text AS ${name}_sum`);
  const { rows: totals } = await reader.query(
    `SELECT count(*)::int AS title_count, ${sums.join(', ')},
            encode(sha256(coalesce(string_agg(uuid_send(content_hash), '' ORDER BY content_hash), '')),
                   'hex') AS content_digest
     FROM (${sql}) AS day`,
  );
  return { titles, totals: totals[0] };
}

/** The content of the newest seal of the date. */
async function readSeal() {
  const sums = AMOUNT_COLUMNS.map((name) => `${name}_sum::text`);
  const { rows } = await reader.query(
    `SELECT title_count, ${sums.join(', ')}, content_digest FROM conciliation.sign_off
     WHERE date = $1 ORDER BY id DESC LIMIT 1`,
    [date],
  );
  return rows[0];
}

/** Signs the day off, does what restates it, and compares the document's query with the seal. */
async function expectSealedDay(restate: () => Promise<unknown>) {
  const sealed = await titlesNow();
  await sign();
  await restate();
  const found = await readSealedDay();
  expect(found.titles).toEqual(sealed);
  expect(found.totals).toEqual(await readSeal());
}

test('without a change the day is not restated', async () => {
  await pull(title('a'), title('b'), title('b'));
  await expectSealedDay(async () => {});
});

test('a day without titles, and one that had none when it was signed off', async () => {
  await pull();
  await expectSealedDay(() => pull(title('a')));
});

test('changed, withdrawn, restored and new titles, over several pulls', async () => {
  const rest = titleTexts(20, { uid: 'rest-', date });
  const before = [title('gone-before'), title('back-before', { discount: '1.10' })];
  await pull(title('a'), title('b'), title('twin'), title('twin'), ...before, ...rest);
  await pull(title('a'), title('b'), title('twin'), title('twin'), ...rest);
  await pull(title('a'), title('b'), title('twin'), title('twin'), before[1] ?? '', ...rest);
  // Fences are not in the order of the ids: this pull begins after the sign-off.
  const late = await world.newPull(date);
  await expectSealedDay(async () => {
    // Changed, withdrawn, new.
    const texts = [title('a', { discount: '12.35' }), title('twin'), title('new'), ...rest];
    world.sandbox.setDayTexts(date, texts);
    expect(await world.run(late)).toMatchObject({ report: { state: 'merged' } });
    // Changed again, restored with another content, restored as it was; the new title withdrawn.
    await pull(
      title('a', { discount: '0' }),
      title('b', { discount: '99' }),
      title('twin'),
      title('twin'),
      title('gone-before'),
      ...rest,
    );
  });
});

test('a release after the sign-off', async () => {
  await pull(title('a'), title('b'), title('c'));
  await expectSealedDay(async () => {
    const held = await pull(title('a', { discount: '2' }), title('new'));
    expect(held.state).toBe('held');
    const decision = { by: 'bia', reason: 'cancelled by the platform' };
    await releasePull(world.parts, held.pullId, decision);
  });
});

test('a seal that was ended still describes its day', async () => {
  await pull(title('a'), title('b'));
  await expectSealedDay(async () => {
    await reopenDay(world.database, date, { by: 'ana', reason: 'signed by mistake' });
    await pull(title('a', { discount: '5' }), title('b'), title('c'));
  });
});

test('a merge that began before the sign-off and was committed after it', async () => {
  await pull(title('a'), title('b'), title('gone'));
  await pull(title('a'), title('b'), title('gone', { discount: '7.00' }));
  const sealed = await titlesNow();

  world.sandbox.setDayTexts(date, [
    title('a', { discount: '12.35' }),
    title('b', { discount: '0.01' }),
    title('gone', { discount: '7.00' }),
    title('new'),
  ]);
  const block = world.meanwhile(() =>
    blocker.query(`BEGIN; SELECT FROM conciliation.pull WHERE state = 'running' FOR UPDATE`),
  );
  const pulling = world.pull(date, block);
  // The merge's transaction has begun, and its now() is constant. It has not locked the day yet.
  await lockWaits(world.database);
  await sign();
  await blocker.query('COMMIT');
  await pulling;

  const { rows: times } = await reader.query(
    `SELECT bool_and(title.changed_at < sign_off.signed_off_at) AS "isEarlier",
            count(*)::int AS titles
     FROM conciliation.sign_off
     JOIN conciliation.pull ON pull.fence > sign_off.fence
     JOIN conciliation.title ON title.last_change_pull_id = pull.id AND title.accepted_date = sign_off.date
     WHERE sign_off.date = $1 AND sign_off.ended_at IS NULL`,
    [date],
  );
  expect(times).toEqual([{ isEarlier: true, titles: 3 }]);
  const found = await readSealedDay();
  expect(found.titles).toEqual(sealed);
  expect(found.totals).toEqual(await readSeal());
});
