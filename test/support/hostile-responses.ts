/**
 * The answers of a platform or a gateway in place of the documented response, and what
 * has to become of each. The table is data: `hostile-responses.test.ts` runs every line in the same
 * way against a day that holds `BEFORE`.
 */

import type { ErrorCode } from '../../src/base/runtime/errors.ts';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import type { RawBody } from './sandbox/sandbox.ts';
import { titleText } from './titles.ts';

/** A row of `title` as far as a case cares; always its order and `platform_discounted_value`. */
export interface ExpectedTitle {
  readonly order_uid: string;
  readonly discount: string;
  readonly [column: string]: unknown;
}

export type Expected =
  | {
      readonly kind: 'merged';
      /** The day's current titles afterwards, by order. */
      readonly titles: readonly ExpectedTitle[];
      /** A pattern for each rejected title, in the response's order; all its reasons are matched. */
      readonly rejects: readonly RegExp[];
      /** `path kind value` of what must be in `drift`, once. */
      readonly drift: readonly string[];
    }
  | {
      /** The day is as it was. */
      readonly kind: 'retry';
      readonly code: ErrorCode;
      readonly message: RegExp;
    };

export interface HostileResponse {
  readonly name: string;
  /** The whole body of the answer for a date. */
  body(date: CivilDate): RawBody['body'];
  readonly expected: Expected;
}

/** The titles of every day before its hostile response. */
export const BEFORE: readonly ExpectedTitle[] = [
  { order_uid: 'old-1', discount: '1.00' },
  { order_uid: 'old-2', discount: '1.00' },
  { order_uid: 'old-3', discount: '1.00' },
];

/** The expected titles after a response with the valid titles `goodTitles`: one restated, one kept, one withdrawn, one new. */
export const AFTER: readonly ExpectedTitle[] = [
  { order_uid: 'new-1', discount: '1.00' },
  { order_uid: 'old-1', discount: '2.50' },
  { order_uid: 'old-2', discount: '1.00' },
];

/** The one of `BEFORE` that such a response does not have. */
export const GONE: ExpectedTitle = { order_uid: 'old-3', discount: '1.00' };

export function toTexts(titles: readonly ExpectedTitle[], date: CivilDate): string[] {
  return titles.map(({ order_uid: uid, discount }) => titleText({ date, uid, discount }));
}

/** `{"titles":[…]}` with the good titles, and `others` between them. */
export function documentWith(date: CivilDate, others: readonly string[] = []): string {
  const [first = '', ...rest] = toTexts(AFTER, date);
  return `{"titles":[${[first, ...others, ...rest].join(',')}]}`;
}

export function merged(
  outcome: {
    readonly also?: readonly ExpectedTitle[];
    readonly rejects?: readonly RegExp[];
    readonly drift?: readonly string[];
  } = {},
): Expected {
  const titles = [...AFTER, ...(outcome.also ?? [])].toSorted((a, b) =>
    a.order_uid < b.order_uid ? -1 : 1,
  );
  return { kind: 'merged', titles, rejects: outcome.rejects ?? [], drift: outcome.drift ?? [] };
}

/** Not the documented answer; asked again a few times. */
export function breaksContract(message: RegExp): Expected {
  return { kind: 'retry', code: 'PLATFORM_CONTRACT', message };
}

export const sends = (
  name: string,
  body: HostileResponse['body'],
  expected: Expected,
): HostileResponse => ({ name, body, expected });
