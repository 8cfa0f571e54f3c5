// Writes the tables of docs/data-dictionary.md from the COMMENTs of a migrated database, so that
// the document cannot say anything that the database does not.
//
//   DATABASE_URL=postgresql://… node scripts/data-dictionary.mjs           writes the document
//   DATABASE_URL=postgresql://… node scripts/data-dictionary.mjs --check   exits with 1 if it is stale
import { readFile, writeFile } from 'node:fs/promises';
import pg from 'pg';

const DOCUMENT = new URL('../docs/data-dictionary.md', import.meta.url);
const BEGIN = '<!-- begin generated: node scripts/data-dictionary.mjs -->\n';
const END = '<!-- end generated -->\n';

// In the order of the migrations, which is the order in which they are best read.
const RELATIONS = `
  SELECT oid, relname AS name, relkind = 'v' AS is_view, obj_description(oid, 'pg_class') AS description
  FROM pg_class
  WHERE relnamespace = 'conciliation'::regnamespace AND relkind IN ('r', 'v')
    AND relname <> '_prisma_migrations'
  ORDER BY oid`;

const COLUMNS = `
  SELECT attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull AS required,
         col_description(attrelid, attnum) AS description
  FROM pg_attribute
  WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
  ORDER BY attnum`;

/**
 * @typedef {{ oid: number, name: string, is_view: boolean, description: string }} Relation
 * @typedef {{ name: string, type: string, required: boolean, description: string }} Column
 */

/** @param {pg.Client} client */
async function render(client) {
  const { rows: relations } = await client.query(RELATIONS);
  const sections = [];
  for (const relation of relations) {
    const { rows: columns } = await client.query(COLUMNS, [relation.oid]);
    sections.push(renderRelation(relation, columns));
  }
  return sections.join('\n');
}

/**
 * @param {Relation} relation
 * @param {Column[]} columns
 */
function renderRelation(relation, columns) {
  const lines = [
    `### ${relation.name}${relation.is_view ? ' (view)' : ''}`,
    '',
    relation.description,
    '',
    relation.is_view ? '| column | type | meaning |' : '| column | type | null | meaning |',
    relation.is_view ? '| --- | --- | --- |' : '| --- | --- | --- | --- |',
  ];
  for (const column of columns) {
    const type = column.type.replace('timestamp with time zone', 'timestamptz');
    const cells = [`\`${column.name}\``, type];
    if (!relation.is_view) cells.push(column.required ? 'no' : 'yes');
    cells.push(column.description.replaceAll('|', '\\|'));
    lines.push(`| ${cells.join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}

const client = new pg.Client({ connectionString: process.env['DATABASE_URL'] });
await client.connect();
const generated = await render(client);
await client.end();

const document = await readFile(DOCUMENT, 'utf8');
const from = document.indexOf(BEGIN) + BEGIN.length;
const to = document.indexOf(END);
const updated = `${document.slice(0, from)}\n${generated}\n${document.slice(to)}`;
if (!process.argv.includes('--check')) {
  await writeFile(DOCUMENT, updated);
} else if (updated !== document) {
  console.error('docs/data-dictionary.md is stale: run node scripts/data-dictionary.mjs');
  process.exitCode = 1;
}
