import { expect } from 'vitest';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import { findAlterations } from '../support/days.ts';
import type { PullWorld } from '../support/pull-world.ts';
import { cents, dayOf, type Model } from './day-model.ts';

interface TitleRow {
  readonly id: string;
  readonly date: CivilDate;
  readonly status: string;
  readonly order_uid: string;
  readonly original_value: string;
  readonly platform_discounted_value: string;
  readonly anticipated_due_date: string;
  readonly first_pull_id: string;
  /** Of a row of the feed. */
  readonly change_seq: string;
}

function contentOf(row: TitleRow): string {
  const { order_uid, original_value, platform_discounted_value, anticipated_due_date } = row;
  const discount = cents(platform_discounted_value);
  return [order_uid, cents(original_value), anticipated_due_date, discount].join('|');
}

const sumOf = (contents: readonly string[], field: number) =>
  String(contents.reduce((sum, content) => sum + BigInt(content.split('|')[field] ?? 0), 0n));

const current = (rows: readonly TitleRow[]) =>
  rows
    .filter(({ status }) => status === 'current')
    .map(contentOf)
    .sort();

/** An ERP that reads `title_feed`, as the data dictionary says. */
export class FeedConsumer {
  readonly #world: PullWorld;
  readonly #titles = new Map<string, TitleRow>();
  #last: bigint;

  private constructor(world: PullWorld, last: bigint) {
    this.#world = world;
    this.#last = last;
  }

  /** A consumer that has read the whole feed. */
  static async begin(world: PullWorld): Promise<FeedConsumer> {
    const [row] = await world.prisma.$queryRaw<[{ last: bigint }]>`
      SELECT coalesce(max(change_seq), 0) AS last FROM conciliation.title_feed`;
    return new FeedConsumer(world, row.last);
  }

  get last(): bigint {
    return this.#last;
  }

