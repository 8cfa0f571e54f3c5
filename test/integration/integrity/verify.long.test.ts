/** Rows that something other than a merge has changed are found, raise an alert and are repaired by a pull. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { TITLE_COLUMNS } from '../../../src/core/title/title.ts';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import {
  readDates,
  startVerification,
  verifyDate,
} from '../../../src/features/verify/verify.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { erase, findAlterations, repairDay, signDay } from '../../support/days.ts';
import { daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { eventually } from '../../support/service-world.ts';
import { titlesOf, titleText } from '../../support/titles.ts';

const world = worldOfFile();
let days = 0;

const { signal } = new AbortController();
const freshDate = () => daysFrom(days++);
const check = (date: CivilDate) => findAlterations(world.database, date);
const query = async (text: string, values: unknown[] = []) =>
  (await world.database.pool.query(text, values)).rows;

/** Changes rows as a user of the database would. */
async function alter(text: string, values: unknown[] = []): Promise<void> {
  const { rowCount } = await world.database.pool.query(text, values);
  expect(rowCount).toBeGreaterThan(0);
}

const alterTitle = (date: CivilDate, values: string, uid = 'third') =>
  alter(`UPDATE conciliation.title SET ${values} WHERE accepted_date = $1 AND order_uid = $2`, [
    date,
    uid,
  ]);
const alterCurrent = (date: CivilDate, values: string) =>
  alter(`
    UPDATE conciliation.title SET ${values} WHERE accepted_date = '${date}' AND status = 'current'`);
const alterDay = (date: CivilDate, values: string) =>
  alter(`UPDATE conciliation.day SET ${values} WHERE date = '${date}'`);
/** A date with the titles of these orders. */
async function pullUids(uids: readonly string[], date = freshDate(), discount = '1') {
  world.sandbox.setDayTexts(date, titlesOf(uids, { date, discount }));
  return { ...(await world.pull(date)), date };
}

const startLoop = () => {
  const { database, parts } = world;
  return startVerification({ database, logger: parts.logger, config: {}, everyMs: 50 });
};

async function verifyAndRepair(date: CivilDate): Promise<readonly string[]> {
  return (await repairDay(world, date)).alterations.map(({ problem }) => problem);
}

/** The next repair is not requested soon after one. */
const ageRepairs = (date: CivilDate) =>
  query(`
    UPDATE conciliation.pull SET finished_at = now() - interval '2 hours' WHERE date = '${date}' AND origin = 'repair'`);

const UIDS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'];
const OTHER_COLUMNS = 'status occurrence identity_hash content_hash raw_hash erased_at';
const COLUMNS = [...TITLE_COLUMNS, ...OTHER_COLUMNS.split(' ')];
const stateOf = (date: CivilDate) =>
  query(
    `SELECT id, ${COLUMNS.map((column) => `${column}::text`).join(', ')} FROM conciliation.title
     WHERE accepted_date = $1 AND status = 'current' ORDER BY id`,
    [date],
  );
const dayOf = (date: CivilDate) =>
  query(`
    SELECT title_count, original_value_sum::text, content_digest, latest_due_date::text
    FROM conciliation.day WHERE date = '${date}'`);

/** Three titles, of which one was restated and one has an undocumented field, and a withdrawn one. */
async function pullTitles(): Promise<CivilDate> {
  const date = freshDate();
  const first = (discount: string) => titleText({ date, uid: 'first', discount });
  const others = ['second', 'third', 'fourth', 'fifth', 'sixth'].map((uid) =>
    titleText({ date, uid, ...(uid === 'second' ? { more: ',"more":{"a":[1,null,"ü"]}' } : {}) }),
  );
  await world.serve(date, [first('1'), ...others, titleText({ date, uid: 'gone' })]);
  expect(await world.serve(date, [first('2.50'), ...others])).toMatchObject({
    changed: 1,
    withdrawn: 1,
  });
  return date;
}

