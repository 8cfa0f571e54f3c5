/** The named field that is the document of a payable decides among payables that nothing else tells apart. */
import { beforeAll, expect, test } from 'vitest';
import { promoteField } from '../../../src/features/fields/promoted-fields.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { listMatches, match, pullTitles, TITLE_BUYER } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';

const world = worldOfFile();
const noted = (document: string) => `,"nf":{"number":"${document}"}`;
const payable = (erpKey: string, document: string, more: object = {}) => ({
  ...{ erpKey, document, company: TITLE_BUYER, supplierExternalId: 'P-1' },
  ...{ dueDate: '2026-06-30', openValue: '1000.00', ...more },
});

// Three weekly invoices of 1,000.00 that are due on one day, and two instalments of one order.
beforeAll(async () => {
  await pullTitles(world, [
    { uid: 'a', value: '1000.00', more: noted('101') },
    { uid: 'b', value: '1000.00', more: noted('000102') },
    { uid: 'c', value: '1000.00', more: noted('909') },
    { uid: 'x', value: '50.00', more: noted('7') },
    { uid: 'y', value: '50.00', more: noted('other order') },
  ]);
  await importPayables(world.database, [
    payable('A', '000000101'),
    payable('B', '102'),
    payable('C', '103'),
    payable('X1', '7', { openValue: '50.00', orderUid: 'x' }),
    payable('X2', '8', { openValue: '50.00', orderUid: 'x' }),
    payable('Z', 'other order', { openValue: '50.00', orderUid: 'z' }),
  ]);
});

test('without a named document none of the titles is matched, and with it those that it names', async () => {
  await match(world.database);
  expect(await listMatches(world.database)).toEqual([]);
  const field = { name: 'nota_fiscal', path: 'nf.number', role: 'document' } as const;
  await promoteField(world.database, field, { by: 'adm', reason: 'agreed' });
  await match(world.database);
  // The rest is not unambiguous because of these matches. A payable of another order is none.
  expect(await listMatches(world.database)).toEqual(['a=A order', 'b=B order', 'x=X1 order']);
  const second = promoteField(
    world.database,
    { ...field, name: 'another' },
    { by: 'adm', reason: 'agreed' },
  );
  await expect(second).rejects.toMatchObject({ context: { fault: 'field_document' } });
});
