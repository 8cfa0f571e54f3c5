import { beforeEach, describe, expect, test } from 'vitest';
import { InputError } from '../../../src/base/runtime/errors.ts';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { TITLE_COLUMNS } from '../../../src/core/title/title.ts';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import {
  readChangedTitles,
  readDayChanges,
} from '../../../src/features/review/changed-titles.sql.ts';
import { acceptRejects, reopenDay, signOffDay } from '../../../src/features/review/sign-off.sql.ts';
import {
  checkAnyDay,
  decideOpenChanges,
  digestOf,
  repairDay,
  signDay,
} from '../../support/days.ts';
import { signedRows } from '../../support/documented-sql.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { clientOfFile, freshDays, worldOfFile } from '../../support/pull-world.ts';
import { titlesOf, titleText, titleTexts } from '../../support/titles.ts';
import { NEVER_STALE } from '../alerts/alert-table.ts';

const world = worldOfFile();

const nextDay = freshDays();
let date: CivilDate;
beforeEach(() => {
  date = nextDay();
});

const title = (uid: string, more: Parameters<typeof titleText>[0] = {}) =>
  titleText({ uid, date, ...more });

const pull = (...texts: string[]) => world.serve(date, texts);

const readDay = () => world.prisma.day.findUniqueOrThrow({ where: { date } });
/** The newest first. */
const readSeals = () => world.prisma.signOff.findMany({ where: { date }, orderBy: { id: 'desc' } });

const sign = (by = 'ana', fourEyes = true) =>
  signDay(world.database, date, { by, fourEyes, bookingsFrom: null });

const moved = () => readDayChanges(world.database, date, 100);

test('a sign-off seals digest and totals, with user and time, and is audited', async () => {
  await pull(title('a'), title('b', { value: '0.10' }));
  await sign();
  const day = await readDay();
  expect(day).toMatchObject({ signedOffBy: 'ana', restatedAfterSignOff: false });
  expect(day.signedOffDigest).toBe(day.contentDigest);
  const [seal] = await readSeals();
  expect({ ...seal, originalValueSum: String(seal?.originalValueSum) }).toMatchObject({
    signedOffBy: 'ana',
    contentDigest: day.contentDigest,
    titleCount: 2,
    originalValueSum: '1000.6',
    endedAt: null,
  });
  const audited = await world.prisma.auditEntry.findMany({
    where: { actor: 'ana', date: new Date(date) },
  });
  expect(audited.map(({ action }) => action)).toEqual(['day.sign_off']);
});

test('one cent restated after the sign-off is flagged, alerted and shown field by field', async () => {
  await pull(title('a'), title('b', { discount: '12.34' }));
  await sign();
  await pull(title('a'), title('b', { discount: '12.35' }));
  const day = await readDay();
  expect(day.restatedAfterSignOff).toBe(true);
  expect(day.signedOffDigest).not.toBe(day.contentDigest);
  expect(await moved()).toMatchObject({
    count: 1,
    titles: [
      {
        orderUid: 'b',
        kind: 'changed',
        fields: [
          {
            column: 'platform_discounted_value',
            isAccount: false,
            before: '12.34',
            after: '12.35',
          },
        ],
      },
    ],
  });
  await deriveAlerts(world.database, new Date(), NEVER_STALE);
  const where = { kind: 'restated_after_sign_off', date: new Date(date) };
  expect(await world.prisma.alert.count({ where })).toBe(1);
});

test('changes are compared with the seal: new, withdrawn, restored, and titles that were not in the seal and are withdrawn', async () => {
  // Enough titles that the two that go stay below the limit of withdrawals.
  const rest = titleTexts(12, { date });
  await pull(title('kept'), title('goes'), title('swings'), ...rest);
  await sign();
  await pull(
    title('kept'),
    title('swings', { discount: '1' }),
    title('new'),
    title('brief'),
    ...rest,
  );
  await pull(title('kept'), title('swings'), title('new'), ...rest);
  const { count, titles } = await moved();
  expect([count, titles.map(({ orderUid, kind }) => `${orderUid} ${kind}`).sort()]).toEqual([
    2,
    ['goes withdrawn', 'new inserted'],
  ]);
});