describe('a date that only merges have changed has no difference', () => {
  test('after a first load, restatements, a withdrawal and a return', async () => {
    const date = await pullTitles();
    expect(await check(date)).toEqual([]);
    const restated = await pullUids([...UIDS, 'gone'], date, '7.70');
    expect(restated).toMatchObject({ changed: 6, restored: 1 });
    expect(await check(date)).toEqual([]);
    world.sandbox.setDayTexts(date, []);
    const { pullId } = await world.attempt(date);
    expect(await check(date)).toEqual([]);
    await releasePull(world.parts, pullId, { by: 'ana', reason: 'emptied' });
    expect(await check(date)).toEqual([]);
  });

  test('with every way to write a value', async () => {
    const date = freshDate();
    const amounts = '0 -0 0.00 1e2 11e-1 -12.340 1E-7 12345678901234567890.123456789'.split(' ');
    const name = 'Ação "x" \\ \u{1F600}';
    const texts = [
      ...amounts.map((value) => titleText({ date, uid: value, value, discount: value, name })),
      ...titlesOf(['twin', 'twin'], { date }),
      titleText({ date, uid: 'nulls', name: '' }).replaceAll(/"(0987|1111)"/g, 'null'),
      titleText({ date, uid: 'true', isBuyer: true }),
    ];
    const report = await world.serve(date, texts);
    expect(report).toMatchObject({ inserted: amounts.length + 4, rejected: 0 });
    expect(await check(date)).toEqual([]);
  });

  test('after a party was erased, and after later pulls of its titles', async () => {
    const date = freshDate();
    const taxId = '11144477735';
    const text = (discount: string) =>
      titleText({ date, uid: 'party', discount, taxId, more: ',"more":1' });
    await world.serve(date, [text('1')]);
    await erase(world.database, { taxId });
    expect(await check(date)).toEqual([]);
    expect(await world.serve(date, [text('2')])).toMatchObject({ changed: 1 });
    expect(await check(date)).toEqual([]);
    await alterCurrent(date, `payment_account = '1'`);
    expect(await check(date)).toMatchObject([{ problem: 'titles' }, { problem: 'totals' }]);
  });

  test('an empty date, and a date that was never pulled', async () => {
    const date = freshDate();
    await world.serve(date, []);
    expect(await check(date)).toEqual([]);
    expect(await check(daysFrom(-400))).toEqual([]);
  });
});

/** Another value of each column. */
const OTHER_VALUES: Readonly<Record<string, string>> = {
  accepted_date: `accepted_date + 10000`,
  anticipated_due_date: 'anticipated_due_date + 1',
  buyer_is_financial: 'NOT buyer_is_financial',
  extra: `'{"more": {"a": [1, null, "u"]}}'`,
  status: `'withdrawn'`,
  occurrence: 'occurrence + 1',
  identity_hash: 'gen_random_uuid()',
  content_hash: 'gen_random_uuid()',
  raw_hash: 'gen_random_uuid()',
  erased_at: 'now()',
};
const AMOUNTS = COLUMNS.filter((column) => /value$|fee$/.test(column));

