/**
 * Statements with which a user of the database alters what the program decides and pays by. Each is found by the check of
 * its date, and keeps the date from being signed off and released.
 */
import pg from 'pg';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { recordAudit } from '../../../src/base/audit/audit.ts';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { createApiKey, revokeApiKey } from '../../../src/console/access/api-keys.sql.ts';
import { changeUser } from '../../../src/console/access/console-users.sql.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { AMOUNT_COLUMNS, TITLE_COLUMNS, VALUE_COLUMNS } from '../../../src/core/title/title.ts';
import {
  COMPUTED_CONTENT_HASH,
  COMPUTED_IDENTITY_HASH,
  ROW_DIGEST,
} from '../../../src/core/title/title-hashes.sql.ts';
import { setConsumer } from '../../../src/features/bookings/consumers.ts';
import { resolveFindings } from '../../../src/features/checks/findings.sql.ts';
import { eraseParty } from '../../../src/features/privacy/erase-party.sql.ts';
import { acceptRejects, reopenDay } from '../../../src/features/review/sign-off.sql.ts';
import { acknowledgeFindings, verifyDate } from '../../../src/features/verify/verify.sql.ts';
import {
  checkAnyDay,
  decideOpenChanges,
  findAlterations,
  repairDay,
  trySigning,
} from '../../support/days.ts';
import { pagesForFile } from '../../support/pages-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const { signal } = new AbortController();
const PERSON = { by: 'ana', reason: 'a test' };
const ANY_ID = 10n ** 15n;

const { world, console } = pagesForFile();
/** Each test has a date and a supplier of its own; the day before is its own, too. */
let used = 0;
let date: CivilDate;
beforeEach(async () => {
  date = daysFrom(2 * used + 1);
  used += 1;
  await pull(date, ['a', 'b', 'c']);
});

const textOf = (of: CivilDate, uid: string, account = '7654321') =>
  titleText({
    ...{ uid: `${uid} of ${of}`, date: of, dueDate: daysFrom(30, of), account },
    ...{ code: `P-${used}`, taxId: `supplier ${used}` },
  });

async function pull(of: CivilDate, uids: readonly string[], account?: string, more: string[] = []) {
  const { sandbox, database } = world;
  sandbox.setDayTexts(of, [...uids.map((uid) => textOf(of, uid, account)), ...more]);
  const { pullId } = await world.attempt(of, { withdrawalLimitPercent: 100 });
  await checkAnyDay(database);
  return pullId;
}

const query = async (text: string, values: unknown[] = []) =>
  (await world.database.pool.query(text, values)).rows;

/** Statements with $1 for the date. */
async function attack(...statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    const { rowCount } = await world.database.pool.query(
      statement.replaceAll('$1', `'${date}'::date`),
    );
    expect(rowCount, statement).toBeGreaterThan(0);
  }
}