  /** Returns how many changes came. */
  async read(): Promise<number> {
    return this.take((await readTables(this.#world, null, this)).feed);
  }

  /** Rows of the feed behind `last`, in its order. Returns how many there are. */
  take(rows: readonly TitleRow[]): number {
    for (const row of rows) {
      this.#titles.set(row.id, row);
      this.#last = BigInt(row.change_seq);
    }
    return rows.length;
  }

  currentOf(date: CivilDate): string[] {
    return current([...this.#titles.values()].filter((row) => row.date === date));
  }
}

interface Tables {
  readonly days: readonly Record<string, unknown>[];
  readonly titles: readonly TitleRow[];
  readonly feed: readonly TitleRow[];
  readonly checkpoint: CivilDate | null;
}

/** The columns of a `TitleRow`, which in JSON are text: neither a bigint nor a numeric is a number. */
const TITLE_ROW = `
  id::text, accepted_date::text AS date, status, order_uid, original_value::text,
  platform_discounted_value::text, anticipated_due_date::text`;

/** In one statement, since there are hundreds of thousands of them in a long run. */
const TABLES = `
  SELECT
    (SELECT coalesce(json_agg(d ORDER BY d.date), '[]') FROM (
       SELECT date::text AS date, state, title_count AS titles, original_value_sum::text AS value,
              platform_discounted_value_sum::text AS discount, held_pull_id::text AS "heldPullId",
              rejected_count AS rejects, signed_off_at IS NOT NULL AS "isSignedOff",
              restated_after_sign_off AS "isRestated"
       FROM conciliation.day WHERE date BETWEEN $1::date AND $2::date) AS d) AS days,
    (SELECT coalesce(json_agg(t), '[]') FROM (
       SELECT ${TITLE_ROW}, first_pull_id::text, '0' AS change_seq
       FROM conciliation.title WHERE accepted_date BETWEEN $1::date AND $2::date) AS t) AS titles,
    (SELECT coalesce(json_agg(f), '[]') FROM (
       SELECT ${TITLE_ROW}, '0' AS first_pull_id, change_seq::text
       FROM conciliation.title_feed WHERE change_seq > $3 ORDER BY title_feed.change_seq) AS f) AS feed,
    (SELECT last_reconciled_date::text FROM conciliation.checkpoint) AS checkpoint`;

/** @param dates null: only what the feed has is of interest */
async function readTables(
  world: PullWorld,
  dates: readonly CivilDate[] | null,
  consumer: FeedConsumer,
): Promise<Tables> {
  const { rows } = await world.database.pool.query<Tables>({
    name: 'model-tables',
    text: TABLES,
    values: [dates?.[0], dates?.at(-1), consumer.last],
  });
  const [tables] = rows;
  if (tables === undefined) throw new Error('no row');
  return tables;
}

/** The contents of a date's current titles, sorted. */
export async function readContents(
  world: PullWorld,
  date: CivilDate,
  consumer: FeedConsumer,
): Promise<string[]> {
  return current((await readTables(world, [date], consumer)).titles);
}

/** Everything that the model says of the tables, held against them. */
export async function expectTables(
  world: PullWorld,
  model: Model,
  consumer: FeedConsumer,
): Promise<void> {
  const dates = [...model.days.keys()].sort();
  const { days, titles, feed, checkpoint } = await readTables(world, dates, consumer);
  consumer.take(feed);
  const rows = days.map(({ value, discount, ...day }) => ({
    ...day,
    sums: [String(value), String(discount)].map(cents),
  }));
  expect(rows).toEqual(
    dates.flatMap((date) => {
      const day = dayOf(model, date);
      if (!day.isKnown) return [];
      return {
        date,
        state: day.state,
        titles: day.contents.length,
        sums: [1, 3].map((field) => sumOf(day.contents, field)),
        heldPullId: day.held?.pullId.toString() ?? null,
        rejects: day.reject === null ? 0 : 1,
        isSignedOff: day.seal !== null,
        isRestated: day.seal !== null && day.seal !== day.contents.join(),
      };
    }),
  );
  for (const date of dates) {
    const { contents } = dayOf(model, date);
    expect(current(titles.filter((row) => row.date === date))).toEqual(contents);
    expect(consumer.currentOf(date)).toEqual(contents);
  }
  expect(checkpoint).toBe(model.lastReconciledDate);
}

/** Every state that the model remembers, folded back from the present rows. */
export async function expectHistory(
  world: PullWorld,
  model: Model,
  consumer: FeedConsumer,
): Promise<void> {
  const dates = [...model.days.keys()].sort();
  const { titles } = await readTables(world, dates, consumer);
  const revisions = await world.prisma.$queryRaw<
    { titleId: bigint; pullId: bigint; before: Record<string, string> }[]
  >`
    SELECT title_id AS "titleId", pull_id AS "pullId",
           (SELECT jsonb_object_agg(key, value #>> '{}') FROM jsonb_each(before)) AS before
    FROM conciliation.title_revision JOIN conciliation.title ON title.id = title_id
    WHERE accepted_date BETWEEN ${dates[0]}::date AND ${dates.at(-1)}::date
    ORDER BY title_id, revision DESC`;
  for (const date of dates) {
    const { history, isKnown } = dayOf(model, date);
    if (!isKnown) continue;
    // A pull that was released comes after those that it waited for.
    const order = new Map(history.map(({ pullId }, index) => [pullId, index]));
    for (const [index, { contents }] of history.entries()) {
      const isLater = (pullId: bigint) => (order.get(pullId) ?? -1) > index;
      const then = titles
        .filter((row) => row.date === date && !isLater(BigInt(row.first_pull_id)))
        .map((row) =>
          revisions
            .filter(({ titleId, pullId }) => String(titleId) === row.id && isLater(pullId))
            .reduce<TitleRow>((state, { before }) => Object.assign(state, before), { ...row }),
        );
      expect(current(then)).toEqual(contents);
    }
    if (history.length === 0) continue;
    // What follows from something else is what it has to be, wherever the history stands.
    expect(await findAlterations(world.database, date)).toEqual([]);
  }
}
