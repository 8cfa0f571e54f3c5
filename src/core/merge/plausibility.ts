/**
 * Limits beyond which a response waits for a person although it keeps the contract. Each limit holds for the whole
 * response and for the titles of each buyer. Small numbers of titles vary by themselves: no limit holds a response
 * because of fewer titles than `MIN_TITLES`, and those of one buyer that vanished, than `MIN_BUYER_TITLES`.
 */
const MIN_TITLES = 20;

/** The greatest share of a response, in percent, of titles that equal an earlier title of it in their identity. */
const DUPLICATE_PERCENT = 25;
/** The greatest multiple of the usual number of titles of that weekday. */
const GROWTH_FACTOR = 5;
/** The greatest share of the current titles of a date, in percent, that a response may change. */
const CHANGED_PERCENT = 50;
/** The greatest factor between the mean original value of a response and the usual one of that weekday. */
const VALUE_FACTOR = 20;

/** Of one buyer, whose titles vanish. */
const MIN_BUYER_TITLES = 5;

/** The newest reconciled dates of the same weekday; fewer make nothing usual. */
export const MIN_USUAL_DAYS = 4;

/** The reasons why a plausible document waits for a person. */
export const IMPLAUSIBLE_REASONS = [
  'run_withdrawals',
  'buyer_withdrawals',
  'buyer_missing',
  'duplicates',
  'growth',
  'changed_share',
  'value_jump',
] as const;
export type ImplausibleReason = (typeof IMPLAUSIBLE_REASONS)[number];

/** The effect of a response on its date, counted over all of its titles or over those of one buyer. */
export interface ResponseFacts {
  /** The identification of the buyer, empty for titles without one; null: all titles. */
  readonly buyer: string | null;
  /** Titles of the response that keep the contract. */
  readonly titles: number;
  /** New titles of the response that equal an earlier title of it, or of the date, in their identity. */
  readonly duplicates: number;
  readonly currentTitles: number;
  readonly inserted: number;
  readonly changed: number;
  /** Titles without a successor that the response withdraws. */
  readonly lost: number;
  /** Titles without a successor that earlier responses withdrew; see `decideHold`. */
  readonly lostBefore: number;
  /** The median number of titles of the weekday; null: not known. */
  readonly usualTitles: number | null;
  /** The least number of titles of the weekday; null: not known. */
  readonly leastTitles: number | null;
  /** The greater one of the mean original values, response and usual, as a multiple of the other one; null: not known. */
  readonly valueRatio: number | null;
}

/** The reason of a hold with what was compared. */
export interface ImplausibleHold {
  readonly reason: ImplausibleReason;
  readonly detail: HoldDetail;
}

/** The value that was compared with a limit. */
export interface HoldDetail {
  /** The identification of the buyer, empty for titles without one; null: all titles. */
  readonly buyer: string | null;
  /** The titles or, for `value_jump`, the factor, rounded. */
  readonly found: number;
  /** The titles that `found` is a share of, or the usual number; null for `value_jump`. */
  readonly of: number | null;
  readonly limit: number;
}

/**
 * Returns why a response must wait; null: nothing.
 * @param groups all titles first, then those of each buyer. A buyer without titles is missing only in a date that has
 *   none yet: a person may have decided about the present titles.
 */
export function implausibleHold(
  groups: readonly ResponseFacts[],
  withdrawalPercent: number,
): ImplausibleHold | null {
  const isFirst = groups[0]?.currentTitles === 0;
  for (const facts of groups) {
    const hold = holdOf(facts, withdrawalPercent, isFirst);
    if (hold !== null) return hold;
  }
  return null;
}

function holdOf(
  facts: ResponseFacts,
  withdrawalPercent: number,
  isFirst: boolean,
): ImplausibleHold | null {
  const { buyer, titles, duplicates, currentTitles, changed, lost, usualTitles, valueRatio } =
    facts;
  const hold = (reason: ImplausibleReason, found: number, of: number | null, limit: number) => ({
    reason,
    detail: { buyer, found, of, limit },
  });
  if (buyer !== null) {
    const allLost = lost + facts.lostBefore;
    const greatest = currentTitles + facts.lostBefore;
    const isLost = lost > 0 && greatest >= MIN_BUYER_TITLES && allLost >= MIN_BUYER_TITLES;
    if (isLost && allLost * 100 > withdrawalPercent * greatest) {
      return hold('buyer_withdrawals', allLost, greatest, withdrawalPercent);
    }
    if (isFirst && titles === 0 && (facts.leastTitles ?? 0) >= MIN_BUYER_TITLES) {
      return hold('buyer_missing', 0, usualTitles, MIN_BUYER_TITLES);
    }
  }
  if (duplicates >= MIN_TITLES && duplicates * 100 > DUPLICATE_PERCENT * titles) {
    return hold('duplicates', duplicates, titles, DUPLICATE_PERCENT);
  }
  // A buyer without usual titles is a new one.
  const isGrown = usualTitles !== null && usualTitles > 0 && titles > GROWTH_FACTOR * usualTitles;
  if (isGrown && facts.inserted >= MIN_TITLES) {
    return hold('growth', titles, usualTitles, GROWTH_FACTOR);
  }
  if (changed >= MIN_TITLES && changed * 100 > CHANGED_PERCENT * currentTitles) {
    return hold('changed_share', changed, currentTitles, CHANGED_PERCENT);
  }
  if (valueRatio !== null && valueRatio > VALUE_FACTOR && titles >= MIN_TITLES) {
    return hold('value_jump', Math.floor(valueRatio), null, VALUE_FACTOR);
  }
  return null;
}
