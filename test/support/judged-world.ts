/** Titles whose lines and payables are brought into every state by the functions that do so in a program. */
import { beforeAll, beforeEach, expect } from 'vitest';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import { lockDay, releaseSealedDay } from '../../src/features/bookings/release.sql.ts';
import { takeReceipts } from '../../src/features/bookings/take-receipts.sql.ts';
import { listBreaks } from '../../src/features/matching/break-list.sql.ts';
import { joinWholeSets, waitingTitles } from '../../src/features/matching/breaks.sql.ts';
import type { BreakKind } from '../../src/features/matching/judgement.sql.ts';
import { runMatching } from '../../src/features/matching/run-matching.sql.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { pullDay, signDay } from './days.ts';
import { worldOfFile } from './file-world.ts';
import {
  clearMatching,
  listMatches,
  OPEN_BREAKS,
  payablesOf,
  resolveListed,
  titlesOf,
} from './matching-world.ts';
import { importPayables, type PayableFields } from './payables.ts';
import { DAY, daysFrom, type PullWorld, type PullWorldOptions } from './pull-world.ts';
import { failureOf, receiptOf } from './receipts.ts';
import { titleText } from './titles.ts';

export const SUPPLIER = '52998224725';
export const AGENT = '11222333000181';
export const BUYER = '90021382000122';
export const THIRD_PARTY = '11444777000161';

export interface JudgedTitle {
  readonly uid: string;
  readonly value: string;
  readonly dueDate?: string;
  readonly discount?: string;
  /** The buyer is the financial agent. */
  readonly isEarly?: boolean;
  /** The tax identifier of the financial agent. */
  readonly agent?: string;
}

/** A payable as the ERP states it. Absent: open, and due on the due date of the titles. */
export interface StatedPayable extends PayableFields {
  readonly status?: 'open' | 'paid' | 'cancelled';
  readonly settledAs?: 'payment' | 'assignment' | 'offset';
}

/** Far from today, so that no title is due. */
export const DUE = '2099-06-30';

