import fc from 'fast-check';
import { JsonNumber } from '../../../src/base/values/json-value.ts';
import { completeTitle } from '../platform/sample-title.ts';

/** Fields as name and JSON text, so that their order, repetition and spelling can be anything. */
type Fields = readonly (readonly [name: string, json: string])[];

function render(fields: Fields, space = ''): string {
  const parts = fields.map(([name, json]) => `${space}"${name}":${space}${json}${space}`);
  return `{${parts.join(',')}}`;
}

function fieldsOf(object: object): [string, string][] {
  return Object.entries(object).map(([name, value]) => [name, toText(value)]);
}

function toText(value: unknown): string {
  if (value instanceof JsonNumber) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return render(fieldsOf(value));
}

const complete = fieldsOf(completeTitle());
const title = (changes: Record<string, string | null>) =>
  render(
    complete.flatMap(([name, json]) => {
      const changed = changes[name];
      return changed === null ? [] : [[name, changed ?? json] as const];
    }),
  );
const spaced = (text: string, space: string) =>
  text.replace(/[{}:,]/g, (sign) => `${sign === ':' ? '' : space}${sign}${space}`).trim();

/** Valid titles, and whether they take the short path. */
export const TITLES_OF_EVERY_KIND: readonly { readonly text: string; readonly isUsual: boolean }[] =
  [
    ...[
      title({}),
      '{"order":{"uid":"o"},"acceptedDate":"2026-01-02","originalValue":1}',
      '{"originalValue":-0.00,"acceptedDate":"2024-02-29","order":{"uid":"\u{10ffff}é"}}',
      render(complete.toReversed()),
      spaced(title({ platformCommission: '"1.5%"' }), ' '),
      spaced(title({ platformCommission: '"1.5%"' }), '\r\n\t'),
      title({ financialAgent: null, provider: null }),
      title({ financialAgent: 'null', provider: 'null', anticipatedDueDate: 'null' }),
      title({ providerExternalId: null }),
      title({ providerExternalId: 'null' }),
      title({ provider: '{"externalId":"F-1"}' }),
      title({ provider: '{"externalId":null}' }),
      title({ provider: '{"identification":null,"bankAccount":null}' }),
      title({ platformCommission: '"a \\"quoted\\", \\\\ and \\u00e9\\ud83d\\ude00\\n text"' }),
      title({ platformCommission: `"${'é'.repeat(500)}"` }),
      title({ billingFee: '0.0', moneyTransferFee: '-0', originalValue: '100.00' }),
      title({ billingFee: '123450e-2', moneyTransferFee: '1E+2', originalValue: '0e5' }),
      title({ originalValue: '9'.repeat(100) }),
      title({ buyerIdentification: `"${'b'.repeat(255)}"` }),
      title({ platformCommission: '"\u007f\'; DROP \t"'.replace('\t', '\\t') }),
    ].map((text) => ({ text, isUsual: true })),
    ...[
      // Drift and extra.
      title({ provider: '{"externalId":"F-2"}' }),
      title({ provider: '{"externalId":"F\\u002d1"}' }),
      title({ financialAgent: '{"type":"COMPANY"}' }),
      title({ financialAgent: '{"payment":{"type":"PIX"}}' }),
      render([...complete, ['more', '1']]),
      // Undocumented fields that are kept as text.
      render([...complete, ['more', '{"a":"\\u0000"}'], ['other', '1e999']]),
      render([...complete, ['more', '1'], ['more', '2'], ['\\ud800', '3']]),
      title({ order: '{"uid":"o","uid ":"\\ud800"}' }),
      // More bytes than a field may have characters, and no more characters than it may have.
      title({ platformCommission: `"${'é'.repeat(501)}"` }),
      title({ order: '{"uid":"\\u006f"}' }).replace('"uid"', '"\\u0075id"'),
      // Legal, and not worth a second look.
      title({ provider: '{}' }),
      title({ financialAgent: '{"type":"\\u0049NDIVIDUAL"}' }),
      title({}).replace('"order":', '"order" :'),
    ].map((text) => ({ text, isUsual: false })),
  ];

