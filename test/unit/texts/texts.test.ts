import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IntlMessageFormat } from 'intl-messageformat';
import { parseSync } from 'oxc-parser';
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

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The keys that an expression may name: one for text, some for a template, those of both branches of a condition. */
function keysOf(node: Node): string[] {
  if (node.type === 'ConditionalExpression') {
    return [node['consequent'], node['alternate']].flatMap((branch) => keysOf(branch as Node));
  }
  if (node.type === 'Literal') return KEYS.filter((key) => key === node['value']);
  if (node.type !== 'TemplateLiteral') return [];
  const [head = '', ...tails] = (node['quasis'] as { value: { cooked: string } }[]).map(
    ({ value }) => value.cooked,
  );
  return KEYS.filter(
    (key) => head.includes('.') && key.startsWith(head) && key.endsWith(tails.at(-1) ?? ''),
  );
}

const used = new Set<string>();
/** Calls that name a message: where, the keys, and the names of the arguments; null: an expression gives them. */
const calls: { at: string; keys: string[]; given: string[] | null }[] = [];
const unknown: string[] = [];

function visit(node: Node, file: string): void {
  if (node.type === 'Literal') for (const key of keysOf(node)) used.add(key);
  if (node.type === 'CallExpression') {
    const [first, second] = node['arguments'] as Node[];
    const callee = node['callee'] as Node & { name?: string; property?: { name?: string } };
    // `text(…)`, `context.text(…)`, `text.find(…)`, or `textOf(…)(…)`
    const called = callee.name ?? callee.property?.name ?? 'text';
    const at = `${file}:${node['start']}`;
    const fault = `faults.${first?.['value']}`;
    const isFault = called === 'refusal' && KEYS.includes(fault);
    const keys = isFault ? [fault] : first === undefined ? [] : keysOf(first);
    for (const key of keys) used.add(key);
    if (called === 'namesIn') {
      for (const key of KEYS) if (key.startsWith(`${first?.['value']}.`)) used.add(key);
    } else if (called === 'find' && first?.type === 'TemplateLiteral' && keys.length === 0) {
      unknown.push(at);
    } else if (keys.length > 0 && ['text', 'find', 'refusal'].includes(called)) {
      const members = second?.type === 'ObjectExpression' ? (second['properties'] as Node[]) : [];
      const given = members.map(({ key }) => (key as { name: string }).name).sort();
      const isKnown = second === undefined || second.type === 'ObjectExpression';
      calls.push({ at, keys, given: isKnown ? given : null });
    }
  }
  for (const value of Object.values(node)) {
    for (const child of [value].flat()) {
      if (typeof child === 'object' && child !== null && 'type' in child)
        visit(child as Node, file);
    }
  }
}

for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' })) {
  if (!/\.tsx?$/.test(file) || file.startsWith('generated')) continue;
  visit(parseSync(file, readFileSync(join(SRC, file), 'utf8')).program as unknown as Node, file);
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
