/** Responses that wait for one another's merge and go together then. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { dayWindow } from '../../../src/domain/pull-plan.ts';
import { JoinedLoads } from '../../../src/pull/joined-loads.ts';
import type { PullParts } from '../../../src/pull/pull-parts.ts';
import { runPull } from '../../../src/pull/run-pull.ts';
import { mixedTexts, outcomeOf } from '../../support/day-outcome.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

/** Of `merge-apply.ts`. */
const CHANGE_FEED_LOCK = 7_201_604_311;

const PATIENCE = { timeout: 30_000, interval: 5 };

/** Tells how many loads it was given. */
class CountedLoads extends JoinedLoads {
  count = 0;
  override load(...args: Parameters<JoinedLoads['load']>) {
    this.count += 1;
    return super.load(...args);
  }
}

let world: PullWorld;
let holder: pg.Client;
let joinedLoads: CountedLoads;
let nextDay = DAY;
const freshDay = () => {
  nextDay = daysFrom(1, nextDay);
  return nextDay;
};
const freshDays = (count: number) => Array.from({ length: count }, freshDay);

beforeAll(async () => {
  world = await openPullWorld();
  holder = new pg.Client({ connectionString: world.databaseUrl });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await world.close();
});
beforeEach(() => {
  joinedLoads = new CountedLoads();
});

interface Pulled {
  readonly date: CivilDate;
  /** A new one unless it is given. */
  readonly pullId?: bigint;
  readonly parts?: Partial<PullParts>;
}

/**
 * Pulls dates at once, while somebody else has the change feed: the first waits for it, and the others
 * for the first.
 */
async function pullAtOnce(first: CivilDate, others: readonly Pulled[]) {
  const start = async ({ date, pullId, parts }: Pulled) => {
    if (pullId === undefined) return world.attempt(dayWindow(date), { joinedLoads, ...parts });
    const signal = new AbortController().signal;
    return {
      ...(await runPull({ ...world.parts, joinedLoads, ...parts }, pullId, signal)),
      pullId,
    };
  };
  const before = joinedLoads.count;
  const untilWaiting = (loads: number) =>
    vi.waitFor(() => expect(joinedLoads.count - before).toBe(loads), PATIENCE);
  const attempts: ReturnType<typeof start>[] = [];
  await holder.query('SELECT pg_advisory_lock($1)', [CHANGE_FEED_LOCK]);
  try {
    attempts.push(start({ date: first }));
    await untilWaiting(1);
    attempts.push(...others.map(start));
    await untilWaiting(1 + others.length);
  } finally {
    await holder.query('SELECT pg_advisory_unlock($1)', [CHANGE_FEED_LOCK]);
  }
  return (await Promise.allSettled(attempts)).slice(1);
}

/** Dates that were merged in one transaction have one time between them. */
async function transactionsOf(dates: readonly CivilDate[]): Promise<number> {
  const { rows } = await world.database.pool.query(
    'SELECT count(DISTINCT verified_at)::int AS count FROM conciliation.day WHERE date = ANY($1)',
    [dates],
  );
  return rows[0]?.count;
}

/** What became of the pull of a date. */
async function pullsOf(date: CivilDate) {
  const { rows } = await world.database.pool.query(
    `SELECT to_jsonb(pull) - '{id,window_from,window_to,created_at,fence,fetch_started_at,finished_at,response_bytes}'::text[] AS pull,
            to_jsonb(line) - '{pull_id,date}'::text[] AS line,
            (SELECT count(*)::int FROM conciliation.title
             WHERE accepted_date = date AND first_pull_id = pull.id) AS titles
     FROM conciliation.pull pull JOIN conciliation.pull_date line ON pull_id = pull.id
     WHERE date = $1 ORDER BY pull.id LIMIT 1`,
    [date],
  );
  return rows;
}

async function checkpoint() {
  const { rows } = await world.database.pool.query(
    `SELECT last_reconciled_date::text AS date, window_from::text AS "movedBy"
     FROM conciliation.checkpoint JOIN conciliation.pull ON pull.id = pull_id`,
  );
  return rows[0];
}

