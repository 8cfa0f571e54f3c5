/** Dates without titles, whose responses go straight into `title` while they are read. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TransactionSession } from '../../../src/database/database.ts';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { type Attempt, createPull, startAttempt } from '../../../src/ledger/pull-ledger.sql.ts';
import { createPlatformClient } from '../../../src/platform/conciliation-client.ts';
import { fixedToken } from '../../../src/platform/token.ts';
import type { FetchedResponse } from '../../../src/pull/copy-response.ts';
import { readKnownDay } from '../../../src/pull/known-day.sql.ts';
import { loadNewDate } from '../../../src/pull/load-new-date.sql.ts';
import type { PullParts } from '../../../src/pull/pull-parts.ts';
import { runPull } from '../../../src/pull/run-pull.ts';
import { createStoppedLoadWatch } from '../../../src/pull/stopped-loads.sql.ts';
import { mixedTexts, outcomeOf as readOutcome } from '../../support/day-outcome.ts';
import { type GatedPlatform, openGatedPlatform } from '../../support/gated-platform.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
let gate: GatedPlatform;
/** Asks the gated platform instead of the sandbox. */
let gated: Partial<PullParts> & Pick<PullParts, 'platform'>;
let nextDay = DAY;
const freshDay = () => {
  nextDay = daysFrom(1, nextDay);
  return nextDay;
};

beforeAll(async () => {
  world = await openPullWorld();
  gate = await openGatedPlatform();
  gated = {
    platform: createPlatformClient({
      baseUrl: gate.baseUrl,
      token: fixedToken('token'),
      concurrency: 4,
      timeoutMs: 30_000,
      userAgent: 'test',
    }),
  };
});
afterAll(async () => {
  await gated.platform.close();
  await gate.close();
  await world.close();
});

const newPull = (date: CivilDate) =>
  createPull(world.database, { origin: 'manual', date, requestedBy: 'test' });

/** A response whose header has arrived, with these bytes. */
const fetched = async (
  attempt: Attempt,
  chunks: AsyncIterable<Uint8Array>,
): Promise<FetchedResponse> => ({
  attempt,
  response: { httpStatus: 200, chunks, bytesReceived: () => 0 },
  known: await readKnownDay(world.database.pool, attempt),
  dateWasClosed: false,
});
const load = async (attempt: Attempt, chunks: AsyncIterable<Uint8Array>) =>
  loadNewDate(world.parts, await fetched(attempt, chunks), new AbortController().signal);

const outcomeOf = (date: CivilDate) => readOutcome(world.database.pool, date);

async function withoutStaging<T>(work: () => Promise<T>): Promise<T> {
  await world.database.pool.query(`
    CREATE FUNCTION conciliation.refuse_staging() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'a title was staged'; END $$;
    CREATE TRIGGER refuse_staging BEFORE INSERT ON conciliation.staged_title
      FOR EACH ROW EXECUTE FUNCTION conciliation.refuse_staging()`);
  try {
    return await work();
  } finally {
    await world.database.pool.query('DROP FUNCTION conciliation.refuse_staging() CASCADE');
  }
}

test('loaded or staged, a response leaves the same behind', async () => {
  const [loaded, staged] = [freshDay(), freshDay()];
  world.sandbox.setDayTexts(loaded, mixedTexts(loaded));
  world.sandbox.setDayTexts(staged, mixedTexts(staged));
  const reports = [
    await withoutStaging(() => world.pull(loaded)),
    await world.pull(staged, { alwaysStage: true }),
  ];
  expect(reports.map(({ state, titles, rejected }) => ({ state, titles, rejected }))).toEqual(
    reports.map(() => ({ state: 'merged', titles: 56, rejected: 1 })),
  );
  const [first, second] = reports.map(({ pullId, date, ...rest }) => rest);
  expect(first).toEqual(second);
  const outcome = await outcomeOf(loaded);
  expect(outcome).toEqual(await outcomeOf(staged));
  expect(outcome.titles).toHaveLength(55);
  // Loaded once, it is like any other: pulled again, nothing of it changes.
  expect(await world.pull(loaded)).toMatchObject({ state: 'unchanged' });
});

