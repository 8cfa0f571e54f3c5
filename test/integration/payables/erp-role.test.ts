/** The rights of the ERP's role on its payables, and the named constraints that refuse an invalid row. */
import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../../src/database/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createRoleUsers, type RoleUsers } from '../../support/database-roles.ts';

let database: TestDatabase;
let users: RoleUsers;
let erp: Client;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrate({ databaseUrl: database.url, logger: pino({ level: 'silent' }), roles: true });
  users = await createRoleUsers(database.url);
  erp = new Client({ connectionString: users.urlOf('erp') });
  await erp.connect();
});
afterAll(async () => {
  await erp.end();
  await database.drop();
  await users.drop();
});

const GOOD = {
  erp_key: `'k'`,
  supplier_external_id: `'F1'`,
  due_date: `'2026-03-31'`,
  open_value: '10.10',
};

function insert(changes: Readonly<Record<string, string>> = {}) {
  const row = { ...GOOD, ...changes };
  return erp.query(
    `INSERT INTO conciliation.erp_payable (${Object.keys(row)}) VALUES (${Object.values(row)})`,
  );
}

test('the ERP inserts and updates its payables, and states that they are complete', async () => {
  await insert();
  await erp.query(
    `UPDATE conciliation.erp_payable SET open_value = 5, status = 'paid' WHERE erp_key = 'k'`,
  );
  await erp.query(`INSERT INTO conciliation.erp_payable_import (kind) VALUES ('sql')`);
  const { rows } = await erp.query(
    `SELECT open_value::text, status, changed_at > created_at AS moved FROM conciliation.erp_payable`,
  );
  expect(rows).toEqual([{ open_value: '5', status: 'paid', moved: true }]);
});

test.each([
  ['a status of its own', { status: `'late'` }, 'erp_payable_status_check'],
  ['no supplier', { supplier_external_id: 'NULL' }, 'erp_payable_supplier_check'],
  ['a value that is no number', { open_value: `'NaN'` }, 'erp_payable_open_value_is_finite_check'],
  ['a blank key', { erp_key: `' '` }, 'erp_payable_erp_key_is_not_blank_check'],
  ['a masked tax identifier', { supplier_tax_id: `'529.982.247-25'` }, 'erp_payable_tax_id_check'],
  ['a payee by name', { payee: `'Banco Ipê'` }, 'erp_payable_payee_check'],
  ['a due date without end', { due_date: `'infinity'` }, 'erp_payable_due_date_is_finite_check'],
  ['a long document', { document: `repeat('x', 1021)` }, 'erp_payable_size_check'],
])('the ERP cannot write %s', async (_, changes, constraint) => {
  await expect(insert({ erp_key: `'bad'`, ...changes })).rejects.toMatchObject({ constraint });
});

test.each([
  `DELETE FROM conciliation.erp_payable`,
  `UPDATE conciliation.erp_payable SET closed_at = now()`,
  `UPDATE conciliation.erp_payable SET import_id = NULL`,
  `UPDATE conciliation.erp_payable SET erp_key = 'other'`,
  `INSERT INTO conciliation.erp_payable_import (kind, is_complete, ended_at) VALUES ('snapshot', true, now())`,
  `SELECT * FROM conciliation.erp_payable_reject`,
])('the ERP may not: %s', async (statement) => {
  await expect(erp.query(statement)).rejects.toMatchObject({ code: '42501' });
});
