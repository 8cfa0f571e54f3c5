/**
 * The matching beside an exhaustive solver that shares no code with it. The solver knows the documented rules only:
 * which pairs of a title and a payable a rule accepts. It looks at each connected part of the graph of these pairs
 * for all assignments with the most pairs. A match of the program that is in none of them is wrong; a pair that is
 * in all of them is uniquely solvable.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runMatching } from '../../../src/matching/run-matching.sql.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const TITLES = 3000;
const TOLERANCE_DAYS = 5;
/** Larger parts have too many assignments to look at. */
const LARGEST_PART = 12;

interface MadeTitle {
  readonly uid: string;
  readonly supplier: string;
  readonly cents: number;
  readonly due: number;
}
interface MadePayable {
  readonly key: string;
  readonly supplier: string;
  readonly cents: number;
  readonly due: number;
  readonly order: string | null;
  readonly document: string;
}

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

function numbersFrom(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const dateOf = (day: number) =>
  new Date(Date.UTC(2026, 6, 1) + day * 86_400_000).toISOString().slice(0, 10);
const amountOf = (cents: number) =>
  `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;

/** Titles, and payables of an ERP that agrees with most of them. */
function makeWorld(seed: number) {
  const next = numbersFrom(seed);
  const titles: MadeTitle[] = [];
  const payables: MadePayable[] = [];
  const decoys = new Set<string>();
  const add = (payable: Omit<MadePayable, 'key'>) => {
    const key = `K${payables.length}`;
    payables.push({ ...payable, key });
    return key;
  };
  for (let index = 0; index < TITLES; index += 1) {
    const earlier = titles[index - 1];
    const isLike = earlier !== undefined && next(100) < 4;
    const title: MadeTitle = {
      uid: `t${index}`,
      supplier: isLike ? earlier.supplier : `S${next(300)}`,
      // Round values, as people agree on them: the same value comes several times at one supplier.
      cents: isLike ? earlier.cents : (next(2000) + 1) * 5000,
      due: isLike ? earlier.due + next(3) : next(60),
    };
    titles.push(title);
    const { supplier, cents, due, uid } = title;
    const document = `NF-${index}`;
    const fate = next(100);
    if (fate < 30) add({ supplier, cents, due: due + next(20), order: uid, document });
    else if (fate < 70) add({ supplier, cents, due, order: null, document });
    else if (fate < 88)
      add({
        supplier,
        cents,
        due: due + next(2 * TOLERANCE_DAYS + 1) - TOLERANCE_DAYS,
        order: null,
        document,
      });
    else if (fate < 92) add({ supplier, cents: cents + next(500) + 1, due, order: null, document });
    else if (fate < 94) {
      add({ supplier, cents, due, order: null, document });
      add({ supplier, cents, due, order: null, document: `${document}-2` });
    } else if (fate < 96) {
      // The true payable is missing, and that of something else is near.
      decoys.add(add({ supplier, cents, due: due + 1, order: null, document: `other-${index}` }));
    }
  }
  return { titles, payables, decoys };
}

/** The number of the first rule that accepts the pair; null: none does. */
function ruleOf(title: MadeTitle, payable: MadePayable): number | null {
  if (title.cents !== payable.cents) return null;
  if (payable.order === title.uid) return 1;
  if (payable.supplier !== title.supplier) return null;
  if (payable.due === title.due) return 2;
  return Math.abs(payable.due - title.due) <= TOLERANCE_DAYS ? 3 : null;
}

/** Calls `see` with each assignment that has the most pairs of one part. */
function solvePart(pairs: readonly (readonly [number, number])[]): [number, number][][] {
  let best: [number, number][][] = [[]];
  const walk = (
    index: number,
    taken: [number, number][],
    titles: Set<number>,
    payables: Set<number>,
  ) => {
    if (index === pairs.length) {
      const most = best[0]?.length ?? 0;
      if (taken.length > most) best = [[...taken]];
      else if (taken.length === most) best.push([...taken]);
      return;
    }
    const [title, payable] = pairs[index] as [number, number];
    if (!titles.has(title) && !payables.has(payable)) {
      titles.add(title);
      payables.add(payable);
      taken.push([title, payable]);
      walk(index + 1, taken, titles, payables);
      taken.pop();
      titles.delete(title);
      payables.delete(payable);
    }
    walk(index + 1, taken, titles, payables);
  };
  walk(0, [], new Set(), new Set());
  return best;
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** The pairs that are in some best assignment, and those that are in all of them. */
function solve(titles: readonly MadeTitle[], payables: readonly MadePayable[]) {
  const byCents = groupBy(
    payables.map((payable, at) => ({ payable, at })),
    ({ payable }) => payable.cents,
  );
  const pairs = titles.flatMap((title, at) =>
    (byCents.get(title.cents) ?? [])
      .filter(({ payable }) => ruleOf(title, payable) !== null)
      .map((found) => [at, found.at] as const),
  );
  const parent = new Map<string, string>();
  const find = (node: string): string => {
    const up = parent.get(node) ?? node;
    return up === node ? node : find(up);
  };
  for (const [title, payable] of pairs) parent.set(find(`t${title}`), find(`p${payable}`));
  const parts = groupBy(pairs, ([title]) => find(`t${title}`));
  const some = new Set<string>();
  const all = new Set<string>();
  const large = new Set<string>();
  for (const part of parts.values()) {
    const name = ([title, payable]: readonly [number, number]) => `${title}/${payable}`;
    if (part.length > LARGEST_PART) {
      for (const pair of part) large.add(name(pair));
      continue;
    }
    const solutions = solvePart(part);
    for (const pair of part) {
      const inSome = solutions.filter((solution) =>
        solution.some((taken) => name(taken) === name(pair)),
      );
      if (inSome.length > 0) some.add(name(pair));
      if (inSome.length === solutions.length) all.add(name(pair));
    }
  }
  return { some, all, large };
}

const textsOf = (titles: readonly MadeTitle[]) =>
  titles.map(({ uid, supplier, cents, due }) =>
    titleText({ uid, date: DAY, value: amountOf(cents), dueDate: dateOf(due) }).replaceAll(
      '"P-1"',
      `"${supplier}"`,
    ),
  );

async function matched(): Promise<string[]> {
  const rows = await world.database.prisma.$queryRaw<{ pair: string }[]>`
    SELECT order_uid || '/' || erp_key AS pair FROM conciliation.title_match
    JOIN conciliation.title ON title.id = title_id WHERE ended_at IS NULL`;
  return rows.map(({ pair }) => pair.replace('t', '').replace('K', '')).sort();
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const next = numbersFrom(seed);
  return items
    .map((item) => ({ item, place: next(2 ** 31) }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

const load = (payables: readonly MadePayable[]) =>
  importPayables(
    world.database,
    payables.map(({ key, supplier, cents, due, order, document }) => ({
      erpKey: key,
      supplierExternalId: supplier,
      openValue: amountOf(cents),
      dueDate: dateOf(due),
      document,
      ...(order !== null && { orderUid: order }),
    })),
  );

test('no match is wrong, and 98 % of the uniquely solvable pairs are found, in any order of the input', async () => {
  const { titles, payables, decoys } = makeWorld(11);
  world.sandbox.setDayTexts(DAY, textsOf(titles));
  await world.pull(DAY);
  await load(payables);
  const { matched: count } = await runMatching(world.database, { by: 'test' });
  const pairs = await matched();
  expect(pairs).toHaveLength(count);

  const { some, all, large } = solve(titles, payables);
  // Nearly all parts are small enough to be solved.
  expect(large.size).toBeLessThan(TITLES / 100);
  const judged = pairs.filter((pair) => !large.has(pair));
  const isDecoy = (pair: string) => decoys.has(`K${pair.split('/')[1]}`);
  expect(judged.filter((pair) => !some.has(pair))).toEqual([]);
  const found = new Set(pairs);
  const solvable = [...all].filter((pair) => !isDecoy(pair));
  const missed = solvable.filter((pair) => !found.has(pair));
  expect(solvable.length).toBeGreaterThan(TITLES / 2);
  expect(missed.length / solvable.length).toBeLessThanOrEqual(0.02);
  // Decoys are counted separately: no rule can distinguish such a payable from the missing one.
  expect(judged.filter((pair) => isDecoy(pair) && !some.has(pair))).toEqual([]);

  // The same snapshot again changes nothing.
  await load(payables);
  expect(await runMatching(world.database, { by: 'test' })).toMatchObject({
    matched: 0,
    reopened: 0,
  });

  await world.database.prisma.$executeRaw`
    TRUNCATE conciliation.title_match, conciliation.match_run, conciliation.erp_payable,
             conciliation.erp_payable_reject, conciliation.erp_payable_import`;
  await load(shuffled(payables, 5));
  await runMatching(world.database, { by: 'test' });
  expect(await matched()).toEqual(pairs);
}, 900_000);