test('a response of many megabytes is loaded as it arrives, with one number for each title', async () => {
  const date = freshDay();
  const count = 12_000;
  world.sandbox.setDayTexts(
    date,
    Array.from({ length: count }, (_, index) => titleText({ date, uid: `t${index % 9_000}` })),
  );
  await withoutStaging(() => world.pull(date));
  const { rows } = await world.database.pool.query(
    `SELECT count(DISTINCT id)::int AS titles, count(DISTINCT change_seq)::int AS numbers,
            count(*)::int AS changes, count(*) FILTER (WHERE occurrence = 2)::int AS repeated
     FROM conciliation.title_feed WHERE accepted_date = $1`,
    [date],
  );
  expect(rows).toEqual([{ titles: count, numbers: count, changes: count, repeated: 3_000 }]);
  expect(await world.pull(date)).toMatchObject({ state: 'unchanged' });
});

describe('a load leaves no row', () => {
  const emptied = { titles: [], occurrences: [], rejects: [] };

  test('where the document breaks in its middle', async () => {
    const date = freshDay();
    const texts = Array.from({ length: 8_000 }, (_, index) =>
      titleText({ date, uid: `t${index}` }),
    );
    world.sandbox.setDayTexts(date, [...texts, '{]', ...texts]);
    const outcome = await world.attempt(date);
    expect(outcome).toMatchObject({ kind: 'retry', error: { code: 'PLATFORM_CONTRACT' } });
    expect(await outcomeOf(date)).toMatchObject(emptied);
    world.sandbox.setDayTexts(date, texts);
    expect(await world.pull(date)).toMatchObject({ state: 'merged', titles: 8_000 });
  });

  test('where PostgreSQL took another number of titles', async () => {
    const date = freshDay();
    world.sandbox.setDayTexts(date, mixedTexts(date));
    await world.database.pool.query(`
      CREATE FUNCTION conciliation.lose_a_row() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.order_uid = 't7' THEN RETURN NULL; END IF; RETURN NEW; END $$;
      CREATE TRIGGER lose_a_row BEFORE INSERT ON conciliation.title
        FOR EACH ROW EXECUTE FUNCTION conciliation.lose_a_row()`);
    const outcome = await world.attempt(date);
    await world.database.pool.query('DROP FUNCTION conciliation.lose_a_row() CASCADE');
    expect(outcome).toMatchObject({ kind: 'retry', error: { code: 'STAGING_UNAVAILABLE' } });
    expect(await outcomeOf(date)).toMatchObject(emptied);
  });

  test('where the pull was taken over meanwhile', async () => {
    const date = freshDay();
    world.sandbox.setDayTexts(date, [titleText({ date })]);
    const pullId = await newPull(date);
    const outcome = runPull(
      {
        ...world.parts,
        platform: {
          ...world.platform,
          async fetchTitles(window, signal) {
            const response = await world.platform.fetchTitles(window, signal);
            await world.database.pool.query(
              `UPDATE conciliation.pull SET fence = nextval('conciliation.pull_fence_seq')
               WHERE id = $1`,
              [pullId],
            );
            return response;
          },
        },
      },
      pullId,
      new AbortController().signal,
    );
    await expect(outcome).rejects.toThrow(`pull ${pullId} was taken over`);
    expect(await outcomeOf(date)).toMatchObject(emptied);
  });
});

test('a platform that pauses in the middle of an answer keeps no other date waiting', async () => {
  const [slow, other] = [freshDay(), freshDay()];
  gate.next(Array.from({ length: 30 }, (_, index) => titleText({ date: slow, uid: `t${index}` })));
  const loading = world.pull(slow, gated);
  const answer = await gate.begun();
  world.sandbox.setDayTexts(other, [titleText({ date: other })]);
  expect(await world.pull(other)).toMatchObject({ state: 'merged' });
  expect(await outcomeOf(slow)).toMatchObject({ titles: [], day: [] });
  answer.release();
  expect(await loading).toMatchObject({ state: 'merged', inserted: 30 });
});