async function bringCheckpointTo(date: CivilDate) {
  await world.database.pool.query(
    'UPDATE conciliation.checkpoint SET last_reconciled_date = $1, pull_id = NULL',
    [date],
  );
}

/** The platform, where something happens in the database while it answers. */
function meanwhile(statement: string, date: CivilDate): PullParts['platform'] {
  return {
    ...world.platform,
    async fetchTitles(window, signal) {
      const response = await world.platform.fetchTitles(window, signal);
      await world.database.pool.query(statement, [date]);
      return response;
    },
  };
}

const serve = (date: CivilDate, texts: readonly string[] = [titleText({ date })]) =>
  world.sandbox.setDayTexts(date, texts);
const done = (report: object) => ({
  status: 'fulfilled',
  value: expect.objectContaining({ kind: 'done', report: expect.objectContaining(report) }),
});

describe('loads that wait for one another', () => {
  test('leave behind together what each leaves alone', async () => {
    const [first = DAY, ...together] = freshDays(4);
    const [empty, alone] = [freshDay(), freshDay()];
    serve(first);
    serve(empty, []);
    for (const date of [...together, alone]) serve(date, mixedTexts(date));
    const outcomes = await pullAtOnce(
      first,
      [...together, empty].reverse().map((date) => ({ date })),
    );
    const merged = { state: 'merged', titles: 56, rejected: 1 };
    expect(outcomes).toEqual([
      done({ state: 'unchanged', titles: 0 }),
      ...together.map(() => done(merged)),
    ]);
    expect(await transactionsOf([...together, empty])).toBe(1);
    expect(await transactionsOf([first, ...together])).toBe(2);

    expect(await world.pullDay(alone)).toMatchObject(merged);
    const expected = await outcomeOf(world.database.pool, alone);
    const pulls = await pullsOf(alone);
    for (const date of together) {
      expect(await outcomeOf(world.database.pool, date)).toEqual(expected);
      expect(await pullsOf(date)).toEqual(pulls);
      expect(await world.pullDay(date)).toMatchObject({ state: 'unchanged' });
    }
  });

  test('move the checkpoint together, in the name of the last date that is passed', async () => {
    const [first = DAY, one = DAY, two = DAY, missing = DAY, four = DAY] = freshDays(5);
    for (const date of [first, one, two, four]) serve(date);
    await bringCheckpointTo(daysFrom(-1, first));
    await pullAtOnce(
      first,
      [four, one, two].map((date) => ({ date })),
    );
    expect(await transactionsOf([one, two, four])).toBe(1);
    expect(await checkpoint()).toEqual({ date: two, movedBy: two });
    serve(missing);
    await world.pullDay(missing);
    expect(await checkpoint()).toEqual({ date: four, movedBy: missing });
  });

  test('are not put together where they are of one date', async () => {
    const [first = DAY, date = DAY] = freshDays(2);
    for (const served of [first, date]) serve(served);
    const outcomes = await pullAtOnce(first, [{ date }, { date }]);
    const states = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' && outcome.value.kind === 'done'
        ? outcome.value.report.state
        : outcome,
    );
    // Whichever was first; the one that asked first may be merged last, and is void then.
    expect([
      ['merged', 'unchanged'],
      ['merged', 'superseded'],
    ]).toContainEqual(states.sort());
    expect((await outcomeOf(world.database.pool, date)).titles).toHaveLength(1);
  });
});

/** Of a date, who is paid and on which account. */
type Payments = readonly { readonly party: 'P' | 'Q'; readonly account: string }[];

