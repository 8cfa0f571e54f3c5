import { describe, expect, it } from 'vitest';
import { addDays, daysBetween, toCivilDate } from '../../../src/base/values/business-day.ts';
import { parseDecimal } from '../../../src/base/values/decimal.ts';
import { parseTaxId } from '../../../src/base/values/tax-id.ts';
import { SyntheticTitles } from '../../../src/demo/synthetic-titles.ts';

const TUESDAY = toCivilDate('2026-03-10');
const SATURDAY = toCivilDate('2026-03-14');
const MANY = 20_000;

function createTitles({ seed = 'a seed', titlesPerDay = 60, restate = true } = {}) {
  return new SyntheticTitles({ seed, titlesPerDay, restate });
}

const sorted = (texts: Iterable<string>) => [...texts].sort();

/** The multiset difference: the items of `before` after each item of `after` has removed one. */
function missing(before: readonly string[], after: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const text of after) left.set(text, (left.get(text) ?? 0) + 1);
  return before.filter((text) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
}

interface TitleJson {
  order: { uid: string };
  financialAgent: {
    identificationNumber: string;
    buyerIsFinancial: boolean;
    payment: Record<string, string | null>;
  } | null;
  buyerIdentification: string;
  providerExternalId: string;
  provider: { identification: string; externalId: string };
  financialDiscountedValue: number;
  originalValue: number;
  acceptedDate: string;
  anticipatedDueDate: string;
  platformCommission?: string;
  billingFee?: number;
  moneyTransferFee: number | null;
}

const parse = (text: string) => JSON.parse(text) as TitleJson;