test('a title that replaced a withdrawn one is one changed title, with all fields since the seal', async () => {
  const restate = async (fields: Parameters<typeof titleText>[0]) => {
    const { state } = await world.serve(date, [title('a', fields), title('b')], {
      withdrawalLimitPercent: 100,
    });
    expect(state).toBe('merged');
  };
  await restate({ dueDate: '2026-06-30', value: '10' });
  await sign();
  await restate({ dueDate: '2026-06-30', value: '10', discount: '2' });
  await restate({ dueDate: '2026-07-30', value: '10', discount: '2' });
  await restate({ dueDate: '2026-07-30', value: '11', discount: '2' });
  const { counts, titles } = await moved();
  expect(counts).toEqual({ changed: 1, withdrawn: 0, restored: 0, inserted: 0 });
  expect(titles).toMatchObject([
    {
      orderUid: 'a',
      kind: 'changed',
      originalValue: '11',
      fields: [
        {
          column: 'anticipated_due_date',
          isAccount: false,
          before: '2026-06-30',
          after: '2026-07-30',
        },
        { column: 'original_value', isAccount: false, before: '10', after: '11' },
        { column: 'platform_discounted_value', isAccount: false, before: '12.34', after: '2' },
      ],
    },
  ]);
});

test('a restated day is signed off again; both seals stay on record', async () => {
  await pull(title('a'));
  await sign('ana');
  await expect(sign('bia')).rejects.toThrow('signed off already');
  await pull(title('a', { discount: '99' }));
  await sign('bia');
  expect(await readDay()).toMatchObject({ signedOffBy: 'bia', restatedAfterSignOff: false });
  expect((await moved()).count).toBe(0);
  const seals = await readSeals();
  expect(seals.map((seal) => [seal.signedOffBy, seal.endedBy])).toEqual([
    ['bia', null],
    ['ana', 'bia'],
  ]);
});

test('a day whose titles are again those of its seal agrees with it, without a further signature', async () => {
  const rest = titleTexts(12, { date });
  await pull(title('a'), title('goes'), ...rest);
  await sign('ana');
  await pull(title('a'), ...rest);
  expect(await readDay()).toMatchObject({ restatedAfterSignOff: true });
  await pull(title('a'), title('goes'), ...rest);
  expect(await readDay()).toMatchObject({ signedOffBy: 'ana', restatedAfterSignOff: false });
  await expect(sign('bia')).rejects.toThrow('signed off already');
  expect(await readSeals()).toMatchObject([{ endedAt: null }]);
});

test('the rejects of a restated day are accepted once it is reopened, because its seal may hold again', async () => {
  await pull(title('a'));
  await sign();
  await pull(title('a', { discount: '99' }), '{"order":{}}');
  const accepting = () => acceptRejects(world.database, date, { by: 'ana', reason: 'a test' });
  await expect(accepting()).rejects.toMatchObject({ context: { fault: 'rejects_sealed' } });
  await reopenDay(world.database, date, { by: 'ana', reason: 'a reject came' });
  expect(await accepting()).toBe(1);
});

test('a reopened day has no seal, and says why', async () => {
  await pull(title('a'));
  await expect(reopenDay(world.database, date, { by: 'ana', reason: 'x' })).rejects.toThrow(
    InputError,
  );
  await sign();
  await reopenDay(world.database, date, { by: 'ana', reason: 'wrong day' });
  expect(await readDay()).toMatchObject({ signedOffBy: null, signedOffDigest: null });
  expect(await readSeals()).toMatchObject([{ endReason: 'wrong day' }]);
  await pull(title('a', { discount: '99' }));
  expect(await readDay()).toMatchObject({ restatedAfterSignOff: false });
});

test('a user who accepted rejects or released a pull may not sign the day, unless that is allowed', async () => {
  await pull(title('a'), `{"order":{},"acceptedDate":"${date}"}`);
  await expect(sign('caio')).rejects.toThrow('only a complete day');
  await acceptRejects(world.database, date, { by: 'ana', reason: 'a test' });
  await expect(sign('ana')).rejects.toThrow('another user has to sign it off');
  const held = await pull();
  expect(held.state).toBe('held');
  await releasePull(world.parts, held.pullId, { by: 'bia', reason: 'cancelled' });
  await expect(sign('bia')).rejects.toThrow('another user has to sign it off');
  await sign('bia', false);
  expect(await readDay()).toMatchObject({ signedOffBy: 'bia', titleCount: 0 });
});

test('a release after the sign-off counts as a restatement', async () => {
  await pull(title('a'), title('b'));
  await sign();
  const held = await pull();
  expect(await readDay()).toMatchObject({ state: 'held', restatedAfterSignOff: false });
  await releasePull(world.parts, held.pullId, { by: 'bia', reason: 'cancelled' });
  expect(await readDay()).toMatchObject({ restatedAfterSignOff: true });
  expect((await moved()).titles.map(({ kind }) => kind)).toEqual(['withdrawn', 'withdrawn']);
});

test('a seal can be ended and nothing else', async () => {
  await pull(title('a'));
  await sign();
  const { prisma } = world;
  for (const statement of [
    `UPDATE conciliation.sign_off SET content_digest = 'x'`,
    `UPDATE conciliation.sign_off SET ended_at = now(), ended_by = 'x', title_count = 9`,
    'DELETE FROM conciliation.sign_off',
    'TRUNCATE conciliation.sign_off',
  ]) {
    await expect(prisma.$executeRawUnsafe(statement), statement).rejects.toThrow();
  }
});

