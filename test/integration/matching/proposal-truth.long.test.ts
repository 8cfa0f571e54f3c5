/**
 * Titles whose payables are known, and an ERP that has many of them with another value, on another due date or in parts,
 * beside payables of others that are near. Made from docs/matching.md alone, and without the statements of the program.
 */
import { expect, test } from 'vitest';
import { createSeededRandom } from '../../../src/demo/synthetic-titles.ts';
import { readProposals } from '../../../src/features/matching/proposals.sql.ts';
import { runMatching } from '../../../src/features/matching/run-matching.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { clearMatching, pullTitles } from '../../support/matching-world.ts';
import { importPayables, type PayableFields } from '../../support/payables.ts';
import { amountOf } from '../../support/random-runs.ts';

const world = worldOfFile();

const TITLES = 600;
const dateOf = (day: number) =>
  new Date(Date.UTC(2026, 0, 5) + day * 86_400_000).toISOString().slice(0, 10);

/** Saturdays, Sundays and Carnival, of which the ERP moves the due date to the next business day. */
const CLOSED = new Set(['2026-02-16', '2026-02-17', '2026-04-03', '2026-04-21', '2026-05-01']);
const nextBusinessDay = (day: number): number => {
  const date = new Date(dateOf(day));
  const isClosed = date.getUTCDay() % 6 === 0 || CLOSED.has(dateOf(day));
  return isClosed ? nextBusinessDay(day + 1) : day;
};

const FAULTS = [
  'cent',
  'days',
  'cent with order',
  'cent and days',
  'parts',
  'parts less a cent',
  'none',
] as const;
type Fault = (typeof FAULTS)[number] | 'exact' | 'business day';

function makeTruth(seed: number, hasDecoys: boolean) {
  const next = createSeededRandom(String(seed));
  const truth = new Map<string, { readonly fault: Fault; readonly keys: readonly string[] }>();
  const titles: { uid: string; value: string; code: string; dueDate: string }[] = [];
  const payables: PayableFields[] = [];
  const taken = new Set<string>();
  for (let number = 1; number <= TITLES; number += 1) {
    const code = `P-${next(25)}`;
    const due = next(100);
    let cents = 0;
    // Values of a supplier are 10 cents apart, so that a payable is near its own title only, unless it is a decoy.
    do cents = 1_000 + next(next(2) === 0 ? 5_000 : 5_000_000);
    while (taken.has(`${code} ${Math.floor(cents / 10)}`));
    for (const near of [-1, 0, 1]) taken.add(`${code} ${Math.floor(cents / 10) + near}`);
    const uid = `o${number}`;
    titles.push({ uid, value: amountOf(cents), code, dueDate: dateOf(due) });
    const keys: string[] = [];
    const add = (open: number, day: number, isTrue = true, order: string | null = null) => {
      const erpKey = `k${payables.length}`;
      if (isTrue) keys.push(erpKey);
      payables.push({
        ...{ erpKey, openValue: amountOf(open), supplierExternalId: code, dueDate: dateOf(day) },
        ...{ document: `NF-${next(1_000_000)}` },
        ...(order !== null && { orderUid: order }),
      });
    };
    const cent = next(2) === 0 ? 1 : -1;
    const fault: Fault =
      next(10) < 4
        ? next(2) === 0
          ? 'exact'
          : 'business day'
        : (FAULTS[next(FAULTS.length)] ?? 'none');
    const third = Math.floor(cents / 3);
    switch (fault) {
      case 'exact':
        add(cents, due, true, next(3) === 0 ? uid : null);
        break;
      case 'business day':
        add(cents, nextBusinessDay(due));
        break;
      case 'cent':
        add(cents + cent, nextBusinessDay(due));
        break;
      case 'days':
        add(cents, due + 6 + next(3));
        break;
      case 'cent with order':
        add(cents + cent, due + next(4), true, uid);
        break;
      case 'cent and days':
        add(cents + cent, due + 1 + next(4));
        break;
      case 'parts':
      case 'parts less a cent':
        for (const part of [third, third, cents - 2 * third - (fault === 'parts' ? 0 : 1)])
          add(part, due);
        break;
      default:
    }
    // A payable of another title that the platform does not have: 2 to 5 cents away, or of the value on a distant date.
    if (next(4) === 0) add(cents + 2 + next(4), due, false);
    if (next(6) === 0) add(cents, due + 20 + next(40), false);
    // One cent away on the due date, to the other side: nothing but an order tells it from the true payable.
    if (hasDecoys && next(6) === 0) add(cents - cent, due, false);
    // Another title of the order and the due date, which the ERP has, and the platform not yet.
    if (next(8) === 0) add(1_000 + next(4_000_000), due, false);
    // A second payable with the same value and due date: the program cannot decide, and neither can a rank.
    if (fault === 'exact' && next(8) === 0) add(cents, due, false);
    truth.set(uid, { fault, keys });
  }
  return { titles, payables, truth };
}

