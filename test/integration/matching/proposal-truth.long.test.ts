/**
 * Titles whose payables are known, and an ERP that has many of them with another value, on another due date or in parts,
 * beside payables of others that are near. Made from docs/matching.md alone, and without the statements of the program.
 */
import { expect, test } from 'vitest';
import { createSeededRandom } from '../../../src/demo/synthetic-titles.ts';
import { readProposals } from '../../../src/features/matching/proposals.sql.ts';
import { runMatching } from '../../../src/features/matching/run-matching.sql.ts';
import { clearMatching, pullTitles } from '../../support/matching-world.ts';
import { importPayables, type PayableFields } from '../../support/payables.ts';
import { worldOfFile } from '../../support/pull-world.ts';
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

/** What is wrong with the payables of a title; `cent` is one cent more or less. */
const FAULTS = {
  exact: ({ cents, due, order }) => [[cents, due, order]],
  'business day': ({ cents, due }) => [[cents, nextBusinessDay(due)]],
  cent: ({ cents, due, cent }) => [[cents + cent, nextBusinessDay(due)]],
  days: ({ cents, due, few }) => [[cents, due + 6 + (few % 3)]],
  'cent with order': ({ cents, due, cent, few, uid }) => [[cents + cent, due + few, uid]],
  'cent and days': ({ cents, due, cent, few }) => [[cents + cent, due + 1 + few]],
  parts: ({ cents, due }) => thirds(cents).map((part) => [part, due]),
  'parts less a cent': ({ cents, due }) => thirds(cents, 1).map((part) => [part, due]),
  none: () => [],
} satisfies Record<string, (title: Made) => Row[]>;
type Fault = keyof typeof FAULTS;
type Row = readonly [cents: number, day: number, order?: string | undefined];
interface Made {
  readonly uid: string;
  readonly cents: number;
  readonly due: number;
  readonly cent: number;
  /** 0 to 3. */
  readonly few: number;
  readonly order: string | undefined;
}
const thirds = (cents: number, less = 0) => {
  const third = Math.floor(cents / 3);
  return [third, third, cents - 2 * third - less];
};

function makeTruth(seed: number, hasDecoys: boolean) {
  const next = createSeededRandom(String(seed));
  const truth = new Map<string, { readonly fault: Fault; readonly keys: readonly string[] }>();
  const titles: { uid: string; value: string; code: string; dueDate: string }[] = [];
  const payables: PayableFields[] = [];
  const taken = new Set<string>();
  for (let number = 1; number <= TITLES; number += 1) {
    const code = `P-${next(25)}`;
    let cents = 0;
    // Values of a supplier are 10 cents apart, so that a payable is near its own title only, unless it is a decoy.
    do cents = 1_000 + next(next(2) === 0 ? 5_000 : 5_000_000);
    while (taken.has(`${code} ${Math.floor(cents / 10)}`));
    for (const near of [-1, 0, 1]) taken.add(`${code} ${Math.floor(cents / 10) + near}`);
    const [uid, due, cent] = [`o${number}`, next(100), next(2) === 0 ? 1 : -1];
    const order = next(3) === 0 ? uid : undefined;
    const add = ([open, day, orderUid]: Row) => {
      const erpKey = `k${payables.length}`;
      const openValue = amountOf(open);
      const supplied = { supplierExternalId: code, document: `NF-${next(1_000_000)}` };
      const row = { erpKey, openValue, dueDate: dateOf(day), ...supplied };
      payables.push(orderUid === undefined ? row : { ...row, orderUid });
      return erpKey;
    };
    const sound: readonly Fault[] = ['exact', 'business day'];
    const others = Object.keys(FAULTS).slice(2) as Fault[];
    const kinds = next(10) < 4 ? sound : others;
    const fault = kinds[next(kinds.length)] ?? 'none';
    titles.push({ uid, value: amountOf(cents), code, dueDate: dateOf(due) });
    const keys = FAULTS[fault]({ uid, cents, due, cent, few: next(4), order }).map(add);
    truth.set(uid, { fault, keys });
    // A payable of another title that the platform does not have: 2 to 5 cents away, or of the value on a distant date.
    if (next(4) === 0) add([cents + 2 + next(4), due]);
    if (next(6) === 0) add([cents, due + 20 + next(40)]);
    // One cent away on the due date, to the other side: nothing but an order tells it from the true payable.
    if (hasDecoys && next(6) === 0) add([cents - cent, due]);
    // Another title of the order and the due date, which the ERP has, and the platform not yet.
    if (next(8) === 0) add([1_000 + next(4_000_000), due]);
    // A second payable with the same value and due date: the program cannot decide, and neither can a rank.
    if (fault === 'exact' && next(8) === 0) add([cents, due]);
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
    const isMatched = new Set(matched.map(({ uid }) => uid));
    const { rows } = await database.prisma.$transaction((tx) =>
      readProposals(
        tx,
        { title: 0, kind: null, date: null, supplier: null },
        { offset: 0, limit: null },
      ),
    );
    const ranked = rows.filter(
      ({ place, orderUid, erpKeys }) => place === 1 && isTrue(orderUid, erpKeys),
    );
    const faultOf = (uid: string) => truth.get(uid)?.fault ?? 'none';
    for (const fault of ['cent', 'cent with order', 'parts', 'parts less a cent']) {
      const left = titles.filter(({ uid }) => faultOf(uid) === fault && !isMatched.has(uid));
      expect(left.length, fault).toBeGreaterThan(20);
      const first = ranked.filter(({ orderUid }) => faultOf(orderUid) === fault).length;
      expect(first / left.length, fault).toBeGreaterThanOrEqual(least);
    }
    // One decision for many confirms no wrong payable of a title whose own payables are within the tolerances.
    const wrong = rows.filter(
      ({ isClear, orderUid, erpKeys }) => isClear && !isTrue(orderUid, erpKeys),
    );
    const faults = wrong.map(({ orderUid }) => faultOf(orderUid));
    expect(
      faults.filter((fault) => !hasDecoys || !['none', 'cent and days'].includes(fault)),
    ).toEqual([]);
  },
);
