/**
 * What the statements of the service write, read from the source: SQL that names a table as `conciliation.…`, and calls
 * of Prisma's client.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AMOUNT_COLUMNS, TITLE_COLUMNS } from '../../src/core/title/title.ts';
import { PAYABLE_FIELDS } from '../../src/features/matching/payables/payable.ts';
import { ASSIGNMENTS } from '../../src/features/privacy/erased-parties.sql.ts';

/** They delete and rewrite as the owner. */
const OWNERS_FILES = ['features/privacy/retention.sql.ts', 'features/privacy/erase-party.sql.ts'];

const STAGED = ['title', 'reject', 'base', 'missing', 'change', 'account'].map(
  (what) => `staged_${what}`,
);

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The columns of assignments that the source assembles, by the expression that stands in their place. */
const ASSEMBLED: Readonly<Record<string, readonly string[]>> = {
  ended: ['ended_at', 'ended_by'],
  '...credentials': ['password_hash', 'link_hash', 'link_expires_at', 'totp_secret', 'totp_step'],
  '...NO_FACTOR': ['totp_secret', 'totp_step'],
  '...ofFold': ['fold_count', 'fold_sum'],
  settled: [
    ...['state', 'last_pull_id', 'held_pull_id', 'verified_at', 'rejected_count'],
    ...['fold_count', 'fold_sum'],
  ],
  setSums: AMOUNT_COLUMNS.map((column) => `${column}_sum`),
  setColumns: TITLE_COLUMNS,
  REPLACEMENTS: PAYABLE_FIELDS.slice(1).map(snakeCase),
  ASSIGNMENTS: Array.from(ASSIGNMENTS.sql.matchAll(/(\w+) =/g), ([, column = '']) => column),
};

/** The parts of a list at its outermost level, up to `end` or to a bracket that closes around it. */
function partsOf(text: string, end: RegExp): string[] {
  const parts = [''];
  let depth = 0;
  for (const [token] of text.matchAll(/'[^']*'|--.*|\/\/.*|[A-Z]+|[\s\S]/g)) {
    if ('([{'.includes(token)) depth += 1;
    if (')]}'.includes(token)) depth -= 1;
    if (depth < 0 || (depth === 0 && end.test(token))) break;
    if (depth === 0 && token === ',') parts.push('');
    else if (!/^(--|\/\/)/.test(token)) parts[parts.length - 1] += token;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function assembled(expression: string, file: string): readonly string[] {
  const columns = ASSEMBLED[expression];
  if (columns === undefined)
    throw new Error(`${file}: ASSEMBLED lacks the columns of ${expression}`);
  return columns;
}

/** Of an SQL text after SET. */
const assignedColumns = (text: string, file: string) =>
  partsOf(text, /^(`|WHERE|FROM|RETURNING)$/).flatMap((part) => {
    const [, expression, column = ''] = part.match(/^(?:\$\{(.*)\}$|(\w+) *=)/) ?? [];
    return expression === undefined ? [column] : assembled(expression, file);
  });

/** Of the arguments of a call of Prisma's client. */
function assignedFields(text: string, file: string, model: Model): string[] {
  const data = text.match(/^\{[\s\S]*?\b(?:data|update): \{/);
  if (data === null) return [...assembled(text.match(/^\w+/)?.[0] ?? '', file)];
  return partsOf(text.slice(data[0].length), /^$/).flatMap((part) =>
    part.startsWith('...')
      ? assembled(part, file)
      : (model.columns.get(part.split(':')[0] ?? '') ?? part),
  );
}

interface Model {
  readonly table: string;
  /** By the name of the field. */
  readonly columns: ReadonlyMap<string, string>;
}

function readModels(): Map<string, Model> {
  const schema = readFileSync('prisma/schema.prisma', 'utf8');
  const models = schema.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm);
  return new Map(
    Array.from(models, ([, name = '', body = '']) => [
      name.charAt(0).toLowerCase() + name.slice(1),
      {
        table: body.match(/@@map\("(\w+)"\)/)?.[1] ?? '',
        columns: new Map(
          Array.from(body.matchAll(/^ +(\w+) .*/gm), ([line, field = '']) => [
            field,
            line.match(/@map\("(\w+)"\)/)?.[1] ?? field,
          ]),
        ),
      },
    ]),
  );
}

/**
 * The rights that the statements need: a table with INSERT or DELETE, a column of a table with UPDATE. Not seen: a
 * statement whose table is not written out, beside those of the staging tables; a nested write of Prisma; a lock of rows.
 */
export function readWritingStatements(): string[] {
  const models = readModels();
  const rights = new Set(STAGED.flatMap((table) => [`INSERT ${table}`, `DELETE ${table}`]));
  const update = (table: string, columns: readonly string[]) => {
    for (const column of columns) rights.add(`UPDATE ${table}.${column}`);
  };
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.startsWith('generated') || OWNERS_FILES.includes(file))
      continue;
    const source = readFileSync(join('src', file), 'utf8');
    let table = '';
    for (const match of source.matchAll(
      /(INSERT INTO|UPDATE|DELETE FROM) conciliation\.(\w+)|DO UPDATE|\.(\w+)\.(create|update|upsert|delete)\w*\(/g,
    )) {
      const [found, verb, named, field = '', call] = match;
      const rest = source.slice(match.index + found.length);
      const model = models.get(field);
      table = named ?? table;
      if (model !== undefined) {
        if (call === 'create' || call === 'upsert') rights.add(`INSERT ${model.table}`);
        if (call === 'delete') rights.add(`DELETE ${model.table}`);
        if (call === 'update' || call === 'upsert')
          update(model.table, assignedFields(rest, file, model));
      } else if (verb === 'INSERT INTO') rights.add(`INSERT ${table}`);
      else if (verb === 'DELETE FROM') rights.add(`DELETE ${table}`);
      else if (call === undefined)
        update(table, assignedColumns(rest.slice(rest.search(/\bSET\b/) + 3), file));
    }
  }
  return [...rights].sort();
}
