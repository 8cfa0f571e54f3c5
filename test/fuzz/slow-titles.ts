import { isUtf8 } from 'node:buffer';
import { ts } from '@ts-morph/common';
import type { PullWindow } from '../../src/core/title/title-contract.ts';

/**
 * JSON as `JSON.parse` takes it, placed by the parser of TypeScript, the whole text at once. Shares no line
 * with the readers of src. One character of its text is one byte, so that grammar can be judged
 * where the encoding is broken.
 */
type SlowValue =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'number'; readonly text: string }
  /** The bytes between the quotes, undecoded. */
  | { readonly kind: 'string'; readonly inner: string }
  | { readonly kind: 'array'; readonly items: readonly SlowItem[] }
  | { readonly kind: 'object'; readonly fields: readonly SlowField[] };

interface SlowItem {
  readonly value: SlowValue;
  readonly start: number;
  readonly end: number;
}

interface SlowField extends SlowItem {
  readonly nameInner: string;
}

/** @throws SyntaxError where it is not JSON */
function parseSlowly(text: string): SlowValue {
  JSON.parse(text);
  const source = ts.parseJsonText('fuzz.json', text);
  const innerOf = (node: ts.Node) => node.getText(source).slice(1, -1);
  const item = (node: ts.Node): SlowItem => ({
    value: value(node),
    start: node.getStart(source),
    end: node.end,
  });
  const value = (node: ts.Node): SlowValue => {
    if (ts.isStringLiteral(node)) return { kind: 'string', inner: innerOf(node) };
    if (ts.isArrayLiteralExpression(node)) return { kind: 'array', items: node.elements.map(item) };
    if (ts.isObjectLiteralExpression(node)) {
      const fields = node.properties.filter(ts.isPropertyAssignment);
      return {
        kind: 'object',
        fields: fields.map((field) => ({
          nameInner: innerOf(field.name),
          ...item(field.initializer),
        })),
      };
    }
    const word = node.getText(source);
    if (word === 'null') return { kind: 'null' };
    if (word === 'true' || word === 'false') return { kind: 'boolean', value: word === 'true' };
    return { kind: 'number', text: word };
  };
  const [root] = source.statements;
  if (root === undefined) throw new SyntaxError('no value');
  return value(root.expression);
}

