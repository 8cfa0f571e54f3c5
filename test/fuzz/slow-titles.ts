import { isUtf8 } from 'node:buffer';
import { ts } from '@ts-morph/common';
import type { PullWindow } from '../../src/core/title/title-contract.ts';

/**
 * JSON as `JSON.parse` takes it, in the syntax tree of TypeScript, the whole text at once. Shares no line
 * with the readers of src. One character of its text is one byte, so that grammar can be judged
 * where the encoding is broken.
 *
 * @throws SyntaxError where it is not JSON
 */
function parseSlowly(text: string): ts.Expression {
  JSON.parse(text);
  const [root] = ts.createSourceFile('fuzz.json', text, ts.ScriptTarget.JSON, true).statements;
  if (root === undefined || !ts.isExpressionStatement(root)) throw new SyntaxError('no value');
  return root.expression;
}

const { isArrayLiteralExpression: isArray, isObjectLiteralExpression: isObject } = ts;
const fieldsOf = (object: ts.ObjectLiteralExpression) =>
  object.properties.filter(ts.isPropertyAssignment);
/** The bytes between the quotes, undecoded. */
const innerOf = (text: ts.Node) => text.getText().slice(1, -1);
const nameOf = ({ name }: ts.PropertyAssignment) => decodeSlowly(innerOf(name));

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
  const titles = cutSlowly(bytes);
  if (titles === null) return null;
  return titles.map((title) => {
    const bytes = Buffer.from(title.getText(), 'latin1');
    const isReadable =
      bytes.length <= MAX_TITLE_BYTES && isUtf8(bytes) && depthOf(title) <= MAX_DEPTH;
    if (!isReadable || !isObject(title)) return null;
    return orNull(() => flatten(keepDocumented(title, TITLE), window));
  });
}

/** The titles of an answer, whose text has one character a byte; null for an answer that has to be refused. */
export function cutSlowly(bytes: Buffer): readonly ts.Expression[] | null {
  const whole = bytes.toString('latin1');
  const skipped = whole.startsWith(MARK) ? MARK.length : 0;
  const text = whole.slice(skipped);
  let root: ts.Expression;
  try {
    root = parseSlowly(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (!isObject(root)) return null;
  const [titles, ...others] = fieldsOf(root).filter((field) => nameOf(field) === 'titles');
  if (titles === undefined || others.length > 0 || !isArray(titles.initializer)) return null;
  const { elements } = titles.initializer;
  const frame = Buffer.from(bytes);
  for (const title of elements) frame.fill(' ', skipped + title.getStart(), skipped + title.end);
  return isUtf8(frame) ? elements : null;
}

class Unkeepable extends Error {}

function depthOf(value: ts.Expression): number {
  if (!isArray(value) && !isObject(value)) return 0;
  const inner = isArray(value) ? value.elements : fieldsOf(value).map((field) => field.initializer);
  return 1 + Math.max(0, ...inner.map(depthOf));
}

function keep(value: ts.Expression): Kept {
  if (ts.isStringLiteral(value)) return keepText(innerOf(value));
  if (isArray(value)) return value.elements.map(keepPart);
  if (isObject(value)) {
    return new Map(
      lastOfEach(value).map((field) => [
        keepName(field) ?? JSON.stringify(nameOf(field)),
        keepPart(field.initializer),
      ]),
    );
  }
  const word = value.getText();
  if (word === 'null') return null;
  if (word === 'true' || word === 'false') return word === 'true';
  if (digitsOf(word) > MAX_DIGITS) throw new Unkeepable('a number');
  return { number: word };
}

/** Of the fields with one name, the last. */
function lastOfEach(object: ts.ObjectLiteralExpression): ts.PropertyAssignment[] {
  // In the order of an object of JavaScript, which is the order of the JSON text that is kept.
  const last = Object.create(null) as Record<string, ts.PropertyAssignment>;
  for (const field of fieldsOf(object)) last[nameOf(field) ?? ''] = field;
  return Object.values(last);
}

/** A part of an undocumented value: the JSON text of what cannot be kept. */
function keepPart(value: ts.Expression): Kept {
  const exact = orNull(() => ({ kept: keep(value) }));
  if (exact !== null) return exact.kept;
  return ts.isStringLiteral(value) ? JSON.stringify(decodeSlowly(innerOf(value))) : value.getText();
}

/** Null: the name cannot be kept. */
const keepName = ({ name }: ts.PropertyAssignment) => orNull(() => keepText(innerOf(name)));

/** An object of the interface. What cannot be kept of its undocumented fields is kept as text. */
function keepDocumented(object: ts.ObjectLiteralExpression, shape: Shape): Fields {
  const kept = new Map<string, Kept>();
  const names = fieldsOf(object).map(nameOf);
  for (const name of Object.keys(shape)) {
    if (names.filter((other) => other === name).length > 1) throw new Unkeepable('twice');
  }
  for (const field of lastOfEach(object)) {
    const value = field.initializer;
    const name = keepName(field);
    const type = name !== null && Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (name === null || type === undefined) {
      kept.set(name ?? JSON.stringify(nameOf(field)), keepPart(value));
    } else {
      const isDocumented = typeof type === 'object' && isObject(value);
      kept.set(name, isDocumented ? keepDocumented(value, type) : keep(value));
    }
  }
  return kept;
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
