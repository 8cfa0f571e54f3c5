/**
 * A model ERP posts what the feed says. It is killed and restored from older backups, the platform restates and
 * withdraws, people sign off and reopen, and the program's own database is restored from older backups, after which
 * the ERP sends its receipts again. In the end the ERP's ledger is the last seals: nothing is booked twice, and
 * nothing is missing.
 */
import { beforeAll, expect, test } from 'vitest';
import { InputError } from '../../src/base/runtime/errors.ts';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import { skipLostNumbers } from '../../src/cli/setup.sql.ts';
import { createSeededRandom } from '../../src/demo/synthetic-titles.ts';
import { readFeed } from '../../src/features/bookings/feed.sql.ts';
import { answerReceipts, takeReceipts } from '../../src/features/bookings/receipt-decisions.sql.ts';
import { readReceiptQuestions, settleReceipts } from '../../src/features/bookings/receipts.sql.ts';
import { releaseWaitingDays } from '../../src/features/bookings/release.sql.ts';
import { reopenDay } from '../../src/features/review/sign-off.sql.ts';
import { findAlterations, signDay } from '../support/days.ts';
import { daysFrom, worldOfFile } from '../support/pull-world.ts';
import { tryHistories } from '../support/random-runs.ts';
import { titleText } from '../support/titles.ts';
import { DatabaseBackup } from './database-backup.ts';
import { type Link, ModelErp } from './model-erp.ts';

const STEPS = 25;
const DATES = [daysFrom(0), daysFrom(1)];
const FROM = DATES[0] as CivilDate;

const world = worldOfFile();
let backup: DatabaseBackup;
beforeAll(async () => {
  backup = new DatabaseBackup(world.database.pool);
  await backup.prepare();
});

interface Item {
  readonly uid: string;
  readonly value: string;
  readonly discount: string;
  readonly dueDate: string;
}