describe('SyntheticTitles', () => {
  it('gives the same titles for the same seed, date and age', () => {
    expect([...createTitles().titlesOn(TUESDAY, 5)]).toEqual([
      ...createTitles().titlesOn(TUESDAY, 5),
    ]);
  });

  it('gives other titles for another seed and for another date', () => {
    const uids = (texts: Iterable<string>) => [...texts].map((text) => parse(text).order.uid);
    const reference = new Set(uids(createTitles().titlesOn(TUESDAY, 1)));
    const others = [
      ...uids(createTitles({ seed: 'another' }).titlesOn(TUESDAY, 1)),
      ...uids(createTitles().titlesOn(addDays(TUESDAY, 1), 1)),
    ];
    expect(others.length).toBeGreaterThan(80);
    expect(others.filter((uid) => reference.has(uid))).toEqual([]);
  });

  it('has about a fifth of the titles on a weekend and half of them today', () => {
    const titles = createTitles({ titlesPerDay: 1_000 });
    expect(titles.countOn(TUESDAY, 3)).toBeGreaterThanOrEqual(900);
    expect(titles.countOn(TUESDAY, 3)).toBeLessThanOrEqual(1_100);
    expect(titles.countOn(SATURDAY, 3)).toBeGreaterThanOrEqual(180);
    expect(titles.countOn(SATURDAY, 3)).toBeLessThanOrEqual(220);
    expect(titles.countOn(TUESDAY, 0)).toBe(Math.ceil(titles.countOn(TUESDAY, 1) / 2));
  });

  it('keeps the titles of today when the day is over', () => {
    const titles = createTitles();
    expect(missing([...titles.titlesOn(TUESDAY, 0)], [...titles.titlesOn(TUESDAY, 1)])).toEqual([]);
  });

  it('repeats about three in a hundred titles to the letter, and no other order uid', () => {
    const texts = [...createTitles().titlesOn(TUESDAY, 1, MANY)];
    const distinct = new Set(texts);
    expect(new Set(texts.map((text) => parse(text).order.uid)).size).toBe(distinct.size);
    expect(texts.length - distinct.size).toBeGreaterThan(MANY * 0.02);
    expect(texts.length - distinct.size).toBeLessThan(MANY * 0.04);
  });

  it('changes order from the first day on, and nothing else until the second', () => {
    const titles = createTitles();
    const count = titles.countOn(TUESDAY, 1);
    const fresh = [...titles.titlesOn(TUESDAY, 0, count)];
    const dayOld = [...titles.titlesOn(TUESDAY, 1, count)];
    expect(dayOld).not.toEqual(fresh);
    expect(sorted(dayOld)).toEqual(sorted(fresh));
  });

  it('gives about one in a hundred another financial discount from two days on', () => {
    const titles = createTitles();
    const before = [...titles.titlesOn(TUESDAY, 1, MANY)];
    const after = [...titles.titlesOn(TUESDAY, 2, MANY)];
    const gone = missing(before, after).map(parse);
    const come = new Map(
      missing(after, before).map((text) => [parse(text).order.uid, parse(text)] as const),
    );
    expect(after).toHaveLength(MANY);
    expect(gone.length).toBeGreaterThan(MANY * 0.005);
    expect(gone.length).toBeLessThan(MANY * 0.015);
    for (const title of gone) {
      const restated = come.get(title.order.uid);
      expect(restated?.financialDiscountedValue).toBeGreaterThan(title.financialDiscountedValue);
      const { financialDiscountedValue } = title;
      expect({ ...restated, financialDiscountedValue }).toEqual(title);
    }
  });

  it('withdraws about one in a hundred from four days on, and then stays as it is', () => {
    const titles = createTitles();
    const before = [...titles.titlesOn(TUESDAY, 3, MANY)];
    const after = [...titles.titlesOn(TUESDAY, 4, MANY)];
    expect(missing(after, before)).toEqual([]);
    expect(missing(before, after).length).toBeGreaterThan(MANY * 0.005);
    expect(missing(before, after).length).toBeLessThan(MANY * 0.015);
    expect(sorted(titles.titlesOn(TUESDAY, 400, MANY))).toEqual(sorted(after));
  });

  it('never changes a closed day if restating is turned off', () => {
    const titles = createTitles({ restate: false });
    expect([...titles.titlesOn(TUESDAY, 30)]).toEqual([...titles.titlesOn(TUESDAY, 1)]);
  });

  it('makes plausible titles: valid tax identifiers, terms, amounts and gaps', () => {
    const texts = [...createTitles().titlesOn(TUESDAY, 1, MANY)];
    const titles = texts.map(parse);
    const taxIds = new Set(
      titles.flatMap((title) => [
        title.buyerIdentification,
        title.provider.identification,
        title.financialAgent?.identificationNumber ?? title.buyerIdentification,
      ]),
    );
    expect([...taxIds].filter((taxId) => parseTaxId(taxId)?.digits !== taxId)).toEqual([]);
    expect([...taxIds].some((taxId) => taxId.length === 11)).toBe(true);
    expect([...taxIds].some((taxId) => /[A-Z]/.test(taxId))).toBe(true);
    for (const title of titles) {
      expect(title.provider.externalId).toBe(title.providerExternalId);
      expect(title.acceptedDate).toBe(TUESDAY);
      const dueDate = toCivilDate(title.anticipatedDueDate);
      expect(daysBetween(TUESDAY, dueDate)).toBeGreaterThanOrEqual(15);
      expect(daysBetween(TUESDAY, dueDate)).toBeLessThanOrEqual(120);
    }
    expect(titles.some((title) => title.financialAgent === null)).toBe(true);
    expect(titles.some((title) => title.financialAgent?.buyerIsFinancial)).toBe(true);
    expect(titles.some((title) => title.billingFee === undefined)).toBe(true);
    expect(titles.some((title) => title.moneyTransferFee === null)).toBe(true);
    expect(titles.some((title) => title.platformCommission === undefined)).toBe(true);
  });

  it('writes amounts of at most two decimals in several spellings', () => {
    const written = [...createTitles().titlesOn(TUESDAY, 1, MANY)].map(
      (text) => /"originalValue":([^,]+),/.exec(text)?.[1] ?? '',
    );
    expect(written.some((text) => /^\d+\.\d0$/.test(text))).toBe(true);
    expect(written.some((text) => /^\d+\.\d$/.test(text))).toBe(true);
    expect(written.some((text) => /^\d+e-2$/.test(text))).toBe(true);
    for (const text of written) {
      expect(parseDecimal(text)?.canonical).toMatch(/^\d+(\.\d{1,2})?$/);
    }
  });
});
