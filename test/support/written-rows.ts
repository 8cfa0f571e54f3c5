import type { Database } from '../../src/base/database/database.ts';

/** The versions of the rows of each table. A row that is written, even as it was, gets another version. */
async function rowVersions({ pool }: Database): Promise<Map<string, ReadonlySet<string>>> {
  const { rows: tables } = await pool.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'conciliation'::regnamespace AND relkind = 'r'`);
  const found = new Map<string, ReadonlySet<string>>();
  for (const { name } of tables) {
    const { rows } = await pool.query<{ version: string }>(`
      SELECT ctid::text || ' ' || xmin::text AS version FROM conciliation.${name}`);
    found.set(name, new Set(rows.map(({ version }) => version)));
  }
  return found;
}

/** The result of `work`, and how many rows of each table it writes or deletes; tables without any are left out. */
export async function countWritten<T>(
  database: Database,
  work: () => Promise<T>,
): Promise<[T, Record<string, number>]> {
  const before = await rowVersions(database);
  const result = await work();
  const written: Record<string, number> = {};
  for (const [name, after] of await rowVersions(database)) {
    const versions = before.get(name) ?? new Set();
    const kept = [...after].filter((version) => versions.has(version)).length;
    const count = Math.max(after.size, versions.size) - kept;
    if (count > 0) written[name] = count;
  }
  return [result, written];
}
