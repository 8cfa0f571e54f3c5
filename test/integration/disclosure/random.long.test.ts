/** In random ledgers the figures are those of an independent computation from the definition in docs/matching.md. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Transaction } from '../../../src/base/database/database.ts';
import {
  addDays,
  type CivilDate,
  dateIn,
  daysBetween,
} from '../../../src/base/values/business-day.ts';
import { createSeededRandom } from '../../../src/demo/synthetic-titles.ts';
import {
  type DisclosureRow,
  readDisclosure,
} from '../../../src/features/disclosure/disclosure.sql.ts';
import {
  AGENT,
  BUYER,
  judgedWorldOfFile,
  SUPPLIER,
  THIRD_PARTY,
} from '../../support/judged-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { tryHistories } from '../../support/random-runs.ts';

const { world, judged } = judgedWorldOfFile();
const BRANCH = '90021382000203';
const NEVER = '9999-12-31' as CivilDate;
const keys: string[] = [];
const closed = new Map<CivilDate, CivilDate>();

beforeAll(async () => {
  await judged.pull(DAY, 'a 100, b 100, c 100, d 100');
  await judged.match();
  await judged.release(DAY);
  await judged.answer(DAY, 'posted');
  for (const uid of ['a', 'b', 'c', 'd']) keys.push(await judged.keyOf(uid, DAY));
  for (const row of await world.database.prisma.closedDay.findMany())
    closed.set(row.date, row.businessDay);
});

const dayOf = (instant: Date) => dateIn('America/Sao_Paulo', instant);
const cents = (value: unknown) => Math.round(Number(value) * 100);
const latest = <T extends CivilDate | Date>(dates: readonly T[]): T | undefined =>
  dates.toSorted((x, y) => +(x > y) - +(x < y)).at(-1);
const least = (...dates: readonly (CivilDate | null)[]) =>
  dates.filter((date) => date !== null).sort()[0] ?? NEVER;

/** Changes the posted titles, and adds titles, payables and matches. */
async function writeLedger(tx: Transaction, random: (below: number) => number): Promise<void> {
  const oneOf = <T>(...values: readonly T[]) => values[random(values.length)] as T;
  const day = () => addDays(DAY, random(150) - 50);
  const instant = () => new Date(Date.parse(day()) + random(86_400_000));
  const buyers = oneOf([BUYER], [BUYER, BUYER, BRANCH, null]);
  const titleFields = () => ({
    originalValue: String(random(1_000_000) / 100),
    anticipatedDueDate: oneOf(day(), day(), day(), null),
    buyerIdentification: oneOf(...buyers),
    financialAgentIdentification: oneOf(AGENT, THIRD_PARTY),
    buyerIsFinancial: oneOf(false, false, null, true),
    providerIdentification: SUPPLIER,
  });
  // For this transaction: the rows are written as they are.
  await tx.$executeRaw`SET LOCAL session_replication_role = replica`;
  const posted = await tx.title.updateManyAndReturn({ data: titleFields(), select: { id: true } });
  const others = await tx.title.createManyAndReturn({
    data: Array.from({ length: 12 }, (_, index) => ({
      ...titleFields(),
      status: oneOf('current', 'current', 'current', 'withdrawn'),
      acceptedDate: daysFrom(1 + random(90)),
      orderUid: `t${index}`,
      occurrence: 1,
      ...{ identityHash: randomUUID(), contentHash: randomUUID(), rawHash: randomUUID() },
      ...{ firstPullId: 1n, lastChangePullId: 1n },
    })),
    select: { id: true },
  });
  await tx.erpPayable.createMany({
    data: Array.from({ length: 30 }, (_, index) => ({
      erpKey: `k${index}`,
      company: oneOf(BUYER, BRANCH, '0001', null),
      supplierExternalId: 'P-1',
      supplierTaxId: oneOf(SUPPLIER, SUPPLIER, SUPPLIER, AGENT, null),
      dueDate: oneOf(day(), day(), null),
      issueDate: oneOf(day(), day(), null),
      openValue: oneOf('10.50', '0', '70', '70', '-5'),
      totalValue: oneOf(null, null, '70', '-70'),
      currency: oneOf(null, 'BRL', 'BRL', 'USD'),
      status: oneOf('open', 'open', 'open', 'paid', 'paid', 'cancelled'),
      payee: oneOf(null, null, null, SUPPLIER, AGENT, THIRD_PARTY),
      paidTo: oneOf(null, AGENT, THIRD_PARTY, SUPPLIER),
      settledAs: oneOf(null, null, null, null, 'payment', 'assignment', 'offset'),
      settledOn: oneOf(day(), null),
      settledBy: oneOf(null, null, null, null, null, keys[0] ?? null),
      bookingKey: oneOf(null, null, null, null, oneOf(...keys)),
      wasAssigned: random(10) === 0,
      closedAt: oneOf(null, null, null, instant()),
      ...{ statedAt: instant(), createdAt: instant(), changedAt: instant() },
    })),
  });
  if (random(2) === 0) {
    const complete = { kind: 'sql', importedBy: 'erp', startedAt: instant() };
    await tx.erpPayableImport.create({ data: complete });
  }
  const [run] = await tx.matchRun.updateManyAndReturn({ data: { statesPaid: random(2) === 0 } });
  const ground = randomUUID();
  await tx.titleMatch.createMany({
    data: Array.from({ length: 20 }, (_, index) => ({
      titleId: oneOf(...posted, ...others).id,
      titlePart: index % 5,
      erpKey: `k${index}`,
      ...{ rule: 'sum', ruleVersion: 6, sumId: BigInt(index), runId: run?.id ?? null },
      ...{ madeBy: 'test', titleGround: ground, erpGround: ground, erpValue: '1' },
      ...(random(4) === 0 && { endedAt: new Date(), endedBy: 'test', endReason: 'x' }),
    })),
    skipDuplicates: true,
  });
}