test.each([
  ...[1, 2, 3].map((seed) => ({ seed, hasDecoys: false, least: 0.95 })),
  ...[4, 5].map((seed) => ({ seed, hasDecoys: true, least: 0.7 })),
])(
  'the true payables rank first among the proposals: $seed, $hasDecoys',
  async ({ seed, hasDecoys, least }) => {
    const { database } = world;
    const { titles, payables, truth } = makeTruth(seed, hasDecoys);
    await clearMatching(database);
    await pullTitles(world, titles);
    await importPayables(database, payables);
    await runMatching(database, { by: 'test' });
    const matched = await database.prisma.$queryRaw<{ uid: string; keys: string[] }[]>`
    SELECT order_uid AS uid, array_agg(erp_key ORDER BY erp_key) AS keys
    FROM conciliation.title_payable JOIN conciliation.title ON title.id = title_id GROUP BY 1`;
    const isTrue = (uid: string, keys: readonly string[]) =>
      [...keys].sort().join() === [...(truth.get(uid)?.keys ?? [])].sort().join();
    expect(matched.filter(({ uid, keys }) => !isTrue(uid, keys))).toEqual([]);
    const left = new Set(titles.map(({ uid }) => uid));
    for (const { uid } of matched) left.delete(uid);
    const { rows } = await database.prisma.$transaction((tx) =>
      readProposals(
        tx,
        { title: 0, kind: null, date: null, supplier: null },
        { offset: 0, limit: null },
      ),
    );
    const counts = new Map<string, { left: number; first: number; clearWrong: number }>();
    for (const uid of left) {
      const fault = truth.get(uid)?.fault ?? 'none';
      const own = rows.filter(({ orderUid }) => orderUid === uid);
      const count = counts.get(fault) ?? { left: 0, first: 0, clearWrong: 0 };
      count.left += 1;
      if (own.some(({ place, erpKeys }) => place === 1 && isTrue(uid, erpKeys))) count.first += 1;
      if (own.some(({ isClear, erpKeys }) => isClear && !isTrue(uid, erpKeys)))
        count.clearWrong += 1;
      counts.set(fault, count);
    }
    for (const fault of ['cent', 'cent with order', 'parts', 'parts less a cent']) {
      const { left: all = 0, first = 0 } = counts.get(fault) ?? {};
      expect(all, fault).toBeGreaterThan(20);
      expect(first / all, fault).toBeGreaterThanOrEqual(least);
    }
    // One decision for many confirms no wrong payable of a title whose own payables are within the tolerances.
    const wrong = [...counts].flatMap(([fault, { clearWrong }]) => (clearWrong > 0 ? fault : []));
    expect(
      wrong.filter((fault) => !hasDecoys || !['none', 'cent and days'].includes(fault)),
    ).toEqual([]);
  },
);
