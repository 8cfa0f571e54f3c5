import { createSeededRandom, type SeededRandom } from '../../src/demo/seeded-random.ts';
import { decodeSlowly, NotJson, parseSlowly, type SlowValue } from './slow-json.ts';

/** The ids that the request had. */
export const SENT: ReadonlySet<string> = new Set(['A', 'F000001', 'é', '__proto__', '']);

const REFUSED = ['rejected', 'refused', 'invalid', 'error', 'failed'];

/**
 * The external ids that an answer refuses, found by a separate reader: every object of a list that
 * the interface may mean, with an id of the request and a status that says no. Null: not JSON.
 */
export function refusedSlowly(body: Buffer): Set<string> {
  const refused = new Set<string>();
  let root: SlowValue;
  try {
    // As any consumer decodes it: what is no UTF-8 is a replacement character.
    root = parseSlowly(Buffer.from(body.toString('utf8')).toString('latin1'));
  } catch (error) {
    if (error instanceof NotJson) return refused;
    throw error;
  }
  for (const list of listsOf(root)) {
    for (const { value } of list.items) {
      if (value.kind !== 'object') continue;
      const id = textOf(value, 'externalId');
      const status = textOf(value, 'status');
      if (id === null || status === null || !SENT.has(id)) continue;
      if (REFUSED.some((word) => word === status.toUpperCase().toLowerCase())) refused.add(id);
    }
  }
  return refused;
}

type SlowArray = Extract<SlowValue, { kind: 'array' }>;
type SlowObject = Extract<SlowValue, { kind: 'object' }>;

function listsOf(root: SlowValue): SlowArray[] {
  if (root.kind === 'array') return [root];
  if (root.kind !== 'object') return [];
  return ['providers', 'results', 'items', 'statuses'].flatMap((name) => {
    const value = fieldOf(root, name);
    return value?.kind === 'array' ? [value] : [];
  });
}

/** Of a field that comes twice the last one counts, as everywhere in JavaScript. */
function fieldOf(object: SlowObject, name: string): SlowValue | undefined {
  return object.fields.findLast((field) => decodeSlowly(field.nameInner) === name)?.value;
}

function textOf(object: SlowObject, name: string): string | null {
  const value = fieldOf(object, name);
  return value?.kind === 'string' ? decodeSlowly(value.inner) : null;
}

const TEXTS = [
  ...['"A"', '"F000001"', '"\\u0041"', '"é"', '"\\u00e9"', '"Z"', '"__proto__"', '""', '"\\ud800"'],
  ...['"REJECTED"', '"rejected"', '"Error"', '"FAıLED"', '"OK"', '"INVALID "', '"\\u0052EFUSED"'],
  ...['null', '1', 'true', '[]', '{}', '["A"]', '1e400', '"x\\u0000y"', `"${'m'.repeat(1200)}"`],
];
const NAMES = [
  ...['externalId', 'status', 'message', 'reason', 'error', 'externalid', '__proto__', 'toString'],
  ...['providers', 'results', 'items', 'statuses', 'data', '\\u0073tatus'],
];

/** An answer to a push, by seed and index; about half of them JSON. */
export function providerAnswer(seed: string, index: number): Buffer {
  const dice = createSeededRandom(`${seed}/provider/${index}`);
  const list = `[${Array.from({ length: dice(4) }, () => entry(dice)).join(',')}]`;
  const name = NAMES[8 + dice(NAMES.length - 8)];
  const text = dice(3) === 0 ? list : `{"${name}":${list},"${NAMES[8 + dice(6)]}":${value(dice)}}`;
  const bytes = Buffer.from(text);
  if (dice(2) === 0) return bytes;
  const at = dice(bytes.length + 1);
  const put = dice(3) === 0 ? Buffer.of(dice(256)) : Buffer.from(value(dice));
  return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + dice(3))]);
}

function entry(dice: SeededRandom): string {
  if (dice(8) === 0) return value(dice);
  const id = `"externalId":${TEXTS[dice(9)]}`;
  const status = `"status":${TEXTS[9 + dice(7)]}`;
  const more = Array.from(
    { length: dice(3) },
    () => `"${NAMES[dice(NAMES.length)]}":${value(dice)}`,
  );
  const fields = dice(6) === 0 ? more : [id, status, ...more];
  return `{${fields.join(',')}}`;
}

function value(dice: SeededRandom): string {
  return TEXTS[dice(TEXTS.length)] ?? 'null';
}
