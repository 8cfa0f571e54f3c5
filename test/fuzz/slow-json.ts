import { isUtf8 } from 'node:buffer';

/**
 * JSON by the letter of RFC 8259, the whole text at once, one character after the other. Shares no line
 * with the readers of src/pull. One character of its text is one byte, so that grammar can be judged
 * where the encoding is broken.
 */
export type SlowValue =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'number'; readonly text: string }
  /** The bytes between the quotes, undecoded. */
  | { readonly kind: 'string'; readonly inner: string }
  | { readonly kind: 'array'; readonly items: readonly SlowItem[] }
  | { readonly kind: 'object'; readonly fields: readonly SlowField[] };

export interface SlowItem {
  readonly value: SlowValue;
  readonly start: number;
  readonly end: number;
}

export interface SlowField extends SlowItem {
  readonly nameInner: string;
}

export class NotJson extends Error {}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** @throws NotJson */
export function parseSlowly(text: string, from = 0): SlowValue {
  let at = from;

  const space = () => {
    while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1;
  };
  const take = (expected: string) => {
    if (!text.startsWith(expected, at)) throw new NotJson(`no ${expected} at ${at}`);
    at += expected.length;
  };
  const string = (): string => {
    take('"');
    const start = at;
    for (;;) {
      const character = text.charAt(at);
      if (character === '') throw new NotJson('an open string');
      if (character < ' ') throw new NotJson('a control character');
      at += 1;
      if (character === '"') return text.slice(start, at - 1);
      if (character !== '\\') continue;
      const escaped = text.charAt(at);
      at += 1;
      if (escaped === 'u') {
        if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at, at + 4))) throw new NotJson('a short escape');
        at += 4;
      } else if (escaped === '' || !'"\\/bfnrt'.includes(escaped)) {
        throw new NotJson('an unknown escape');
      }
    }
  };
  const number = (): SlowValue => {
    NUMBER.lastIndex = at;
    const match = NUMBER.exec(text);
    if (match === null) throw new NotJson(`no value at ${at}`);
    at += match[0].length;
    return { kind: 'number', text: match[0] };
  };
  const value = (): SlowValue => {
    space();
    switch (text.charAt(at)) {
      case '{':
        return object();
      case '[':
        return array();
      case '"':
        return { kind: 'string', inner: string() };
      case 't':
        take('true');
        return { kind: 'boolean', value: true };
      case 'f':
        take('false');
        return { kind: 'boolean', value: false };
      case 'n':
        take('null');
        return { kind: 'null' };
      default:
        return number();
    }
  };
  const item = (): SlowItem => {
    space();
    const start = at;
    const read = value();
    const end = at;
    space();
    return { value: read, start, end };
  };
  const array = (): SlowValue => {
    take('[');
    space();
    const items: SlowItem[] = [];
    if (text.charAt(at) === ']') {
      take(']');
      return { kind: 'array', items };
    }
    for (;;) {
      items.push(item());
      if (text.charAt(at) === ']') break;
      take(',');
    }
    take(']');
    return { kind: 'array', items };
  };
  const object = (): SlowValue => {
    take('{');
    space();
    const fields: SlowField[] = [];
    if (text.charAt(at) === '}') {
      take('}');
      return { kind: 'object', fields };
    }
    for (;;) {
      space();
      const nameInner = string();
      space();
      take(':');
      fields.push({ nameInner, ...item() });
      if (text.charAt(at) === '}') break;
      take(',');
    }
    take('}');
    return { kind: 'object', fields };
  };

  const whole = value();
  space();
  if (at !== text.length) throw new NotJson('text after the value');
  return whole;
}

/** The text that a string's inner part spells, escapes and all; null where it is no UTF-8. */
export function decodeSlowly(inner: string): string | null {
  if (/^[ !#-[\]-~]*$/.test(inner)) return inner;
  const bytes = Buffer.from(inner, 'latin1');
  return isUtf8(bytes) ? (JSON.parse(`"${bytes.toString('utf8')}"`) as string) : null;
}
