/**
 * Limits beyond which a response waits for a person although it keeps the contract. Small numbers of titles vary
 * by themselves: no limit holds a response because of fewer titles than `MIN_TITLES`,
 * except for those of one buyer.
 */
export interface PlausibilityLimits {
  /** The greatest share of a response, in percent, of titles that equal an earlier title of it in their identity. */
  readonly duplicatePercent: number;
  /** The greatest multiple of the usual number of titles of that weekday. */
  readonly growthFactor: number;
  /** The greatest share of the current titles of a date, in percent, that a response may change. */
  readonly changedPercent: number;
  /** The greatest factor between the mean original value of a response and the usual one of that weekday. */
  readonly valueFactor: number;
}

export const MIN_TITLES = 20;

/** Of one buyer, for the withdrawal limit. */
export const MIN_BUYER_TITLES = 5;

/** The newest reconciled dates of the same weekday; fewer make nothing usual. */
export const MIN_USUAL_DAYS = 4;

/** The reasons why a plausible document waits for a person. */
export const IMPLAUSIBLE_REASONS = [
  'buyer_withdrawals',
  'duplicates',
  'growth',
  'changed_share',
  'value_jump',
] as const;
export type ImplausibleReason = (typeof IMPLAUSIBLE_REASONS)[number];

/** What a response would do to its date, counted. */
export interface ResponseFacts {
  /** Titles of the response that keep the contract. */
  readonly titles: number;
  /** New titles of the response that equal an earlier title of it, or of the date, in their identity. */
  readonly duplicates: number;
  readonly currentTitles: number;
  readonly inserted: number;
  readonly changed: number;
  /** Whether one buyer loses more than the withdrawal limit of its titles. */
  readonly hasLostBuyer: boolean;
  /** The median number of titles of the weekday; null: not known. */
  readonly usualTitles: number | null;
  /** The greater one of the mean original values, response and usual, as a multiple of the other one; null: not known. */
  readonly valueRatio: number | null;
}

/** Returns the reason why a response must wait; null: none. */
export function implausibleReason(
  facts: ResponseFacts,
  limits: PlausibilityLimits,
): ImplausibleReason | null {
  const { titles, duplicates, currentTitles, changed, usualTitles, valueRatio } = facts;
  if (facts.hasLostBuyer) return 'buyer_withdrawals';
  if (duplicates >= MIN_TITLES && duplicates * 100 > limits.duplicatePercent * titles) {
    return 'duplicates';
  }
  const isGrown = usualTitles !== null && titles > limits.growthFactor * usualTitles;
  if (isGrown && facts.inserted >= MIN_TITLES) return 'growth';
  if (changed >= MIN_TITLES && changed * 100 > limits.changedPercent * currentTitles) {
    return 'changed_share';
  }
  const isOtherUnit = valueRatio !== null && valueRatio > limits.valueFactor;
  return isOtherUnit && titles >= MIN_TITLES ? 'value_jump' : null;
}

/** The reasons as a part of a sentence, for the command line, alerts and pages. */
export const IMPLAUSIBLE_TEXTS: Readonly<
  Record<'en' | 'pt-BR', Readonly<Record<ImplausibleReason, string>>>
> = {
  en: {
    buyer_withdrawals: 'more titles of one buyer vanished than WITHDRAWAL_LIMIT_PERCENT allows',
    duplicates:
      'more titles are equal to another title of the response than DUPLICATE_LIMIT_PERCENT allows, as in an answer that was doubled',
    growth: 'the response has more titles than GROWTH_LIMIT times the usual number of that weekday',
    changed_share: 'the response changes more titles than CHANGED_LIMIT_PERCENT allows',
    value_jump:
      'the mean value of the titles differs from the usual one of that weekday by more than the factor VALUE_LIMIT, as with another unit',
  },
  'pt-BR': {
    buyer_withdrawals:
      'sumiram mais títulos de um comprador do que WITHDRAWAL_LIMIT_PERCENT permite',
    duplicates:
      'há mais títulos iguais a outro da mesma resposta do que DUPLICATE_LIMIT_PERCENT permite, como em uma resposta duplicada',
    growth:
      'a resposta tem mais títulos do que GROWTH_LIMIT vezes a quantidade usual desse dia da semana',
    changed_share: 'a resposta altera mais títulos do que CHANGED_LIMIT_PERCENT permite',
    value_jump:
      'o valor médio dos títulos difere do usual desse dia da semana por um fator maior que VALUE_LIMIT, como em outra unidade',
  },
};

export function isImplausible(reason: string | null): reason is ImplausibleReason {
  return IMPLAUSIBLE_REASONS.some((known) => known === reason);
}
