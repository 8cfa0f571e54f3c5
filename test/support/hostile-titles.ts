import type { CivilDate } from '../../src/base/values/business-day.ts';
import { EMPTY_TEXTS, NULLS, titleWith } from './hostile-fields.ts';
import {
  breaksContract,
  documentWith,
  type Expected,
  type ExpectedTitle,
  GONE,
  type HostileResponse,
  merged,
  sends,
} from './hostile-responses.ts';
import { titleText } from './titles.ts';

/** The good titles with one hostile title among them. */
function hostileTitle(
  name: string,
  title: (date: CivilDate) => string | Buffer,
  expected: Expected,
): HostileResponse {
  return sends(
    name,
    (date) => {
      const [before = '', after = ''] = documentWith(date, ['@']).split('@');
      return Buffer.concat([Buffer.from(before), Buffer.from(title(date)), Buffer.from(after)]);
    },
    expected,
  );
}

const NO_TITLE = /not valid: the title at byte \d+ is not JSON/;
const rejected = (...reasons: RegExp[]) => merged({ rejects: reasons });
/** Rejects that may be any title, since their order cannot be read: none is withdrawn because of them. */
const unplaceable = (...reasons: RegExp[]) => merged({ rejects: reasons, also: [GONE] });
const accepted = (row: Partial<ExpectedTitle> = {}, drift: readonly string[] = []) =>
  merged({ also: [{ order_uid: 'hostile', discount: '1.25', ...row }], drift });
const withField = (path: string, json: string) => (date: CivilDate) =>
  titleWith(date, 'hostile', { [path]: json });
const withMore = (more: string) => (date: CivilDate) =>
  titleText({ date, uid: 'hostile', discount: '1.25', more });
const manyFields = Array.from({ length: 1000 }, (_, index) => `,"field_${index}":${index}`).join(
  '',
);
const deep = (depth: number) => `,"deep":${'['.repeat(depth)}${']'.repeat(depth)}`;
const agentDrift = 'titles[].financialAgent.type unknown_value COMPANY';

/** Answers whose frame is good and of whose titles one or more are not. */
export const HOSTILE_TITLES: readonly HostileResponse[] = [
  hostileTitle('a null title', () => 'null', unplaceable(/expected an object, got null/)),
  hostileTitle(
    'an order uid that is empty',
    withField('order.uid', '""'),
    unplaceable(/order\.uid: expected text that is not empty/),
  ),
  hostileTitle(
    'a name of 10,000 characters',
    withField('financialAgent.name', `"${'n'.repeat(10_000)}"`),
    rejected(/financialAgent\.name: expected at most 1000/),
  ),
  hostileTitle(
    'every text empty',
    (date) => titleWith(date, 'hostile', EMPTY_TEXTS),
    accepted({ payment_bank: '', provider_external_id: '' }),
  ),
  hostileTitle(
    'every optional field null',
    (date) => titleWith(date, 'hostile', { ...NULLS, platformDiscountedValue: '1.25' }),
    accepted({ provider_bank: null, billing_fee: null, anticipated_due_date: null }),
  ),
  hostileTitle(
    'an accepted date outside the window',
    withField('acceptedDate', '"2019-12-31"'),
    rejected(/acceptedDate: 2019-12-31 is outside the requested window/),
  ),
  hostileTitle(
    '1e400 for an amount',
    withField('billingFee', '1e400'),
    rejected(/billingFee: expected a number of at most 100 digits/),
  ),
  hostileTitle(
    '1e-99999999 in an undocumented field',
    withMore(',"x":[1e-99999999]'),
    accepted({ extra: { x: '[1e-99999999]' } }, ['titles[].x unknown_field string']),
  ),
  hostileTitle('NaN for an amount', withField('billingFee', 'NaN'), breaksContract(NO_TITLE)),
  hostileTitle(
    'an escaped NUL in a string',
    withField('financialAgent.name', '"a\\u0000b"'),
    rejected(/financialAgent\.name: expected text without U\+0000/),
  ),
  hostileTitle(
    'a lone surrogate in a field name',
    withMore(',"\\udfff":1'),
    accepted({ extra: { '(further fields)': '"\\udfff":1' } }, [
      'titles[].(further fields) unknown_field string',
    ]),
  ),
  hostileTitle(
    'invalid UTF-8 inside a title',
    (date) => Buffer.from(titleText({ date, uid: 'hostile', name: 'J\xf3se' }), 'latin1'),
    unplaceable(/\(title\): expected valid UTF-8/),
  ),
  hostileTitle(
    'depth 10,000 inside a title',
    withMore(deep(10_000)),
    unplaceable(/\(title\): expected at most 32 levels of nesting/),
  ),
  hostileTitle(
    'a title of 5 MB',
    withField('platformCommission', `"${'c'.repeat(5 * 1024 * 1024)}"`),
    unplaceable(/the title is 524\d{4} bytes long, expected at most 1048576/),
  ),
  hostileTitle(
    'an undocumented field twice',
    withMore(',"x":1,"y":2,"x":{"z":3,"z":4}'),
    accepted({ extra: { x: { z: 4 }, y: 2 } }, ['titles[].x unknown_field object']),
  ),
  hostileTitle(
    'a field twice inside a title',
    withMore(',"originalValue":1'),
    unplaceable(/originalValue: expected one value, not the field twice/),
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
    '1,000 unknown fields',
    withMore(manyFields),
    // One finding for all names of a place that has many.
    accepted({ extra: JSON.parse(`{${manyFields.slice(1)}}`) }, ['titles[].* unknown_field *']),
  ),
  hostileTitle(
    'unknown fields inside known objects',
    (date) =>
      titleText({ date, uid: 'hostile', discount: '1.25' }).replace(
        '"bank":"341"',
        '"bank":"341","pix":{"key":[1.10,null]}',
      ),
    accepted({ extra: { financialAgent: { payment: { pix: { key: [1.1, null] } } } } }, [
      'titles[].financialAgent.payment.pix unknown_field object',
    ]),
  ),
  sends(
    'an unknown value of an enumeration, three times',
    (date) =>
      documentWith(
        date,
        ['a', 'b', 'c'].map((uid) => titleWith(date, uid, { 'financialAgent.type': '"COMPANY"' })),
      ),
    merged({
      also: ['a', 'b', 'c'].map((order_uid) => ({
        order_uid,
        discount: '1.25',
        financial_agent_type: 'COMPANY',
      })),
      drift: [agentDrift],
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