/** The text that a string's inner part spells, escapes and all; null where it is no UTF-8. */
function decodeSlowly(inner: string): string | null {
  if (/^[ !#-[\]-~]*$/.test(inner)) return inner;
  const bytes = Buffer.from(inner, 'latin1');
  return isUtf8(bytes) ? (JSON.parse(`"${bytes.toString('utf8')}"`) as string) : null;
}

/** Columns of a title that keeps the contract, as text; `extra` as canonical JSON. Null: rejected. */
export type SlowTitle = Readonly<Record<string, string | null>> | null;

type Kept =
  | null
  | boolean
  | string
  | { readonly number: string }
  | readonly Kept[]
  | ReadonlyMap<string, Kept>;

const MARK = '\u00ef\u00bb\u00bf';
const MAX_TITLE_BYTES = 1024 * 1024;
const MAX_DEPTH = 32;
const MAX_DIGITS = 100;

/** All titles of an answer, in order; null for an answer that has to be refused. */
export function readTitlesSlowly(bytes: Buffer, window: PullWindow): SlowTitle[] | null {
  const answer = cutSlowly(bytes);
  if (answer === null) return null;
  const { text, titles } = answer;
  return titles.map(({ value, start, end }) => {
    const bytes = Buffer.from(text.slice(start, end), 'latin1');
    const isReadable =
      bytes.length <= MAX_TITLE_BYTES && isUtf8(bytes) && depthOf(value) <= MAX_DEPTH;
    return isReadable ? readTitle(value, window) : null;
  });
}

/**
 * The text of an answer, with one character a byte, and where its titles are in the text; null for an answer that has
 * to be refused.
 */
export function cutSlowly(
  bytes: Buffer,
): { readonly text: string; readonly titles: readonly SlowItem[] } | null {
  const whole = bytes.toString('latin1');
  const skipped = whole.startsWith(MARK) ? MARK.length : 0;
  const text = whole.slice(skipped);
  let root: SlowValue;
  try {
    root = parseSlowly(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (root.kind !== 'object') return null;
  const named = root.fields.filter((field) => decodeSlowly(field.nameInner) === 'titles');
  const titles = named[0]?.value;
  if (named.length !== 1 || titles?.kind !== 'array') return null;
  const frame = Buffer.from(bytes);
  for (const { start, end } of titles.items) frame.fill(' ', skipped + start, skipped + end);
  if (!isUtf8(frame)) return null;
  return { text, titles: titles.items };
}

class Unkeepable extends Error {}

function readTitle(value: SlowValue, window: PullWindow): SlowTitle {
  if (value.kind !== 'object') return null;
  return orNull(() => flatten(keepDocumented(value.fields, TITLE), window));
}

function depthOf(value: SlowValue): number {
  if (value.kind !== 'array' && value.kind !== 'object') return 0;
  const inner = value.kind === 'array' ? value.items : value.fields;
  return 1 + inner.reduce((depth, item) => Math.max(depth, depthOf(item.value)), 0);
}

function keep(value: SlowValue): Kept {
  switch (value.kind) {
    case 'null':
      return null;
    case 'boolean':
      return value.value;
    case 'string':
      return keepText(value.inner);
    case 'number':
      if (digitsOf(value.text) > MAX_DIGITS) throw new Unkeepable('a number');
      return { number: value.text };
    case 'array':
      return value.items.map((item) => keep(item.value));
    case 'object':
      return new Map(lastOfEach(value.fields).map(([name, last]) => [keepText(name), keep(last)]));
  }
}

/** Of the fields with one name, the last. The names as they are written, one spelling for each. */
function lastOfEach(fields: readonly SlowField[]): [name: string, value: SlowValue][] {
  // In the order of an object of JavaScript, which is the order of the JSON text that is kept.
  const last = Object.create(null) as Record<string, SlowField>;
  for (const field of fields) last[decodeSlowly(field.nameInner) ?? ''] = field;
  return Object.values(last).map(({ nameInner, value }) => [nameInner, value]);
}

/** JSON text without white space. */
function render(value: SlowValue): string {
  switch (value.kind) {
    case 'null':
      return 'null';
    case 'boolean':
      return String(value.value);
    case 'string':
      return JSON.stringify(decodeSlowly(value.inner));
    case 'number':
      return value.text;
    case 'array':
      return `[${value.items.map((item) => render(item.value)).join(',')}]`;
    case 'object':
      return `{${lastOfEach(value.fields).map(renderField).join(',')}}`;
  }
}

function renderField([name, value]: readonly [string, SlowValue]): string {
  return `${JSON.stringify(decodeSlowly(name))}:${render(value)}`;
}

/** An object of the interface. What cannot be kept of its undocumented fields is kept as text. */
function keepDocumented(fields: readonly SlowField[], shape: Shape): Fields {
  const kept = new Map<string, Kept>();
  const further: string[] = [];
  const names = fields.map(({ nameInner }) => decodeSlowly(nameInner));
  for (const name of Object.keys(shape)) {
    if (names.filter((other) => other === name).length > 1) throw new Unkeepable('twice');
  }
  for (const [inner, value] of lastOfEach(fields)) {
    const name = orNull(() => ({ kept: keepText(inner) }))?.kept ?? null;
    const type = name !== null && Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (name === null) {
      further.push(renderField([inner, value]));
    } else if (type === undefined) {
      const exact = orNull(() => ({ kept: keep(value) }));
      kept.set(name, exact === null ? render(value) : exact.kept);
    } else {
      const isObject = typeof type === 'object' && value.kind === 'object';
      kept.set(name, isObject ? keepDocumented(value.fields, type) : keep(value));
    }
  }
  if (further.length === 0) return kept;
  let name = '(further fields)';
  while (kept.has(name)) name = `${name} `;
  return kept.set(name, further.join(', '));
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unkeepable) return null;
    throw error;
  }
}

function keepText(inner: string): string {
  const text = decodeSlowly(inner);
  if (text === null || text.includes('\0') || /\p{Surrogate}/u.test(text))
    throw new Unkeepable('text');
  return text;
}

/** How many digits the number has when it is written without an exponent. */
function digitsOf(text: string): number {
  const [mantissa = '', exponentText = '0'] = text.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const exponent = Number(exponentText);
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return Math.abs(exponent) + whole.length + fraction.length;
  const before = Math.max(digits.length - fraction.length + exponent, 0);
  const behind = Math.max(fraction.length - exponent, 0);
  return before + behind;
}

/** The number as PostgreSQL shows it: the point is moved digit by digit, and no digit is lost. */
function plainOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.replace(/^-/, '').toLowerCase().split('e');
  let [whole = '', fraction = ''] = mantissa.split('.');
  for (let moves = Number(exponent); moves > 0; moves -= 1) {
    whole += fraction.charAt(0) || '0';
    fraction = fraction.slice(1);
  }
  for (let moves = Number(exponent); moves < 0; moves += 1) {
    fraction = (whole.at(-1) ?? '0') + fraction;
    whole = whole.slice(0, -1);
  }
  whole = whole.replace(/^0+/, '') || '0';
  const isZero = /^0*$/.test(whole + fraction);
  const plain = fraction === '' ? whole : `${whole}.${fraction}`;
  return text.startsWith('-') && !isZero ? `-${plain}` : plain;
}

type Fields = ReadonlyMap<string, Kept>;

/** As the interface documents it: the field's type and our column, or the fields of the object. */
interface Shape {
  readonly [field: string]: string | Shape;
}

const account = (owner: string): Shape => ({
  bank: `text ${owner}_bank`,
  agency: `text ${owner}_agency`,
  agencyDigit: `text ${owner}_agency_digit`,
  account: `text ${owner}_account`,
  accountDigit: `text ${owner}_account_digit`,
});
const TITLE: Shape = {
  order: { uid: 'key order_uid' },
  financialAgent: {
    type: 'text financial_agent_type',
    identificationNumber: 'text financial_agent_identification',
    name: 'text financial_agent_name',
    buyerIsFinancial: 'boolean buyer_is_financial',
    payment: { type: 'text payment_type', ...account('payment') },
  },
  buyerIdentification: 'key buyer_identification',
  providerExternalId: 'key provider_external_id',
  platformDiscountedValue: 'amount platform_discounted_value',
  financialDiscountedValue: 'amount financial_discounted_value',
  buyerDiscountedValue: 'amount buyer_discounted_value',
  billingFee: 'amount billing_fee',
  moneyTransferFee: 'amount money_transfer_fee',
  originalValue: 'amount original_value',
  anticipatedDueDate: 'date anticipated_due_date',
  acceptedDate: 'date accepted_date',
  platformCommission: 'text platform_commission',
  provider: {
    identification: 'text provider_identification',
    externalId: 'key inner',
    bankAccount: account('provider'),
  },
};

function flatten(title: Fields, window: PullWindow): SlowTitle {
  if (!keepsShape(title, TITLE)) return null;
  const { inner = null, ...columns } = Object.fromEntries(columnsOf(title, TITLE));
  const { accepted_date: accepted, order_uid: uid, provider_external_id: outer } = columns;
  if (!uid || !accepted || columns['original_value'] === null) return null;
  if (accepted < window.from || (window.to !== null && accepted > window.to)) return null;
  let extra = undocumented(title, TITLE);
  if (outer !== null && inner !== null && outer !== inner) {
    const provider = extra?.get('provider');
    const merged = new Map(provider instanceof Map ? provider : []).set('externalId', inner);
    extra = new Map(extra ?? []).set('provider', merged);
  }
  return {
    ...columns,
    provider_external_id: outer ?? inner,
    extra: extra === null ? null : canonical(extra),
  };
}

/** The documented fields as PostgreSQL shows them, by column. */
function columnsOf(fields: Kept, shape: Shape): [column: string, text: string | null][] {
  return Object.entries(shape).flatMap(([name, type]) => {
    const value: Kept = (fields instanceof Map ? fields.get(name) : null) ?? null;
    if (typeof type === 'object') return columnsOf(value, type);
    return [[type.replace(/.* /, ''), textOf(value)] as const];
  });
}

function textOf(value: Kept): string | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 't' : 'f';
  return 'number' in value ? plainOf(String(value.number)) : null;
}

