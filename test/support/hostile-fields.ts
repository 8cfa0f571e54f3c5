import type { CivilDate } from '../../src/base/values/business-day.ts';
import { TITLE_FIELDS, ValueKind } from '../../src/core/title/title-schema.ts';
import { documentWith, type HostileResponse, merged, sends } from './hostile-responses.ts';
import { titleText } from './titles.ts';

type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'date';

const TYPES: Readonly<Record<ValueKind, FieldType>> = {
  [ValueKind.text]: 'string',
  [ValueKind.date]: 'date',
  [ValueKind.amount]: 'number',
  [ValueKind.boolean]: 'boolean',
  [ValueKind.object]: 'object',
};

/** Every documented field of a title: its path, its type, and its column if the field has a column. */
const FIELDS = TITLE_FIELDS.map(({ path, kind, column }) => [path, TYPES[kind], column] as const);
const REQUIRED = ['order', 'order.uid', 'acceptedDate', 'originalValue'];

type Json = { [field: string]: Json | string };

/** A good title whose field at each path is other JSON text; null: is absent. */
export function titleWith(
  date: CivilDate,
  uid: string,
  values: Readonly<Record<string, string | null>>,
): string {
  const title = JSON.parse(titleText({ date, uid, discount: '1.25' })) as Json;
  const marks: string[] = [];
  for (const [path, json] of Object.entries(values)) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    const parent = names.reduce((object, name) => object[name] as Json, title);
    if (json === null) delete parent[last];
    // Marked first and put in afterwards, because no JavaScript value is written as `1e400`.
    else parent[last] = `@${marks.push(json) - 1}@`;
  }
  return JSON.stringify(title).replace(/"@(\d+)@"/g, (_, index) => marks[Number(index)] ?? '');
}

/** Everything that CSV, COPY, SQL, JSON or a terminal could take for something else. */
const AWKWARD_TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['the end-of-data mark of COPY', '\\.'],
  ['the end-of-data mark of COPY on a line of its own', 'a\n\\.\nb'],
  ['quotes, commas, backslashes, line ends and tabs', ' "a",\'b\';\\n\\\\,\r\n\t"" $1 %s {x} \\'],
  ['emoji, combining marks and other scripts', '👩‍👩‍👧 e\u0301 ﷽ 漢字 \u{10ffff} \u2028\u200b'],
  [
    'every control character but NUL',
    String.fromCharCode(...Array.from({ length: 31 }, (_, i) => i + 1), 127),
  ],
  ['the word NULL', 'NULL'],
  ['the escaped null of COPY', '\\N'],
];

function exactText([name, text]: readonly [string, string]): HostileResponse {
  const uid = `~${text}`;
  const texts = FIELDS.filter(([, type]) => type === 'string');
  const values = Object.fromEntries(texts.map(([path]) => [path, JSON.stringify(text)]));
  const row = Object.fromEntries(
    texts.flatMap(([, , column]) => (column === null ? [] : [[column, text]])),
  );
  return sends(
    `${name} in every text field`,
    (date) =>
      documentWith(date, [titleWith(date, '', { ...values, 'order.uid': JSON.stringify(uid) })]),
    merged({ also: [{ ...row, order_uid: uid, discount: '1.25' }] }),
  );
}

/** Every text that may be empty, as such. */
export const EMPTY_TEXTS = Object.fromEntries(
  FIELDS.filter(([path, type]) => type === 'string' && path !== 'order.uid').map(([path]) => [
    path,
    '""',
  ]),
);
/** Every optional field of a title itself, as null. */
export const NULLS = Object.fromEntries(
  FIELDS.filter(([path]) => !REQUIRED.includes(path) && !path.includes('.')).map(([path]) => [
    path,
    'null',
  ]),
);
/** The values that have to be kept exactly. title-contract.test.ts has the wrong types of each field. */
export const HOSTILE_FIELDS: readonly HostileResponse[] = AWKWARD_TEXTS.map(exactText);
