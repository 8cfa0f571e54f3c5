import { isUtf8 } from 'node:buffer';
import { PlatformContractError } from '../../base/runtime/errors.ts';
import { isStorableText, MAX_KEY_CHARACTERS } from '../../base/values/field-fault.ts';
import {
  isJsonObject,
  JsonNumber,
  type JsonObject,
  type JsonValue,
} from '../../base/values/json-value.ts';
import {
  checkTitle,
  DOCUMENTED_TITLE,
  type DocumentedObject,
  type PullWindow,
  type TitleCheck,
} from '../title/title-contract.ts';

/** Containers within each other, the outermost included. A title has three. */
const MAX_JSON_DEPTH = 32;

/** A string or a number, and the colon where it is a name. Another form for strings overflows the stack. */
const TOKEN = /(?:"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(\s*:)?/g;

export interface ExactJson {
  readonly value: JsonValue;
  /** Why the title is rejected, without the value. */
  readonly problems: readonly string[];
}

type ExactTitle =
  | Extract<TitleCheck, { ok: true }>
  | (Extract<TitleCheck, { ok: false }> & {
      /** Null where the uid cannot be read or breaks the contract itself. */
      readonly orderUid: string | null;
    });

/**
 * Reads a title of any kind and checks the title against the contract.
 *
 * @throws PlatformContractError where the bytes are not JSON
 */
export function readExactTitle(bytes: Buffer, window: PullWindow, offset = 0): ExactTitle {
  const { value, problems } = parseTitle(bytes, offset);
  const check = checkTitle(value, window);
  if (problems.length === 0) return check.ok ? check : { ...check, orderUid: findOrderUid(value) };
  return {
    ok: false,
    reasons: check.ok ? problems : [...problems, ...check.reasons],
    acceptedDate: check.ok ? check.title.accepted_date : check.acceptedDate,
    orderUid: null,
  };
}

/**
 * Reads JSON with exact numbers: `JSON.parse` gets every number as a string that begins with U+0000, and a
 * string that begins so itself gets a second U+0000. Objects have no prototype. Of several fields of one name
 * the last one counts.
 *
 * @param offset of the title in the response
 * @throws PlatformContractError where the bytes are not JSON
 */
export function parseTitle(bytes: Buffer, offset = 0): ExactJson {
  let names = 0;
  const text = bytes.toString('utf8').replace(TOKEN, (token: string, colon?: string) => {
    if (colon !== undefined) names++;
    // A number with a colon stays as it is: JSON.parse refuses it as a name.
    else if (!token.startsWith('"')) return `"\\u0000${token}"`;
    else if (token.startsWith('"\\u0000')) return `"\\u0000${token.slice(1)}`;
    return token;
  });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Without a cause, because its message quotes the text.
    throw new PlatformContractError(
      `the answer is not valid: the title at byte ${offset} is not JSON`,
      { context: { offset } },
    );
  }
  const tree = new ExactTree();
  const value = tree.read(parsed, 0);
  const problems: string[] = [];
  if (!isUtf8(bytes)) problems.push('(title): expected valid UTF-8');
  if (tree.isTooDeep)
    problems.push(`(title): expected at most ${MAX_JSON_DEPTH} levels of nesting`);
  else if (tree.fields !== names) problems.push(...findRepeated(text));
  return { value, problems };
}

/**
 * An object that inherits no field, not even `__proto__`. V8 would keep the result of `Object.create(null)`
 * as a hash table, which halves the speed of every access.
 */
class BareObject {
  [field: string]: JsonValue;
}
Object.setPrototypeOf(BareObject.prototype, null);
Reflect.deleteProperty(BareObject.prototype, 'constructor');

class ExactTree {
  /** In all objects that were read. */
  fields = 0;
  isTooDeep = false;

  /** @param level how many containers are open around the value */
  read(value: unknown, level: number): JsonValue {
    if (typeof value === 'string') {
      if (value.charCodeAt(0) !== 0) return value;
      const written = value.slice(1);
      return written.charCodeAt(0) === 0 ? written : new JsonNumber(written);
    }
    if (value === null || typeof value !== 'object') return value as boolean | null;
    if (level === MAX_JSON_DEPTH) {
      this.isTooDeep = true;
      return null;
    }
    if (Array.isArray(value)) return value.map((item) => this.read(item, level + 1));
    const object = new BareObject();
    for (const name of Object.keys(value)) {
      this.fields++;
      object[name] = this.read((value as Record<string, unknown>)[name], level + 1);
    }
    return object;
  }
}

/** Finds the documented fields that an object has twice. Each name gets a number in front, so that all are kept. */
function findRepeated(text: string): string[] {
  let names = 0;
  const numbered = text.replace(TOKEN, (token: string, colon?: string) =>
    colon === undefined ? token : `"${names++}:${token.slice(1)}`,
  );
  const repeated = new Set<string>();
  const visit = (object: JsonObject, { path, fields }: DocumentedObject) => {
    const seen = new Set<string>();
    for (const [key, value] of Object.entries(object)) {
      const name = key.slice(key.indexOf(':') + 1);
      const documented = fields.get(name);
      if (documented === undefined) continue;
      if (seen.has(name)) repeated.add(`${path}${name}: expected one value, not the field twice`);
      seen.add(name);
      if (documented !== 'value' && isJsonObject(value)) visit(value, documented);
    }
  };
  const value = JSON.parse(numbered) as JsonValue;
  if (isJsonObject(value)) visit(value, DOCUMENTED_TITLE);
  return [...repeated];
}

function findOrderUid(title: JsonValue): string | null {
  const order = isJsonObject(title) ? (title['order'] ?? null) : null;
  const uid = isJsonObject(order) ? order['uid'] : null;
  const isReadable =
    typeof uid === 'string' &&
    uid !== '' &&
    isStorableText(uid) &&
    [...uid].length <= MAX_KEY_CHARACTERS;
  return isReadable ? uid : null;
}
