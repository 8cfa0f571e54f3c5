/** No statement is built from text: what a statement is given goes beside it, as a parameter. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/** Where text goes into SQL, and why nothing from outside can be in it. How often, so that one more shows. */
const EXCEPTIONS: Readonly<Record<string, { readonly times: number; readonly reason: string }>> = {
  'embedded/embedded-postgres.ts': {
    times: 1,
    reason: 'CREATE DATABASE takes no parameters; the name is a constant of the file',
  },
  'accounts/account-watch.sql.ts': { times: 11, reason: 'column names, constants of the file' },
  'bookings/booking-difference.sql.ts': { times: 4, reason: 'column names, constants of domain/' },
  'bookings/feed.sql.ts': { times: 2, reason: 'column names, constants of domain/' },
  'ledger/day-ledger.sql.ts': {
    times: 2,
    reason: 'the names of the amounts, constants of domain/',
  },
  'console/bookings/booking-list.sql.ts': {
    times: 1,
    reason: 'column names, constants of domain/',
  },
  'database/title-arrival.sql.ts': { times: 1, reason: 'an alias, constants of this program' },
  'database/title-hashes.sql.ts': { times: 3, reason: 'column names, constants of domain/' },
  'database/tax-id.sql.ts': { times: 3, reason: 'expressions of this program' },
  'integrity/alterations.sql.ts': {
    times: 2,
    reason: 'the names of the amounts, constants of domain/',
  },
  'integrity/booking-alterations.sql.ts': {
    times: 1,
    reason: 'column names, constants of domain/',
  },
  'ledger/discard-staged.sql.ts': { times: 1, reason: 'table names, constants of the file' },
  'matching/judgement.sql.ts': {
    times: 1,
    reason: 'the tables of the judgement, constants of the file',
  },
  'payables/payable-import.sql.ts': {
    times: 3,
    reason: 'column names, constants of domain/payable.ts',
  },
  'privacy/erase-party.sql.ts': {
    times: 1,
    reason: 'names of the columns before and after, constants of the file',
  },
  'privacy/erase-title-rows.sql.ts': {
    times: 2,
    reason: 'column names, constants of erased-parties.ts',
  },
  'privacy/erased-parties.sql.ts': { times: 4, reason: 'column names, constants of the file' },
  'export/export-titles.sql.ts': {
    times: 2,
    reason: 'column names, constants of export-columns.ts',
  },
  'pull/release-preview.sql.ts': { times: 1, reason: 'column names, constants of domain/' },
  'pull/known-day.sql.ts': {
    times: 1,
    reason: 'COPY takes no parameters; a date, which is digits and hyphens',
  },
  'ledger/ledger-days.sql.ts': {
    times: 1,
    reason: 'the names of the amounts, constants of domain/',
  },
  'pull/merge/merge-apply.sql.ts': { times: 5, reason: 'column names, constants of domain/' },
  'database/migrate.ts': { times: 5, reason: 'names take no parameters; a constant of the file' },
  'ledger/restated-days.sql.ts': {
    times: 1,
    reason: 'the names of the amounts, constants of domain/',
  },
  'pull/merge/merge-plan.sql.ts': { times: 1, reason: 'column names, constants of domain/' },
  'pull/merge/plausibility.sql.ts': { times: 1, reason: 'column names, constants of the file' },
  'checks/find-faults.sql.ts': { times: 5, reason: 'column names, constants of domain/' },
  'closing/evidence.sql.ts': {
    times: 2,
    reason: 'column names, constants of export-columns.ts and civil-month.ts',
  },
  'closing/month-seal.sql.ts': { times: 4, reason: 'column names, constants of domain/' },
  'ledger/sign-off.sql.ts': { times: 1, reason: 'the names of the amounts, constants of domain/' },
  'pull/copy-rows.sql.ts': {
    times: 1,
    reason: 'COPY takes no parameters; constants of title-row.ts',
  },
  'console/titles/title-detail.sql.ts': { times: 1, reason: 'column names, constants of domain/' },
  'schedule/payee.sql.ts': { times: 7, reason: 'column names, constants of the file' },
  'schedule/read-schedule.sql.ts': {
    times: 4,
    reason: 'the names of the amounts, constants of domain/',
  },
};

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;

