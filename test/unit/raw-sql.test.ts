/** No statement is built from text: what a statement is given goes beside it, as a parameter. */
import { type Argument, type Expression, parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import { SOURCES } from './sources.ts';

/** Why nothing from outside can be in the text that goes into SQL, where, and how often, so that one more shows. */
const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'names take no parameters; a constant of the file': {
    'base/database/migrate.ts': 5,
    'base/embedded/embedded-postgres.ts': 1,
  },
  'the names of columns, constants of the program': {
    'base/audit/audit-chain.sql.ts': 1,
    'features/accounts/account-watch.sql.ts': 11,
    'features/bookings/release.sql.ts': 4,
    'features/verify/alterations.sql.ts': 1,
    'features/bookings/feed.sql.ts': 2,
    'features/checks/check-day.sql.ts': 2,
    'features/review/months/evidence.sql.ts': 2,
    'features/review/months/month-seal.sql.ts': 4,
    'core/title/destinations.sql.ts': 3,
    'core/title/title-hashes.sql.ts': 3,
    'features/titles/export-titles.sql.ts': 2,
    'core/ledger/day-ledger.sql.ts': 2,
    'features/review/ledger-days.sql.ts': 1,
    'features/review/sign-off.sql.ts': 1,
    'features/matching/break-list.sql.ts': 1,
    'features/matching/payables/payable-import.sql.ts': 3,
    'features/privacy/erase-party.sql.ts': 4,
    'features/privacy/erased-parties.sql.ts': 4,
    'core/merge/merge-apply.sql.ts': 6,
    'core/merge/merge-plan.sql.ts': 1,
    'features/checks/plausibility.sql.ts': 1,
    'features/review/release-preview.sql.ts': 1,
    'features/schedule/payee.sql.ts': 6,
    'features/titles/titles.sql.ts': 2,
  },
  'expressions, an alias and the names of tables, constants of the program': {
    'base/database/expressions.sql.ts': 2,
    'core/merge/holds.sql.ts': 1,
    'core/ledger/pull-ledger.sql.ts': 1,
    'core/merge/end-merge.sql.ts': 1,
    'features/matching/judgement.sql.ts': 1,
  },
  'COPY takes no parameters; constants of title-row.ts': { 'core/merge/stage-response.sql.ts': 1 },
};

/** Tagged templates keep their values apart from the text. */
const TAGS = new Set(['$queryRaw', '$executeRaw', 'sql']);
/** Prisma's ways around its own tagged templates. */
const UNSAFE = /^\$\w+Unsafe$/;
const SQL_TEXT =
  /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|COPY|CREATE|ALTER|DROP|GRANT|REVOKE|SET|LOCK|DECLARE|TRUNCATE|LISTEN|NOTIFY)\s/;

function nameOf(callee: Expression): string {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type !== 'MemberExpression') return '';
  const { property } = callee;
  return String('name' in property ? property.name : 'value' in property && property.value);
}

/** Templates with values in them, and sums of texts. */
function isBuilt(node: Argument | undefined): boolean {
  if (node?.type === 'TemplateLiteral') return node.expressions.length > 0;
  return node?.type === 'BinaryExpression' && node.operator === '+';
}

function unsafeIn(source: string, file = 'source.ts'): string[] {
  const { program, errors } = parseSync(file, source);
  expect(errors).toEqual([]);
  const found: string[] = [];
  const judged = new Set<Argument | undefined>();
  new Visitor({
    Identifier({ name }) {
      if (UNSAFE.test(name)) found.push('unsafe');
    },
    Literal({ value }) {
      if (UNSAFE.test(String(value))) found.push('unsafe');
    },
    CallExpression({ callee, arguments: [first] }) {
      const name = nameOf(callee);
      if (name === 'raw') found.push('raw');
      if (name !== 'query') return;
      judged.add(first);
      if (isBuilt(first)) found.push('query');
    },
    TaggedTemplateExpression({ tag, quasi }) {
      if (TAGS.has(nameOf(tag))) judged.add(quasi);
    },
    TemplateLiteral(node) {
      const text = node.quasis[0]?.value.cooked ?? '';
      if (!judged.has(node) && isBuilt(node) && SQL_TEXT.test(text)) found.push('text');
    },
  }).visit(program);
  return found;
}

test('SQL is built from text in the places that are listed, and nowhere else', () => {
  const found = SOURCES.map(
    ({ file, source }) => [file, unsafeIn(source, file).length] as const,
  ).filter(([, times]) => times > 0);
  expect(Object.fromEntries(found)).toEqual(Object.assign({}, ...Object.values(EXCEPTIONS)));
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are sources
test.each([
  ['prisma.$queryRawUnsafe(text)', ['unsafe']],
  ['const { $executeRawUnsafe: run } = prisma; prisma.$executeRawUnsafe`x`', ['unsafe', 'unsafe']],
  ['tx["$queryRawUnsafe"](text)', ['unsafe']],
  ['Prisma.raw(text)', ['raw']],
  ['client.query(`SELECT ${id}`)', ['query']],
  ['const text = `SELECT * FROM ${table}`', ['text']],
  ['prisma.$queryRaw`SELECT ${id}`', []],
  ['Prisma.sql`SELECT ${id}`', []],
  ['client.query("SELECT $1", [id])', []],
  ['client.query(`SELECT 1`)', []],
])('statements that count as built from text: %s', (source, found) => {
  expect(unsafeIn(source)).toEqual(found);
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: these are sources
