/**
 * The answers of a platform, a gateway or a broken connection in place of the documented response, and what
 * has to become of each. The table is data: `hostile-responses.test.ts` runs every line in the same
 * way against a day that holds `BEFORE`.
 */

import type { ErrorCode } from '../../src/base/runtime/errors.ts';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import type {
  PlatformClient,
  PlatformClientOptions,
} from '../../src/core/platform/conciliation-client.ts';
import type { PullParts } from '../../src/core/work/pull-parts.ts';
import type { Fault } from './sandbox/faults.ts';
import type { RawBody, Sandbox } from './sandbox/sandbox.ts';
import { titleText } from './titles.ts';

/** The headers and the body of a hostile response. */
export interface HostileStage {
  readonly sandbox: Sandbox;
  /** A host that nothing may ever be asked of. */
  readonly elsewhere: Sandbox;
  /** A client like the usual one, but for `options`; closed after the test. */
  openClient(options: Partial<PlatformClientOptions>): PlatformClient;
  /** A token that is in order and one that has expired. */
  readonly tokens: { readonly good: string; readonly expired: string };
  /** For what a case opens or writes: called after the test, the latest first. */
  afterwards(cleanUp: () => unknown): void;
}

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
      /** The day is as it was. `retry` and `failed` say what became of the pull. */
      readonly kind: 'retry' | 'failed' | 'unauthorized';
      readonly code: ErrorCode;
      readonly message: RegExp;
      readonly delayMs?: number;
    };

export interface HostileResponse {
  readonly name: string;
  /** Lays the response out for the next request for `date`. May give the pull other parts. */
  serve(
    stage: HostileStage,
    date: CivilDate,
  ): Partial<PullParts> | undefined | Promise<Partial<PullParts>>;
  readonly expected: Expected;
  /** Requests that the sandbox sees for the date, 1 unless told. */
  readonly requests?: number;
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

/** No whole answer; asked again. */
export function unavailable(message: RegExp): Expected {
  return { kind: 'retry', code: 'PLATFORM_UNAVAILABLE', message };
}

/** The sandbox sends these bytes as the whole body. */
export function sends(
  name: string,
  body: (date: CivilDate) => RawBody['body'],
  expected: Expected,
  headers: Readonly<Record<string, string>> = {},
): HostileResponse {
  return {
    name,
    serve({ sandbox }, date) {
      sandbox.setRawBody(date, { body: body(date), headers });
      return undefined;
    },
    expected,
  };
}

/** The sandbox spoils the good response. */
export function spoils(name: string, fault: Fault, expected: Expected): HostileResponse {
  return {
    name,
    serve({ sandbox }, date) {
      sandbox.setDayTexts(date, toTexts(AFTER, date));
      sandbox.faults.add({ ...fault, date });
      return undefined;
    },
    expected,
  };
}