test('accounts are watched as if the dates were merged one after another', async () => {
  let run = 0;
  const served = (date: CivilDate, prefix: string, payments: Payments) =>
    serve(
      date,
      payments.map(({ party, account }, index) => {
        const title = JSON.parse(titleText({ date, uid: `t${index}` }));
        title.providerExternalId = `${prefix}${party}`;
        title.provider.bankAccount.account = account;
        title.financialAgent.identificationNumber = `${prefix}agent`;
        return JSON.stringify(title);
      }),
    );
  const told = async (prefix: string, [start]: readonly CivilDate[]) => {
    const { rows } = await world.database.pool.query(
      `SELECT party_key, account, last_accepted_date - $2::date AS day, NULL AS after
       FROM conciliation.party_account WHERE starts_with(party_key, $1)
       UNION ALL
       SELECT party_key, before ->> 'account', NULL, after ->> 'account'
       FROM conciliation.account_change
       JOIN conciliation.title ON title.id = title_id AND last_change_pull_id = pull_id
         AND account_change.accepted_date = title.accepted_date
         AND coalesce(nullif(btrim(provider_account), ''), '?') = after ->> 'account'
       WHERE starts_with(party_key, $1) ORDER BY 1, 2, 3, 4`,
      [prefix, start],
    );
    return rows.map((row) => ({ ...row, party_key: row.party_key.slice(prefix.length) }));
  };
  const payments = fc.array(
    fc.record({
      party: fc.constantFrom('P', 'Q'),
      account: fc.constantFrom('1', '2', ' 1', ''),
    }),
    { maxLength: 3 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(payments, payments, payments, payments),
      fc.nat({ max: 3 }),
      async (days, known) => {
        run += 1;
        const together = freshDays(4);
        const apart = freshDays(4);
        const [one, other] = [`${run}-together-`, `${run}-apart-`];
        for (const [index, day] of days.entries()) {
          served(together[index] ?? DAY, one, day);
          served(apart[index] ?? DAY, other, day);
        }
        const first = freshDay();
        serve(first, []);
        await world.pullDay(together[known]);
        await pullAtOnce(
          first,
          together.filter((_, index) => index !== known).map((date) => ({ date })),
        );
        await world.pullDay(apart[known]);
        for (const date of apart) if (date !== apart[known]) await world.pullDay(date);
        expect(await told(one, together)).toEqual(await told(other, apart));
      },
    ),
    { numRuns: 40, seed: 7 },
  );
});

