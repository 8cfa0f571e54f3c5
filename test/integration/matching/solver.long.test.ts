/**
 * The matching beside a solver that shares no code with it. The solver applies the documented rules one title at a time
 * and says which matches are made, with companies and with payables that are not open.
 */
import { expect, test } from 'vitest';
import { createSeededRandom } from '../../../src/demo/synthetic-titles.ts';
import { runMatching } from '../../../src/features/matching/run-matching.sql.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, worldOfFile } from '../../support/pull-world.ts';
import { amountOf, shuffled } from '../../support/random-runs.ts';
import { titleText } from '../../support/titles.ts';

const TITLES = 1500;
const TOLERANCE_DAYS = 5;

interface MadeTitle {
  readonly uid: string;
  readonly supplier: string;
  readonly cents: number;
  readonly due: number;
  readonly buyer: string;
}
interface MadePayable {
  readonly key: string;
  readonly supplier: string;
  readonly cents: number;
  readonly due: number;
  readonly order: string | null;
  readonly document: string;
  readonly company: string;
  readonly status: string;
}

const world = worldOfFile();

const dateOf = (day: number) =>
  new Date(Date.UTC(2026, 6, 1) + day * 86_400_000).toISOString().slice(0, 10);

const BUYERS = ['90021382000122', '44555666000181'] as const;
/** The first code stands for the first buyer, as a person has confirmed. The others are not confirmed. */
const CODES = { mapped: '01', unmapped: '02', blank: '' } as const;

/** Titles, and payables of an ERP that agrees with most of them. */
function makeWorld(seed: number) {
  const next = createSeededRandom(String(seed));
  const titles: MadeTitle[] = [];
  const payables: MadePayable[] = [];
  /** Named by the CNPJ, mostly; some rows by a code. */
  const companyOf = (buyer: string) => {
    const draw = next(100);
    if (draw < 94) return buyer;
    if (draw < 97) return buyer === BUYERS[0] ? CODES.mapped : CODES.unmapped;
    return CODES.blank;
  };
  const add = (
    payable: Omit<MadePayable, 'key' | 'company' | 'status'> & { readonly status?: string },
    buyer: string,
  ) => {
    const key = `K${payables.length}`;
    payables.push({ status: 'open', company: companyOf(buyer), ...payable, key });
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
      buyer: BUYERS[next(5) === 0 ? 1 : 0],
    };
    titles.push(title);
    const { supplier, cents, due, uid, buyer } = title;
    const document = `NF-${index}`;
    const like = { supplier, cents, due, order: null, document };
    const fate = next(100);
    if (fate < 30) add({ ...like, due: due + next(7), order: uid }, buyer);
    else if (fate < 70) add(like, buyer);
    else if (fate < 88) {
      add({ ...like, due: due + next(2 * TOLERANCE_DAYS + 1) - TOLERANCE_DAYS }, buyer);
    } else if (fate < 92) add({ ...like, cents: cents + next(500) + 1 }, buyer);
    else if (fate < 94) {
      add(like, buyer);
      add({ ...like, document: `${document}-2` }, buyer);
    } else if (fate < 96) {
      // The true payable is missing, and that of something else is near.
      add({ ...like, due: due + 1, document: `other-${index}` }, buyer);
    }
    if (next(100) < 6) {
      // A payable that was paid or cancelled; sometimes the same document, which was entered again.
      const status = next(2) === 0 ? 'paid' : 'cancelled';
      const order = next(4) === 0 ? uid : null;
      const settled = { ...like, due: due + next(15) - 7, order, status };
      add({ ...settled, document: next(3) === 0 ? document : `old-${index}` }, buyer);
    }
  }
  return { titles, payables };
}

/** Due dates are from July to September 2026: 7 September is the only holiday of these months. */
function businessDayOf(day: number): number {
  const date = dateOf(day);
  const isOpen = ![0, 6].includes(new Date(date).getUTCDay()) && date !== '2026-09-07';
  return isOpen ? day : businessDayOf(day + 1);
}

