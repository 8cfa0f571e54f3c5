/**
 * Statements with which a user of the database alters what the program decides and pays by. Each is found by the check of
 * its date, and keeps the date from being signed off and released.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { changeUser } from '../../../src/console/access/console-users.sql.ts';
import { acceptRejects, releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { AMOUNT_COLUMNS, TITLE_COLUMNS, VALUE_COLUMNS } from '../../../src/core/title/title.ts';
import {
  COMPUTED_IDENTITY_HASH,
  computedContentHash,
  ROW_DIGEST,
} from '../../../src/core/title/title-hashes.sql.ts';
import { runPull } from '../../../src/core/work/run-pull.ts';
import { setConsumer } from '../../../src/features/bookings/consumers.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { resolveFindings } from '../../../src/features/checks/findings.sql.ts';
import { reopenDay, signOffDays } from '../../../src/features/review/sign-off.sql.ts';
import { acknowledgeFindings } from '../../../src/features/verify/findings.sql.ts';
import { verifyDate } from '../../../src/features/verify/verify.sql.ts';
import { decideOpenChanges } from '../../support/account-decisions.ts';
import { ANY_DAY_RULES } from '../../support/check-rules.ts';
import { openPagesWorld, type PagesWorld } from '../../support/pages-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const { signal } = new AbortController();
const PERSON = { by: 'ana', reason: 'a test' };
const ANY_ID = 10n ** 15n;

let pages: PagesWorld;
beforeAll(async () => {
  pages = await openPagesWorld();
});
afterAll(async () => {
  await pages.console.close();
  await pages.world.close();
});

/** Each test has a date and a supplier of its own; the day before is its own, too. */
let used = 0;
let before: CivilDate;
let date: CivilDate;
beforeEach(async () => {
  [before, date] = [daysFrom(2 * used), daysFrom(2 * used + 1)];
  used += 1;
  await pull(before, ['a']);
  await pull(date, ['a', 'b', 'c']);
  expect(await problems()).toEqual([]);
});

const textOf = (of: CivilDate, uid: string, account = '7654321') =>
  titleText({ uid: `${uid} of ${of}`, date: of })
    .replaceAll('P-1', `P-${used}`)
    .replace('52998224725', `supplier ${used}`)
    .replace('"account":"7654321"', `"account":"${account}"`);

async function pull(of: CivilDate, uids: readonly string[], account?: string, more: string[] = []) {
  const { sandbox, database } = pages.world;
  sandbox.setDayTexts(of, [...uids.map((uid) => textOf(of, uid, account)), ...more]);
  const { pullId } = await pages.world.attempt(of, { withdrawalLimitPercent: 100 });
  await checkDays(database, ANY_DAY_RULES);
  return pullId;
}

const query = async (text: string, values: unknown[] = []) =>
  (await pages.world.database.pool.query(text, values)).rows;

/** Statements with $1 for the date. */
async function attack(...statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    const { rowCount } = await pages.world.database.pool.query(
      statement.replaceAll('$1', `'${date}'::date`),
    );
    expect(rowCount, statement).toBeGreaterThan(0);
  }
}

const problems = async () =>
  (await verifyDate(pages.world.database, date, signal)).alterations.map(({ problem }) => problem);

async function sign(by = 'rita') {
  const { contentDigest } = await pages.world.database.prisma.day.findUniqueOrThrow({
    where: { date },
  });
  const [outcome] = await signOffDays(
    pages.world.database,
    [{ date, seenDigest: contentDigest ?? '' }],
    { by, reason: null, fourEyes: true, bookingsFrom: daysFrom(0) },
  );
  return outcome?.refusal ?? null;
}

/** Makes the repair that the check asks for. */
async function repair() {
  const { repairPullId } = await verifyDate(pages.world.database, date, signal);
  const parts = { ...pages.world.parts, withdrawalLimitPercent: 100 };
  const outcome = await runPull(parts, repairPullId ?? 0n, signal);
  expect(outcome).toMatchObject({ kind: 'done' });
  await verifyDate(pages.world.database, date, signal);
  await checkDays(pages.world.database, ANY_DAY_RULES);
}

