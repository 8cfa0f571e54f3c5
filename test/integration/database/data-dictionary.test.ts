import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMigratedDatabase, type TestDatabase } from '../../support/database.ts';

const DOCUMENT = 'docs/data-dictionary.md';
const BEGIN =
  '<!-- begin generated: npx vitest run --project integration test/integration/database/data-dictionary.test.ts -u -->\n';
const END = '<!-- end generated -->\n';

let database: TestDatabase;
let client: Client;
let document: string;
let examples: string[];

beforeAll(async () => {
  database = await createMigratedDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  document = await readFile(DOCUMENT, 'utf8');
  examples = [...document.matchAll(/```sql\n(.*?)```/gs)].map((match) => match[1] ?? '');
});

afterAll(async () => {
  await client.end();
  await database.drop();
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
  const queries = examples.filter((sql) => !sql.startsWith('GRANT'));
  expect(queries.length).toBeGreaterThanOrEqual(5);
  for (const sql of queries) await client.query(`EXPLAIN ${withValues(sql, {})}`);
});

test('its query for an earlier day folds the revisions back', async () => {
  // Fences are not in the order of the ids, nor in that of the instants.
  await client.query(`
    INSERT INTO conciliation.pull (id, origin, date, requested_by, fence)
    VALUES (1, 'manual', '2026-01-05', 'test', 10),
           (2, 'manual', '2026-01-05', 'test', 40),
           (3, 'manual', '2026-01-05', 'test', 20),
           (4, 'manual', '2026-01-05', 'test', 30)`);
  await client.query(`
    INSERT INTO conciliation.title
      (id, order_uid, occurrence, status, accepted_date, original_value, billing_fee, provider_bank,
       identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id)
    VALUES (1, 'A', 1, 'withdrawn', '2026-01-05', 100.10, 2, '341', gen_random_uuid(),
            '00000000-0000-0000-0000-000000000003', gen_random_uuid(), 1, 2)`);
  await client.query(`
    INSERT INTO conciliation.title_revision (title_id, revision, kind, pull_id, content_hash, before, after)
    VALUES (1, 1, 'changed', 3, '00000000-0000-0000-0000-000000000001',
            '{"billing_fee": null}', '{"billing_fee": 1.50}'),
           (1, 2, 'changed', 4, '00000000-0000-0000-0000-000000000002',
            '{"billing_fee": 1.50}', '{"billing_fee": 2}'),
           (1, 3, 'withdrawn', 2, '00000000-0000-0000-0000-000000000003',
            '{"status": "current"}', '{"status": "withdrawn"}')`);
  const query = examples.find((sql) => sql.includes('jsonb_populate_record')) ?? '';
  const feesAfter = async (fence: number) => {
    const values = { date: `'2026-01-05'`, fence: String(fence) };
    const { rows } = await client.query(withValues(query, values));
    return rows.map((row) => [
      row.original_value,
      row.billing_fee,
      row.provider_bank,
      Number(row.content_hash.slice(-1)),
    ]);
  };
  expect(await feesAfter(9)).toEqual([]);
  expect(await feesAfter(10)).toEqual([['100.10', null, '341', 1]]);
  expect(await feesAfter(25)).toEqual([['100.10', '1.50', '341', 2]]);
  expect(await feesAfter(30)).toEqual([['100.10', '2', '341', 3]]);
  expect(await feesAfter(40)).toEqual([]);
});

/** Puts literals in the place of `:name`; where none is given, a null of no particular type. */
function withValues(sql: string, values: Record<string, string>): string {
  return sql.replace(/(?<!:):([a-z_]+)/g, (_, name: string) => values[name] ?? 'NULL');
}