class History {
  readonly #random: () => number;
  readonly #erp: ModelErp;
  readonly #link: Link = {
    read: (after, limit) => readFeed(world.database, 'erp', { after: BigInt(after), limit }),
    send: (receipts) => takeReceipts(world.database, 'erp', receipts),
  };
  /** The titles that the platform states. */
  readonly #items = new Map<CivilDate, Item[]>();
  /** The content of the last seal. */
  readonly #sealed = new Map<CivilDate, readonly Item[]>();
  #erpBackup: ReturnType<ModelErp['backup']> | null = null;
  #hasBackup = false;
  #wasRestored = false;

  constructor(seed: string) {
    const draw = createSeededRandom(seed);
    this.#random = () => draw(2 ** 32) / 2 ** 32;
    this.#erp = new ModelErp(this.#random);
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  async run(): Promise<void> {
    await backup.clear();
    for (const date of DATES) await this.#restate(date);
    const steps = [
      ...Array.from({ length: 4 }, () => () => this.#restate(this.#pick(DATES))),
      ...Array.from({ length: 5 }, () => () => this.#sign(this.#pick(DATES))),
      ...Array.from({ length: 6 }, () => () => this.#work()),
      () => happens(reopenDay(world.database, this.#pick(DATES), { by: 'bia', reason: 'history' })),
      () => this.#tend(),
      () => this.#decide(this.#pick(DATES)),
      () => {
        this.#erpBackup = this.#erp.backup();
      },
      // The backup may be older than a restore of the program's database.
      () => this.#erpBackup && this.#erp.restore(this.#erpBackup),
      () => this.#backUp(),
      () => this.#restore(),
    ];
    for (let step = 0; step < STEPS; step += 1) await this.#pick(steps)();
    if (!this.#wasRestored) {
      await this.#settle(false);
      this.#expectLedger(this.#sealed);
    }
    await this.#expectNoFinding();
    if (this.#wasRestored) this.#erp.sendAgain();
    await this.#settle(true);
    this.#expectLedger(this.#items);
    await this.#expectAllPosted();
    await this.#expectNoFinding();
  }

  async #restate(date: CivilDate): Promise<void> {
    const present = this.#items.get(date) ?? [];
    const kept = present.filter(() => this.#random() < 0.7);
    const changed = kept.map((item) =>
      this.#random() < 0.3 ? { ...item, discount: this.#pick(['1', '2.50', '3']) } : item,
    );
    const added = Array.from({ length: 1 + Math.floor(this.#random() * 3) }, () => ({
      uid: this.#pick(['a', 'b', 'c']),
      value: this.#pick(['10.10', '0.05']),
      discount: this.#pick(['1', '2.50']),
      dueDate: this.#pick(['2026-06-30', '2026-07-31']),
    }));
    await this.#pull(date, [...changed, ...added].slice(0, 6));
  }

  async #pull(date: CivilDate, items: Item[]): Promise<void> {
    this.#items.set(date, items);
    const texts = items.map((item) => titleText({ ...item, date }));
    await world.serve(
      date,
      texts.toSorted(() => this.#random() - 0.5),
      { withdrawalLimitPercent: 100 },
    );
  }

  async #sign(date: CivilDate): Promise<void> {
    const isSigned = await happens(signDay(world.database, date, { bookingsFrom: FROM }));
    if (isSigned) this.#sealed.set(date, this.#items.get(date) ?? []);
  }

  async #work(isFaulty = true): Promise<number> {
    const killedAt = isFaulty ? this.#pick([null, null, 'commit', 'send', 'sent'] as const) : null;
    return this.#erp.work(this.#link, { failure: isFaulty ? 0.2 : 0, killedAt });
  }

  /** The work of the service in each minute. */
  async #tend(): Promise<void> {
    await world.prisma.$transaction((tx) => settleReceipts(tx, null));
    await releaseWaitingDays(world.database, {});
  }

  async #decide(date: CivilDate): Promise<boolean> {
    await world.prisma.$transaction((tx) => settleReceipts(tx, null));
    const questions = await readReceiptQuestions(world.prisma);
    const question = questions.find((day) => day.date === date);
    if (question === undefined) return false;
    const seen = { date, first: 0, last: question.newest, count: question.receipts };
    const decision = { by: 'ana', reason: 'restored', bookingsFrom: FROM };
    return happens(answerReceipts(world.database, seen, 'recorded', decision));
  }

  async #backUp(): Promise<void> {
    await backup.take();
    this.#hasBackup = true;
  }

  async #restore(): Promise<void> {
    if (!this.#hasBackup) return;
    await backup.restore();
    await world.prisma.$transaction((tx) => skipLostNumbers(tx));
    this.#wasRestored = true;
    for (const date of DATES) await this.#pull(date, this.#items.get(date) ?? []);
    // Often the ERP sends its receipts immediately; otherwise the feed grows first.
    if (this.#random() < 0.6) this.#erp.sendAgain();
  }

  /** Until nothing happens any more. */
  async #settle(signsOff: boolean): Promise<void> {
    for (let round = 0; round < 12; round += 1) {
      let happened = 0;
      for (const date of DATES) {
        if (signsOff) await this.#sign(date);
        if (await this.#decide(date)) happened += 1;
      }
      await this.#tend();
      for (let lines = 1; lines > 0; happened += lines) lines = await this.#work(false);
      await this.#tend();
      if (happened === 0 && round > 1) return;
    }
    throw new Error('the history does not end');
  }

  #expectLedger(days: ReadonlyMap<CivilDate, readonly Item[]>): void {
    const expected = [...days].flatMap(([date, items]) =>
      items.map((item) => ModelErp.contentOf(date, titleOf(item))),
    );
    expect(this.#erp.ledger()).toEqual(expected.sort());
  }

  /** What follows from something else is what it has to be, wherever the history stands. */
  async #expectNoFinding(): Promise<void> {
    for (const date of DATES) {
      expect(await findAlterations(world.database, date)).toEqual([]);
    }
  }

  /** Every present booking was answered, and nothing waits for a person. */
  async #expectAllPosted(): Promise<void> {
    const { prisma } = world;
    const open = { state: { in: ['released', 'failed'] } };
    expect(await prisma.bookingLine.count({ where: open })).toBe(0);
    const questions = {
      outcome: { in: ['unknown_key', 'other_content', 'other_document', 'after_refusal'] },
    };
    expect(await prisma.bookingReceipt.count({ where: questions })).toBe(0);
  }
}

/** The columns of a title of the platform that the ERP books, as the feed has them. */
const titleOf = ({ uid, value, discount, dueDate }: Item) => ({
  order_uid: uid,
  buyer_identification: '90021382000122',
  provider_external_id: 'P-1',
  anticipated_due_date: dueDate,
  original_value: value,
  platform_discounted_value: discount,
  financial_agent_identification: '11222333000181',
});

/** Whether the program took what a person asked for. */
async function happens(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

test('the ledger of the ERP equals the last seals exactly, after any restore', async () => {
  await tryHistories(30, (seed) => new History(String(seed)).run());
}, 0);