/** Tagged templates keep their values apart from the text. */
const TAGS = new Set(['$queryRaw', '$executeRaw', 'sql']);
/** Prisma's ways around its own tagged templates. */
const UNSAFE = /^\$\w+Unsafe$/;
const SQL_TEXT =
  /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|COPY|CREATE|ALTER|DROP|GRANT|REVOKE|SET|LOCK|DECLARE|TRUNCATE|LISTEN|NOTIFY)\s/;

function nameOf(callee: unknown): string {
  if (!isNode(callee)) return '';
  if (callee.type === 'Identifier') return String(callee['name']);
  const { property } = callee as { property?: unknown };
  if (!isNode(property)) return '';
  return String(property['name'] ?? property['value'] ?? '');
}

/** Templates with values in them, and sums of texts. */
function isBuilt(node: unknown): boolean {
  if (!isNode(node)) return false;
  if (node.type === 'TemplateLiteral') return (node['expressions'] as unknown[]).length > 0;
  return node.type === 'BinaryExpression' && node['operator'] === '+';
}

function firstText(node: Node): string {
  const [quasi] = (node['quasis'] ?? []) as { value?: { cooked?: string } }[];
  return quasi?.value?.cooked ?? '';
}

function unsafeIn(source: string, file = 'source.ts'): string[] {
  const { program, errors } = parseSync(file, source);
  expect(errors).toEqual([]);
  const found: string[] = [];
  const visit = (node: Node, parent: Node | null): void => {
    const name = nameOf(node['callee']);
    const [first] = (node['arguments'] ?? []) as unknown[];
    if (UNSAFE.test(String(node['name'] ?? node['value']))) found.push('unsafe');
    else if (node.type === 'CallExpression' && name === 'raw') found.push('raw');
    else if (name === 'query' && isBuilt(first)) found.push('query');
    else if (
      node.type === 'TemplateLiteral' &&
      isBuilt(node) &&
      SQL_TEXT.test(firstText(node)) &&
      !(parent?.type === 'TaggedTemplateExpression' && TAGS.has(nameOf(parent['tag']))) &&
      !(parent?.type === 'CallExpression' && nameOf(parent['callee']) === 'query')
    )
      found.push('text');
    for (const child of Object.values(node)) {
      for (const each of Array.isArray(child) ? child : [child])
        if (isNode(each)) visit(each, node);
    }
  };
  visit(program as unknown as Node, null);
  return found;
}

test('SQL is built from text in the places that are listed, and nowhere else', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !file.startsWith('generated'),
  );
  const found = files
    .map((file) => [file, unsafeIn(readFileSync(join(SRC, file), 'utf8'), file).length] as const)
    .filter(([, times]) => times > 0);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(EXCEPTIONS).map(([file, { times }]) => [file, times])),
  );
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are sources
describe('statements that count as built from text', () => {
  test.each([
    'prisma.$queryRawUnsafe(text)',
    'const { $executeRawUnsafe: run } = prisma; prisma.$executeRawUnsafe`x`',
    'tx["$queryRawUnsafe"](text)',
    'Prisma.raw(text)',
    'client.query(`SELECT ${id}`)',
    'client.query("SELECT " + id)',
    'pool.query(`LISTEN x${id}`, [])',
    'const text = `SELECT * FROM ${table}`',
    'new Cursor(`SELECT ${id}`)',
    'html`INSERT INTO ${id}`',
  ])('%s', (source) => {
    expect(unsafeIn(source)).not.toEqual([]);
  });

  test.each([
    'prisma.$queryRaw`SELECT ${id}`',
    'Prisma.sql`SELECT ${id}`',
    'client.query("SELECT $1", [id])',
    'client.query(`SELECT 1`)',
    'const text = `Selected ${count}`',
  ])('not: %s', (source) => {
    expect(unsafeIn(source)).toEqual([]);
  });
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: these are sources
