import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { MESSAGES, reasonsText, textOf } from '../../../src/base/texts/texts.ts';

const SRC = join(import.meta.dirname, '../../../src');
/** The attributes of elements that people see or hear. */
const SHOWN = ['alt', 'aria-label', 'placeholder', 'title'];

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The texts that a part of a page shows and that are literals, not messages. */
function literalsIn(node: unknown, isShown = false): string[] {
  if (Array.isArray(node)) return node.flatMap((child) => literalsIn(child, isShown));
  if (typeof node !== 'object' || node === null || !('type' in node)) return [];
  const part = node as Node;
  switch (part.type) {
    case 'JSXText':
      return [String(part['value'])];
    case 'Literal':
      return isShown ? [String(part['value'])] : [];
    case 'TemplateElement':
      return isShown ? [(part['value'] as { cooked: string }).cooked] : [];
    case 'JSXAttribute':
      return literalsIn(part['value'], SHOWN.includes((part['name'] as { name: string }).name));
    case 'JSXElement':
      return [
        ...literalsIn((part['openingElement'] as Node)['attributes']),
        ...literalsIn(part['children'], true),
      ];
    case 'ConditionalExpression':
      return [
        ...literalsIn(part['test']),
        ...literalsIn([part['consequent'], part['alternate']], isShown),
      ];
    case 'JSXExpressionContainer':
    case 'TemplateLiteral':
      return Object.values(part).flatMap((child) => literalsIn(child, isShown));
    default:
      return Object.values(part).flatMap((child) => literalsIn(child));
  }
}

test('no page has text beside the messages', () => {
  const pages = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.tsx'),
  );
  expect(pages.length).toBeGreaterThan(30);
  const found = pages.flatMap((file) =>
    literalsIn(parseSync(file, readFileSync(join(SRC, file), 'utf8')).program.body)
      .filter((text) => /\p{L}{2}/u.test(text))
      .map((text) => `${file}: ${text}`),
  );
  const layout = 'console/shell/layout.tsx';
  // The choice of languages has each one's own name.
  const names = ['EN', 'PT', 'English', 'Português (Brasil)'];
  expect(found.sort()).toEqual(names.map((name) => `${layout}: ${name}`).sort());
});

test('text beside the messages is found', () => {
  const found = literalsIn(
    parseSync('page.tsx', '<p title="One">Two {isOpen ? `Three` : <b id="x">{text("y")}</b>}</p>')
      .program.body,
  );
  expect(found.map((text) => text.trim())).toEqual(['One', 'Two', 'Three']);
});

test('each sentence is in both languages, and few are the same', () => {
  const same = [...MESSAGES.en].filter(([key, text]) => MESSAGES['pt-BR'].get(key) === text);
  expect(same.map(([, text]) => text).sort()).toMatchInlineSnapshot(`
    [
      "Corpus Christi",
      "E-mail",
      "ERP",
      "Tiradentes",
      "buyerDiscountedValue",
      "financialDiscountedValue",
      "manual",
      "platformDiscountedValue",
      "total",
      "{bytes} bytes",
      "{titles} · {value}",
      "{who}, {at}",
    ]
  `);
});

test.each([
  [
    'originalValue: expected a number, got a string',
    'originalValue: esperado um número, recebido um texto',
  ],
  ['order.uid: missing', 'order.uid: ausente'],
  ['(title): expected an object, got null', '(título): esperado um objeto, recebido null'],
  [
    'acceptedDate: 2026-03-02 is outside the requested window',
    'acceptedDate: 02/03/2026 está fora do intervalo pedido',
  ],
  [
    'name: expected text that is not blank; phones[0].number: expected at most 20 characters',
    'name: esperado um texto não vazio; phones[0].number: esperados no máximo 20 caracteres',
  ],
  ['the title is 9 bytes long, expected at most 8', 'o título tem 9 bytes; esperados no máximo 8'],
  ['something else', 'something else'],
])('the reason %s', (english, expected) => {
  expect(reasonsText(textOf('pt-BR'), english)).toBe(expected);
  expect(reasonsText(textOf('en'), english)).toBe(english);
});
