import { describe, expect, it } from 'vitest';
import { daysBetween, toCivilDate } from '../../../src/base/values/business-day.ts';
import { parseTaxId } from '../../../src/base/values/tax-id.ts';
import { SyntheticTitles } from '../../../src/demo/synthetic-titles.ts';

const TUESDAY = toCivilDate('2026-03-10');
const MANY = 20_000;

function createTitles({ seed = 'a seed', titlesPerDay = 60, restate = true } = {}) {
  return new SyntheticTitles({ seed, titlesPerDay, restate });
}

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

  it('keeps the titles of today when the day is over', () => {
    const titles = createTitles();
    expect(missing([...titles.titlesOn(TUESDAY, 0)], [...titles.titlesOn(TUESDAY, 1)])).toEqual([]);
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
});