test('a newer fetch of a date that is being loaded is merged after the load', async () => {
  const date = freshDay();
  gate.next(Array.from({ length: 10 }, (_, index) => titleText({ date, uid: `t${index}` })));
  const loading = world.pull(date, gated);
  const answer = await gate.begun();
  // The load holds the date.
  await vi.waitFor(async () => {
    const { rowCount } = await world.database.pool.query(
      'SELECT FROM pg_stat_progress_copy WHERE datname = current_database()',
    );
    expect(rowCount).toBe(1);
  }, PATIENCE_MS);
  world.sandbox.setDayTexts(
    date,
    Array.from({ length: 9 }, (_, index) => titleText({ date, uid: `t${index}` })),
  );
  const newer = world.pull(date);
  await vi.waitFor(async () => {
    const { rowCount } = await world.database.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    expect(rowCount).toBe(1);
  }, PATIENCE_MS);
  answer.release();
  expect(await loading).toMatchObject({ state: 'merged', inserted: 10 });
  expect(await newer).toMatchObject({ state: 'merged', withdrawn: 1, unchanged: 9 });
});

test('a date that got titles while the answer was on its way is compared with them', async () => {
  const date = freshDay();
  world.sandbox.setDayTexts(date, [titleText({ date, uid: 'a' }), titleText({ date, uid: 'b' })]);
  let isOvertaken = false;
  const report = await world.pull(date, {
    platform: {
      ...world.platform,
      async fetchTitles(window, signal) {
        const response = await world.platform.fetchTitles(window, signal);
        if (!isOvertaken) {
          isOvertaken = true;
          // An older request, merged last: the newer one has still everything to say.
          await world.pull(date);
          await world.database.pool.query(
            'ALTER TABLE conciliation.pull DISABLE TRIGGER pull_kept',
          );
          await world.database.pool.query(
            `UPDATE conciliation.pull SET fence = 0 WHERE date = $1 AND state = 'merged'`,
            [date],
          );
          await world.database.pool.query('ALTER TABLE conciliation.pull ENABLE TRIGGER pull_kept');
        }
        return response;
      },
    },
  });
  expect(report).toMatchObject({ state: 'unchanged', titles: 2, inserted: 0 });
});

test('a row that something else inserted during the load fails the merge, and is withdrawn by the next attempt', async () => {
  const date = freshDay();
  gate.next(['a', 'b', 'c'].map((uid) => titleText({ date, uid })));
  const pullId = await newPull(date);
  const signal = new AbortController().signal;
  const parts = { ...world.parts, ...gated };
  const loading = runPull(parts, pullId, signal);
  const answer = await gate.begun();
  await vi.waitFor(async () => {
    const { rowCount } = await world.database.pool.query(
      'SELECT FROM pg_stat_progress_copy WHERE datname = current_database()',
    );
    expect(rowCount).toBe(1);
  }, PATIENCE_MS);
  await world.database.pool.query(
    `INSERT INTO conciliation.title (order_uid, occurrence, accepted_date, original_value, identity_hash, content_hash,
       raw_hash, first_pull_id, last_change_pull_id)
     VALUES ('false', 1, $1, 123456, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), $2, $2)`,
    [date, pullId],
  );
  answer.release();
  expect(await loading).toMatchObject({
    kind: 'retry',
    error: { message: expect.stringContaining('4 changes instead of 3') },
  });
  world.sandbox.setDayTexts(
    date,
    ['a', 'b', 'c'].map((uid) => titleText({ date, uid })),
  );
  await world.database.pool.query(
    'UPDATE conciliation.pull SET next_attempt_at = NULL WHERE id = $1',
    [pullId],
  );
  const again = await runPull({ ...world.parts, withdrawalLimitPercent: 100 }, pullId, signal);
  expect(again).toMatchObject({ kind: 'done', report: { inserted: 3, withdrawn: 1 } });
});

test('a load that fails leaves no line of its date in the ledger', async () => {
  const { database } = world;
  const date = freshDay();
  const attempt = await startAttempt(database, await newPull(date));
  const refused = new Error('not today');
  // biome-ignore lint/correctness/useYield: the transfer fails before its first byte
  async function* chunks(): AsyncGenerator<Uint8Array> {
    throw refused;
  }
  await expect(load(attempt, chunks())).rejects.toBe(refused);
  expect(await outcomeOf(date)).toMatchObject({ day: [] });
});

