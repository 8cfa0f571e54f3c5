/** Titles whose lines and payables are brought into every state by the functions that do so in a program. */
import { beforeAll, beforeEach, expect } from 'vitest';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import { takeReceipts } from '../../src/features/bookings/receipt-decisions.sql.ts';
import {
  lockDay,
  releaseSealedDay,
  releaseWaitingDays,
} from '../../src/features/bookings/release.sql.ts';
import { listBreaks } from '../../src/features/matching/break-list.sql.ts';
import { joinWholeSets, waitingTitles } from '../../src/features/matching/breaks.sql.ts';
import type { BreakKind } from '../../src/features/matching/judgement.sql.ts';
import { runMatching } from '../../src/features/matching/run-matching.sql.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { pullDay, signDay } from './days.ts';
import {
  clearMatching,
  listMatches,
  OPEN_BREAKS,
  payablesOf,
  resolveListed,
  titlesOf,
} from './matching-world.ts';
import { importPayables, type PayableFields } from './payables.ts';
import { DAY, daysFrom, type PullWorld, type PullWorldOptions, worldOfFile } from './pull-world.ts';
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

/** A snapshot without a payable would not be complete. */
const UNRELATED = 'unrelated 1 code=P-9';
const listOf = (...words: readonly string[]) => words.filter(Boolean).join(', ');

function judgedWorld(world: PullWorld) {
  const { database } = world;
  const { prisma } = database;
  return {
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

    /** The key of the first line of a title's booking, whether it is released or not. */
    async keyOf(uid: string, date: CivilDate): Promise<string> {
      const [row] = await prisma.$queryRaw<[{ key: string }]>`
        SELECT to_char(accepted_date, 'YYYY-MM-DD') || ':' || replace(identity_hash::text, '-', '') || ':1:1' AS key
        FROM conciliation.title WHERE order_uid = ${uid} AND accepted_date = ${date}::date ORDER BY id LIMIT 1`;
      return row.key;
    },

    /** The same of a booking on a payable. */
    async lineOn(erpKey: string, date: CivilDate): Promise<string> {
      const where = { date, erpKey, version: 1 };
      const line = await prisma.bookingLine.findFirstOrThrow({ where });
      return `${date}:${line.identityHash.replaceAll('-', '')}:${line.occurrence}:1`;
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
}

type Judged = ReturnType<typeof judgedWorld>;

/** What happens and what is then found, sorted, in the order in which a step names it. */
export interface JudgedStep {
  /** All of the step is so many days after the date of the test. */
  readonly on?: number;
  /** The titles of the date, beside one that has no payable. */
  readonly pull?: string;
  readonly state?: string;
  readonly snapshot?: string;
  readonly match?: true;
  readonly resolve?: readonly [kind: BreakKind, erpKey: string];
  readonly release?: true;
  readonly answer?: 'posted' | 'failed' | 'refused';
  /** Matches and releases the titles of the date, and answers their lines. */
  readonly book?: 'posted' | 'failed' | 'refused' | 'unanswered';
  readonly passDays?: number;
  /** Whether the loop of the releases releases the date. No other date waits for it. */
  readonly released?: boolean;
  /** What a run of the matching finds. */
  readonly breaks?: string;
  readonly matches?: string;
  /** What is there without a run. */
  readonly waits?: string;
  readonly lines?: string;
}

interface Story {
  date(): CivilDate;
  /** The words of the test for the titles and payables, and the reverse for what is found. */
  say?(words: string): string;
  hear?(text: string): string;
  /** The document of a payable is its key. */
  readonly hasDocuments?: boolean;
}

interface Place {
  readonly date: CivilDate;
  readonly step: JudgedStep;
}
type Deed = (value: unknown, place: Place) => Promise<unknown>;
type Deeds = {
  readonly [Name in keyof JudgedStep]-?: (
    value: Exclude<JudgedStep[Name], undefined>,
    place: Place,
  ) => Promise<unknown>;
};

/** Plays the steps of a test. `KEY(a)` is the key of the first line of an order, and `LINE(k1)` of that on a payable. */
export function playerOf(
  { world, judged }: { readonly world: PullWorld; readonly judged: Judged },
  { date: first, say = (words) => words, hear = (text) => text, hasDocuments = false }: Story,
) {
  async function state(words: string, kind?: 'snapshot'): Promise<void> {
    let said = say(words);
    for (const [key, name, of = ''] of said.matchAll(/(KEY|LINE)\(([^)]+)\)/g)) {
      said = said.replace(key, await (name === 'KEY' ? judged.keyOf : judged.lineOn)(of, first()));
    }
    const rows = payablesOf(said);
    await judged.state(
      rows.map((row) => (hasDocuments ? { document: row.erpKey, ...row } : row)),
      kind,
    );
  }
  function expectTexts(found: readonly string[], expected: string, { step }: Place): void {
    const texts = found.filter((text) => !text.includes('rest') || expected.includes('rest'));
    expect(texts.map(hear).sort().join(', '), JSON.stringify(step)).toBe(expected);
  }
  const deeds: Deeds = {
    on: async () => {},
    pull: (words, { date }) => judged.pull(date, say(listOf(words, 'rest 9999'))),
    state: (words) => state(words),
    snapshot: (words) => state(listOf(words, UNRELATED), 'snapshot'),
    match: () => judged.match(),
    resolve: (found, { date }) => judged.resolve(...found, date),
    release: (_, { date }) => judged.release(date),
    answer: (status, { date }) =>
      judged.answer(date, status === 'posted' ? 'posted' : 'failed', status === 'refused'),
    async book(status, place) {
      await judged.match();
      await judged.release(place.date);
      if (status !== 'unanswered') await deeds.answer(status, place);
    },
    passDays: (days) => judged.passDays(days),
    async released(isReleased, { date }) {
      expect(await releaseWaitingDays(world.database, {})).toEqual(isReleased ? [date] : []);
    },
    async breaks(expected, place) {
      await judged.match();
      expectTexts(await judged.breaks(place.date), expected, place);
    },
    async matches(expected, place) {
      await judged.match();
      expectTexts(await listMatches(world.database), expected, place);
    },
    async waits(expected, place) {
      expectTexts(await judged.waiting(place.date), expected, place);
    },
    async lines(expected, place) {
      expectTexts(await judged.lines(place.date), expected, place);
    },
  };
  return async (...steps: readonly JudgedStep[]): Promise<void> => {
    for (const step of steps) {
      const place = { step, date: daysFrom(step.on ?? 0, first()) };
      for (const [name, value] of Object.entries(step)) {
        await (deeds[name as keyof Deeds] as Deed)(value, place);
      }
    }
  };
}

export function judgedWorldOfFile(options?: PullWorldOptions) {
  const world = worldOfFile(options);
  const judged = {} as Judged;
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
    own.date = daysFrom(2, own.date);
    tests += 1;
    own.uid = `order-${tests}`;
    await clearMatching(world.database);
  });
  const play = playerOf(
    { world, judged },
    {
      date: () => own.date,
      say: (words) => words.replaceAll('#', own.uid),
      hear: (text) => text.replace(own.uid, 'a'),
      hasDocuments: true,
    },
  );
  return { world, judged, own, play };
}
