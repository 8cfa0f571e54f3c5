import { isUtf8 } from 'node:buffer';

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const TOKEN = /[\t\n\r ]*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\t\n\r {}[\],:"]+)/y;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]).toString('latin1');

/**
 * The expected result of `TitleReader` for an answer, computed by a slow and simple method: the titles' bytes (one
 * character a byte), or null for an answer that must be refused.
 */
export function readByReference(bytes: Buffer): string[] | null {
  // One character for each byte: JSON.parse then checks the grammar for any encoding.
  const whole = bytes.toString('latin1');
  const skipped = whole.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  const text = whole.slice(skipped);
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const tokens = tokenise(text);
  if (tokens[0]?.text !== '{') return null;

  const titleArrays = fieldsOf(tokens).filter((field) => field.name === 'titles');
  const array = titleArrays[0]?.value;
  if (titleArrays.length !== 1 || array?.[0]?.text !== '[') return null;

  const spans = itemsOf(array).map((item) => ({
    start: item[0]?.start ?? 0,
    end: item.at(-1)?.end ?? 0,
  }));
  const outsideTitles = Buffer.from(bytes);
  for (const { start, end } of spans) outsideTitles.fill(' ', skipped + start, skipped + end);
  return isUtf8(outsideTitles) ? spans.map(({ start, end }) => text.slice(start, end)) : null;
}

function tokenise(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const token = match[1] ?? '';
    tokens.push({ text: token, start: TOKEN.lastIndex - token.length, end: TOKEN.lastIndex });
  }
  return tokens;
}

/** The tokens of the one value that starts at `first`. */
function valueAt(tokens: Token[], first: number): Token[] {
  let open = 0;
  for (let next = first; next < tokens.length; next++) {
    const text = tokens[next]?.text ?? '';
    if (text === '{' || text === '[') open++;
    if (text === '}' || text === ']') open--;
    if (open === 0) return tokens.slice(first, next + 1);
  }
  return tokens.slice(first);
}

function fieldsOf(object: Token[]): { name: string; value: Token[] }[] {
  const fields: { name: string; value: Token[] }[] = [];
  for (let next = 1; object[next]?.text.startsWith('"'); ) {
    const written = Buffer.from(object[next]?.text ?? '', 'latin1').toString('utf8');
    const value = valueAt(object, next + 2);
    fields.push({ name: JSON.parse(written) as string, value });
    next += 2 + value.length + 1;
  }
  return fields;
}

function itemsOf(array: Token[]): Token[][] {
  const items: Token[][] = [];
  for (let next = 1; next < array.length - 1; ) {
    const item = valueAt(array, next);
    items.push(item);
    next += item.length + 1;
  }
  return items;
}
