import { toJsonText } from '../../../src/base/values/json-value.ts';
import { completeTitle } from '../platform/sample-title.ts';

/** Of fields as name and JSON text, so that their order, repetition and spelling can be anything. */
const render = (fields: readonly (readonly [name: string, json: string])[]) =>
  `{${fields.map(([name, json]) => `"${name}":${json}`).join(',')}}`;

const complete = Object.entries(completeTitle()).map(
  ([name, value]) => [name, toJsonText(value)] as const,
);
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
