/** Payables of the ERP by requests: batches of a snapshot, rejects, rights. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { TAX_ID_EXPECTATION } from '../../../src/base/values/tax-id.ts';
import { makeKey } from '../../support/console-client.ts';
import { pagesForFile } from '../../support/pages-world.ts';

const pages = pagesForFile();
let key: string;
beforeAll(async () => {
  key = await makeKey(pages.world.database, 'operator', ['payables', 'read']);
});
beforeEach(async () => {
  await pages.world.database.prisma.$executeRaw`
    TRUNCATE conciliation.erp_payable, conciliation.erp_payable_reject, conciliation.erp_payable_import CASCADE`;
});

const call = async (path: string, body?: object) => {
  const answer = await pages.console.call(key, `/api/erp-payables${path}`, body);
  return { status: answer.status, body: answer.json() };
};

const payable = (erpKey: string, openValue = '10.10') => ({
  erpKey,
  supplierExternalId: 'P-1',
  openValue,
});
const begin = async () => (await call('/imports', { kind: 'snapshot' })).body['importId'];

test('a snapshot of several requests closes what it lacks once it has ended', async () => {
  await call('', { payables: [payable('a'), payable('gone')] });
  const id = await begin();
  const batch = { payables: [payable('a'), payable('b')] };
  expect((await call(`/imports/${id}/payables`, batch)).body).toMatchObject({
    inserted: 1,
    unchanged: 1,
  });
  // The answer was lost, and the ERP sends the batch again.
  expect((await call(`/imports/${id}/payables`, batch)).body).toMatchObject({
    inserted: 0,
    changed: 0,
    rejected: 0,
  });
  await call(`/imports/${id}/payables`, { payables: [payable('c', '0.01')] });
  expect((await call('')).body).toMatchObject({ payables: { open: 4, openValue: '30.31' } });
  expect((await call(`/imports/${id}/end`, { count: 3 })).body).toMatchObject({
    isComplete: true,
    closed: 1,
  });
  const { payables } = (await call('')).body;
  expect(payables).toMatchObject({ open: 3, openValue: '20.21', incompleteAt: null });
  expect(payables['snapshotAt']).not.toBeNull();
});

test('a delta that arrives during a snapshot is not closed by the snapshot', async () => {
  const id = await begin();
  await call(`/imports/${id}/payables`, { payables: [payable('a')] });
  await call('', { payables: [payable('new')] });
  expect((await call(`/imports/${id}/end`, { count: 1 })).body).toMatchObject({ closed: 0 });
});

test('a payable with a fault is rejected alone, and its values are not in the answer', async () => {
  const { status, body } = await call('', {
    payables: [payable('a'), { ...payable('b'), supplierTaxId: '52998224726' }, { erpKey: 'c' }],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ inserted: 1, rejected: 2 });
  expect(body['rejects']).toEqual([
    {
      at: 2,
      field: 'supplierTaxId',
      expected: TAX_ID_EXPECTATION,
    },
    { at: 3, field: 'openValue', expected: expect.stringContaining('missing') },
    { at: 3, field: 'supplierExternalId', expected: expect.stringContaining('missing') },
  ]);
  expect(JSON.stringify(body)).not.toContain('52998224726');
});

test('an import that has ended or does not exist takes no payables', async () => {
  const id = await begin();
  await call(`/imports/${id}/end`, { count: 0 });
  const batch = { payables: [payable('a')] };
  expect(await call(`/imports/${id}/payables`, batch)).toMatchObject({
    status: 400,
    body: { message: 'id: the import has ended' },
  });
  expect(await call('/imports/99/payables', batch)).toMatchObject({ status: 400 });
  expect(await call('', { payables: [] })).toMatchObject({ status: 400 });
});