const isSameDue = (title: MadeTitle, payable: MadePayable) =>
  payable.due === title.due || payable.due === businessDayOf(title.due);

function isCompanyOf(title: MadeTitle, payable: MadePayable): boolean {
  const buyer = payable.company === CODES.mapped ? BUYERS[0] : payable.company;
  return buyer === CODES.unmapped || buyer === CODES.blank || buyer === title.buyer;
}

/** The rules that accept the pair, by their numbers. */
function rulesOf(title: MadeTitle, payable: MadePayable): number[] {
  if (!isCompanyOf(title, payable)) return [];
  if (title.cents !== payable.cents || payable.supplier !== title.supplier) return [];
  if (Math.abs(payable.due - title.due) > TOLERANCE_DAYS) return [];
  return [
    ...(payable.order === title.uid ? [1] : []),
    ...(isSameDue(title, payable) ? [2] : []),
    3,
  ];
}

/** Whether the program may match the pair at all: the order and the company permit it. */
function isPermitted(title: MadeTitle, payable: MadePayable): boolean {
  if (payable.order !== null && payable.order !== title.uid) return false;
  const isKnown = payable.company !== CODES.unmapped && payable.company !== CODES.blank;
  return isKnown || (payable.order === title.uid && isSameDue(title, payable));
}

/** The matches of a first run by the documented rules, and the titles that a payable which is not open leaves without. */
function documented(titles: readonly MadeTitle[], all: readonly MadePayable[]) {
  const byCents = groupBy(all, ({ cents }) => cents);
  const titlesByCents = groupBy(titles, ({ cents }) => cents);
  const fitting = (title: MadeTitle, rule: number, isOpen: boolean) => {
    const found = (byCents.get(title.cents) ?? []).filter(
      (payable) => (payable.status === 'open') === isOpen && rulesOf(title, payable).includes(rule),
    );
    // A payable of the title's own due date counts before one of another date.
    const ofDay = rule === 2 && isOpen ? found.filter(({ due }) => due === title.due) : [];
    return ofDay.length > 0 ? ofDay : found;
  };
  /** The only payable of the title by a rule, whose only title it is. */
  const soleOf = (title: MadeTitle, rule: number) => {
    const [payable, ...others] = fitting(title, rule, true);
    if (payable === undefined || others.length > 0 || !isPermitted(title, payable)) return null;
    const rivals = (titlesByCents.get(title.cents) ?? []).filter((other) =>
      fitting(other, rule, true).includes(payable),
    );
    return rivals.length === 1 ? payable : null;
  };
  const decided = titles.flatMap((title) =>
    [1, 2, 3].flatMap((rule) => {
      const payable = soleOf(title, rule);
      return payable === null ? [] : [{ title, payable, rule }];
    }),
  );
  const firstOfTitle = groupBy(decided, ({ title }) => title.uid);
  const firstOfPayable = groupBy(decided, ({ payable }) => payable.key);
  const vetoed = new Set<string>();
  const isFirst = ({ title, payable, rule }: (typeof decided)[number]) =>
    [firstOfTitle.get(title.uid), firstOfPayable.get(payable.key)].every((found) =>
      (found ?? []).every((other) => other.rule >= rule),
    );
  const taken = new Set(decided.filter(isFirst).map(({ payable }) => payable.key));
  const matches = decided.filter(isFirst).filter(({ title, payable, rule }) => {
    const isDue = isSameDue(title, payable);
    const exact = [...fitting(title, 2, true), ...fitting(title, 2, false)].filter(
      (other) => !isEnteredAgain(other, payable),
    );
    if (rule === 1 && !isDue && exact.length > 0) {
      vetoed.add(title.uid);
      return false;
    }
    const settled = (byCents.get(title.cents) ?? []).filter(
      (other) => other.status !== 'open' && !isEnteredAgain(other, payable),
    );
    const prevents = settled.some((other) => {
      const [first] = rulesOf(title, other);
      if (first === undefined) return false;
      const isAsNear = Math.abs(other.due - title.due) <= Math.abs(payable.due - title.due);
      return first < rule || (rulesOf(title, other).includes(rule) && isAsNear);
    });
    // Without the order, a payable of the order keeps the title in doubt.
    const hasOwn = all.some(
      (other) =>
        rule > 1 &&
        other.order === title.uid &&
        other.supplier === title.supplier &&
        other.status !== 'cancelled' &&
        (other.cents === title.cents || Math.abs(other.due - title.due) <= TOLERANCE_DAYS),
    );
    // Beside a payable of another date, a free one of the own due date.
    const hasOtherValue =
      rule === 3 &&
      all.some(
        (other) =>
          other.status === 'open' &&
          !taken.has(other.key) &&
          other.supplier === title.supplier &&
          (other.order ?? title.uid) === title.uid &&
          isCompanyOf(title, other) &&
          isSameDue(title, other),
      );
    const isKept = !prevents && !hasOwn && !hasOtherValue;
    if (!isKept) vetoed.add(title.uid);
    return isKept;
  });
  return {
    vetoed,
    pairs: matches.map(({ title, payable }) => `${title.uid}/${payable.key}`.replace(/[tK]/g, '')),
  };
}

