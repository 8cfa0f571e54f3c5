/**
 * The rule of sums beside an exhaustive search that shares no code with it. In each group of one supplier and one
 * due date, the search looks at every subset of payables for each title, and at every subset of titles for each
 * payable. A sum is expected where its rows share the order or the document, and no other subset or single row that
 * adds up has one of them.
 */
import { beforeEach, expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { clearMatching, listMatches, match, pullTitles } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { numbersFrom } from '../../support/random-runs.ts';

const world = worldOfFile();
beforeEach(() => clearMatching(world.database));

const GROUPS = 120;

interface MadeTitle {
  readonly uid: string;
  readonly value: number;
  readonly group: number;
}
interface MadePayable {
  readonly key: string;
  readonly value: number;
  readonly group: number;
  readonly order: string | null;
  readonly document: string | null;
}
interface Subset {
  readonly titles: readonly MadeTitle[];
  readonly payables: readonly MadePayable[];
}

/** Groups are 20 days apart, so that no tolerance joins them. */
const dueDateOf = (group: number) =>
  new Date(Date.UTC(2027, 0, 1) + group * 20 * 86_400_000).toISOString().slice(0, 10);

function makeGroup(group: number, next: (below: number) => number) {
  const titles: MadeTitle[] = [];
  const payables: MadePayable[] = [];
  const add = (value: number, order: string | null, document: string | null) =>
    payables.push({ key: `k${group}-${payables.length}`, value, group, order, document });
  for (let index = 0; index < 1 + next(3); index += 1) {
    const uid = `o${group}-${next(2)}`;
    const value = 20 + next(40);
    titles.push({ uid, value, group });
    const order = next(3) > 0 ? uid : null;
    const document = next(2) > 0 ? `NF-${next(2)}` : null;
    const parts = 2 + next(2);
    let left = value;
    for (let part = 1; part < parts; part += 1) {
      const cut = 1 + next(15);
      add(cut, order, document);
      left -= cut;
    }
    add(left + (next(5) === 0 ? 1 : 0), order, document);
  }
  if (next(3) === 0) {
    const sum = titles.reduce((total, { value }) => total + value, 0);
    if (titles.length > 1) payables.splice(0, payables.length);
    add(sum, next(2) > 0 ? (titles[0]?.uid ?? null) : null, null);
  }
  if (next(3) === 0) add(1 + next(60), null, `NF-${next(2)}`);
  return { titles, payables: payables.filter(({ value }) => value !== 0) };
}

function subsetsOf<T>(items: readonly T[]): T[][] {
  return Array.from({ length: 2 ** items.length }, (_, mask) =>
    items.filter((_item, index) => Math.floor(mask / 2 ** index) % 2 === 1),
  ).filter(({ length }) => length >= 1 && length <= 5);
}

const total = (items: readonly { readonly value: number }[]) =>
  items.reduce((sum, { value }) => sum + value, 0);

function expectedOf({ titles, payables }: Subset): string[] {
  if (payables.length > 12) return [];
  const fitting: Subset[] = [
    ...titles.flatMap((title) =>
      subsetsOf(payables)
        .filter((items) => total(items) === title.value)
        .map((items) => ({ titles: [title], payables: items })),
    ),
    ...payables.flatMap((payable) =>
      subsetsOf(titles)
        .filter((items) => items.length > 1 && total(items) === payable.value)
        .map((items) => ({ titles: items, payables: [payable] })),
    ),
  ];
  return fitting
    .filter((subset) => subset.titles.length + subset.payables.length > 2)
    .filter((subset) =>
      fitting.every(
        (other) =>
          other === subset ||
          (!other.titles.some((title) => subset.titles.includes(title)) &&
            !other.payables.some((payable) => subset.payables.includes(payable))),
      ),
    )
    .filter(sharesOrderOrDocument)
    .flatMap((subset) =>
      subset.titles.flatMap(({ uid }) => subset.payables.map(({ key }) => `${uid}=${key} sum`)),
    );
}

function sharesOrderOrDocument(subset: Subset): boolean {
  const orders = new Set(subset.titles.map(({ uid }) => uid));
  if (subset.payables.some(({ order }) => order !== null && !orders.has(order))) return false;
  if (orders.size > 1) return false;
  if (subset.titles.length > 1) return true;
  if (subset.payables.every(({ order }) => order !== null)) return true;
  const documents = new Set(subset.payables.map(({ document }) => document));
  return documents.size === 1 && !documents.has(null);
}

test('the sums are those that an exhaustive search finds, in any order of the input', async () => {
  const next = numbersFrom(7);
  const groups = Array.from({ length: GROUPS }, (_, group) => makeGroup(group, next));
  const expected = groups.flatMap(expectedOf).sort();
  await pullTitles(
    world,
    groups.flatMap(({ titles }) =>
      titles.map(({ uid, value, group }) => ({
        uid,
        value: String(value),
        dueDate: dueDateOf(group),
      })),
    ),
  );
  const payables = groups.flatMap((group) =>
    group.payables.map(({ key, value, order, document }) => ({
      erpKey: key,
      openValue: String(value),
      dueDate: dueDateOf(Number(key.slice(1).split('-')[0])),
      ...(order !== null && { orderUid: order }),
      ...(document !== null && { document }),
    })),
  );
  for (const rows of [payables, payables.toReversed()]) {
    await clearMatching(world.database);
    await importPayables(world.database, rows);
    await match(world.database);
    const sums = (await listMatches(world.database)).filter((name) => name.endsWith(' sum'));
    expect(sums).toEqual(expected);
  }
  expect(expected.length).toBeGreaterThan(GROUPS / 2);
}, 900_000);