const lines = () =>
  query(
    `SELECT kind, original_value::text AS value FROM conciliation.booking_line WHERE date = $1 ORDER BY id`,
    [date],
  );

const A = `WHERE accepted_date = $1 AND order_uid LIKE 'a of %'`;
const HASHES = () => {
  const { sql, values } = computedContentHash(date);
  let place = 0;
  const hash = sql.replaceAll('?', () => {
    const value = values[place++];
    return typeof value === 'number' ? String(value) : `'${value}'`;
  });
  return `identity_hash = ${COMPUTED_IDENTITY_HASH.sql}, content_hash = ${hash}`;
};
const DAY_AGREES = `
  UPDATE conciliation.day
  SET title_count = titles, content_digest = digest,
      ${AMOUNT_COLUMNS.map((column) => `${column}_sum = present.${column}`).join(', ')}
  FROM (SELECT count(*) AS titles, encode(sha256(string_agg(uuid_send(content_hash), '' ORDER BY content_hash)), 'hex') AS digest,
               ${AMOUNT_COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(', ')}
        FROM conciliation.title WHERE accepted_date = $1 AND status = 'current') AS present
  WHERE day.date = $1`;
const TOTALS_AGREE = `
  UPDATE conciliation.schedule_total AS total SET original_value = present.value
  FROM (SELECT sum(original_value) AS value FROM conciliation.title WHERE accepted_date = $1 AND status = 'current') AS present
  WHERE total.accepted_date = $1`;

