/** Pulls beside each other, and beside the ERP and finance, who read all day. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { pullToEnd } from '../../../src/cli/pulls.ts';
import { environmentOf, startCommand } from '../../support/child-command.ts';
import { withClient } from '../../support/client.ts';
import { openAnother } from '../../support/database.ts';
import { clientOfFile, worldOfFile } from '../../support/file-world.ts';
import { freshDays } from '../../support/pull-world.ts';
import { eventually } from '../../support/service-world.ts';
import { titleTexts } from '../../support/titles.ts';

const world = worldOfFile();
const administrator = clientOfFile(() => world.databaseUrl);
const freshDay = freshDays();

const textsOf = (date: CivilDate, discount: string, count = 20) =>
  titleTexts(count, { date, discount });
const contentOf = (discount: string) =>
  Array.from({ length: 20 }, (_, index) => `t${index} ${discount}`).sort();

/** The whole table's rows for the date, so that a doubled or withdrawn title shows too. */
async function rowsOf(date: CivilDate): Promise<string[]> {
  const { rows } = await administrator.query<{ row: string }>(
    `SELECT order_uid || ' ' || platform_discounted_value
            || CASE status WHEN 'current' THEN '' ELSE ' ' || status END AS row
     FROM conciliation.title WHERE accepted_date = $1`,
    [date],
  );
  return rows.map(({ row }) => row).sort();
}

const dayOf = (date: CivilDate) =>
  world.database.prisma.$queryRaw<
    object[]
  >`SELECT * FROM conciliation.day WHERE date = ${date}::date`;

/** Staged rows of all attempts, those included that a pull holds for a person. */
async function countStaged(): Promise<number> {
  const { rows } = await administrator.query<{ staged: number }>(
    `SELECT ((SELECT count(*) FROM conciliation.staged_title)
           + (SELECT count(*) FROM conciliation.staged_reject)
           + (SELECT count(*) FROM conciliation.staged_base)
           + (SELECT count(*) FROM conciliation.staged_missing)
           + (SELECT count(*) FROM conciliation.staged_change))::int AS staged`,
  );
  return rows[0]?.staged ?? -1;
}

const readPull = (id: bigint) => world.database.prisma.pull.findUniqueOrThrow({ where: { id } });
const endless = () => new AbortController().signal;

/** Waits for a backend that does what `condition` (SQL on `pg_stat_activity`) says. */
const backendThat = (condition: string) =>
  eventually(async () => {
    // A transaction sees the sessions as they were when it first looked.
    await administrator.query('SELECT pg_stat_clear_snapshot()');
    const { rowCount } = await administrator.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
    );
    expect(rowCount).not.toBe(0);
  });

test('no session sees titles of a pull that waits for the closing phase', async () => {
  const date = freshDay();
  world.sandbox.setDayTexts(date, textsOf(date, '1.25'));
  const id = await world.newPull(date);
  await administrator.query(
    "BEGIN; SELECT FROM conciliation.program_lock WHERE name = 'closing' FOR UPDATE",
  );
  const ending = pullToEnd(world.parts, id, endless(), () => undefined);
  await backendThat(`wait_event_type = 'Lock'`);
  expect([await rowsOf(date), (await readPull(id)).state]).toEqual([[], 'running']);
  await administrator.query('ROLLBACK');
  expect(await ending).toMatchObject({ kind: 'done', report: { state: 'merged', inserted: 20 } });
  expect(await rowsOf(date)).toEqual(contentOf('1.25'));
});

