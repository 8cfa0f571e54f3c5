import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codeIn, ROOT, readDocument, tableRowsOf } from './documents.ts';

function relationsOfMigrations(): string[] {
  const folder = 'prisma/migrations';
  const migrations = readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => readDocument(join(folder, name, 'migration.sql')));
  const namesAfter = (statement: string) => {
    const pattern = new RegExp(`^${statement} conciliation\\.(\\w+)`, 'gm');
    return migrations.flatMap((sql) => [...sql.matchAll(pattern)].map(([, name = '']) => name));
  };
  const dropped = new Set(namesAfter('DROP (?:TABLE|VIEW)'));
  return namesAfter('CREATE (?:UNLOGGED )?(?:TABLE|VIEW)').filter((name) => !dropped.has(name));
}

test('docs/tables.md has every table and view of the schema once, and no other', () => {
  const documented = tableRowsOf(readDocument('docs/tables.md')).flatMap(([cell = '']) =>
    codeIn(cell),
  );
  expect(documented.toSorted()).toEqual(relationsOfMigrations().sort());
});
