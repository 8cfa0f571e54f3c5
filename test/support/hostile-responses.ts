/**
 * The answers of a platform or a gateway in place of the documented response, and what has to become of each, one of
 * each class: test/unit/reader and test/unit/platform have the others. `hostile-responses.long.test.ts` runs every line
 * in the same way against a day that holds `BEFORE`.
 */

import type { CivilDate } from '../../src/base/values/business-day.ts';
import type { RawBody } from './sandbox/faults.ts';
import { titleText } from './titles.ts';

/** A row of `title` as far as a case cares; always its order and `platform_discounted_value`. */
export interface ExpectedTitle {
  readonly order_uid: string;
  readonly discount: string;
  readonly [column: string]: unknown;
}

/** What becomes of the day. */
interface Merged {
  /** The day's current titles afterwards, by order. */
  readonly titles: readonly ExpectedTitle[];
  /** A pattern for each rejected title, in the response's order; all its reasons are matched. */
  readonly rejects: readonly RegExp[];
  /** `path kind value` of what must be in `drift`, once. */
  readonly drift: readonly string[];
}

export interface HostileResponse extends Merged {
  readonly name: string;
  /** The whole body of the answer for a date. */
  body(date: CivilDate): RawBody;
}

/** The titles of every day before its hostile response. */
export const BEFORE: readonly ExpectedTitle[] = [
  { order_uid: 'old-1', discount: '1.00' },
  { order_uid: 'old-2', discount: '1.00' },
  { order_uid: 'old-3', discount: '1.00' },
];

/** The expected titles after a response with the valid titles `goodTitles`: one restated, one kept, one withdrawn, one new. */
const AFTER: readonly ExpectedTitle[] = [
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
function documentWith(date: CivilDate, others: readonly string[] = []): string {
  const [first = '', ...rest] = toTexts(AFTER, date);
  return `{"titles":[${[first, ...others, ...rest].join(',')}]}`;
}

function merged(
  outcome: {
    readonly also?: readonly ExpectedTitle[];
    readonly rejects?: readonly RegExp[];
    readonly drift?: readonly string[];
  } = {},
): Merged {
  const titles = [...AFTER, ...(outcome.also ?? [])].toSorted((a, b) =>
    a.order_uid < b.order_uid ? -1 : 1,
  );
  return { titles, rejects: outcome.rejects ?? [], drift: outcome.drift ?? [] };
}

const sends = (name: string, body: HostileResponse['body'], expected: Merged): HostileResponse => ({
  ...{ name, body },
  ...expected,
});

const between = (before: string, after: string) => (date: CivilDate) =>
  `${before}${toTexts(AFTER, date).join(',')}${after}`;

const unknownField = (name: string, type: string) => `${name} unknown_field ${type}`;

/** Responses whose frame, the text around the titles, is not the documented one. */
const DOCUMENTS: readonly HostileResponse[] = [
  sends(
    'another titles deeper, before and after',
    between('{"meta":{"titles":[{"order":{"uid":"no"}}]},"titles":[', '],"page":[{"titles":[1]}]}'),
    merged({ drift: [unknownField('meta', 'unknown'), unknownField('page', 'unknown')] }),
  ),
  sends(
    '5 MB of white space between two titles',
    (date) => () => {
      const [first = '', ...rest] = toTexts(AFTER, date);
      const spaces = Array<Buffer>(2_500).fill(Buffer.from(' \n'.repeat(1024)));
      return [Buffer.from(`{"titles":[${first}`), ...spaces, Buffer.from(`,${rest.join(',')}]}`)];
    },
    merged(),
  ),
  sends(
    '__proto__ and constructor as fields of the document',
    between('{"__proto__":{"titles":[]},"constructor":{},"titles":[', ']}'),
    merged({
      drift: [unknownField('__proto__', 'unknown'), unknownField('constructor', 'unknown')],
    }),
  ),
];

/** The good titles with one hostile title among them. */
function hostileTitle(name: string, title: (date: CivilDate) => string | Buffer, expected: Merged) {
  return sends(
    name,
    (date) => {
      const [before = '', after = ''] = documentWith(date, ['@']).split('@');
      return Buffer.concat([Buffer.from(before), Buffer.from(title(date)), Buffer.from(after)]);
    },
    expected,
  );
}

/** Rejects that may be any title, since their order cannot be read: none is withdrawn because of them. */
const unplaceable = (...reasons: RegExp[]) => merged({ rejects: reasons, also: [GONE] });
const accepted = (row: Partial<ExpectedTitle> = {}, drift: readonly string[] = []) =>
  merged({ also: [{ order_uid: 'hostile', discount: '1.25', ...row }], drift });
const hostile = (date: CivilDate, more = '') =>
  titleText({ date, uid: 'hostile', discount: '1.25', more });
const withMore = (more: string) => (date: CivilDate) => hostile(date, more);

/** Answers whose frame is good and of whose titles one or more are not. */
const TITLES: readonly HostileResponse[] = [
  hostileTitle(
    'a lone surrogate in a field name',
    withMore(',"\\udfff":1'),
    accepted({ extra: { '"\\udfff"': 1 } }, ['titles[]."\\udfff" unknown_field number']),
  ),
  hostileTitle(
    'invalid UTF-8 inside a title',
    (date) => Buffer.from(titleText({ date, uid: 'hostile', name: 'J\xf3se' }), 'latin1'),
    unplaceable(/\(title\): expected valid UTF-8/),
  ),
  hostileTitle(
    'a title of 5 MB',
    (date) => hostile(date).replace('0.5%', 'c'.repeat(5 * 1024 * 1024)),
    unplaceable(/the title is 524\d{4} bytes long, expected at most 1048576/),
  ),
  hostileTitle(
    '__proto__ fields',
    withMore(',"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}'),
    accepted(
      {
        extra: {
          ['__proto__']: { polluted: true },
          constructor: { prototype: { polluted: true } },
        },
      },
      ['titles[].__proto__ unknown_field object'],
    ),
  ),
  hostileTitle(
    'unknown fields inside known objects',
    (date) => hostile(date).replace('"bank":"341"', '"bank":"341","pix":{"key":[1.10,null]}'),
    accepted({ extra: { financialAgent: { payment: { pix: { key: [1.1, null] } } } } }, [
      'titles[].financialAgent.payment.pix unknown_field object',
    ]),
  ),
  sends(
    'an unknown value of an enumeration, three times',
    (date) =>
      documentWith(
        date,
        ['a', 'b', 'c'].map((uid) =>
          titleText({ date, uid, discount: '1.25' }).replace('INDIVIDUAL', 'COMPANY'),
        ),
      ),
    merged({
      also: ['a', 'b', 'c'].map((order_uid) => ({
        order_uid,
        discount: '1.25',
        financial_agent_type: 'COMPANY',
      })),
      drift: ['titles[].financialAgent.type unknown_value COMPANY'],
    }),
  ),
  sends(
    'one good title among 2,000 bad ones',
    (date) =>
      documentWith(
        date,
        Array.from({ length: 2000 }, () => '{"order":{"uid":1}}'),
      ),
    merged({
      also: [GONE],
      rejects: Array.from({ length: 2000 }, () => /order\.uid: expected a string, got a number/),
    }),
  ),
];

export const HOSTILE_RESPONSES: readonly HostileResponse[] = [...DOCUMENTS, ...TITLES];