const isEnteredAgain = (settled: MadePayable, open: MadePayable) =>
  settled.status === 'cancelled' && settled.document === open.document;

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key) {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const textsOf = (titles: readonly MadeTitle[]) =>
  titles.map(({ uid, supplier, cents, due, buyer }) =>
    titleText({ uid, value: amountOf(cents), dueDate: dateOf(due), code: supplier, buyer }),
  );

async function matched(): Promise<string[]> {
  const rows = await world.prisma.$queryRaw<{ pair: string }[]>`
    SELECT order_uid || '/' || erp_key AS pair FROM conciliation.title_match
    JOIN conciliation.title ON title.id = title_id WHERE ended_at IS NULL`;
  return rows.map(({ pair }) => pair.replace('t', '').replace('K', '')).sort();
}

const load = (payables: readonly MadePayable[]) =>
  importPayables(
    world.database,
    payables.map(({ key, supplier, cents, due, order, document, company, status }) => ({
      erpKey: key,
      supplierExternalId: supplier,
      openValue: amountOf(cents),
      dueDate: dateOf(due),
      document,
      company,
      status,
      ...(order !== null && { orderUid: order }),
    })),
  );

test('the matches are those of the documented rules, in any order of the input', async () => {
  const { titles, payables } = makeWorld(11);
  await world.serve(DAY, textsOf(titles));
  await world.prisma.companyBuyer.create({
    data: { company: CODES.mapped, buyer: BUYERS[0], confirmedBy: 'test', reason: 'x' },
  });
  await load(payables);
  const { matched: count } = await runMatching(world.database, { by: 'test' });
  const pairs = await matched();
  expect(pairs).toHaveLength(count);

  const byRules = documented(titles, payables);
  expect(pairs).toEqual(byRules.pairs.sort());
  // The payables that are not open decide about some titles.
  expect(byRules.vetoed.size).toBeGreaterThan(TITLES / 100);

  // The same snapshot again changes nothing.
  await load(payables);
  expect(await runMatching(world.database, { by: 'test' })).toMatchObject({
    matched: 0,
    reopened: 0,
  });

  await world.prisma.$executeRaw`
    TRUNCATE conciliation.title_match, conciliation.match_run, conciliation.erp_payable,
             conciliation.erp_payable_reject, conciliation.erp_payable_import`;
  await load(shuffled(payables, createSeededRandom('5')));
  await runMatching(world.database, { by: 'test' });
  expect(await matched()).toEqual(pairs);
}, 900_000);
