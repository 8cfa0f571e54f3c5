import { isUtf8 } from 'node:buffer';
import { ts } from '@ts-morph/common';

/**
 * JSON as `JSON.parse` takes it, placed by the parser of TypeScript, the whole text at once. Shares no line
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

/** @throws SyntaxError where it is not JSON */
export function parseSlowly(text: string): SlowValue {
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
export function decodeSlowly(inner: string): string | null {
  if (/^[ !#-[\]-~]*$/.test(inner)) return inner;
  const bytes = Buffer.from(inner, 'latin1');
  return isUtf8(bytes) ? (JSON.parse(`"${bytes.toString('utf8')}"`) as string) : null;
}