describe('one date, pulled twice at once', () => {
  test('by two engines, twenty times over, has its titles once', async () => {
    const engines = [world.parts, { ...world.parts, database: openAnother(world.databaseUrl) }];
    const date = freshDay();
    for (let round = 10; round < 30; round += 1) {
      const discount = `${round}.25`;
      world.sandbox.setDayTexts(date, textsOf(date, discount));
      const outcomes = await Promise.all(
        // Where the other was first, what differs has to be found again.
        engines.map(async (parts) =>
          pullToEnd(parts, await world.newPull(date), endless(), () => undefined),
        ),
      );
      const reports = outcomes.map((outcome) => {
        if (outcome.kind !== 'done') throw outcome.error;
        return outcome.report;
      });
      const changes = reports.map(({ inserted, changed }) => inserted + changed);
      // One of the two did the work, the other found nothing left to do or came too late.
      expect(changes.sort((a, b) => a - b)).toEqual([0, 20]);
      expect(await rowsOf(date)).toEqual(contentOf(discount));
    }
    expect(await dayOf(date)).toMatchObject([{ state: 'reconciled', title_count: 20 }]);
    const { rows } = await administrator.query(
      `SELECT count(*)::int AS revisions, max(revision) AS latest FROM conciliation.title_revision
       JOIN conciliation.title ON title.id = title_id WHERE accepted_date = $1`,
      [date],
    );
    expect(rows).toEqual([{ revisions: 19 * 20, latest: 19 }]);
    expect(await countStaged()).toBe(0);
  });

  test('is read again where its titles change while they are read', async () => {
    const date = freshDay();
    await world.serve(date, textsOf(date, '1.25'));
    const early = await world.newPull(date);
    world.sandbox.setDayTexts(date, textsOf(date, '3.25'));
    // The ledger's row changes as by a merge of an older request.
    const overtake = world.meanwhile(() =>
      administrator.query('UPDATE conciliation.day SET changed_at = now() WHERE date = $1', [date]),
    );
    const outcome = await world.run(early, overtake);
    expect(outcome).toMatchObject({ kind: 'retry', error: { code: 'STAGING_UNAVAILABLE' } });
    expect(await rowsOf(date)).toEqual(contentOf('1.25'));
    expect(await countStaged()).toBe(0);
    expect(await readPull(early)).toMatchObject({ state: 'queued', attempts: 0 });
    expect(await world.run(early)).toMatchObject({ kind: 'done' });
    expect(await rowsOf(date)).toEqual(contentOf('3.25'));
  });
});

test('a fetch that began earlier and ends later leaves a newer one that waits for a person in its place', async () => {
  const date = freshDay();
  await world.serve(date, textsOf(date, '1.00'));
  world.sandbox.setDayTexts(date, textsOf(date, '1.50'));
  let held: Awaited<ReturnType<typeof world.pull>> | undefined;
  const slow = await world.run(
    await world.newPull(date),
    world.meanwhile(async () => {
      const texts = [...textsOf(date, '2.00', 5), '{"order":{"uid":"other"}}'];
      held = await world.serve(date, texts);
    }),
  );
  expect(held).toMatchObject({ state: 'held', rejected: 1 });
  expect(slow).toMatchObject({ kind: 'done', report: { state: 'superseded' } });
  expect(await rowsOf(date)).toEqual(contentOf('1.00'));
  expect(await dayOf(date)).toMatchObject([{ state: 'held', held_pull_id: held?.pullId }]);
  expect(await countStaged()).toBe(6);

  // Only a newer pull removes the held pull and its staged rows.
  await world.serve(date, textsOf(date, '3.00'));
  expect(await rowsOf(date)).toEqual(contentOf('3.00'));
  expect(await readPull(held?.pullId ?? 0n)).toMatchObject({ state: 'superseded' });
  expect(await countStaged()).toBe(0);
});

test('a process that is interrupted in the middle of an answer says so, ends and cancels its pull', async () => {
  const date = freshDay();
  await world.serve(date, textsOf(date, '1.00'));
  world.sandbox.setDayTexts(date, textsOf(date, '2.00', 25));
  world.sandbox.faults.add({ kind: 'stall', afterBytes: 5_000, date });
  const before = await dayOf(date);
  const child = startCommand(['pull', date], environmentOf(world));
  await backendThat(`state = 'active' AND query LIKE 'COPY conciliation.staged_title%'`);
  child.kill('SIGINT');
  const { exit, stdout, stderr } = await child.ended;
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
  expect(stderr).toMatch(/^error: .*interrupted\n$/);
  const { state } = await world.database.prisma.pull.findFirstOrThrow({ orderBy: { id: 'desc' } });
  expect(state).toBe('cancelled');
  expect(await rowsOf(date)).toEqual(contentOf('1.00'));
  expect(await dayOf(date)).toEqual(before);
  expect(await countStaged()).toBe(0);
});