/** The same, of the owner of the tables, who can switch their triggers off. */
async function attackAsOwner(statement: string): Promise<void> {
  const rows = await world.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SET LOCAL session_replication_role = replica`;
    return tx.$executeRawUnsafe(statement.replaceAll('$1', `'${date}'::date`));
  });
  expect(rows, statement).toBeGreaterThan(0);
}

const problems = async () =>
  (await findAlterations(world.database, date)).map(({ problem }) => problem);

const sign = (by = 'rita') => trySigning(world.database, date, { by, fourEyes: true });

/** Makes the repair that the check asks for. */
async function repair() {
  const { repairPullId } = await repairDay(world, date, { withdrawalLimitPercent: 100 });
  expect(repairPullId).not.toBeNull();
  await findAlterations(world.database, date);
  await checkAnyDay(world.database);
}

const lines = () =>
  query(`
    SELECT kind, original_value::text AS value FROM conciliation.booking_line WHERE date = '${date}' ORDER BY id`);

/** Rows of a table; $1 is the date. */
const set = (table: string, values: string, where = 'date = $1') =>
  `UPDATE conciliation.${table} SET ${values} WHERE ${where}`;
/** A row as it was, with other values of some columns. */
const copy = (table: string, values: object, where: string) =>
  `INSERT INTO conciliation.${table}
   SELECT (jsonb_populate_record(one, '${JSON.stringify(values)}')).* FROM conciliation.${table} AS one WHERE ${where}`;
const A = `accepted_date = $1 AND order_uid LIKE 'a of %'`;
/** The hashes of the content and of the identity. */
const HASHES_AGREE = set(
  'title',
  `identity_hash = ${COMPUTED_IDENTITY_HASH.sql}, content_hash = ${COMPUTED_CONTENT_HASH.sql}`,
  A,
);
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
const titleRow = `${TITLE_COLUMNS.join(', ')}, identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id`;
const OWN_TITLE = `INSERT INTO conciliation.title (occurrence, ${titleRow})
   SELECT 99, ${titleRow} FROM conciliation.title WHERE ${A}`;
const NEWEST = '(SELECT max(id) FROM conciliation.pull WHERE date = $1)';
/** Another pull of the same answer. */
const ownPull = (state: string) => [
  `INSERT INTO conciliation.pull (origin, date, requested_by, state, fence, fold_count, fold_sum, rejected, withheld, finished_at)
     SELECT 'daily', date, 'scheduler', '${state}', nextval('conciliation.pull_fence_seq'), fold_count, fold_sum, 0, 0, now()
     FROM conciliation.pull WHERE date = $1`,
  set('day', `last_pull_id = ${NEWEST}`),
];
/** A digest of the titles as they are, of a pull or at a time. */
const ownDigest = (column: string, value: string) =>
  `INSERT INTO conciliation.date_digest (date, ${column}, titles, digest)
     SELECT $1, ${value}, count(*), sha256(string_agg(${ROW_DIGEST.sql}, '' ORDER BY id)) FROM conciliation.title WHERE accepted_date = $1`;
const ERASED_AT = `(SELECT max(at) FROM conciliation.audit_entry WHERE action = 'party.erased')`;

test('a date as it was pulled has no problem', async () => {
  expect(await problems()).toEqual([]);
});

describe('an altered title is found, refused and restored:', () => {
  test.each([
    ['1: its amount', set('title', 'original_value = 99', A), 'content titles day totals'],
    ['3: its account', set('title', `payment_account = '666'`, A), 'content totals'],
    ['5: its status', set('title', `status = 'withdrawn'`, A), 'titles day totals'],
    [
      '6: as erased, with another amount',
      set('title', 'erased_at = now(), original_value = 99', A),
      'titles day totals',
    ],
    ['7: a title of its own', OWN_TITLE, 'titles day totals'],
    [
      '35: its amount in the payment schedule',
      set('schedule_total', 'original_value = original_value * 10', 'accepted_date = $1'),
      'totals',
    ],
    [
      '36: its payee in the payment schedule',
      set('schedule_total', 'title_id = title_id - 1', 'accepted_date = $1'),
      'totals',
    ],
  ])('%s', async (_, statement, found) => {
    await attack(statement);
    expect(await sign()).toBe('altered');
    expect(await problems()).toEqual(found.split(' '));
    await repair();
    expect(await problems()).toEqual([]);
    expect(await sign()).toBeNull();
    expect(await lines()).toEqual(Array(3).fill({ kind: 'book', value: '1000.50' }));
  });

  const ALTERED = [set('title', 'original_value = 99', A), HASHES_AGREE, DAY_AGREES, TOTALS_AGREE];
  test.each([
    ['2: its amount, hashes, the day and the totals', []],
    [
      '4: these, the pull, a revision and a numbered change',
      [
        set('pull', 'unchanged = 2, changed = 1'),
        `INSERT INTO conciliation.title_revision (title_id, revision, kind, pull_id, before, after, content_hash)
           SELECT id, 1, 'changed', first_pull_id, '{"original_value": 1000.50}', '{"original_value": 99}', content_hash
           FROM conciliation.title WHERE ${A}`,
        `INSERT INTO conciliation.title_change (title_id, kind, pull_id, content_hash)
           SELECT id, 'changed', first_pull_id, content_hash FROM conciliation.title WHERE ${A}`,
      ],
    ],
    [
      '4: these, and another pull, with a digest of its own that changed nothing',
      [...ownPull('unchanged'), ownDigest('pull_id', NEWEST)],
    ],
    [
      '4: these, with the digest of an erasure that nobody made',
      [ownDigest('appended_at', 'now()')],
    ],
  ])('%s', async (_, statements) => {
    await attack(...ALTERED, ...statements);
    expect(await sign()).toBe('altered');
    expect(await problems()).toEqual(['titles']);
    await repair();
    expect(await problems()).toEqual([]);
    expect(
      await query(`
        SELECT original_value::text AS v FROM conciliation.title WHERE accepted_date = '${date}' AND status = 'current'`),
    ).toEqual(Array(3).fill({ v: '1000.50' }));
  });

  test('a title that the newest answer does not have, with a merged pull and a digest of its own', async () => {
    await attack(OWN_TITLE, DAY_AGREES, ...ownPull('merged'), ownDigest('pull_id', NEWEST));
    expect(await problems()).toEqual(['day', 'totals']);
    expect(await sign()).toBe('altered');
  });

  test('an erased title altered, with a digest that has the time of the erasure', async () => {
    const party = { taxId: null, externalId: `P-${used}` };
    await eraseParty(world.database, { party, ...PERSON, isDryRun: false });
    const erased = [
      set('title', 'original_value = 99', `${A} AND erased_at IS NOT NULL`),
      DAY_AGREES,
      TOTALS_AGREE,
    ];
    await expect(attack(...erased, ownDigest('appended_at', ERASED_AT))).rejects.toThrow(
      /date_digest_erasure_key/,
    );
    date = daysFrom(200);
    await pull(date, ['a', 'b', 'c']);
    expect(await problems()).toEqual([]);
    await attack(...erased, ownDigest('appended_at', ERASED_AT));
    expect(await problems()).toEqual(['titles']);
    expect(await sign()).toBe('altered');
  });

  test('a second digest of one pull is refused, and so are a change and a deletion of one', async () => {
    await expect(
      query(`
        INSERT INTO conciliation.date_digest (date, pull_id, titles, digest)
        SELECT date, pull_id, titles, digest FROM conciliation.date_digest LIMIT 1`),
    ).rejects.toThrow(/date_digest_pull_key/);
    for (const statement of [
      'UPDATE conciliation.date_digest SET titles = 0',
      'DELETE FROM conciliation.date_digest',
    ])
      await expect(query(statement)).rejects.toThrow(/append-only/);
  });

  test('a merge and an erasure of an altered date leave it altered', async () => {
    await attack(set('title', 'original_value = 99', A), HASHES_AGREE);
    await pull(date, ['a', 'b', 'c', 'd']);
    expect(await problems()).toContain('titles');
  });
});

const nothing = async () => {};
/** A reject beside the titles. */
const withReject = () => pull(date, ['a', 'b', 'c'], undefined, ['{"order":{}}']);

const pullDayBefore = () => pull(daysFrom(-1, date), ['a']);

/** The date names another account than the day before. */
async function withChange() {
  await pullDayBefore();
  await pull(date, ['a', 'b', 'c'], '666');
  expect(await problems()).toEqual([]);
  expect(await sign()).toBe('payment_held');
}

async function withAccepted() {
  await withReject();
  await acceptRejects(world.database, date, PERSON);
}
/** Another one of the rejects that a person has accepted. */
async function withOtherReject() {
  await withAccepted();
  await pull(date, ['a', 'b', 'c'], undefined, ['{"order":{}}', '{"order":{"uid":1}}']);
}

const CODE = 'due_before_acceptance';
async function withFinding() {
  await attack(
    `INSERT INTO conciliation.check_finding (code, version, severity, accepted_date, title_id, content_hash, detail)
       SELECT '${CODE}', 1, 'review', accepted_date, id, content_hash, '{}' FROM conciliation.title WHERE ${A}`,
    set('day_check', `rules = replace(rules, '${CODE}:1:info', '${CODE}:1:review')`),
    set('day', `state = 'attention'`),
  );
  expect(await problems()).toEqual([]);
}
async function withResolved() {
  await withFinding();
  const finding = { date, code: CODE, newestId: ANY_ID, titleId: null } as const;
  await resolveFindings(world.database, finding, PERSON);
}

/** A response with few titles, which a person releases. */
async function withReleased() {
  world.sandbox.setDayTexts(date, [textOf(date, 'a')]);
  const { pullId } = await world.attempt(date);
  expect(await problems()).toEqual([]);
  await releasePull(world.parts, pullId, PERSON);
}

async function held() {
  await world.serve(date, []);
  expect(await problems()).toEqual([]);
}

async function reopened() {
  expect(await sign()).toBeNull();
  await reopenDay(world.database, date, PERSON);
}

describe('a decision without an entry in the audit log is found and refused:', () => {
  const RECONCILED = set('day', `state = 'reconciled', held_pull_id = NULL`);
  const BY_RITA = `decided_at = now(), decided_by = 'rita'`;
  const reject = (values: string) => [set('rejected_title', values), RECONCILED];
  const finding = (values: string) => [
    set('check_finding', values, `accepted_date = $1 AND code = '${CODE}'`),
    RECONCILED,
  ];
  const heldPull = (values: string) => [
    set('pull', values, `date = $1 AND state = 'held'`),
    RECONCILED,
  ];
  const sealOf = (seal: string) =>
    set(
      'day',
      `(signed_off_at, signed_off_by, signed_off_digest) = (SELECT signed_off_at, signed_off_by, content_digest FROM conciliation.sign_off WHERE ${seal})`,
    );
  const inForceAgain = (id: number) => [
    copy('sign_off', { id, ended_at: null, ended_by: null, end_reason: null }, 'date = $1'),
    sealOf('sign_off.date = $1 AND ended_at IS NULL'),
  ];
  const SEAL = `title_count, withdrawn_count, rejected_count, content_digest, ${AMOUNT_COLUMNS.map((c) => `${c}_sum`).join(', ')}`;
  test.each<[string, () => Promise<unknown>, string[], string]>([
    ['10: the state of a day with rejects', withReject, [RECONCILED], 'day'],
    ['11: rejects accepted', withReject, reject(`status = 'accepted', ${BY_RITA}`), 'reject'],
    ['11: rejects accepted by nobody', withReject, reject(`status = 'accepted'`), 'reject'],
    [
      '11: rejects that no response has ended',
      withReject,
      [...reject(`status = 'resolved'`), set('day', 'rejected_count = 0')],
      'day',
    ],
    [
      '11: a reject with the acceptance of another one',
      withOtherReject,
      reject(`status = 'accepted', (decided_at, decided_by, reason) = (
        SELECT decided_at, decided_by, reason FROM conciliation.rejected_title WHERE date = $1 AND status = 'accepted')`),
      'reject reject',
    ],
    [
      '12: an account change confirmed',
      withChange,
      [set('account_change', `state = 'confirmed', ${BY_RITA}`, 'accepted_date = $1')],
      'account',
    ],
    [
      '13: payment holds deleted',
      withChange,
      ['DELETE FROM conciliation.payment_hold WHERE accepted_date = $1'],
      'hold hold hold',
    ],
    ['30: a held response that nothing replaced', held, heldPull(`state = 'superseded'`), 'pull'],
    [
      '30: a held response that nothing replaced, without its reason',
      held,
      heldPull(`state = 'superseded', hold_reason = NULL`),
      'pull',
    ],
    ['30: a held response merged', held, heldPull(`state = 'merged'`), 'titles day'],
    [
      '34: a finding resolved',
      withFinding,
      finding(`resolved_at = now(), resolved_by = 'rita', reason = 'x'`),
      'finding',
    ],
    ['34: a finding made informational', withFinding, finding(`severity = 'info'`), 'finding'],
    ['34: a finding closed', withFinding, finding('closed_at = now()'), 'finding'],
    [
      'a break resolved',
      nothing,
      [
        `INSERT INTO conciliation.break_decision (kind, title_id, ground, decided_by, code, reason)
           SELECT 'no_payable', id, gen_random_uuid(), 'rita', 'accepted', 'x' FROM conciliation.title WHERE ${A}`,
      ],
      'break',
    ],
    [
      'a receipt set aside',
      nothing,
      [
        `INSERT INTO conciliation.booking_receipt (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status, document, outcome, settled_at, settled_by)
           SELECT 'erp', $1::text, $1, identity_hash, 1, 9, content_hash, 'posted', 'x', 'set_aside', now(), 'rita' FROM conciliation.title WHERE ${A}`,
      ],
      'receipt',
    ],
    [
      '24: a seal',
      nothing,
      [
        `INSERT INTO conciliation.sign_off (date, signed_off_by, fence, ${SEAL})
           SELECT date, 'rita', 1, ${SEAL} FROM conciliation.day WHERE date = $1`,
        sealOf('sign_off.date = $1'),
      ],
      'seal',
    ],
    ['a reopened seal in force again', reopened, inForceAgain(2e9), 'seal'],
    ['an earlier seal in force again', reopened, inForceAgain(-1), 'seal'],
    [
      'a fence that was never given',
      nothing,
      [
        copy(
          'pull',
          { id: 2e9, origin: 'repair', state: 'unchanged', fence: 2e9, slot_at: null },
          'id = (SELECT last_pull_id FROM conciliation.day WHERE date = $1)',
        ),
        set('day', 'last_pull_id = 2000000000'),
      ],
      'day',
    ],
    [
      '23: a seal ended',
      async () => expect(await sign()).toBeNull(),
      [
        set('sign_off', `ended_at = now(), ended_by = 'rita'`),
        set('day', 'signed_off_at = NULL, signed_off_by = NULL, signed_off_digest = NULL'),
      ],
      'seal',
    ],
  ])('%s', async (name, prepare, statements, found) => {
    await prepare();
    await attack(...statements);
    expect(await problems()).toEqual(found.split(' '));
    expect(await sign()).toMatch(
      /seal( in|$)/.test(name) ? /^already_signed_off$/ : /^(altered|unrecorded|payment_held)$/,
    );
  });

  const REFUSED = ['cancelled', 'failed', 'queued'];
  test.each(REFUSED)('the database refuses a held response that is %s', async (state) => {
    await held();
    await expect(attack(...heldPull(`state = '${state}'`))).rejects.toThrow(/are kept/);
  });

  test('the same decisions with their entries are none', async () => {
    const { database } = world;
    await withAccepted();
    expect(await problems()).toEqual([]);
    await pullDayBefore();
    await pull(date, ['a', 'b', 'c'], '666');
    await decideOpenChanges(database, 'refused');
    expect(await problems()).toEqual([]);
    const refused = await database.prisma.accountChange.findMany({ where: { state: 'refused' } });
    expect(refused.length).toBeGreaterThan(0);
    await withResolved();
    await withReleased();
    expect(await problems()).toEqual([]);
    await checkAnyDay(database);
    expect(await sign()).toBeNull();
    await reopenDay(database, date, PERSON);
    expect(await problems()).toEqual([]);
  });

  test('a payment that is not held is held again by the repair, and the feed has it', async () => {
    await withChange();
    await attack('DELETE FROM conciliation.payment_hold WHERE accepted_date = $1');
    await repair();
    expect(await problems()).toEqual([]);
    const newest = await query(`
      SELECT change_kind AS kind, payment_hold AS held FROM conciliation.title_feed WHERE accepted_date = '${date}' ORDER BY change_seq DESC LIMIT 3`);
    expect(newest).toEqual(Array(3).fill({ kind: 'changed', held: true }));
    expect(await sign()).toBe('payment_held');
  });
});

describe('a booking line without a seal is found, and the day is not released:', () => {
  const values = VALUE_COLUMNS.filter(
    (column) => !/^(accepted_date|payment_account)$/.test(column),
  );
  const contents = `${values.join(', ')}, provider_destination, payment_destination, consumer, date, title_id, content_hash`;
  const LAST = '(SELECT max(id) FROM conciliation.booking_batch WHERE date = $1)';
  const forge = (
    key: string,
    kind = 'book',
    from = `conciliation.booking_line WHERE date = $1 AND order_uid LIKE 'a of %'`,
  ) =>
    `INSERT INTO conciliation.booking_line (batch_id, ${contents}, payment_account, kind, accounting_date, accounting_basis, identity_hash, occurrence, version, succeeds)
       SELECT ${LAST}, ${contents}, '666', '${kind}', current_date, 'event', ${key} FROM ${from} LIMIT 1`;
  const NEW_KEY = forge('gen_random_uuid(), 1, 1, NULL');
  /** With the counts and the digest of its lines. */
  const batchOf = (seal: string, lineCount: number, digest: string) =>
    `INSERT INTO conciliation.booking_batch (date, sign_off_id, released_by, line_count, book_count, adjust_count, reverse_count, ${AMOUNT_COLUMNS.map((c) => `${c}_sum`).join(', ')}, digest)
       SELECT $1, ${seal}, 'rita', ${lineCount}, ${lineCount}, 0, 0, ${AMOUNT_COLUMNS.map(() => '0').join(', ')}, ${digest}`;
  const BATCH = batchOf('(SELECT max(id) FROM conciliation.sign_off WHERE date = $1)', 1, `'x'`);
  test.each([
    ['16: of a new key', [NEW_KEY], 'line batch lines'],
    ['16: of a new key, in a batch of its own', [BATCH, NEW_KEY], 'line batch lines'],
    ['17: of the next version', [forge('identity_hash, occurrence, 2, 1', 'adjust')], 'line batch'],
    [
      'a reversal',
      [
        `INSERT INTO conciliation.booking_line (batch_id, consumer, date, identity_hash, occurrence, version, kind, content_hash, succeeds, accounting_date, accounting_basis)
           SELECT batch_id, consumer, date, identity_hash, occurrence, 2, 'reverse', '00000000-0000-0000-0000-000000000000', 1, current_date, 'event' FROM conciliation.booking_line WHERE date = $1 LIMIT 1`,
      ],
      'line batch lines',
    ],
    [
      'the name of an erased party, and a content that no title has',
      [
        NEW_KEY.replace(/(SELECT .*)provider_identification/s, "$1'erased-1'").replace(
          /(SELECT .*)content_hash/s,
          '$1gen_random_uuid()',
        ),
      ],
      'batch lines',
    ],
    [
      'a receipt that nobody recorded',
      [set('booking_line', 'posted_hash = content_hash')],
      'line line line',
    ],
    [
      'a batch for receipts that nobody recorded',
      [batchOf('NULL', 0, `encode(sha256(''), 'hex')`)],
      'batch',
    ],
  ])('%s', async (_, statements, found) => {
    expect(await sign()).toBeNull();
    expect(await problems()).toEqual([]);
    await attack(...statements);
    expect((await problems()).sort()).toEqual(found.split(' ').sort());
    const before = await lines();
    await pull(date, ['a', 'b', 'c', 'd']);
    expect(await sign()).toBe('unrecorded');
    expect(await lines()).toEqual(before);
  });

  test('18: preset before the sign-off', async () => {
    const preset = `
      (SELECT title.*, NULL::jsonb AS provider_destination, NULL::jsonb AS payment_destination, 'erp' AS consumer,
              accepted_date AS date, id AS title_id FROM conciliation.title WHERE ${A}) AS preset`;
    await attack(BATCH, forge('identity_hash, occurrence, 1, NULL', 'book', preset));
    expect(await sign()).toBe('unrecorded');
    expect(new Set(await problems())).toEqual(new Set(['batch', 'line']));
    expect(await lines()).toHaveLength(1);
  });

  test('after a person has acknowledged it, another person signs and the release takes it back', async () => {
    const { database } = world;
    expect(await sign()).toBeNull();
    await attack(NEW_KEY);
    await pull(date, ['a', 'b', 'c', 'd']);
    expect((await verifyDate(database, date, signal)).repairPullId).toBeNull();
    const acknowledged = `UPDATE conciliation.title_finding SET acknowledged_at = now(), acknowledged_by = 'otto' WHERE date = $1`;
    await attack(acknowledged);
    expect(await sign()).toBe('unrecorded');
    await attack(acknowledged.replaceAll(/now\(\)|'otto'/g, 'NULL'));
    await acknowledgeFindings(database, ANY_ID, { by: 'otto', reason: 'the line is taken back' });
    expect(await sign('otto')).toBe('own_decision');
    expect(await sign()).toBeNull();
    const kinds = (await lines()).map(({ kind }) => kind).sort();
    expect(kinds).toEqual([...Array(5).fill('book'), 'reverse']);
    expect(new Set(await problems())).toEqual(new Set(['line', 'batch']));
    // The finding of one line does not stand for another one.
    await attack(NEW_KEY);
    await reopenDay(database, date, PERSON);
    expect(await sign()).toBe('unrecorded');
  });
});

describe('what follows from a seal or a match is found where the owner of the database alters it:', () => {
  const line = (values: string, kind: string) =>
    set('booking_line', values, `date = $1 AND kind = '${kind}'`);
  const payable = (key: string) =>
    set('booking_line', `erp_key = ${key}`, `date = $1 AND order_uid LIKE 'a of %'`);
  test.each([
    // Only a line that no reversal follows: a reversal with another payable than its line is found by itself.
    ['the payable of a line', payable(`'other'`), 'line'],
    ['a second payable of a line', payable(`erp_key || ',other'`), 'line'],
    ['the payable of a line taken away', payable('NULL'), 'line'],
    ['the value that a line posts', line('posting_value = posting_value + 1', 'book'), 'line'],
    ['the value of a reversal', line('posting_value = posting_value + 1', 'reverse'), 'line'],
    ['the payable of a reversal', line(`erp_key = 'other'`, 'reverse'), 'line'],
    ['the title of a reversal', line('title_id = title_id + 1', 'reverse'), 'line'],
    ['the supplier of a reversal', line(`provider_external_id = 'thief'`, 'reverse'), 'line'],
    ['the consumer of a reversal', line(`consumer = 'thief'`, 'reverse'), 'line'],
    ['an accounting date', line('accounting_date = accounting_date + 9', 'reverse'), 'line'],
    ['an accounting date without receipt', line(`accounting_basis = 'erp'`, 'reverse'), 'line'],
    ['who released a batch', set('booking_batch', `released_by = 'thief'`), 'batch'],
    [
      'why a day was signed off',
      set('sign_off', `reason = 'x'`, 'date = $1 AND ended_at IS NULL'),
      'seal',
    ],
  ])('%s', async (_, statement, problem) => {
    expect(await sign()).toBeNull();
    await attackAsOwner(`
      INSERT INTO conciliation.title_match
        (title_id, erp_key, rule, rule_version, made_at, made_by, title_ground, erp_ground, erp_value)
      SELECT id, 'K' || id, 'person', 1, now() - interval '1 day', 'ana', gen_random_uuid(), gen_random_uuid(), 1
      FROM conciliation.title WHERE accepted_date = $1`);
    await attackAsOwner(line(`erp_key = 'K' || title_id, posting_value = original_value`, 'book'));
    await pull(date, ['a', 'b']);
    expect(await sign()).toBeNull();
    expect((await lines()).map(({ kind }) => kind)).toEqual(['book', 'book', 'book', 'reverse']);
    expect(await problems()).toEqual([]);
    await attackAsOwner(statement);
    expect(new Set(await problems())).toEqual(new Set([problem]));
    await reopenDay(world.database, date, PERSON);
    expect(await sign()).toBe('unrecorded');
  });
});

describe('the reason of a decision is that of the audit log:', () => {
  const { by: actor, reason } = PERSON;
  /** As a person resolves a break of a title without a payable. */
  const withBreak = (code: 'accepted' | 'reopened' = 'accepted') =>
    world.prisma.$transaction(async (tx) => {
      const [{ ground }] = await tx.$queryRawUnsafe<[{ ground: string }]>(
        `INSERT INTO conciliation.break_decision (kind, title_id, ground, decided_by, code, reason)
         SELECT 'no_payable', id, gen_random_uuid(), '${actor}', '${code}', '${reason}'
         FROM conciliation.title WHERE accepted_date = '${date}' AND order_uid LIKE 'a of %' RETURNING ground`,
      );
      const details = { kind: 'no_payable', code, grounds: [ground] };
      const action = code === 'reopened' ? 'break.reopen' : 'break.resolve';
      await recordAudit(tx, { actor, action, date, reason, details });
    });
  const decided = (table: string, column = 'date') =>
    set(table, `reason = 'another'`, `${column} = $1 AND reason IS NOT NULL`);
  const OF_THE_TITLES = `title_id IN (SELECT id FROM conciliation.title WHERE accepted_date = $1)`;
  test.each<[string, () => Promise<unknown>, string, string]>([
    [
      'of an account change',
      async () => {
        await withChange();
        await decideOpenChanges(world.database, 'confirmed');
      },
      decided('account_change', 'accepted_date'),
      'account',
    ],
    ['of an acceptance of rejects', withAccepted, decided('rejected_title'), 'reject'],
    ['of a resolved finding', withResolved, decided('check_finding', 'accepted_date'), 'finding'],
    ['of a released response', withReleased, decided('pull'), 'pull'],
    [
      'of a resolved break',
      withBreak,
      set('break_decision', `reason = 'x'`, OF_THE_TITLES),
      'break',
    ],
    [
      'and a break that was opened again is there',
      () => withBreak('reopened'),
      `DELETE FROM conciliation.break_decision WHERE ${OF_THE_TITLES}`,
      'break',
    ],
    [
      'of a break that was opened again',
      () => withBreak('reopened'),
      set('break_decision', `code = 'accepted'`, OF_THE_TITLES),
      'break',
    ],
    [
      'and a resolved break is there',
      withBreak,
      `DELETE FROM conciliation.break_decision WHERE ${OF_THE_TITLES}`,
      'break',
    ],
  ])('%s', async (_, prepare, statement, problem) => {
    await prepare();
    expect(await problems()).toEqual([]);
    await attack(statement);
    expect(new Set(await problems())).toEqual(new Set([problem]));
    expect(await sign()).toBe('unrecorded');
  });
});

test('titles whose day is gone from the ledger are found', async () => {
  await query('ALTER TABLE conciliation.day DISABLE TRIGGER ALL');
  await attack('DELETE FROM conciliation.day WHERE date = $1');
  await query('ALTER TABLE conciliation.day ENABLE TRIGGER ALL');
  expect(await problems()).toContain('day');
});

describe('access that is not in the audit log keeps every date from being signed off:', () => {
  const owner = (name: string) =>
    `(SELECT id FROM conciliation.console_user WHERE name = '${name}')`;
  const change = (name: string, to: Omit<Parameters<typeof changeUser>[1], 'name' | 'by'>) => () =>
    changeUser(world.database, { name, by: 'ana', ...to });
  const consumer = (...buyers: string[]) =>
    setConsumer(world.database, { name: 'erp', databaseRole: null, apiKeyId: null, buyers }, 'ana');
  const revoke = () =>
    query(set('api_key', `revoked_at = now(), revoked_by = 'ana'`, 'revoked_at IS NULL'));
  beforeAll(async () => {
    const key = { user: null, role: 'viewer', scopes: ['read'], validDays: 1, by: 'ana' } as const;
    await createApiKey(world.database, { ...key, name: 'revoked' });
    const { id } = await world.prisma.apiKey.findFirstOrThrow();
    await revokeApiKey(world.database, id, 'ana');
  });
  test.each<[string, string, string, () => Promise<unknown>, (() => Promise<unknown>)?]>([
    [
      '32: another token of a session',
      set('console_session', `token_hash = 'thief'`, `user_id = ${owner('vera')}`),
      'session',
      change('vera', { role: 'viewer' }),
    ],
    [
      '32: a session with the time of another one',
      copy('console_session', { token_hash: 'x' }, `user_id = ${owner('rita')}`),
      'session',
      () => query(`DELETE FROM conciliation.console_session WHERE token_hash = 'x'`),
    ],
    [
      '32: a session of another user',
      set('console_session', `user_id = ${owner('otto')}`, `user_id = ${owner('rita')}`),
      'session',
      change('otto', { role: 'operator' }),
    ],
    [
      '33: a role',
      set('console_user', `role = 'admin'`, `name = 'vera'`),
      'user',
      () => query(set('console_user', `role = 'viewer'`, `name = 'vera'`)),
    ],
    [
      '33: a user who was disabled',
      set('console_user', 'disabled_at = now()', `name = 'vera'`),
      'user',
      change('vera', { isDisabled: true }),
    ],
    [
      '33: a user',
      `INSERT INTO conciliation.console_user (name, role, created_by)
         VALUES ('ghost', 'reviewer', 'ana')`,
      'user',
      change('ghost', { role: 'viewer' }),
    ],
    [
      'a key',
      `INSERT INTO conciliation.api_key (name, key_hash, key_start, role, scopes, created_by, expires_at)
         VALUES ('k', 'x', 'x', 'operator', '{pull}', 'ana', now() + interval '1 day')`,
      'key',
      revoke,
    ],
    [
      'a revoked key in use again',
      set('api_key', 'revoked_at = NULL, revoked_by = NULL', `name = 'revoked'`),
      'key',
      revoke,
    ],
    [
      '22: the database user of a consumer',
      set('booking_consumer', `database_role = 'thief'`, `name = 'erp'`),
      'consumer',
      () => consumer(),
    ],
    [
      '22: as many other buyers of a consumer',
      set('booking_consumer', `buyers = '{11222333000181}'`, `name = 'erp'`),
      'consumer',
      () => consumer(),
      () => consumer('00000000000191'),
    ],
    [
      'the first date with bookings',
      set('booking_start', 'bookings_from = bookings_from + 1', 'true'),
      'start',
      () => query(set('booking_start', 'bookings_from = bookings_from - 1', 'true')),
    ],
  ])('%s', async (_, statement, problem, correct, prepare) => {
    await prepare?.();
    expect(await problems()).toEqual([]);
    await attack(statement);
    expect(await problems()).toEqual([problem]);
    expect(await sign()).toBe('unrecorded');
    await correct();
    expect(await problems()).toEqual([]);
    expect(await sign()).toBeNull();
  });

  test('33: an administrator who became a reviewer, and signs what was open then', async () => {
    const becomes = async (...roles: ('admin' | 'reviewer' | 'viewer')[]) => {
      for (const role of roles) await change('adam', { role })();
    };
    const decidesFrom = (value: string) =>
      set('console_user', `decides_from = ${value}`, `name = 'adam'`);
    await console.as('admin', 'root');
    await console.as('admin', 'adam');
    await becomes('reviewer');
    expect(await problems()).toEqual([]);
    expect(await sign('adam')).toBe('open_before');
    await attack(decidesFrom('NULL'));
    expect(await problems()).toEqual(['user']);
    expect(await sign('adam')).toBe('unrecorded');
    await becomes('admin', 'reviewer');
    await attack(decidesFrom(`decides_from - interval '1 day'`));
    expect(await sign('adam')).toBe('unrecorded');
    await becomes('viewer');
    expect(await problems()).toEqual([]);
    // A later time keeps a reviewer from signing.
    await attack(decidesFrom(`decides_from + interval '1 day'`));
    expect(await problems()).toEqual(['user']);
    await becomes('admin', 'viewer');
    expect(await problems()).toEqual([]);
    // With an entry that states the same.
    await attack(
      decidesFrom('NULL'),
      `INSERT INTO conciliation.audit_entry (actor, action, details)
       VALUES ('ana', 'user.change', '{"user": "adam", "role": "viewer", "isDisabled": false, "decidesFrom": null}')`,
    );
    expect(await problems()).toEqual(['user']);
    await becomes('admin');
    expect(await problems()).toEqual([]);
  });
});

test('the check of many titles brings none of them into the process', async () => {
  const [large, titles] = [daysFrom(400), 500];
  const { sandbox, database } = world;
  sandbox.setDaySize(large, titles);
  await world.pull(large);
  const events = vi.spyOn(pg.Connection.prototype, 'emit');
  onTestFinished(() => events.mockRestore());
  expect(await verifyDate(database, large, signal)).toMatchObject({ titles });
  const rows = events.mock.calls.filter(([name]) => /^(dataRow|copyData)$/.test(String(name)));
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.length).toBeLessThan(titles / 5);
});