function judgedWorld(world: PullWorld) {
  const { database } = world;
  const { prisma } = database;
  const self = {
    /** Titles in words, as `titlesOf` has them, or as rows. */
    async pull(date: CivilDate, titles: string | readonly JudgedTitle[]): Promise<void> {
      const rows: readonly JudgedTitle[] = typeof titles === 'string' ? titlesOf(titles) : titles;
      const texts = rows.map(({ isEarly = false, agent = AGENT, ...title }) => {
        const early = { agent: isEarly ? BUYER : agent, isBuyer: isEarly };
        return titleText({ dueDate: DUE, ...title, date, ...early });
      });
      await pullDay(world, date, ...texts);
    },

    /** Payables in words, as `payablesOf` has them, or as rows. */
    async state(
      payables: string | readonly StatedPayable[],
      kind: 'snapshot' | 'delta' = 'delta',
    ): Promise<void> {
      const stated = typeof payables === 'string' ? payablesOf(payables) : payables;
      const rows = stated.map((payable) => ({ dueDate: DUE, ...payable }));
      const { isComplete, rejected } = await importPayables(database, rows, kind);
      expect({ isComplete, rejected }).toEqual({ isComplete: true, rejected: 0 });
    },

    /** States all payables of the ERP. A snapshot without a payable would not be complete. */
    snapshot: (payables = '') =>
      self.state([payables, 'unrelated 1 code=P-9'].filter(Boolean).join(', '), 'snapshot'),

    match: () => runMatching(database, { by: 'test', bookingsFrom: DAY }),

    /** Signs a day off, and releases it whatever its titles wait for. */
    async release(date: CivilDate): Promise<void> {
      await signDay(database, date);
      await prisma.$transaction(async (tx) => {
        await lockDay(tx, date);
        await releaseSealedDay(tx, date, {});
      });
    },

    /** Answers the newest line of each booking of a date. */
    async answer(date: CivilDate, status: 'posted' | 'failed', isFinal = false): Promise<void> {
      const lines = await prisma.$queryRaw<{ key: string; contentHash: string }[]>`
        SELECT DISTINCT ON (identity_hash, occurrence)
               to_char(date, 'YYYY-MM-DD') || ':' || replace(identity_hash::text, '-', '') || ':' || occurrence
                 || ':' || version AS key, replace(content_hash::text, '-', '') AS "contentHash"
        FROM conciliation.booking_line WHERE date = ${date}::date
        ORDER BY identity_hash, occurrence, version DESC`;
      const receipts = lines.map((line) =>
        status === 'posted' ? receiptOf(line) : failureOf(line, 'the agent was paid', { isFinal }),
      );
      await takeReceipts(database, 'erp', receipts);
    },

    /** Pulls titles, matches and releases them, and answers their lines. */
    async book(
      date: CivilDate,
      titles: string,
      payables: string,
      answer: 'posted' | 'failed' | null = 'posted',
    ): Promise<void> {
      await self.pull(date, titles);
      await self.snapshot(payables);
      await self.match();
      await self.release(date);
      if (answer !== null) await self.answer(date, answer);
    },

    /** The key of the first line of a title's booking, whether it is released or not. */
    async keyOf(uid: string, date: CivilDate): Promise<string> {
      const [row] = await prisma.$queryRaw<[{ key: string }]>`
        SELECT to_char(accepted_date, 'YYYY-MM-DD') || ':' || replace(identity_hash::text, '-', '') || ':1:1' AS key
        FROM conciliation.title WHERE order_uid = ${uid} AND accepted_date = ${date}::date ORDER BY id LIMIT 1`;
      return row.key;
    },

    /** The lines of a date as "kind order payable version". */
    async lines(date: CivilDate): Promise<string[]> {
      const rows = await prisma.$queryRaw<{ line: string }[]>`
        SELECT kind || ' ' || order_uid || ' ' || coalesce(erp_key, '-') || ' ' || version AS line
        FROM conciliation.booking_line WHERE date = ${date}::date ORDER BY id`;
      return rows.map(({ line }) => line);
    },

    /** Days pass since the receipts, and since the payables changed. */
    async passDays(days: number): Promise<void> {
      await prisma.$executeRaw`
        UPDATE conciliation.booking_line SET state_at = state_at - make_interval(days => ${days}::int)`;
      await prisma.$executeRaw`
        UPDATE conciliation.erp_payable SET changed_at = changed_at - make_interval(days => ${days}::int)`;
    },

    /** The breaks of a date as "kind order payable", urgent ones with an exclamation mark. */
    async breaks(date: CivilDate | null = null): Promise<string[]> {
      const { breaks } = await listBreaks(prisma, { ...OPEN_BREAKS, date });
      return breaks.map(
        ({ kind, isUrgent, title, payable }) =>
          `${kind}${isUrgent ? '!' : ''} ${title?.orderUid ?? '-'} ${payable?.erpKey ?? '-'}`,
      );
    },

    async resolve(kind: BreakKind, erpKey: string, date: CivilDate): Promise<void> {
      const { breaks } = await listBreaks(prisma, { ...OPEN_BREAKS, kind, date });
      const found = breaks.find(({ payable }) => payable?.erpKey === erpKey);
      await resolveListed(
        database,
        { kind, title: found?.title?.id ?? 0, payable: erpKey },
        { by: 'rita', code: 'agreed', reason: 'the supplier has paid back' },
      );
    },

    /** The orders of the titles of a date that are not to be released now. */
    async waiting(date: CivilDate): Promise<string[]> {
      return prisma.$transaction(async (tx) => {
        await joinWholeSets(tx);
        const rows = await tx.$queryRaw<{ uid: string }[]>`
          SELECT order_uid AS uid FROM conciliation.title
          WHERE id IN ${waitingTitles(Prisma.sql`${date}::date`)} ORDER BY order_uid COLLATE "C"`;
        return rows.map(({ uid }) => uid);
      });
    },
  };
  return self;
}

export function judgedWorldOfFile(options?: PullWorldOptions) {
  const world = worldOfFile(options);
  const judged = {} as ReturnType<typeof judgedWorld>;
  beforeAll(() => void Object.assign(judged, judgedWorld(world)));
  return { world, judged };
}

/**
 * The same, and each test has a title of its own order on its own date, and a payable whose document is its key. In the
 * words of the tests, # is the order of the title; in what they read, it is `a`.
 */
export function orderWorldOfFile() {
  const { world, judged } = judgedWorldOfFile();
  const own = { date: DAY, uid: '' };
  let tests = 0;
  beforeEach(async () => {
    // The titles of other tests are of the same supplier and due date.
    if (tests > 0) await judged.pull(own.date, 'rest 9999');
    own.date = daysFrom(7, own.date);
    tests += 1;
    own.uid = `order-${tests}`;
    await clearMatching(world.database);
  });
  const named = (texts: readonly string[]) =>
    texts.filter((text) => !text.includes('rest')).map((text) => text.replace(own.uid, 'a'));
  return {
    ...{ world, judged, own, named },
    pull: (titles = '# 1000', on = own.date) =>
      judged.pull(on, `${titles}, rest 9999`.replaceAll('#', own.uid)),
    state(words: string, kind: 'delta' | 'snapshot' = 'delta') {
      const rows = payablesOf(words.replaceAll('#', own.uid));
      return judged.state(
        rows.map((row) => ({ document: row.erpKey, ...row })),
        kind,
      );
    },
    breaks: async (of = own.date) => named(await judged.breaks(of)),
    waiting: async (of = own.date) => named(await judged.waiting(of)).toSorted(),
    matches: async () => named(await listMatches(world.database)),
  };
}