describe('an altered row', () => {
  /** A repair restores it, unless the alteration is one after which a row is another one. */
  let repaired: CivilDate;
  beforeAll(async () => {
    repaired = await pullTitles();
  });
  beforeEach(() => ageRepairs(repaired));

  test.each(COLUMNS)('is found and repaired: %s', async (column) => {
    const date = /^(accepted_date|occurrence)$/.test(column) ? await pullTitles() : repaired;
    const [before, day] = [await stateOf(date), await dayOf(date)];
    const target = column === 'extra' ? 'second' : 'third';
    const other =
      OTHER_VALUES[column] ?? (AMOUNTS.includes(column) ? `${column} + 0.01` : `'altered'`);
    await alterTitle(date, `${column} = ${other}`, target);
    expect((await verifyAndRepair(date)).length).toBeGreaterThan(0);
    expect(await verifyAndRepair(date)).toEqual([]);
    expect(await dayOf(date)).toEqual(day);
    const after = await stateOf(date);
    if (column === 'accepted_date') {
      // The row is another date's now; the title of the response has a new row.
      expect(after.map(({ id: _, ...row }) => row)).toEqual(
        expect.arrayContaining(before.map(({ id: _, ...row }) => row)),
      );
    } else if (column === 'occurrence') {
      // The platform states no occurrence: the row keeps it.
      expect(after).toEqual(
        before.map((row) => (row.order_uid === 'third' ? { ...row, occurrence: '2' } : row)),
      );
    } else {
      expect(after).toEqual(before);
    }
  });

  test.each(AMOUNTS)('is found where only the digits differ: %s', async (column) => {
    const before = await stateOf(repaired);
    await alterTitle(repaired, `${column} = ${column} * 1.0`);
    expect(await verifyAndRepair(repaired)).toEqual(['titles']);
    expect(await stateOf(repaired)).toEqual(before);
  });

  test.each([
    ['by a repair', false],
    ['by an ordinary pull that comes first', true],
  ])(
    'of a date without a withdrawn title keeps its id where its status was altered (%s)',
    async (_, isPulled) => {
      const { date } = await pullUids(['a', 'b', 'c', 'd', 'e', 'f']);
      const [before, day] = [await stateOf(date), await dayOf(date)];
      await alterTitle(date, `status = 'withdrawn'`, 'c');
      if (isPulled) await world.pull(date);
      // The ordinary pull leaves no digest, because it does not know what else was altered.
      expect(await verifyAndRepair(date)).toEqual(
        isPulled ? ['titles'] : ['titles', 'day', 'totals'],
      );
      expect(await check(date)).toEqual([]);
      expect([await stateOf(date), await dayOf(date)]).toEqual([before, day]);
      const feed = await query(`
        SELECT id, status FROM conciliation.title_feed
        WHERE accepted_date = '${date}' AND order_uid = 'c' ORDER BY change_seq`);
      const id = before.find((row) => row.order_uid === 'c')?.id;
      expect(feed).toEqual([
        { id, status: 'current' },
        { id, status: 'current' },
      ]);
    },
  );

  test('leaves the alteration in a revision, and reaches the feed', async () => {
    const date = await pullTitles();
    await alterTitle(date, 'original_value = 9999999');
    await verifyAndRepair(date);
    const [revision] = await query(`
      SELECT before::text, after::text, pull.origin, change.kind
      FROM conciliation.title_revision revision
      JOIN conciliation.pull ON pull.id = revision.pull_id
      JOIN conciliation.title_change change USING (title_id, pull_id)
      WHERE pull.date = '${date}' AND origin = 'repair'`);
    expect(revision).toEqual({
      before: '{"original_value": 9999999}',
      after: '{"original_value": 1000.50}',
      origin: 'repair',
      kind: 'changed',
    });
  });

  test('that the platform no longer states is withdrawn', async () => {
    const date = await pullTitles();
    await alterTitle(date, `status = 'current'`, 'gone');
    // Earlier tests have left open changes of the accounts that the title names.
    expect(await verifyAndRepair(date)).toEqual(['titles', 'day', 'totals', 'hold']);
    expect(await check(date)).toEqual([]);
    expect(await stateOf(date)).toHaveLength(6);
  });
});

test('an altered title that was withdrawn is found until the platform states it again', async () => {
  const date = await pullTitles();
  await alterTitle(date, 'original_value = 5', 'gone');
  expect(await verifyAndRepair(date)).toEqual(['withdrawn', 'titles']);
  expect(await check(date)).toMatchObject([{ problem: 'withdrawn' }]);
  expect(await pullUids([...UIDS, 'gone'], date)).toMatchObject({ inserted: 0, restored: 1 });
  expect(await verifyAndRepair(date)).toEqual([]);
  const restored = { order_uid: 'gone', original_value: '1000.50' };
  expect(await stateOf(date)).toContainEqual(expect.objectContaining(restored));
});

test('the hashes of a withdrawn title are computed again from its columns', async () => {
  const date = await pullTitles();
  await alterTitle(date, 'content_hash = identity_hash, identity_hash = content_hash', 'gone');
  expect(await verifyAndRepair(date)).toEqual(['withdrawn', 'titles']);
  expect(await check(date)).toEqual([]);
});

/** The alert whose only date is this one: the findings of the tests before are acknowledged. */
async function alertOf(date: CivilDate) {
  await query(`
    UPDATE conciliation.title_finding
    SET acknowledged_at = now(), acknowledged_by = 'test', reason = 'another test'
    WHERE date <> '${date}' AND acknowledged_at IS NULL`);
  await deriveAlerts(world.database, new Date(), { timeZone: 'America/Sao_Paulo' });
  const [alert] = await query(`
    SELECT message, pull_id FROM conciliation.alert
    WHERE kind = 'titles_altered' AND date = '${date}' AND resolved_at IS NULL`);
  return alert;
}

/** Leaves one date whose check can be due. */
const markChecked = (exceptFor: CivilDate) =>
  query(`
    INSERT INTO conciliation.title_check (date, checked_at)
    SELECT date, now() FROM (SELECT date FROM conciliation.day
                            UNION SELECT accepted_date FROM conciliation.title) AS known
    WHERE date <> '${exceptFor}' ON CONFLICT (date) DO UPDATE SET checked_at = now()`);

