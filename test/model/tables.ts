import { expect } from 'vitest';
import type { CivilDate } from '../../src/domain/business-day.ts';
import type { PullWorld } from '../support/pull-world.ts';
import { dayOf, type Model } from './day-model.ts';

interface TitleRow {
  readonly id: bigint;
  readonly date: CivilDate;
  readonly status: string;
  readonly order_uid: string;
  readonly original_value: string;
  readonly platform_discounted_value: string;
  readonly anticipated_due_date: string;
  readonly first_pull_id: bigint;
  readonly change_seq: bigint;
}

const toCents = (amount: string) => {
  const [whole = '', fraction = ''] = amount.split('.');
  return String(BigInt(whole + fraction.padEnd(2, '0')));
};

function contentOf(row: TitleRow): string {
  const { order_uid, original_value, platform_discounted_value, anticipated_due_date } = row;
  return [
    order_uid,
    toCents(original_value),
    anticipated_due_date,
    toCents(platform_discounted_value),
  ].join('|');
}

const current = (rows: readonly TitleRow[]) =>
  rows
    .filter(({ status }) => status === 'current')
    .map(contentOf)
    .sort();

/** An ERP that reads `title_feed`, as the data dictionary says. */
export class FeedConsumer {
  readonly #world: PullWorld;
  readonly #titles = new Map<bigint, TitleRow>();
  #last: bigint;

  private constructor(world: PullWorld, last: bigint) {
    this.#world = world;
    this.#last = last;
  }

  /** One that has read whatever there is. */
  static async begin(world: PullWorld): Promise<FeedConsumer> {
    const [row] = await world.database.prisma.$queryRaw<[{ last: bigint }]>`
      SELECT coalesce(max(change_seq), 0) AS last FROM conciliation.title_feed`;
    return new FeedConsumer(world, row.last);
  }

  /** Returns how many changes came. */
  async read(): Promise<number> {
    const rows = await this.#world.database.prisma.$queryRaw<TitleRow[]>`
      SELECT id, accepted_date::text AS date, status, order_uid, original_value::text,
             platform_discounted_value::text, anticipated_due_date::text, 0::bigint AS first_pull_id,
             change_seq
      FROM conciliation.title_feed WHERE change_seq > ${this.#last} ORDER BY change_seq`;
    for (const row of rows) {
      this.#titles.set(row.id, row);
      this.#last = row.change_seq;
    }
    return rows.length;
  }

  currentOf(date: CivilDate): string[] {
    return current([...this.#titles.values()].filter((row) => row.date === date));
  }
}

/** Everything that the model says of the tables, held against them. */
export async function expectTables(
  world: PullWorld,
  model: Model,
  consumer: FeedConsumer,
): Promise<void> {
  const { prisma } = world.database;
  const dates = [...model.days.keys()].sort();
  const [from, to] = [dates[0], dates.at(-1)];
  const days = await prisma.$queryRaw<Record<string, unknown>[]>`
    SELECT date::text AS date, state, title_count AS titles, held_pull_id AS "heldPullId",
           rejected_count AS rejects, signed_off_at IS NOT NULL AS "isSignedOff",
           restated_after_sign_off AS "isRestated"
    FROM conciliation.day WHERE date BETWEEN ${from}::date AND ${to}::date ORDER BY date`;
  expect(days).toEqual(
    dates.flatMap((date) => {
      const day = dayOf(model, date);
      if (!day.isKnown) return [];
      return {
        date,
        state: day.state,
        titles: day.contents.length,
        heldPullId: day.held?.pullId ?? null,
        rejects: day.reject === 'none' ? 0 : 1,
        isSignedOff: day.seal !== null,
        isRestated: day.isRestated,
      };
    }),
  );
  const rows = await readTitles(world, from, to);
  for (const date of dates) {
    const { contents } = dayOf(model, date);
    expect(current(rows.filter((row) => row.date === date))).toEqual(contents);
    expect(consumer.currentOf(date)).toEqual(contents);
  }
  const [checkpoint] = await prisma.$queryRaw<[{ date: CivilDate | null }]>`
    SELECT last_reconciled_date::text AS date FROM conciliation.checkpoint`;
  expect(checkpoint.date).toBe(model.lastReconciledDate);
}

/** Every state that the model remembers, folded back from the present rows. */
export async function expectHistory(world: PullWorld, model: Model): Promise<void> {
  const dates = [...model.days.keys()].sort();
  const rows = await readTitles(world, dates[0], dates.at(-1));
  const revisions = await world.database.prisma.$queryRaw<
    { titleId: bigint; pullId: bigint; before: Record<string, string> }[]
  >`
    SELECT title_id AS "titleId", pull_id AS "pullId",
           (SELECT jsonb_object_agg(key, value #>> '{}') FROM jsonb_each(before)) AS before
    FROM conciliation.title_revision JOIN conciliation.title ON title.id = title_id
    WHERE accepted_date BETWEEN ${dates[0]}::date AND ${dates.at(-1)}::date
    ORDER BY title_id, revision DESC`;
  for (const date of dates) {
    const { history } = dayOf(model, date);
    // A pull that was released comes after those that it waited for.
    const order = new Map(history.map(({ pullId }, index) => [pullId, index]));
    for (const [index, { contents }] of history.entries()) {
      const isLater = (pullId: bigint) => (order.get(pullId) ?? -1) > index;
      const then = rows
        .filter((row) => row.date === date && !isLater(row.first_pull_id))
        .map((row) =>
          revisions
            .filter(({ titleId, pullId }) => titleId === row.id && isLater(pullId))
            .reduce<TitleRow>((state, { before }) => Object.assign(state, before), {
              ...row,
            }),
        );
      expect(current(then)).toEqual(contents);
    }
  }
}

function readTitles(
  world: PullWorld,
  from: CivilDate | undefined,
  to: CivilDate | undefined,
): Promise<TitleRow[]> {
  return world.database.prisma.$queryRaw<TitleRow[]>`
    SELECT id, accepted_date::text AS date, status, order_uid, original_value::text,
           platform_discounted_value::text, anticipated_due_date::text, first_pull_id, change_seq
    FROM conciliation.title WHERE accepted_date BETWEEN ${from}::date AND ${to}::date`;
}