test('a load whose process stopped in the middle is ended, and with it its hold on its date', async () => {
  const { database } = world;
  const date = freshDay();
  const stopStaging = async (connection: ClientBase) => {
    const copy = connection.query(
      copyFrom('COPY conciliation.staged_title (order_uid) FROM STDIN (FORMAT csv)'),
    );
    // Half a row.
    copy.write('begun');
    await once(copy, 'error').then(([error]) => Promise.reject(error));
    throw new Error('not reached');
  };
  const endAll = () =>
    database.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND starts_with(query, 'COPY conciliation.')",
    );
  const copying = async (table: string) => {
    const { rows } = await database.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database()
         AND wait_event = 'ClientRead' AND starts_with(query, $1)`,
      [`COPY conciliation.${table} (`],
    );
    return rows.length;
  };
  const staging = await database.pool.connect();
  const staged = stopStaging(staging).catch((error: Error) => error.message);
  const attempt = await startAttempt(database, await newPull(date));
  let goOn = () => {};
  const stopped = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`{"titles":[${titleText({ date })},`);
    await stopped;
  }
  const failure = load(attempt, chunks()).catch((error: unknown) => error);
  const seen = (table: string, count: number) =>
    vi.waitFor(async () => expect(await copying(table)).toBe(count), PATIENCE_MS);
  try {
    await seen('title', 1);
    await seen('staged_title', 1);
    const patient = createStoppedLoadWatch(database, 60_000);
    const impatient = createStoppedLoadWatch(database, 0);
    expect([await patient(), await patient()]).toEqual([0, 0]);
    expect(await impatient()).toBe(0);
    await sleep(10);
    expect(await impatient()).toBe(1);
    await seen('title', 0);
    // Staging blocks no other transaction, and takes as long as the response.
    expect(await copying('staged_title')).toBe(1);
  } finally {
    goOn();
    await endAll();
    await staged;
    staging.release(true);
  }
  expect(await failure).toMatchObject({ code: 'STAGING_UNAVAILABLE' });
  expect(await staged).toContain('terminat');
  world.sandbox.setDayTexts(date, [titleText({ date })]);
  expect(await world.pull(date)).toMatchObject({ state: 'merged' });
});

test('a response that has only rejects for long is staged, so that its session is not ended', async () => {
  const date = freshDay();
  const reject = '{"order":{"uid":"broken"}}';
  world.sandbox.setDayTexts(date, [titleText({ date }), reject]);
  const now = performance.now.bind(performance);
  let lateMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + lateMs);
  let requests = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"titles":[');
    for (let count = 0; count < 100; count += 1) {
      lateMs += 1_000;
      yield Buffer.from(`${reject},`);
    }
    throw new Error('the response was read on');
  }
  try {
    const report = await world.pull(date, {
      platform: {
        ...world.platform,
        fetchTitles(window, signal) {
          requests += 1;
          if (requests > 1) return world.platform.fetchTitles(window, signal);
          const slow = { httpStatus: 200, bytesReceived: () => 0 };
          return Promise.resolve({ ...slow, chunks: chunks() });
        },
      },
    });
    expect(report).toMatchObject({ state: 'merged', inserted: 1, rejected: 1 });
  } finally {
    clock.mockRestore();
  }
  expect(requests).toBe(2);
  expect(lateMs).toBeGreaterThanOrEqual(29_000);
  expect(lateMs).toBeLessThanOrEqual(31_000);
});

test('a date without titles whose response is late is requested once', async () => {
  const date = freshDay();
  const now = performance.now.bind(performance);
  let lateMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + lateMs);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    lateMs = 50_000;
    yield Buffer.from('{"titles":[]}');
  }
  const fetchTitles = vi.fn(() =>
    Promise.resolve({
      httpStatus: 200,
      bytesReceived: () => 0,
      chunks: chunks(),
    }),
  );
  try {
    const report = await world.pull(date, { platform: { ...world.platform, fetchTitles } });
    expect(report).toMatchObject({ state: 'unchanged', titles: 0 });
  } finally {
    clock.mockRestore();
  }
  expect(fetchTitles).toHaveBeenCalledTimes(1);
});

test('the connection of a transaction is distinguished from all others', async () => {
  const { database } = world;
  await database.prisma.$transaction(async (tx) => {
    const [session] = await tx.$queryRaw<[TransactionSession]>`
      SELECT pg_backend_pid() AS "serverPid", pg_current_xact_id()::text AS "transactionId"`;
    const connection = await database.connectionOf(session);
    const { rows } = (await connection?.query('SELECT pg_backend_pid() AS pid')) ?? { rows: [] };
    expect(await tx.$queryRaw`SELECT pg_backend_pid() AS pid`).toEqual(rows);
  });
});