const nastyText = fc.constantFrom(
  ...String.raw`"" "a" "INDIVIDUAL" "BANK_TRANSFER" "F-1" "é€😀" "\"" "\\" "\/" "\u0000"`.split(
    ' ',
  ),
  ...String.raw`"\ud800" "\udc00\ud800" "\ud83d\ude00" "\u00e9\n" "a,b'c" "\\." "\\N"`.split(' '),
  ...'null 1 true {} [] ["a"] "NULL" "\u007f\u0080"'.split(' '),
  ...[`"${'x'.repeat(255)}"`, `"${'x'.repeat(256)}"`, `"${'é'.repeat(200)}"`],
  `"${'x'.repeat(1001)}"`,
);
const nastyNumber = fc.oneof(
  fc.constantFrom(
    ...'0 -0 0.0 -0.00 1 1.10 1e2 1E-7 0e5 0e-99 0e101 1e99 1e100 0.1e-98 -1.50 100 100.0'.split(
      ' ',
    ),
    ...'12345678901234567890.120 1e400 1e99999999 null "1" {} true'.split(' '),
    ...['9'.repeat(100), '9'.repeat(101), `0.${'0'.repeat(98)}1`],
  ),
  fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.nat(),
      fc.stringMatching(/^(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?$/),
    )
    .map((parts) => parts.join('')),
);
const nastyDate = fc.constantFrom(
  ...'2026-03-02 2024-02-29 2026-02-29 2020-02-28 2020-02-29 9999-12-31 0000-01-01 2026-13-01'
    .split(' ')
    .map((date) => `"${date}"`),
  ...'"2026-00-10" "2026-04-31" "2026-3-2" "2026-03-02T00:00:00Z" "2026/03/02" null 7'.split(' '),
  ...['"2026-03-02 "', '"2026\\u002d03-02"', '"２０２６-03-02"'],
);
const nastyBoolean = fc.constantFrom('true', 'false', 'null', '"true"', '0', 'true', 'false');

function jsonValue(name: string, json: string): fc.Arbitrary<string> {
  const nasty = /Date$/.test(name)
    ? nastyDate
    : /(Value|Fee)$/.test(name)
      ? nastyNumber
      : name === 'buyerIsFinancial'
        ? nastyBoolean
        : nastyText;
  return fc.oneof({ weight: 12, arbitrary: fc.constant(json) }, { weight: 1, arbitrary: nasty });
}

const space = fc.constantFrom('', '', '', '', '', '', ' ', '\n\t');
const moreField = fc.constantFrom(
  ...['"more":1', '"more":{"deep":[null,{"a":1}]}', '"__proto__":{}', '"uid":"x"', '"":0'],
  ...['"order":{"uid":"twice"}', '"acceptedDate":"2026-03-02"', '"\\u006frder":{"uid":"x"}'],
);

/** Any object of a title: fields changed, left out, out of order, twice, or not documented. */
function jsonObject(example: object): fc.Arbitrary<string> {
  const fields = Object.entries(example).map(([name, value]) => {
    const isObject = typeof value === 'object' && value !== null && !(value instanceof JsonNumber);
    const json = isObject
      ? fc.oneof({ weight: 15, arbitrary: jsonObject(value) }, { weight: 1, arbitrary: nastyText })
      : jsonValue(name, toText(value));
    return fc.tuple(fc.constant(name), json);
  });
  return fc
    .tuple(fc.tuple(...fields), space, fc.nat(79), fc.nat(), moreField)
    .map(([values, gap, dice, place, more]) => {
      const kept =
        dice % 8 === 7 ? values.filter((_, index) => index !== place % values.length) : values;
      const ordered = dice === 1 ? kept.toReversed() : kept;
      const text = render(ordered, gap);
      return dice === 2 && ordered.length > 0 ? text.replace(/\}$/, `,${more}}`) : text;
    });
}

export const jsonTitle: fc.Arbitrary<string> = fc.oneof(
  { weight: 20, arbitrary: jsonObject(completeTitle()) },
  { weight: 1, arbitrary: nastyText },
);