function keepsShape(fields: Fields, shape: Shape): boolean {
  return Object.entries(shape).every(([name, type]) => {
    const value = fields.get(name) ?? null;
    if (value === null) return true;
    if (typeof type === 'object') return value instanceof Map && keepsShape(value, type);
    return keepsType(value, type.replace(/ .*/, ''));
  });
}

function keepsType(value: Kept, type: string): boolean {
  if (type === 'boolean') return typeof value === 'boolean';
  if (type === 'amount') return typeof value === 'object' && value !== null && 'number' in value;
  if (typeof value !== 'string') return false;
  if (type === 'date') return isCalendarDate(value);
  return [...value].length <= (type === 'key' ? 255 : 1000);
}

function isCalendarDate(text: string): boolean {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) || text < '0001') return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** The undocumented fields at their places; null if the title has none. */
function undocumented(fields: Fields, shape: Shape): Map<string, Kept> | null {
  const unknown = new Map<string, Kept>();
  for (const [name, value] of fields) {
    const type = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (type === undefined) unknown.set(name, value);
    else if (typeof type === 'object' && value instanceof Map) {
      const inner = undocumented(value, type);
      if (inner !== null) unknown.set(name, inner);
    }
  }
  return unknown.size === 0 ? null : unknown;
}

/** One text for equal JSON with any order of fields; numbers as they were written. */
export function canonical(value: Kept): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value instanceof Map) {
    const names = [...value.keys()].sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value.get(name) ?? null)}`).join(',')}}`;
  }
  return (value as { number: string }).number;
}

/** JSON that the program wrote, in the same canonical text. */
export function canonicalOf(json: string): string {
  return canonical(keep(parseSlowly(Buffer.from(json).toString('latin1'))));
}