/** The figures from the rows of the tables, one liability after the other. */
async function compute(tx: Transaction, dates: readonly CivilDate[]): Promise<string[]> {
  const titles = (await tx.title.findMany()).filter(
    ({ status, buyerIsFinancial }) => status === 'current' && buyerIsFinancial !== true,
  );
  const payables = await tx.erpPayable.findMany();
  const matches = await tx.titleMatch.findMany({ where: { endedAt: null } });
  const { statesPaid } = await tx.matchRun.findFirstOrThrow({ orderBy: { id: 'desc' } });
  const complete = (await tx.erpPayableImport.findMany()).map(({ startedAt }) => startedAt);
  // The posted lines name AGENT.
  const agents = new Set([
    AGENT,
    ...titles.map(({ financialAgentIdentification }) => financialAgentIdentification),
  ]);
  const buyers = new Set(titles.map(({ buyerIdentification }) => buyerIdentification ?? ''));
  const businessDay = (due: CivilDate | null) => due && (closed.get(due) ?? due);
  const stillOpen = (due: CivilDate | null, stated: readonly Date[]) => {
    const last = latest([...stated, ...complete]) ?? new Date(0);
    return latest([businessDay(due) ?? NEVER, addDays(dayOf(last), 1)]) ?? NEVER;
  };
  type Liability = Record<'kind' | 'group', string> & Record<'from' | 'until', CivilDate>;
  const found: (Liability & { cents: number; terms: number[] })[] = [];
  for (const title of titles) {
    const { anticipatedDueDate: due, financialAgentIdentification: agent } = title;
    const booking = `${title.acceptedDate}:${title.identityHash.replaceAll('-', '')}:`;
    const own = payables.filter(
      ({ bookingKey, erpKey, currency }) =>
        currency !== 'USD' &&
        (bookingKey === null
          ? matches.some((match) => match.titleId === title.id && match.erpKey === erpKey)
          : bookingKey.startsWith(booking)),
    );
    const facts = own.map((payable) => {
      const { bookingKey, payee, closedAt, settledAs, settledBy, status } = payable;
      const isItem = bookingKey !== null;
      const isOpen = status === 'open' && closedAt === null;
      const isPaid =
        status === 'paid' || settledAs === 'payment' || (isOpen && Number(payable.openValue) === 0);
      const isOtherwise =
        settledBy !== null || settledAs === 'assignment' || settledAs === 'offset';
      const receiver =
        isItem || (payee !== SUPPLIER && payee !== payable.supplierTaxId) ? payee : null;
      const paidTo = payable.paidTo ?? receiver;
      const isGone = closedAt !== null && !statesPaid && (isItem || receiver === agent);
      const pays =
        (isPaid && !isOtherwise && (paidTo === agent || (isItem && paidTo === null))) || isGone;
      return { payable, isOpen: isOpen && !isPaid, pays };
    });
    const pays = facts.filter((fact) => fact.pays).map(({ payable }) => payable);
    const open = facts.filter(({ isOpen }) => isOpen).map(({ payable }) => payable.statedAt);
    const settled = latest(pays.flatMap(({ settledOn }) => settledOn ?? []));
    const stated = latest(pays.map(({ changedAt }) => changedAt));
    const until =
      stated !== undefined
        ? (settled ?? least(businessDay(due), dayOf(stated)))
        : open.length > 0
          ? stillOpen(due, open)
          : (businessDay(due) ?? NEVER);
    const invoices = payables.filter(
      ({ erpKey, bookingKey }) =>
        bookingKey === null &&
        matches.some((match) => match.titleId === title.id && match.erpKey === erpKey),
    );
    const terms = invoices.flatMap(({ issueDate }) =>
      issueDate && due ? [daysBetween(issueDate, due)] : [],
    );
    const group = `${title.buyerIdentification ?? ''} ${agent}`;
    const from = title.acceptedDate ?? NEVER;
    found.push({
      kind: 'anticipated',
      group,
      from,
      until,
      cents: cents(title.originalValue),
      terms,
    });
  }
  for (const payable of payables) {
    const { status, settledAs, settledBy, bookingKey, closedAt, dueDate, issueDate } = payable;
    const isOfAgent = [payable.payee, payable.supplierTaxId].some(
      (party) => party !== null && agents.has(party),
    );
    const isInProgramme =
      bookingKey !== null ||
      settledBy !== null ||
      settledAs === 'assignment' ||
      payable.wasAssigned ||
      matches.some((match) => match.erpKey === payable.erpKey);
    const isCredit = Number(payable.openValue) < 0 || Number(payable.totalValue ?? 0) < 0;
    const isOther = status === 'cancelled' || payable.currency === 'USD' || isCredit;
    if (isOther || isOfAgent || isInProgramme) continue;
    const isOpen =
      status === 'open' && closedAt === null && settledAs === null && Number(payable.openValue) > 0;
    const until = isOpen
      ? stillOpen(dueDate, [payable.statedAt])
      : (payable.settledOn ?? least(businessDay(dueDate), dayOf(payable.changedAt)));
    const only = buyers.size === 1 ? [...buyers][0] : undefined;
    const company =
      payable.company?.length === 14 ? payable.company : (only ?? payable.company ?? '');
    const terms = issueDate && dueDate ? [daysBetween(issueDate, dueDate)] : [];
    const from = issueDate ?? dayOf(payable.createdAt);
    found.push({ kind: 'comparable', group: `${company} null`, from, until, cents: 0, terms });
  }
  return dates
    .flatMap((date) =>
      ['anticipated', 'comparable'].flatMap((kind) => {
        const there = found.filter(
          (each) => each.kind === kind && each.from <= date && date < each.until,
        );
        const groups = ['null null', ...new Set(there.map(({ group }) => group))];
        return groups.map((group) => {
          const own = group === 'null null' ? there : there.filter((each) => each.group === group);
          const terms = own.flatMap((each) => each.terms);
          const value =
            kind === 'anticipated' ? own.reduce((sum, each) => sum + each.cents, 0) : null;
          const undated = own.filter((each) => each.terms.length === 0).length;
          const range =
            terms.length === 0 ? 'null null' : `${Math.min(...terms)} ${Math.max(...terms)}`;
          return `${date} ${kind} ${group} ${own.length} ${value} ${range} ${undated}`;
        });
      }),
    )
    .sort();
}

function lineOf({ date, liabilities, company, agent, number, ...row }: DisclosureRow): string {
  const value = row.value === null ? null : cents(row.value);
  return `${date} ${liabilities} ${company} ${agent} ${number} ${value} ${row.shortest} ${row.longest} ${row.undated}`;
}

test('the figures are those of an independent computation', async () => {
  const rolledBack = new Error('rolled back');
  const seen = { rows: 0, groups: new Set<number>() };
  await tryHistories(200, async (seed) => {
    const random = createSeededRandom(String(seed));
    const dates = [addDays(DAY, random(140) - 30), addDays(DAY, random(140) - 30)];
    const ledger = world.database.prisma.$transaction(async (tx) => {
      await writeLedger(tx, random);
      const rows = (await readDisclosure(tx, dates)).map(lineOf).sort();
      expect(rows).toEqual(await compute(tx, [...new Set(dates)]));
      seen.rows += rows.length;
      seen.groups.add(rows.length);
      throw rolledBack;
    });
    await ledger.catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
  });
  // The ledgers are not all alike, and not empty.
  expect(seen.rows).toBeGreaterThan(200 * 6);
  expect(seen.groups.size).toBeGreaterThan(6);
});
