/**
 * The rights of each role, read from the catalog. A relation without a line in the table of SECURITY.md fails the test, so a
 * new relation becomes readable or writable by a decision only.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { migrate } from '../../../src/base/database/migrate.ts';
import { migrateQueue } from '../../../src/core/work/postgres-backend.ts';
import { withClient } from '../../support/client.ts';
import { createTestDatabase } from '../../support/database.ts';
import { forFile } from '../../support/for-tests.ts';
import { logger } from '../../support/logger.ts';
import { READ_RIGHTS, type Rights, rightsTable } from '../../support/rights.ts';

const DOCUMENT = 'SECURITY.md';

const database = forFile(createTestDatabase);
beforeAll(async () => {
  await migrate({ databaseUrl: database.url, logger });
  await migrateQueue(database.url, logger);
  await migrate({ databaseUrl: database.url, logger, roles: true });
});

async function readRights(): Promise<Rights[]> {
  const { rows } = await withClient(database.url, (client) => client.query<Rights>(READ_RIGHTS));
  return rows;
}

test('each role has the rights of the table in SECURITY.md, and no other role has any', async () => {
  const table = rightsTable(await readRights());
  const document = await readFile(DOCUMENT, 'utf8');
  const [before = '', , after = ''] = document.split(
    /(?<=<!-- begin generated: .* -->\n)|(?=<!-- end generated -->)/,
  );
  await expect(`${before}\n${table}\n\n${after}`).toMatchFileSnapshot(resolve(DOCUMENT));
});

test('only the service may use the queue and the sequences', async () => {
  const all = await readRights();
  const queue = all.filter(({ schema, kind }) => schema === 'conciliation_queue' && kind !== 'S');
  const sequences = all.filter(({ kind }) => kind === 'S');
  expect(queue.length).toBeGreaterThan(0);
  expect(sequences.length).toBeGreaterThan(0);
  for (const { name, kind, rights } of [...queue, ...sequences]) {
    expect({ name, rights }).toEqual({
      name,
      rights: {
        conciliation_worker: kind === 'S' ? 'USAGE, SELECT' : 'SELECT, INSERT, UPDATE, DELETE',
      },
    });
  }
});

test('no role may create anything in a schema, and later tables get no rights by themselves', async () => {
  const { rows } = await withClient(database.url, (client) =>
    client.query(`
      SELECT nspname AS schema, coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC') AS role, privilege_type AS right
      FROM pg_namespace, aclexplode(nspacl)
      WHERE grantee <> nspowner AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'
      UNION ALL
      SELECT 'default', defaclrole::regrole::text, defaclobjtype::text FROM pg_default_acl
      ORDER BY 1, 2`),
  );
  const usage = (schema: string, role: string) => ({ schema, role, right: 'USAGE' });
  expect(rows).toEqual([
    usage('conciliation', 'conciliation_erp'),
    usage('conciliation', 'conciliation_finance'),
    usage('conciliation', 'conciliation_worker'),
    usage('conciliation_queue', 'conciliation_worker'),
    usage('public', 'PUBLIC'),
  ]);
});

test('no function with the rights of its owner can be executed by PUBLIC, and each pins search_path', async () => {
  const { rows } = await withClient(database.url, (client) =>
    client.query(`
      SELECT pronamespace::regnamespace || '.' || proname AS name,
             ARRAY(SELECT coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC')
                   FROM aclexplode(coalesce(proacl, acldefault('f', proowner)))
                   WHERE grantee <> proowner AND privilege_type = 'EXECUTE') AS others,
             coalesce(proconfig && ARRAY['search_path=pg_catalog, pg_temp'], false) AS pins_path
      FROM pg_proc
      WHERE prosecdef AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      ORDER BY 1`),
  );
  expect(rows).toEqual([
    { name: 'conciliation.link_audit_entry', others: [], pins_path: true },
    {
      ...{ name: 'conciliation.safe_position', pins_path: true },
      others: ['conciliation_worker', 'conciliation_finance', 'conciliation_erp'],
    },
    // Moves the numbers forward only.
    { name: 'conciliation.skip_numbers', others: ['conciliation_worker'], pins_path: true },
  ]);
});