test('a merge that does not end holds the others up for a while only', async () => {
  const [first = DAY, second = DAY] = freshDays(2);
  joinedLoads = new CountedLoads({ maxWaitMs: 100 });
  await holder.query('SELECT pg_advisory_lock($1)', [CHANGE_FEED_LOCK]);
  for (const date of [first, second]) serve(date);
  const attempts = [first, second].map((date) => world.attempt(dayWindow(date), { joinedLoads }));
  // Each waits in a transaction of its own.
  await vi.waitFor(async () => {
    const { rows } = await holder.query(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    expect(rows).toHaveLength(2);
  }, PATIENCE);
  await holder.query('SELECT pg_advisory_unlock($1)', [CHANGE_FEED_LOCK]);
  expect(await Promise.allSettled(attempts)).toEqual([
    done({ state: 'merged' }),
    done({ state: 'merged' }),
  ]);
});

describe('what goes wrong with one is nothing to the others', () => {
  const middle = 1;

  /** Three dates, merged together, of which that in the middle is as `parts` makes it. */
  async function withOneOf(
    spoil: (date: CivilDate) => Partial<PullParts> | Promise<Partial<PullParts>>,
  ) {
    const [first = DAY, ...dates] = freshDays(4);
    serve(first);
    for (const date of dates) serve(date, mixedTexts(date));
    const spoilt = dates[middle] ?? DAY;
    const parts = await spoil(spoilt);
    const outcomes = await pullAtOnce(
      first,
      dates.map((date) => (date === spoilt ? { date, parts } : { date })),
    );
    const others = dates.filter((date) => date !== spoilt);
    expect(outcomes.filter((_, index) => index !== middle)).toEqual(
      others.map(() => done({ state: 'merged', titles: 56 })),
    );
    expect(await transactionsOf(others)).toBe(1);
    return { spoilt, outcome: outcomes[middle] };
  }
  const titlesOf = async (date: CivilDate) =>
    (await outcomeOf(world.database.pool, date)).titles.length;

  test('a document that breaks in its middle', async () => {
    const { spoilt, outcome } = await withOneOf((date) => {
      serve(date, [...mixedTexts(date), '{]']);
      return {};
    });
    expect(outcome).toMatchObject({
      value: { kind: 'retry', error: { code: 'PLATFORM_CONTRACT' } },
    });
    expect(await titlesOf(spoilt)).toBe(0);
    serve(spoilt, mixedTexts(spoilt));
    expect(await world.pullDay(spoilt)).toMatchObject({ state: 'merged', titles: 56 });
  });

  test('a title that the database refuses', async () => {
    const { spoilt, outcome } = await withOneOf(async (date) => {
      await world.database.pool.query(
        `CREATE TABLE IF NOT EXISTS refused (date date);
         CREATE OR REPLACE FUNCTION refuse_title() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           IF NEW.order_uid = 'exact' AND NEW.accepted_date IN (SELECT date FROM refused) THEN
             RAISE EXCEPTION SQLSTATE '53400';
           END IF;
           RETURN NEW; END $$;
         CREATE TRIGGER refuse_title BEFORE INSERT ON conciliation.title
           FOR EACH ROW EXECUTE FUNCTION refuse_title()`,
      );
      await world.database.pool.query('INSERT INTO refused VALUES ($1)', [date]);
      return {};
    });
    await world.database.pool.query('DROP FUNCTION refuse_title() CASCADE; DROP TABLE refused');
    expect(outcome).toMatchObject({
      value: { kind: 'retry', error: { code: 'STAGING_UNAVAILABLE' } },
    });
    expect(await titlesOf(spoilt)).toBe(0);
    expect(await world.pullDay(spoilt)).toMatchObject({ state: 'merged', titles: 56 });
  });

  test('a pull that was taken over', async () => {
    const { spoilt, outcome } = await withOneOf((date) => ({
      platform: meanwhile(
        `UPDATE conciliation.pull SET fence = nextval('conciliation.pull_fence_seq')
         WHERE window_from = $1`,
        date,
      ),
    }));
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'STALE_FENCE' } });
    expect(await titlesOf(spoilt)).toBe(0);
  });

  test('a date that has titles after all', async () => {
    const { spoilt, outcome } = await withOneOf(async (date) => {
      await world.pullDay(date);
      // What the next pull is told when it begins.
      await world.database.pool.query(
        'UPDATE conciliation.day SET title_count = 0 WHERE date = $1',
        [date],
      );
      return {};
    });
    expect(outcome).toEqual(done({ state: 'unchanged', titles: 56 }));
    expect(await titlesOf(spoilt)).toBe(55);
  });
});

test('where a merge fails as a whole, all are fetched again, and each is merged alone', async () => {
  const [first = DAY, ...dates] = freshDays(4);
  const [, guilty = DAY] = dates;
  for (const date of [first, ...dates]) serve(date);
  await world.database.pool.query(
    `CREATE FUNCTION refuse_day() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NEW.date = '${guilty}' THEN RAISE EXCEPTION 'no such day'; END IF; RETURN NEW; END $$;
     CREATE TRIGGER refuse_day BEFORE INSERT ON conciliation.pull_date
       FOR EACH ROW EXECUTE FUNCTION refuse_day()`,
  );
  const failed = await pullAtOnce(
    first,
    dates.map((date) => ({ date })),
  );
  expect(failed).toMatchObject(
    dates.map(() => ({ value: { kind: 'retry', error: { code: 'STAGING_UNAVAILABLE' } } })),
  );
  for (const date of dates) {
    expect((await outcomeOf(world.database.pool, date)).titles).toEqual([]);
  }

  const other = freshDay();
  serve(other);
  const again = await pullAtOnce(
    other,
    failed.map((outcome, index) => ({
      date: dates[index] ?? DAY,
      pullId: outcome.status === 'fulfilled' ? outcome.value.pullId : 0n,
    })),
  );
  expect(again).toEqual(
    dates.map((date) =>
      date === guilty
        ? { status: 'rejected', reason: expect.objectContaining({ code: 'P0001' }) }
        : done({ state: 'merged' }),
    ),
  );
  await world.database.pool.query('DROP FUNCTION refuse_day() CASCADE');
  expect(await transactionsOf(dates.filter((date) => date !== guilty))).toBe(2);
});
