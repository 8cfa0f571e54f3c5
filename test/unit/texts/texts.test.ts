import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IntlMessageFormat } from 'intl-messageformat';
import { type Argument, type CallExpression, parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import type { AuditAction } from '../../../src/base/audit/audit.ts';
import { MESSAGES, namesIn, type TextKey, textOf } from '../../../src/base/texts/texts.ts';

const SRC = join(import.meta.dirname, '../../../src');
const KEYS = [...MESSAGES.en.keys()];

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

for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' })) {
  if (!/\.tsx?$/.test(file) || file.startsWith('generated')) continue;
  new Visitor({
    Literal(node) {
      for (const key of keysOf(node)) used.add(key);
    },
    // A function that names the text of a choice.
    ArrowFunctionExpression({ body }) {
      if (body.type === 'TemplateLiteral') for (const key of keysOf(body)) used.add(key);
    },
    CallExpression: (node) => readCall(node, `${file}:${node.start}`),
  }).visit(parseSync(file, readFileSync(join(SRC, file), 'utf8')).program);
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
  expect(calls.length).toBeGreaterThan(800);
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

test('every audited action has a message', () => {
  // The compiler checks it, because pages look the message up by a name from outside.
  const actionKey = (action: AuditAction): TextKey => `audit.actions.${action}`;
  expect(used.has(actionKey('export'))).toBe(true);
});