test('an altered day is found and computed again; the alert lasts for a day after the repair', async () => {
  const date = await pullTitles();
  const day = await dayOf(date);
  await alterDay(date, 'original_value_sum = 1');
  expect(await verifyAndRepair(date)).toEqual(['day']);
  expect(await dayOf(date)).toEqual(day);
  expect(await alertOf(date)).toMatchObject({
    message: `the tables of ${date} were altered outside of the program: 1 difference`,
    pull_id: expect.anything(),
  });
  // The repair makes the date due again.
  await markChecked(date);
  expect(await readDates(world.database, true)).toEqual([date]);
  // Found and repaired between two derivations of the alerts.
  await query(`DELETE FROM conciliation.alert WHERE date = '${date}'`);
  expect(await verifyAndRepair(date)).toEqual([]);
  expect(await alertOf(date)).toMatchObject({ message: expect.stringMatching(/1 difference$/) });
  await query(`
    UPDATE conciliation.title_finding SET found_at = found_at - interval '24 hours' WHERE date = '${date}'`);
  expect(await alertOf(date)).toBeUndefined();
  expect(await world.prisma.titleFinding.count({ where: { date, closedAt: null } })).toBe(0);
});

test('a check and a repair that end in the future put off neither the check nor the repair', async () => {
  const date = await pullTitles();
  await verifyAndRepair(date);
  await markChecked(date);
  await alter(`UPDATE conciliation.title_check SET checked_at = 'infinity' WHERE date = '${date}'`);
  expect(await readDates(world.database, true)).toEqual([date]);
  await query(`
    INSERT INTO conciliation.pull (origin, date, requested_by, state, finished_at)
    VALUES ('repair', '${date}', 'verification', 'merged', NULL),
    ('repair', '${date}', 'verification', 'unchanged', now() + interval '100 years')`);
  await alterTitle(date, 'billing_fee = 5');
  expect(await verifyAndRepair(date)).toEqual(['content', 'day']);
  expect(await verifyAndRepair(date)).toEqual([]);
  expect(await readDates(world.database, true)).toEqual([]);
});

test('a value with which a part of the check fails is found, and hides no other alteration', async () => {
  const [poisoned, date] = [await pullTitles(), await pullTitles()];
  // The sum of two such values has more digits than PostgreSQL can store.
  await alter(`
    UPDATE conciliation.title SET billing_fee = ('9' || repeat('0', 131071))::numeric
    WHERE accepted_date = '${poisoned}' AND order_uid IN ('second', 'third')`);
  await alterTitle(date, 'billing_fee = 5');
  await markChecked(poisoned);
  await query(`DELETE FROM conciliation.title_check WHERE date IN ('${poisoned}', '${date}')`);
  const verification = startLoop();
  await eventually(async () => expect(await readDates(world.database, true)).toEqual([]));
  await verification.stop();
  const found = async (of: CivilDate) =>
    (
      await query(`
        SELECT problem FROM conciliation.title_finding WHERE date = '${of}' ORDER BY id`)
    ).map(({ problem }) => problem);
  expect(new Set(await found(poisoned))).toEqual(new Set(['content', 'unchecked']));
  expect(new Set(await found(date))).toEqual(new Set(['content', 'day']));
  await ageRepairs(poisoned);
  await verifyAndRepair(poisoned);
  expect(await verifyAndRepair(poisoned)).toEqual([]);
  expect(await alertOf(poisoned)).toBeDefined();
});

const INTO_DAY = 'INSERT INTO conciliation.day (date) VALUES';
test.each([
  [`UPDATE conciliation.title SET accepted_date = '20226-03-02'`],
  [`UPDATE conciliation.title SET anticipated_due_date = 'infinity'`],
  [`${INTO_DAY} ('infinity')`],
  [`${INTO_DAY} ('0044-03-15 BC')`],
  [`INSERT INTO conciliation.pull (origin, date, requested_by) VALUES ('manual', 'infinity', 'x')`],
  [`UPDATE conciliation.checkpoint SET start_date = 'infinity'`],
  [
    `INSERT INTO conciliation.title_revision (title_id, revision, kind, pull_id, before, after, content_hash)
     SELECT id, 9, 'changed', first_pull_id, '[1]', '{}', content_hash FROM conciliation.title LIMIT 1`,
  ],
])('the database refuses what no check could read: %s', async (statement) => {
  await expect(query(statement)).rejects.toThrow(/violates check constraint/);
});