test('a sign-off that waits for a merge is refused where the merge holds a payment, although the content is the one that was seen', async () => {
  const { database } = world;
  const pullAccount = (of: CivilDate, account: string) =>
    world.serve(of, [
      titleText({ uid: 'a', date: of, code: 'P-2', taxId: '11144477735', account }),
    ]);
  await pullAccount(date, '111');
  const next = nextDay();
  await pullAccount(next, '111');
  await checkAnyDay(database);
  const seenDigest = await digestOf(database, next);
  // The account is restated, and the restatement is taken back while the person signs.
  await pullAccount(next, '222');
  await decideOpenChanges(database, 'confirmed');
  let signing: Promise<unknown> = Promise.resolve();
  let merge: Promise<unknown> = Promise.resolve();
  await database.prisma.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT FROM conciliation.program_lock WHERE name = 'closing' FOR UPDATE`;
      // Waits for the lock of the closing phase, and holds that of the day.
      merge = pullAccount(next, '111');
      await lockWaits(database);
      signing = signOffDay(database, next, {
        ...{ by: 'rita', reason: null, seenDigest, fourEyes: false, requiresChecks: true },
      }).catch((error: unknown) => error);
      await lockWaits(database, 2);
    },
    { timeout: 120_000 },
  );
  await merge;
  expect(await digestOf(database, next)).toBe(seenDigest);
  expect(await signing).toMatchObject({ context: { fault: 'payment_held' } });
});

/** The query of docs/data-dictionary.md, on a day that was sealed and then restated by real pulls. */
describe('the data dictionary tells a day as it was signed off:', () => {
  const blocker = clientOfFile(() => world.databaseUrl);
  // From such rows, the verifier of test/integration/closing/evidence.test.ts computes the digest and the sums of a seal.
  const columns = ['id', 'status', 'occurrence', 'content_hash', ...TITLE_COLUMNS].map(
    (name) => `day.${name}::text`,
  );
  const rowsOf = async (statement: string) => {
    const sql = `SELECT ${columns} FROM (${statement}) AS day ORDER BY id`;
    return (await world.database.pool.query(sql)).rows;
  };

  /** Signs the day off, does what restates it, and compares the document's query with the titles that were signed. */
  async function expectSealedDay(restate: () => Promise<unknown>) {
    const sealed = await rowsOf(
      `SELECT * FROM conciliation.title WHERE accepted_date = '${date}' AND status = 'current'`,
    );
    await sign();
    await restate();
    expect(await rowsOf(await signedRows(date))).toEqual(sealed);
  }

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

  test('a seal that was ended still describes its day', async () => {
    await pull(title('a'), title('b'));
    await expectSealedDay(async () => {
      await reopenDay(world.database, date, { by: 'ana', reason: 'signed by mistake' });
      await pull(title('a', { discount: '5' }), title('b'), title('c'));
    });
  });

  test('a day that was altered and repaired, and restated before and after', async () => {
    const uids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const restate = (discount: string, of = uids) => pull(...titlesOf(of, { date, discount }));
    await restate('1');
    await expectSealedDay(async () => {
      await restate('2');
      await world.database.pool.query(`
        UPDATE conciliation.title SET original_value = 99.99 WHERE accepted_date = '${date}' AND order_uid = 'b'`);
      expect((await repairDay(world, date)).alterations).not.toEqual([]);
      await restate('3', uids.slice(1));
    });
    const { fence } = await world.prisma.signOff.findFirstOrThrow({ where: { date } });
    const { titles } = await readChangedTitles(world.database, date, fence, 100);
    const fields = titles.flatMap((each) => each.fields.map(({ column }) => column));
    expect(new Set(fields)).toEqual(new Set(['platform_discounted_value']));
  });

  test('a merge that began before the sign-off and was committed after it', async () => {
    await pull(title('a'), title('b'), title('gone'));
    await pull(title('a'), title('b'), title('gone', { discount: '7.00' }));
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
    await expectSealedDay(async () => {
      await blocker.query('COMMIT');
      await pulling;
    });
    const { rows: times } = await world.database.pool.query(`
      SELECT bool_and(title.changed_at < sign_off.signed_off_at) AS "isEarlier",
      count(*)::int AS titles
      FROM conciliation.sign_off
      JOIN conciliation.pull ON pull.fence > sign_off.fence
      JOIN conciliation.title ON title.last_change_pull_id = pull.id AND title.accepted_date = sign_off.date
      WHERE sign_off.date = '${date}' AND sign_off.ended_at IS NULL`);
    expect(times).toEqual([{ isEarlier: true, titles: 3 }]);
  });
});
