import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { clientOfFile, worldOfFile } from '../../support/pull-world.ts';

const DOCUMENT = 'docs/data-dictionary.md';
const BEGIN =
  '<!-- begin generated: npx vitest run --project integration test/integration/database/data-dictionary.test.ts -u -->\n';
const END = '<!-- end generated -->\n';

const world = worldOfFile();
const client = clientOfFile(() => world.databaseUrl);
let document: string;
let examples: string[];
beforeAll(async () => {
  document = await readFile(DOCUMENT, 'utf8');
  examples = [...document.matchAll(/```sql\n(.*?)```/gs)].map((match) => match[1] ?? '');
});

/** The tables in the order of the migrations, in which they are best read. */
async function renderRelations(): Promise<string> {
  const relations = await client.query(`
    SELECT oid, relname AS name, relkind = 'v' AS is_view, obj_description(oid, 'pg_class') AS description
    FROM pg_class
    WHERE relnamespace = 'conciliation'::regnamespace AND relkind IN ('r', 'v')
      AND relname <> '_prisma_migrations'
    ORDER BY oid`);
  const sections: string[] = [];
  for (const { oid, name, is_view: isView, description } of relations.rows) {
    expect(description, name).not.toBeNull();
    const { rows } = await client.query(
      `SELECT attname AS name, attnotnull AS required, col_description(attrelid, attnum) AS description,
              replace(format_type(atttypid, atttypmod), 'timestamp with time zone', 'timestamptz') AS type
       FROM pg_attribute WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      [oid],
    );
    const cells = rows.map((column) => [
      `\`${column.name}\``,
      column.type,
      ...(isView ? [] : [column.required ? 'no' : 'yes']),
      column.description.replaceAll('|', '\\|'),
    ]);
    const head = isView ? ['column', 'type', 'meaning'] : ['column', 'type', 'null', 'meaning'];
    const table = [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`);
    sections.push(
      `### ${name}${isView ? ' (view)' : ''}\n\n${description}\n\n${table.join('\n')}\n`,
    );
  }
  return sections.join('\n');
}

test('the data dictionary equals the comments of the database', async () => {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  const generated = `${before}${BEGIN}\n${await renderRelations()}\n${END}${after}`;
  await expect(generated).toMatchFileSnapshot(resolve(DOCUMENT));
});

test('every query of the data dictionary is one that the database understands', async () => {
  expect(examples.length).toBeGreaterThanOrEqual(5);
  for (const sql of examples)
    await client.query(`EXPLAIN ${sql.replace(/(?<!:):[a-z_]+/g, 'NULL')}`);
});
