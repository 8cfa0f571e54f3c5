/** The rights of the ERP's role on its payables, and the named constraints that refuse an invalid row. */
import { expect, test } from 'vitest';
import { clientOfFile, worldWithUsers } from '../../support/pull-world.ts';

const world = worldWithUsers();
const erp = clientOfFile(() => world.users.urlOf('erp'));

const GOOD = {
  erp_key: `'k'`,
  supplier_external_id: `'F1'`,
  due_date: `'2026-03-31'`,
  open_value: '10.10',
};

function insert(changes: Readonly<Record<string, string>> = {}) {
  const row = { ...GOOD, ...changes };
  return erp.query(`
    INSERT INTO conciliation.erp_payable (${Object.keys(row)}) VALUES (${Object.values(row)})`);
}

test('the ERP inserts and updates its payables, and states that they are complete', async () => {
  await insert();
  await erp.query(`
    UPDATE conciliation.erp_payable SET open_value = 5, status = 'paid' WHERE erp_key = 'k'`);
  await erp.query(`INSERT INTO conciliation.erp_payable_import (kind) VALUES ('sql')`);
  const { rows } = await erp.query(`
    SELECT open_value::text, status, changed_at > created_at AS moved FROM conciliation.erp_payable`);
  expect(rows).toEqual([{ open_value: '5', status: 'paid', moved: true }]);
});

test.each([
  ['a status of its own', { status: `'late'` }, 'status'],
  ['no supplier', { supplier_external_id: 'NULL' }, 'supplier'],
  ['a value that is no number', { open_value: `'NaN'` }, 'open_value'],
  ['a blank key', { erp_key: `E' \\u00a0'` }, 'erp_key_is_not_blank'],
  ['three decimals', { open_value: '0.001' }, 'open_value'],
  ['three decimals of the whole', { total_value: '1.005' }, 'total_value'],
  ['wrong check digits', { supplier_tax_id: `'12ABC34501DE36'` }, 'supplier_tax_id'],
  ['zeros as a tax identifier', { payee: `'00000000000000'` }, 'payee'],
  ['a recipient by name', { paid_to: `'Banco Ipê'` }, 'paid_to'],
  ['a settlement of its own', { settled_as: `'DAC'` }, 'settled_as'],
  ['a key that is none', { settled_by: `'2026-03-02:1'` }, 'settled_by'],
  ['a key that is none on a posting', { booking_key: `'x'` }, 'booking_key'],
  ['a currency by its sign', { currency: `'R$'` }, 'currency'],
  ['a day of settlement without end', { settled_on: `'infinity'` }, 'dates_are_finite'],
  ['a due date without end', { due_date: `'infinity'` }, 'dates_are_finite'],
  ['a long document', { document: `repeat('x', 1021)` }, 'size'],
])('the ERP cannot write %s', async (_, changes, constraint) => {
  await expect(insert({ erp_key: `'bad'`, ...changes })).rejects.toMatchObject({
    constraint: `erp_payable_${constraint}_check`,
  });
});

test('a refused tax identifier is named by its column and form, not by its text', async () => {
  const error: unknown = await insert({ erp_key: `'bad'`, payee: `'Banco Ipê'` }).catch((e) => e);
  expect(error).toMatchObject({
    code: '23514',
    column: 'payee',
    message: expect.stringMatching(/^payee: expected a CPF or CNPJ/),
    hint: expect.stringContaining('A CPF has 11 digits.'),
    detail: undefined,
  });
});

const KEY = `2026-03-02:${'0123456789abcdef'.repeat(2)}:1:2`;

/** What the ERP writes into each column, and what is stored. */
const FORMS: Readonly<Record<string, readonly [written: string, stored: string | null]>> = {
  supplier_external_id: [`'F1   '`, 'F1'],
  order_uid: [`'B   '`, 'B'],
  document: [`'   '`, null],
  supplier_tax_id: [`'12.abc.345/01de-35'`, '12ABC34501DE35'],
  payee: [`'529.982.247-25  '`, '52998224725'],
  paid_to: [`''`, null],
  status: [`'PAID'`, 'paid'],
  settled_as: [`'Payment '`, 'payment'],
  settled_by: [`'${KEY.toUpperCase()}'`, KEY],
  booking_key: [`'  '`, null],
  currency: [`'BRL '`, 'BRL'],
};

test('a row has the form that an import gives it', async () => {
  const columns = (place: 0 | 1) =>
    Object.fromEntries(Object.entries(FORMS).map(([name, form]) => [name, form[place] ?? null]));
  const written = columns(0) as Record<string, string>;
  await insert({ erp_key: `E' K1\\u00a0  '`, total_value: '100.5000', ...written });
  const { rows } = await erp.query(`
    SELECT ${Object.keys(FORMS)}, total_value = 100.5 AS is_whole
    FROM conciliation.erp_payable WHERE erp_key = 'K1'`);
  expect(rows).toEqual([{ ...columns(1), is_whole: true }]);
});

test('a padded key is the key without blanks, also where the row is there', async () => {
  await insert({ erp_key: `'K2'` });
  await erp.query(`
    INSERT INTO conciliation.erp_payable (erp_key, supplier_external_id, open_value) VALUES ('K2   ', 'F1  ', 3)
    ON CONFLICT (erp_key) DO UPDATE SET open_value = excluded.open_value, payee = '12abc34501de35'`);
  const { rows } = await erp.query(`
    SELECT open_value::text, payee FROM conciliation.erp_payable WHERE erp_key LIKE 'K2%'`);
  expect(rows).toEqual([{ open_value: '3', payee: '12ABC34501DE35' }]);
});

test('a row that the ERP writes again counts as of that transaction, also unchanged', async () => {
  await insert({ erp_key: `'K5'` });
  await erp.query('BEGIN');
  await erp.query(`
    UPDATE conciliation.erp_payable SET open_value = open_value WHERE erp_key = 'K5'`);
  const { rows } = await erp.query(`
    SELECT stated_at = now() AS now, changed_at = created_at AS is_unchanged
    FROM conciliation.erp_payable WHERE erp_key = 'K5'`);
  await erp.query('COMMIT');
  expect(rows).toEqual([{ now: true, is_unchanged: true }]);
});
