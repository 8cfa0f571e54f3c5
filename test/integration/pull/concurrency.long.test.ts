/** Pulls beside each other, and beside the ERP and finance, who read all day. */
import { describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { pullToEnd } from '../../../src/cli/pulls.ts';
import { environmentOf, startCommand } from '../../support/child-command.ts';
import { openAnother } from '../../support/database.ts';
import { clientOfFile, freshDays, worldOfFile } from '../../support/pull-world.ts';
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
  const { rows } = await administrator.query<{ row: string }>(`
    SELECT order_uid || ' ' || platform_discounted_value
    || CASE status WHEN 'current' THEN '' ELSE ' ' || status END AS row
    FROM conciliation.title WHERE accepted_date = '${date}'`);
  return rows.map(({ row }) => row).sort();
}

const dayOf = (date: CivilDate) =>
  world.prisma.$queryRaw<object[]>`SELECT * FROM conciliation.day WHERE date = ${date}::date`;

/** Staged rows of all attempts, those included that a pull holds for a person. */
async function countStaged(): Promise<number> {
  const { rows } = await administrator.query<{ staged: number }>(`
    SELECT ((SELECT count(*) FROM conciliation.staged_title)
          + (SELECT count(*) FROM conciliation.staged_reject)
          + (SELECT count(*) FROM conciliation.staged_base)
          + (SELECT count(*) FROM conciliation.staged_missing)
          + (SELECT count(*) FROM conciliation.staged_change))::int AS staged`);
  return rows[0]?.staged ?? -1;
}

const readPull = (id: bigint) => world.prisma.pull.findUniqueOrThrow({ where: { id } });
const endless = () => new AbortController().signal;

/** Waits for a backend that does what `condition` (SQL on `pg_stat_activity`) says. */
const backendThat = (condition: string) =>
  eventually(async () => {
    // A transaction sees the sessions as they were when it first looked.
    await administrator.query('SELECT pg_stat_clear_snapshot()');
    const { rowCount } = await administrator.query(`
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`);
    expect(rowCount).not.toBe(0);
  });

/** What a reader can see of a date. */
async function seenOf(date: CivilDate) {
  const { rows: feed } = await administrator.query(`
    SELECT change_kind, change_seq FROM conciliation.title_feed WHERE accepted_date = '${date}' ORDER BY change_seq`);
  return { titles: await rowsOf(date), day: await dayOf(date), feed };
}

// The closing phase is the last statement of the merge: test/integration/pull/first-response.test.ts.
test('no session sees a change of a pull that waits for the closing phase, and each sees all of them afterwards', async () => {
  const date = freshDay();
  const restated = textsOf(date, '2.25', 21).slice(1);
  for (const [texts, report] of [
    [textsOf(date, '1.25'), { inserted: 20 }],
    [restated, { inserted: 1, changed: 19, withdrawn: 1 }],
  ] as const) {
    const before = await seenOf(date);
    world.sandbox.setDayTexts(date, texts);
    const id = await world.newPull(date);
    await administrator.query(
      "BEGIN; SELECT FROM conciliation.program_lock WHERE name = 'closing' FOR UPDATE",
    );
    const ending = pullToEnd(world.parts, id, endless(), () => undefined);
    await backendThat(`wait_event_type = 'Lock'`);
    expect([await seenOf(date), (await readPull(id)).state]).toEqual([before, 'running']);
    await administrator.query('ROLLBACK');
    expect(await ending).toMatchObject({ kind: 'done', report: { state: 'merged', ...report } });
  }
  const { titles, day, feed } = await seenOf(date);
  const current = restated.map((_, index) => `t${index + 1} 2.25`);
  expect(titles).toEqual(['t0 1.25 withdrawn', ...current].sort());
  expect(day).toMatchObject([{ title_count: 20, withdrawn_count: 1 }]);
  expect(feed).toHaveLength(41);
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
    const { rows } = await administrator.query(`
      SELECT count(*)::int AS revisions, max(revision) AS latest FROM conciliation.title_revision
      JOIN conciliation.title ON title.id = title_id WHERE accepted_date = '${date}'`);
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
      administrator.query(`UPDATE conciliation.day SET changed_at = now() WHERE date = '${date}'`),
    );
    const outcome = await world.run(early, overtake);
    expect(outcome).toMatchObject({ kind: 'retry', error: { code: 'STAGING_UNAVAILABLE' } });
    expect(await rowsOf(date)).toEqual(contentOf('1.25'));
    expect(await countStaged()).toBe(0);
    expect(await readPull(early)).toMatchObject({ state: 'queued', attempts: 1 });
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
  // A slow machine shows the progress as well.
  expect(stderr).toMatch(/(^|\n)error: .*interrupted\n$/);
  const { state } = await world.prisma.pull.findFirstOrThrow({ orderBy: { id: 'desc' } });
  expect(state).toBe('cancelled');
  expect(await rowsOf(date)).toEqual(contentOf('1.00'));
  expect(await dayOf(date)).toEqual(before);
  expect(await countStaged()).toBe(0);
});
