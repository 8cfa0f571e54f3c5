import { readFileSync } from 'node:fs';
import { withClient } from './client.ts';

const TYPES: Readonly<Record<string, string>> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Decimal: 'numeric',
  Json: 'jsonb',
  Bytes: 'bytea',
  '@db.Date': 'date',
  '@db.SmallInt': 'smallint',
  '@db.Timestamptz': 'timestamp with time zone',
  '@db.Uuid': 'uuid',
};

/** The columns of schema.prisma as `table.column type`, with a question mark where it may be null, which lists do not state. */
function declaredColumns(): string[] {
  const models = readFileSync('prisma/schema.prisma', 'utf8').matchAll(
    /^model \w+ \{\n([\s\S]*?)^\}/gm,
  );
  return [...models].flatMap(([, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? '';
    return [...body.matchAll(/^ +(\w+) +(\w+)(\??)((?:\[\])?)(.*)$/gm)].flatMap(
      ([, field, scalar = '', optional, list, attributes = '']) => {
        const native = /@db\.\w+/.exec(attributes)?.[0] ?? '';
        const type = TYPES[native] ?? TYPES[scalar];
        const column = /@map\("(\w+)"\)/.exec(attributes)?.[1] ?? field;
        // A field of another model's type is a relation and no column.
        return type === undefined ? [] : [`${table}.${column} ${type}${list}${optional}`];
      },
    );
  });
}

const COLUMNS = `
  SELECT format('%s.%s %s%s', relname, attname,
                regexp_replace(format_type(atttypid, atttypmod), '\\(.*\\)', ''),
                CASE WHEN NOT attnotnull AND attndims = 0 THEN '?' END) AS column
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
  WHERE relnamespace = 'conciliation'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    AND relname <> '_prisma_migrations'`;

/** The columns that only the database or only schema.prisma has. */
export async function describeDrift(databaseUrl: string): Promise<string[]> {
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query<{ column: string }>(COLUMNS),
  );
  const [stored, declared] = [rows.map(({ column }) => column), declaredColumns()];
  return [
    ...stored.filter((column) => !declared.includes(column)),
    ...declared.filter((column) => !stored.includes(column)),
  ].sort();
}