describe('an altered title is found, refused and restored:', () => {
  test.each([
    [
      '1: its amount',
      [`UPDATE conciliation.title SET original_value = 99 ${A}`],
      ['content', 'titles', 'day', 'totals'],
    ],
    [
      '3: its account',
      [`UPDATE conciliation.title SET payment_account = '666' ${A}`],
      ['content', 'totals'],
    ],
    [
      '5: its status',
      [`UPDATE conciliation.title SET status = 'withdrawn' ${A}`],
      ['titles', 'day', 'totals'],
    ],
    [
      '6: as erased, with another amount',
      [`UPDATE conciliation.title SET erased_at = now(), original_value = 99 ${A}`],
      ['titles', 'day', 'totals'],
    ],
    [
      '7: a title of its own',
      [
        `INSERT INTO conciliation.title (occurrence, ${TITLE_COLUMNS.join(', ')}, identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id)
         SELECT 99, ${TITLE_COLUMNS.join(', ')}, identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id
         FROM conciliation.title ${A}`,
      ],
      ['titles', 'day', 'totals'],
    ],
  ])('%s', async (_, statements, found) => {
    await attack(...statements);
    expect(await sign()).toBe('altered');
    expect(await problems()).toEqual(found);
    await repair();
    expect(await problems()).toEqual([]);
    expect(await sign()).toBeNull();
    expect(await lines()).toEqual(Array(3).fill({ kind: 'book', value: '1000.50' }));
  });

  test.each([
    ['2: its amount, hashes, the day and the totals', []],
    [
      '4: these, the pull, a revision and a numbered change',
      [
        `UPDATE conciliation.pull SET unchanged = 2, changed = 1 WHERE date = $1`,
        `INSERT INTO conciliation.title_revision (title_id, revision, kind, pull_id, before, after, content_hash)
         SELECT id, 1, 'changed', first_pull_id, '{"original_value": 1000.50}', '{"original_value": 99}', content_hash
         FROM conciliation.title ${A}`,
        `INSERT INTO conciliation.title_change (title_id, kind, pull_id, content_hash)
         SELECT id, 'changed', first_pull_id, content_hash FROM conciliation.title ${A}`,
      ],
    ],
    [
      '4: these, and another pull of the same answer, with a digest of its own that changed nothing',
      [
        `INSERT INTO conciliation.pull (origin, date, requested_by, state, fence, fold_count, fold_sum, withheld, finished_at)
         SELECT 'daily', date, 'scheduler', 'unchanged', nextval('conciliation.pull_fence_seq'), fold_count, fold_sum, 0, now()
         FROM conciliation.pull WHERE date = $1`,
        `UPDATE conciliation.day SET last_pull_id = (SELECT max(id) FROM conciliation.pull WHERE date = $1) WHERE date = $1`,
        `INSERT INTO conciliation.date_digest (date, pull_id, titles, digest)
         SELECT $1, (SELECT max(id) FROM conciliation.pull WHERE date = $1), count(*),
                sha256(string_agg(${ROW_DIGEST.sql}, '' ORDER BY id)) FROM conciliation.title WHERE accepted_date = $1`,
      ],
    ],
    [
      '4: these, with the digest of an erasure that nobody made',
      [
        `INSERT INTO conciliation.date_digest (date, titles, digest)
         SELECT $1, count(*), sha256(string_agg(${ROW_DIGEST.sql}, '' ORDER BY id)) FROM conciliation.title WHERE accepted_date = $1`,
      ],
    ],
  ])('%s', async (_, statements) => {
    await attack(
      `UPDATE conciliation.title SET original_value = 99 ${A}`,
      `UPDATE conciliation.title SET ${HASHES()} ${A}`,
      DAY_AGREES,
      TOTALS_AGREE,
      ...statements,
    );
    expect(await sign()).toBe('altered');
    expect(await problems()).toEqual(['titles']);
    await repair();
    expect(await problems()).toEqual([]);
    expect(
      await query(
        `SELECT original_value::text AS v FROM conciliation.title WHERE accepted_date = $1 AND status = 'current'`,
        [date],
      ),
    ).toEqual(Array(3).fill({ v: '1000.50' }));
  });

  test('a title that the newest answer does not have, with a merged pull and a digest of its own', async () => {
    await attack(
      `INSERT INTO conciliation.title (occurrence, ${TITLE_COLUMNS.join(', ')}, identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id)
       SELECT 99, ${TITLE_COLUMNS.join(', ')}, identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id
       FROM conciliation.title ${A}`,
      DAY_AGREES,
      `INSERT INTO conciliation.pull (origin, date, requested_by, state, fence, fold_count, fold_sum, withheld, finished_at)
       SELECT 'daily', date, 'scheduler', 'merged', nextval('conciliation.pull_fence_seq'), fold_count, fold_sum, 0, now()
       FROM conciliation.pull WHERE date = $1`,
      `UPDATE conciliation.day SET last_pull_id = (SELECT max(id) FROM conciliation.pull WHERE date = $1) WHERE date = $1`,
      `INSERT INTO conciliation.date_digest (date, pull_id, titles, digest)
       SELECT $1, (SELECT max(id) FROM conciliation.pull WHERE date = $1), count(*),
              sha256(string_agg(${ROW_DIGEST.sql}, '' ORDER BY id)) FROM conciliation.title WHERE accepted_date = $1`,
    );
    expect(await problems()).toEqual(['day', 'totals']);
    expect(await sign()).toBe('altered');
  });

  test('a second digest of one pull is refused, and so are a change and a deletion of one', async () => {
    await expect(
      query(`INSERT INTO conciliation.date_digest (date, pull_id, titles, digest)
             SELECT date, pull_id, titles, digest FROM conciliation.date_digest LIMIT 1`),
    ).rejects.toThrow(/date_digest_pull_key/);
    for (const statement of [
      'UPDATE conciliation.date_digest SET titles = 0',
      'DELETE FROM conciliation.date_digest',
    ])
      await expect(query(statement)).rejects.toThrow(/append-only/);
  });

  test('a merge and an erasure of an altered date leave it altered', async () => {
    await attack(
      `UPDATE conciliation.title SET original_value = 99 ${A}`,
      `UPDATE conciliation.title SET ${HASHES()} ${A}`,
    );
    await pull(date, ['a', 'b', 'c', 'd']);
    expect(await problems()).toContain('titles');
  });

  test.each([
    [
      '35: its amount',
      `UPDATE conciliation.schedule_total SET original_value = original_value * 10 WHERE accepted_date = $1`,
    ],
    [
      '36: its payee',
      `UPDATE conciliation.schedule_total SET title_id = title_id - 1 WHERE accepted_date = $1`,
    ],
  ])('%s in the payment schedule', async (_, statement) => {
    await attack(statement);
    expect(await sign()).toBe('altered');
    expect(await problems()).toEqual(['totals']);
    await repair();
    expect(await sign()).toBeNull();
  });
});

