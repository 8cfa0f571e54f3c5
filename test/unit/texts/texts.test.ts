import { IntlMessageFormat } from 'intl-messageformat';
import { type Argument, type CallExpression, parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import {
  MESSAGES,
  namesIn,
  reasonsText,
  type TextKey,
  textOf,
} from '../../../src/base/texts/texts.ts';
import { SOURCES } from '../sources.ts';

const KEYS = [...MESSAGES.en.keys()];
const programOf = (file: string, source: string) => parseSync(file, source).program;

/** The names of the arguments of a message, in order. */
function argumentsOf(message: string, language: string): string[] {
  const names = new Set<string>();
  JSON.parse(
    JSON.stringify(
      new IntlMessageFormat(message, language, undefined, { ignoreTag: true }).getAst(),
    ),
    // Elements of type 0 are literal text. The options of a plural have no type.
    (_, node) => {
      if (typeof node?.value === 'string' && node.type !== 0) names.add(node.value);
      return node;
    },
  );
  return [...names].sort();
}

/** The keys that an expression may name: one for text, some for a template, those of both branches of a condition. */
function keysOf(node: Argument | undefined): string[] {
  if (node?.type === 'ConditionalExpression') {
    return [node.consequent, node.alternate].flatMap(keysOf);
  }
  if (node?.type === 'Literal') return KEYS.filter((key) => key === node.value);
  if (node?.type !== 'TemplateLiteral') return [];
  const [head = '', ...tails] = node.quasis.map(({ value }) => value.cooked ?? '');
  return KEYS.filter(
    (key) => head.includes('.') && key.startsWith(head) && key.endsWith(tails.at(-1) ?? ''),
  );
}

const used = new Set<string>();
/** Calls that name a message: where, the keys, and the names of the arguments; null: an expression gives them. */
const calls: { at: string; keys: string[]; given: string[] | null }[] = [];
const unknown: string[] = [];

function readCall({ callee, arguments: [first, second] }: CallExpression, at: string): void {
  // `text(…)`, `context.text(…)`, `text.find(…)`, or `textOf(…)(…)`
  const name = callee.type === 'MemberExpression' ? callee.property : callee;
  const called = name.type === 'Identifier' ? name.name : 'text';
  const given = first?.type === 'Literal' ? first.value : undefined;
  const isFault = called === 'refusal' && KEYS.includes(`faults.${given}`);
  const keys = isFault ? [`faults.${given}`] : keysOf(first);
  for (const key of keys) used.add(key);
  if (called === 'namesIn') {
    for (const key of KEYS) if (key.startsWith(`${given}.`)) used.add(key);
  } else if (called === 'find' && first?.type === 'TemplateLiteral' && keys.length === 0) {
    unknown.push(at);
  } else if (keys.length > 0 && ['text', 'find', 'refusal'].includes(called)) {
    const members = second?.type === 'ObjectExpression' ? second.properties : [];
    const names = members.map(
      (member) => 'key' in member && 'name' in member.key && member.key.name,
    );
    const isKnown = second === undefined || second.type === 'ObjectExpression';
    calls.push({ at, keys, given: isKnown ? names.map(String).sort() : null });
  }
}

for (const { file, source } of SOURCES) {
  new Visitor({
    Literal(node) {
      for (const key of keysOf(node)) used.add(key);
    },
    // A function that names the text of a choice.
    ArrowFunctionExpression({ body }) {
      if (body.type === 'TemplateLiteral') for (const key of keysOf(body)) used.add(key);
    },
    CallExpression: (node) => readCall(node, `${file}:${node.start}`),
  }).visit(programOf(file, source));
}

test('both languages have the same keys in the same order', () => {
  expect([...MESSAGES['pt-BR'].keys()]).toEqual(KEYS);
});

test('each message has the same arguments in both languages', () => {
  const differing = KEYS.filter(
    (key) =>
      String(argumentsOf(MESSAGES.en.get(key) ?? '', 'en')) !==
      String(argumentsOf(MESSAGES['pt-BR'].get(key) ?? '', 'pt-BR')),
  );
  expect(differing).toEqual([]);
});

test('each key is used, and a key with a part from outside of the program can exist', () => {
  expect(KEYS.filter((key) => !used.has(key))).toEqual([]);
  expect(unknown).toEqual([]);
});

test('each call gives exactly the arguments of its message', () => {
  const wrong = calls.flatMap(({ at, keys, given }) =>
    keys
      .filter(
        (key) =>
          given !== null && String(argumentsOf(MESSAGES.en.get(key) ?? '', 'en')) !== String(given),
      )
      .map((key) => `${at} ${key}: ${given}`),
  );
  expect(wrong).toEqual([]);
  expect(calls.length).toBeGreaterThan(500);
  expect(calls.filter(({ given }) => given === null).length).toBeLessThan(5);
});

test('a message without its arguments, or an unknown key, is an error', () => {
  const text = textOf('en');
  expect(() => text('day.held')).toThrow('"pull" was not provided');
  expect(() => text('day.nothing' as TextKey)).toThrow('no message has the key day.nothing');
  expect(text.find('day.nothing')).toBeNull();
  // Names that every object has are no keys.
  expect(text.find('constructor')).toBeNull();
});

test('English files have the names of the data dictionary', () => {
  for (const group of ['headings', 'restated.kinds', 'titleFile.states', 'titleFile.statuses']) {
    for (const name of namesIn(group)) {
      expect(textOf('en').find(`${group}.${name}`)).toBe(name);
    }
  }
});

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
  const pages = SOURCES.filter(({ file }) => file.endsWith('.tsx'));
  expect(pages.length).toBeGreaterThan(30);
  const found = pages.flatMap(({ file, source }) =>
    literalsIn(programOf(file, source).body)
      .filter((text) => /\p{L}{2}/u.test(text))
      .map((text) => `${file}: ${text}`),
  );
  // The choice of languages has each one's own name.
  const names = ['English', 'Português'];
  expect(found.sort()).toEqual(names.map((name) => `console/shell/layout.tsx: ${name}`));
});

test('text beside the messages is found', () => {
  const page = '<p title="One">Two {isOpen ? `Three` : <b id="x">{text("y")}</b>}</p>';
  const found = literalsIn(programOf('page.tsx', page).body);
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

/** The folders whose errors pages show. The API and the command line answer in English. */
const SHOWN_ERRORS =
  /^(console|core\/ledger|core\/merge\/decisions\.sql\.ts|features\/(accounts|backfills|review))/;
/** The command line and the worker only. */
const ENGLISH_ONLY =
  /^(console\/api\/|features\/review\/index\.ts|core\/ledger\/pull-ledger\.sql\.ts)/;

test('every error that a page can show has a sentence in both languages', () => {
  const known = new Set(namesIn('faults'));
  const missing: string[] = [];
  let count = 0;
  for (const { file, source } of SOURCES) {
    if (!SHOWN_ERRORS.test(file) || ENGLISH_ONLY.test(file)) continue;
    // The compiler knows their sentences.
    count += source.split('refusal(').length - 1;
    for (const [, call = ''] of source.matchAll(/new InputError\(([\s\S]*?)\);/g)) {
      count += 1;
      const fault = /fault: '(\w+)'/.exec(call)?.[1];
      // Faults of a function with a separate test: of a sign-off, of a range.
      if (/context: \{ fault(, date)? \}|context: fault\.context|fault: row === null/.test(call))
        continue;
      if (fault === undefined || !known.has(fault)) missing.push(`${file}: ${call.trim()}`);
    }
  }
  expect(missing).toEqual([]);
  expect(count).toBeGreaterThan(15);
});
