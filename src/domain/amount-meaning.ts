/**
 * The amounts of which the platform documents only that they are monetary values, with their names in the
 * interface. A buyer may know from the platform or from its bank statement what a field means.
 */
export const DISCOUNTED_FIELDS = {
  platform_discounted_value: 'platformDiscountedValue',
  financial_discounted_value: 'financialDiscountedValue',
  buyer_discounted_value: 'buyerDiscountedValue',
} as const;
export type DiscountedColumn = keyof typeof DISCOUNTED_FIELDS;
export const DISCOUNTED_COLUMNS = Object.keys(DISCOUNTED_FIELDS) as DiscountedColumn[];

/** `discount`: the amount is subtracted from the original value. `net`: the amount is the rest. */
export const AMOUNT_MEANINGS = ['unknown', 'discount', 'net'] as const;
type AmountMeaning = (typeof AMOUNT_MEANINGS)[number];

export type AmountMeanings = Readonly<Record<DiscountedColumn, AmountMeaning>>;

export const UNKNOWN_MEANINGS: AmountMeanings = {
  platform_discounted_value: 'unknown',
  financial_discounted_value: 'unknown',
  buyer_discounted_value: 'unknown',
};

/**
 * Reads `platformDiscountedValue=net,buyerDiscountedValue=discount`. A field that is not named is unknown.
 * @returns null where the text has another form, another name or a name twice
 */
export function parseAmountMeanings(text: string): AmountMeanings | null {
  const meanings: Record<DiscountedColumn, AmountMeaning> = { ...UNKNOWN_MEANINGS };
  const named = new Set<DiscountedColumn>();
  for (const entry of text.split(',')) {
    const [field, word, ...rest] = entry.split('=').map((part) => part.trim());
    const column = DISCOUNTED_COLUMNS.find((candidate) => DISCOUNTED_FIELDS[candidate] === field);
    const meaning = AMOUNT_MEANINGS.find((candidate) => candidate === word);
    if (column === undefined || meaning === undefined || rest.length > 0 || named.has(column)) {
      return null;
    }
    named.add(column);
    meanings[column] = meaning;
  }
  return meanings;
}