test('a seal in the row of the day that is not the seal of the date is found', async () => {
  const date = await pullTitles();
  // The titles of earlier tests name other accounts of the same parties.
  await world.prisma.accountChange.deleteMany();
  await signDay(world.database, date, { bookingsFrom: null });
  expect(await check(date)).toEqual([]);
  await pullUids(UIDS, date, '9');
  expect(await check(date)).toEqual([]);
  await alterDay(date, 'signed_off_digest = content_digest');
  expect(await verifyAndRepair(date)).toEqual(['day']);
  expect(await check(date)).toEqual([]);
  expect(await world.prisma.day.findUniqueOrThrow({ where: { date } })).toMatchObject({
    restatedAfterSignOff: true,
  });
});

test.each([
  [`date = '1999-01-01'`],
  [`origin = 'repair'`],
  ['id = id + 1000000'],
  ['fence = fence + 1000000'],
  ['fence = NULL'],
  [`state = 'queued'`],
])('a pull that has ended keeps what the check and the seals find it by: %s', async (change) => {
  const date = await pullTitles();
  await expect(
    query(`UPDATE conciliation.pull SET ${change} WHERE date = '${date}'`),
  ).rejects.toThrow(/are kept, so UPDATE of conciliation.pull is refused/);
});

test('two checks at a time request one repair', async () => {
  const date = await pullTitles();
  await alterCurrent(date, 'raw_hash = gen_random_uuid()');
  const checks = await Promise.all([1, 2, 3].map(() => verifyDate(world.database, date, signal)));
  expect(new Set(checks.map(({ repairPullId }) => repairPullId)).size).toBe(1);
  await verifyAndRepair(date);
  expect(await check(date)).toEqual([]);
});

test('a repair that would withdraw too much is held, and a release repairs', async () => {
  const date = await pullTitles();
  await alterCurrent(date, 'billing_fee = 77');
  world.sandbox.setDayTexts(date, [titleText({ date, uid: 'third' })]);
  const { repairPullId } = await repairDay(world, date);
  if (repairPullId === null) throw new Error('no repair');
  const where = { id: repairPullId };
  const { state } = await world.prisma.pull.findUniqueOrThrow({ where });
  expect(state).toBe('held');
  await releasePull(world.parts, repairPullId, { by: 'ana', reason: 'withdrawn by the buyer' });
  expect(await check(date)).toEqual([]);
  expect(await stateOf(date)).toMatchObject([{ order_uid: 'third', billing_fee: '0' }]);
});

test('the loop of the service verifies every date that is due, and stops in the middle of a check', async () => {
  const date = await pullTitles();
  await alterTitle(date, `extra = '{"x":1}'`);
  await markChecked(date);
  const verification = startLoop();
  await eventually(async () => {
    expect(
      await query(`SELECT FROM conciliation.pull WHERE date = '${date}' AND origin = 'repair'`),
    ).toHaveLength(1);
    expect(await readDates(world.database, true)).toEqual([]);
  });
  await verification.stop();
  const client = await world.database.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('LOCK TABLE conciliation.date_digest IN ACCESS EXCLUSIVE MODE');
    await query(`
      UPDATE conciliation.title_check SET checked_at = now() - interval '1 day' WHERE date = '${date}'`);
    const again = startLoop();
    await eventually(async () =>
      expect(await query(`SELECT FROM pg_locks WHERE NOT granted`)).not.toEqual([]),
    );
    await again.stop();
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});

test('the command lists the differences and ends with 3, and with 0 where there is none', async () => {
  const run = (...args: string[]) => runCommand(['verify', ...args], environmentOf(world));
  const date = await pullTitles();
  expect(await run('--from', date, '--to', date)).toMatchObject({
    exit: 0,
    stdout: '7 titles of 1 dates: no difference.\n',
  });
  await alterTitle(date, 'original_value = original_value + 0.01');
  const found = await run('--from', date, '--to', date);
  expect(found.exit).toBe(3);
  expect(found.stdout).toMatch(/content +\d+ +\d+/);
  expect(found.stdout).toMatch(/day +- +\d+/);
  const json = await run('--from', date, '--json');
  expect(json.exit).toBe(3);
  const difference = { row: expect.stringMatching(/^\d+$/), repairPullId: expect.any(Number) };
  expect(JSON.parse(json.stdout)).toMatchObject({
    differences: expect.arrayContaining([{ date, problem: 'content', ...difference }]),
  });
});