/** Two rejects beside the titles. */
const withReject = () => pull(date, ['a', 'b', 'c'], undefined, ['{"order":{}}']);

/** The date names another account than the day before. */
async function withChange() {
  await pull(date, ['a', 'b', 'c'], '666');
  expect(await problems()).toEqual([]);
  expect(await sign()).toBe('payment_held');
}

describe('a decision without an entry in the audit log is found and refused:', () => {
  const RECONCILED = `UPDATE conciliation.day SET state = 'reconciled', held_pull_id = NULL WHERE date = $1`;
  const finding = async () => {
    await attack(
      `INSERT INTO conciliation.check_finding (code, version, severity, accepted_date, title_id, content_hash, detail)
       SELECT 'due_before_acceptance', 1, 'review', accepted_date, id, content_hash, '{}' FROM conciliation.title ${A}`,
      `UPDATE conciliation.day SET state = 'attention' WHERE date = $1`,
    );
    expect(await problems()).toEqual([]);
  };
  const held = async () => {
    pages.world.sandbox.setDayTexts(date, []);
    await pages.world.pull(date);
    expect(await problems()).toEqual([]);
  };
  test.each([
    ['10: the state of a day with rejects', withReject, [RECONCILED], ['day']],
    [
      '11: rejects accepted',
      withReject,
      [
        `UPDATE conciliation.rejected_title SET status = 'accepted', decided_at = now(), decided_by = 'rita' WHERE date = $1`,
        RECONCILED,
      ],
      ['reject'],
    ],
    [
      '11: rejects accepted by nobody',
      withReject,
      [`UPDATE conciliation.rejected_title SET status = 'accepted' WHERE date = $1`, RECONCILED],
      ['reject'],
    ],
    [
      '12: an account change confirmed',
      withChange,
      [
        `UPDATE conciliation.account_change SET state = 'confirmed', decided_at = now(), decided_by = 'rita' WHERE accepted_date = $1`,
      ],
      ['account'],
    ],
    [
      '13: payment holds deleted',
      withChange,
      ['DELETE FROM conciliation.payment_hold WHERE accepted_date = $1'],
      ['hold', 'hold', 'hold'],
    ],
    [
      '30: a held response cancelled',
      held,
      [
        `UPDATE conciliation.pull SET state = 'cancelled' WHERE date = $1 AND state = 'held'`,
        RECONCILED,
      ],
      ['pull'],
    ],
    [
      '30: a held response that nothing replaced',
      held,
      [
        `UPDATE conciliation.pull SET state = 'superseded' WHERE date = $1 AND state = 'held'`,
        RECONCILED,
      ],
      ['pull'],
    ],
    [
      '30: a held response that failed',
      held,
      [
        `UPDATE conciliation.pull SET state = 'failed' WHERE date = $1 AND state = 'held'`,
        RECONCILED,
      ],
      ['pull'],
    ],
    [
      '30: a held response without its reason',
      held,
      [
        `UPDATE conciliation.pull SET state = 'cancelled', hold_reason = NULL WHERE date = $1 AND state = 'held'`,
        RECONCILED,
      ],
      ['pull'],
    ],
    [
      '30: a held response merged',
      held,
      [
        `UPDATE conciliation.pull SET state = 'merged' WHERE date = $1 AND state = 'held'`,
        RECONCILED,
      ],
      ['titles', 'day'],
    ],
    [
      '34: a finding resolved',
      finding,
      [
        `UPDATE conciliation.check_finding SET resolved_at = now(), resolved_by = 'rita', reason = 'x' WHERE accepted_date = $1 AND code = 'due_before_acceptance'`,
        RECONCILED,
      ],
      ['finding'],
    ],
    [
      '24: a seal',
      async () => {},
      [
        `INSERT INTO conciliation.sign_off (date, signed_off_by, fence, content_digest, title_count, withdrawn_count, rejected_count, ${AMOUNT_COLUMNS.map((c) => `${c}_sum`).join(', ')})
       SELECT date, 'rita', 1, content_digest, title_count, withdrawn_count, rejected_count, ${AMOUNT_COLUMNS.map((c) => `${c}_sum`).join(', ')} FROM conciliation.day WHERE date = $1`,
        `UPDATE conciliation.day SET (signed_off_at, signed_off_by, signed_off_digest) =
         (SELECT signed_off_at, signed_off_by, content_digest FROM conciliation.sign_off WHERE sign_off.date = $1) WHERE date = $1`,
      ],
      ['seal'],
    ],
    [
      'a reopened seal in force again',
      async () => {
        expect(await sign()).toBeNull();
        await reopenDay(pages.world.database, date, PERSON);
      },
      [
        `INSERT INTO conciliation.sign_off
         SELECT (jsonb_populate_record(seal, '{"id": 2000000000, "ended_at": null, "ended_by": null, "end_reason": null}')).*
         FROM conciliation.sign_off AS seal WHERE date = $1`,
        `UPDATE conciliation.day SET (signed_off_at, signed_off_by, signed_off_digest) =
         (SELECT signed_off_at, signed_off_by, content_digest FROM conciliation.sign_off WHERE sign_off.date = $1 AND ended_at IS NULL) WHERE date = $1`,
      ],
      ['seal'],
    ],
    [
      'a fence that was never given',
      async () => {},
      [
        `INSERT INTO conciliation.pull
         SELECT (jsonb_populate_record(pull, '{"id": 2000000000, "origin": "repair", "state": "unchanged", "fence": 2000000000, "slot_at": null}')).*
         FROM conciliation.pull WHERE id = (SELECT last_pull_id FROM conciliation.day WHERE date = $1)`,
        `UPDATE conciliation.day SET last_pull_id = 2000000000 WHERE date = $1`,
      ],
      ['day'],
    ],
    [
      '23: a seal ended',
      async () => {
        expect(await sign()).toBeNull();
      },
      [
        `UPDATE conciliation.sign_off SET ended_at = now(), ended_by = 'rita' WHERE date = $1`,
        `UPDATE conciliation.day SET signed_off_at = NULL, signed_off_by = NULL, signed_off_digest = NULL WHERE date = $1`,
      ],
      ['seal'],
    ],
  ])('%s', async (name, prepare, statements, found) => {
    await prepare();
    await attack(...statements);
    expect(await problems()).toEqual(found);
    const refusal = await sign();
    if (name === '24: a seal' || name === 'a reopened seal in force again')
      expect(refusal).toBe('already_signed_off');
    else expect(refusal).toMatch(/^(altered|payment_held)$/);
  });

  test('the same decisions with their entries are none', async () => {
    const { database } = pages.world;
    await withReject();
    await acceptRejects(database, date, PERSON);
    expect(await problems()).toEqual([]);
    await pull(date, ['a', 'b', 'c'], '666');
    await decideOpenChanges(database, 'refused');
    expect(await problems()).toEqual([]);
    const refused = await database.prisma.accountChange.findMany({ where: { state: 'refused' } });
    expect(refused.length).toBeGreaterThan(0);
    await finding();
    await resolveFindings(
      database,
      { date, code: 'due_before_acceptance', newestId: ANY_ID, titleId: null },
      PERSON,
    );
    pages.world.sandbox.setDayTexts(date, [textOf(date, 'a')]);
    const { pullId } = await pages.world.attempt(date);
    expect(await problems()).toEqual([]);
    await releasePull(pages.world.parts, pullId, PERSON);
    expect(await problems()).toEqual([]);
    await checkDays(database, ANY_DAY_RULES);
    expect(await sign()).toBeNull();
    await reopenDay(database, date, PERSON);
    expect(await problems()).toEqual([]);
  });

  test('a payment that is not held is held again by the repair, and the feed has it', async () => {
    await withChange();
    await attack('DELETE FROM conciliation.payment_hold WHERE accepted_date = $1');
    await repair();
    expect(await problems()).toEqual([]);
    const newest = await query(
      `SELECT change_kind AS kind, payment_hold AS held FROM conciliation.title_feed WHERE accepted_date = $1 ORDER BY change_seq DESC LIMIT 3`,
      [date],
    );
    expect(newest).toEqual(Array(3).fill({ kind: 'changed', held: true }));
    expect(await sign()).toBe('payment_held');
  });
});