/**
 * Reads repeatedly in a separate session until `work` has ended, and once after `work`, which may wait until what it has
 * done was read.
 */
async function readDuring(
  work: (wasRead: () => Promise<void>) => Promise<void>,
  read: (client: Client) => Promise<void>,
) {
  await withClient(world.databaseUrl, async (client) => {
    let [isOver, reads] = [false, 0];
    const wasRead = async () => {
      // The read that is under way may have begun before.
      const enough = reads + 2;
      while (reads < enough) await sleep(5);
    };
    const working = work(wasRead).finally(() => {
      isOver = true;
    });
    const reading = (async () => {
      for (; !isOver; reads += 1) await read(client);
    })().finally(() => {
      reads = Number.POSITIVE_INFINITY;
    });
    // A reader that fails must not leave the work running behind the test.
    await Promise.allSettled([working, reading]);
    await Promise.all([working, reading]);
    await read(client);
  });
}

interface Version {
  readonly first: number;
  readonly count: number;
  /** Of every tenth title; the others always have 1. */
  readonly fee: number;
}

/** Titles `first` to `first + count`, a thousand at a time, each worth its number and a cent. */
function* bodyOf(date: CivilDate, { first, count, fee }: Version) {
  const title = (index: number) =>
    `{"order":{"uid":"t${index}"},"acceptedDate":"${date}","originalValue":${index}.01,"billingFee":${index % 10 === 0 ? fee : 1}}`;
  yield Buffer.from(`{"titles":[${title(first)}`);
  for (let from = first + 1; from < first + count; from += 1000) {
    const length = Math.min(1000, first + count - from);
    const titles = Array.from({ length }, (_, index) => title(from + index));
    yield Buffer.from(`,${titles.join(',')}`);
  }
  yield Buffer.from(']}');
}

test('a restated day of 30,000 titles is seen completely, in its old or its new state', async () => {
  const date = freshDay();
  // Both the amounts and the titles themselves differ.
  const versions: readonly Version[] = [
    { first: 0, count: 30_000, fee: 1 },
    { first: 1000, count: 30_500, fee: 3 },
  ];
  const wholes = versions.map(({ first, count, fee }) => {
    const cents = (count * (2 * first + count - 1) * 100) / 2 + count;
    const fees = count + (count / 10) * (fee - 1);
    return `${count} titles of ${(cents / 100).toFixed(2)}, fees ${fees}, from t${first}: ${fee}`;
  });
  const seen = new Map<string, number>();

  await readDuring(
    async (wasRead) => {
      for (const version of [0, 1, 0].map((index) => versions[index])) {
        if (version === undefined) throw new Error('no such version');
        world.sandbox.faults.add({ kind: 'body', body: () => bodyOf(date, version), date });
        await world.pull(date, { withdrawalLimitPercent: 100 });
        await wasRead();
      }
    },
    async (client) => {
      await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const { rows: titles } = await client.query(
        `SELECT count(*)::int AS count, coalesce(sum(original_value), 0)::text AS value,
                coalesce(sum(billing_fee), 0)::text AS fee
         FROM conciliation.title WHERE accepted_date = $1 AND status = 'current'`,
        [date],
      );
      const { rows: first } = await client.query(
        `SELECT order_uid || ': ' || billing_fee AS title
         FROM conciliation.title WHERE accepted_date = $1 AND status = 'current'
         ORDER BY original_value LIMIT 1`,
        [date],
      );
      const { rows: days } = await client.query(
        `SELECT title_count AS count, original_value_sum::text AS value, billing_fee_sum::text AS fee
         FROM conciliation.day WHERE date = $1`,
        [date],
      );
      await client.query('COMMIT');
      const [{ count, value, fee }] = titles;
      // The ledger's row says the same as the titles in the same snapshot.
      expect(days).toEqual(count === 0 ? [] : titles);
      if (count === 0) return;
      const whole = `${count} titles of ${value}, fees ${fee}, from ${first[0]?.title}`;
      seen.set(whole, (seen.get(whole) ?? 0) + 1);
    },
  );
  expect([...seen.keys()]).toEqual(wholes);
});
