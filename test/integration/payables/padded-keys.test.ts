/** Columns of a fixed width, as an ERP writes them by SQL, match titles. */
import { expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { listMatches, match, pullTitles } from '../../support/matching-world.ts';

const world = worldOfFile();

test('padded suppliers, orders and keys match as those without blanks', async () => {
  await pullTitles(world, [
    { uid: 'a', value: '10' },
    { uid: 'b', value: '20' },
  ]);
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.erp_payable (erp_key, supplier_external_id, order_uid, due_date, open_value)
    VALUES ('K1      ', 'P-1     ', NULL, '2026-06-30', 10.0000),
           ('K2      ', 'P-1     ', 'b       ', '2026-06-30', 20.0000)`;
  await match(world.database);
  expect(await listMatches(world.database)).toEqual(['a=K1 exact', 'b=K2 order']);
});