describe('a booking line without a seal is found, and the day is not released:', () => {
  const contents = [
    ...VALUE_COLUMNS.filter((column) => column !== 'accepted_date'),
    'provider_destination',
    'payment_destination',
    'consumer',
    'date',
    'title_id',
    'content_hash',
  ].filter((column) => column !== 'payment_account');
  const forge = (
    key: string,
    kind: string,
    batch: string,
    from = "conciliation.booking_line WHERE date = $1 AND order_uid LIKE 'a of %'",
  ) => `
    INSERT INTO conciliation.booking_line (batch_id, ${contents.join(', ')}, payment_account, kind, identity_hash, occurrence, version, succeeds)
    SELECT ${batch}, ${contents.join(', ')}, '666', '${kind}', ${key} FROM ${from} LIMIT 1`;
  const LAST = '(SELECT max(id) FROM conciliation.booking_batch WHERE date = $1)';
  const BATCH = `
    INSERT INTO conciliation.booking_batch (date, sign_off_id, released_by, line_count, book_count, adjust_count, reverse_count, original_value_sum,
      platform_discounted_value_sum, financial_discounted_value_sum, buyer_discounted_value_sum, billing_fee_sum, money_transfer_fee_sum, digest)
    SELECT $1, (SELECT max(id) FROM conciliation.sign_off WHERE date = $1), 'rita', 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 'x'`;
  test.each([
    [
      '16: of a new key',
      [forge('gen_random_uuid(), 1, 1, NULL', 'book', LAST)],
      ['line', 'batch', 'lines'],
    ],
    [
      '16: of a new key, in a batch of its own',
      [BATCH, forge('gen_random_uuid(), 1, 1, NULL', 'book', LAST)],
      ['line', 'batch', 'lines'],
    ],
    [
      '17: of the next version',
      [forge('identity_hash, occurrence, 2, 1', 'adjust', LAST)],
      ['line', 'batch'],
    ],
    [
      'a reversal',
      [
        `INSERT INTO conciliation.booking_line (batch_id, consumer, date, identity_hash, occurrence, version, kind, content_hash, succeeds)
       SELECT batch_id, consumer, date, identity_hash, occurrence, 2, 'reverse', '00000000-0000-0000-0000-000000000000', 1 FROM conciliation.booking_line WHERE date = $1 LIMIT 1`,
      ],
      ['batch', 'lines'],
    ],
    [
      'the name of an erased party, and a content that no title has',
      [
        forge('gen_random_uuid(), 1, 1, NULL', 'book', LAST)
          .replace(/(SELECT.*)provider_identification/s, "$1'erased-1'")
          .replace(/(SELECT.*)content_hash/s, '$1gen_random_uuid()'),
      ],
      ['batch', 'lines'],
    ],
    [
      'a receipt that nobody recorded',
      [`UPDATE conciliation.booking_line SET posted_hash = content_hash WHERE date = $1`],
      ['line', 'line', 'line'],
    ],
    [
      'a batch for receipts that nobody recorded',
      [
        // Without lines, so that its counts and its digest are right.
        BATCH.replace('(SELECT max(id) FROM conciliation.sign_off WHERE date = $1)', 'NULL')
          .replace("'rita', 1, 1,", "'rita', 0, 0,")
          .replace("'x'", "encode(sha256(''), 'hex')"),
      ],
      ['batch'],
    ],
  ])('%s', async (_, statements, found) => {
    expect(await sign()).toBeNull();
    expect(await problems()).toEqual([]);
    await attack(...statements);
    expect([...(await problems())].sort()).toEqual([...found].sort());
    const before = await lines();
    await pull(date, ['a', 'b', 'c', 'd']);
    expect(await sign()).toBe('altered');
    expect(await lines()).toEqual(before);
  });

  test('18: preset before the sign-off', async () => {
    await attack(
      BATCH,
      forge(
        'identity_hash, occurrence, 1, NULL',
        'book',
        LAST,
        `
      (SELECT title.*, NULL::jsonb AS provider_destination, NULL::jsonb AS payment_destination, 'erp' AS consumer,
              accepted_date AS date, id AS title_id FROM conciliation.title ${A}) AS preset`,
      ),
    );
    expect(await sign()).toBe('altered');
    expect(new Set(await problems())).toEqual(new Set(['batch', 'line']));
    expect(await lines()).toHaveLength(1);
  });

  test('after a person has acknowledged it, another person signs and the release takes it back', async () => {
    const { database } = pages.world;
    expect(await sign()).toBeNull();
    await attack(forge('gen_random_uuid(), 1, 1, NULL', 'book', LAST));
    await pull(date, ['a', 'b', 'c', 'd']);
    expect((await verifyDate(database, date, signal)).repairPullId).toBeNull();
    const acknowledged = `UPDATE conciliation.title_finding SET acknowledged_at = now(), acknowledged_by = 'otto' WHERE date = $1`;
    await attack(acknowledged);
    expect(await sign()).toBe('altered');
    await attack(acknowledged.replaceAll(/now\(\)|'otto'/g, 'NULL'));
    await acknowledgeFindings(database, ANY_ID, { by: 'otto', reason: 'the line is taken back' });
    expect(await sign('otto')).toBe('own_decision');
    expect(await sign()).toBeNull();
    expect((await lines()).map(({ kind }) => kind).sort()).toEqual([
      ...['book', 'book', 'book', 'book', 'book'],
      'reverse',
    ]);
    expect(new Set(await problems())).toEqual(new Set(['line', 'batch']));
    // The finding of one line does not stand for another one.
    await attack(forge('gen_random_uuid(), 1, 1, NULL', 'book', LAST));
    await reopenDay(database, date, PERSON);
    expect(await sign()).toBe('altered');
  });
});

