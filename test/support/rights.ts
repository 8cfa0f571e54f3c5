/** The rights of each role on relations, and their table in SECURITY.md. */
import { expect } from 'vitest';

const ROLES = ['conciliation_worker', 'conciliation_finance', 'conciliation_erp'];

export interface Rights {
  readonly schema: string;
  readonly name: string;
  /** `S` for a sequence; see pg_class.relkind. */
  readonly kind: string;
  /** By role, PUBLIC without a name, without the owner. */
  readonly rights: Readonly<Record<string, string>>;
}

/** Rights on the relations of every schema that is not PostgreSQL's own. roles.test.ts compares the columns of the service. */
export const READ_RIGHTS = `
  WITH relation AS (
    SELECT pg_class.oid, nspname AS schema, relname AS name, relkind AS kind, relowner AS owner, relacl AS acl
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
      AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'
  ), item AS (
    SELECT oid, grantee, is_grantable, privilege_type AS privilege, '' AS columns
    FROM relation, aclexplode(acl) WHERE grantee <> owner
    UNION ALL
    SELECT oid, grantee, is_grantable, privilege_type,
           CASE coalesce(nullif(grantee, 0)::regrole::text, '')
             WHEN 'conciliation_worker' THEN ' (columns)'
             ELSE format(' (%s)', string_agg(attname, ', ' ORDER BY attname)) END
    FROM relation JOIN pg_attribute ON attrelid = oid, aclexplode(attacl) WHERE grantee <> owner
    GROUP BY 1, 2, 3, 4
  ), granted AS (
    SELECT oid, coalesce(nullif(grantee, 0)::regrole::text, '') AS role,
           string_agg(concat(privilege, columns, CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END), ', '
                      ORDER BY strpos('SELECT INSERT UPDATE DELETE', privilege), columns) AS rights
    FROM item GROUP BY 1, 2
  )
  SELECT schema, name, kind::text,
         coalesce(jsonb_object_agg(role, rights) FILTER (WHERE role IS NOT NULL), '{}') AS rights
  FROM relation LEFT JOIN granted USING (oid)
  GROUP BY schema, name, kind ORDER BY schema, name COLLATE "C"`;

/** @throws AssertionError where another role has rights, or there is another schema than those of the program */
export function rightsTable(all: readonly Rights[]): string {
  const relations = all.filter(
    ({ schema, kind }) => schema !== 'conciliation_queue' && kind !== 'S',
  );
  expect(new Set(relations.map(({ schema }) => schema))).toEqual(new Set(['conciliation']));
  expect(new Set(relations.flatMap(({ rights }) => Object.keys(rights)))).toEqual(new Set(ROLES));
  const lines = relations.map(
    ({ name, rights }) =>
      `| \`${name}\` | ${ROLES.map((role) => rights[role] ?? '').join(' | ')} |`,
  );
  const head = ['| table or view | service | finance | ERP |', '| --- | --- | --- | --- |'];
  return [...head, ...lines].join('\n').replaceAll('  ', ' ');
}