test('titles whose day is gone from the ledger are found', async () => {
  await query('ALTER TABLE conciliation.day DISABLE TRIGGER ALL');
  await attack('DELETE FROM conciliation.day WHERE date = $1');
  await query('ALTER TABLE conciliation.day ENABLE TRIGGER ALL');
  expect(await problems()).toContain('day');
});

describe('access that is not in the audit log keeps every date from being signed off:', () => {
  test.each([
    [
      '32: a session',
      `INSERT INTO conciliation.console_session (token_hash, user_id, expires_at) SELECT 'x', id, now() + interval '1 hour' FROM conciliation.console_user WHERE name = 'vera'`,
      'session',
      () => changeUser(pages.world.database, { name: 'vera', by: 'ana', role: 'viewer' }),
    ],
    [
      '32: a session of another user',
      `UPDATE conciliation.console_session SET user_id = (SELECT id FROM conciliation.console_user WHERE name = 'otto') WHERE user_id = (SELECT id FROM conciliation.console_user WHERE name = 'rita')`,
      'session',
      () => changeUser(pages.world.database, { name: 'otto', by: 'ana', role: 'operator' }),
    ],
    [
      '33: a role',
      `UPDATE conciliation.console_user SET role = 'admin' WHERE name = 'vera'`,
      'user',
      () =>
        changeUser(pages.world.database, { name: 'vera', by: 'ana', role: 'admin' }).catch(() =>
          query(`UPDATE conciliation.console_user SET role = 'viewer' WHERE name = 'vera'`),
        ),
    ],
    [
      '33: a user who was disabled',
      `UPDATE conciliation.console_user SET disabled_at = now() WHERE name = 'vera'`,
      'user',
      () => changeUser(pages.world.database, { name: 'vera', by: 'ana', isDisabled: true }),
    ],
    [
      '33: a user',
      `INSERT INTO conciliation.console_user (name, role, created_by) VALUES ('ghost', 'reviewer', 'ana')`,
      'user',
      () => changeUser(pages.world.database, { name: 'ghost', by: 'ana', role: 'viewer' }),
    ],
    [
      '22: the database user of a consumer',
      `UPDATE conciliation.booking_consumer SET database_role = 'thief' WHERE name = 'erp'`,
      'consumer',
      () =>
        setConsumer(
          pages.world.database,
          { name: 'erp', databaseRole: null, apiKeyId: null, buyers: [] },
          'ana',
        ),
    ],
  ])('%s', async (_, statement, problem, correct) => {
    await attack(statement);
    expect(await problems()).toEqual([problem]);
    expect(await sign()).toBe('altered');
    await correct();
    expect(await problems()).toEqual([]);
    expect(await sign()).toBeNull();
  });

  test('33: an administrator who became a reviewer, and signs what was open then', async () => {
    const { database } = pages.world;
    await pages.console.as('admin', 'root');
    await pages.console.as('admin', 'adam');
    await changeUser(database, { name: 'adam', by: 'ana', role: 'reviewer' });
    expect(await problems()).toEqual([]);
    expect(await sign('adam')).toBe('open_before');
    await attack(`UPDATE conciliation.console_user SET decides_from = NULL WHERE name = 'adam'`);
    expect(await problems()).toEqual(['user']);
    expect(await sign('adam')).toBe('altered');
    await changeUser(database, { name: 'adam', by: 'ana', role: 'admin' });
    await changeUser(database, { name: 'adam', by: 'ana', role: 'reviewer' });
    await attack(
      `UPDATE conciliation.console_user SET decides_from = decides_from - interval '1 day' WHERE name = 'adam'`,
    );
    expect(await sign('adam')).toBe('altered');
    await changeUser(database, { name: 'adam', by: 'ana', role: 'viewer' });
    expect(await problems()).toEqual([]);
  });
});

test('the check of 100,000 titles holds none of them in the process', {
  timeout: 300_000,
}, async () => {
  const large = daysFrom(400);
  const { sandbox, database } = pages.world;
  sandbox.setDaySize(large, 100_000);
  await pages.world.pull(large);
  const used = () => process.memoryUsage().heapUsed + process.memoryUsage().external;
  const start = used();
  let peak = start;
  const watch = setInterval(() => {
    peak = Math.max(peak, used());
  }, 5);
  const { titles } = await verifyDate(database, large, signal);
  clearInterval(watch);
  expect(titles).toBe(100_000);
  expect(peak - start).toBeLessThan(30 * 2 ** 20);
});
