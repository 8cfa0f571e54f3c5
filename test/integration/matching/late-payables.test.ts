import { expect, test } from 'vitest';
import { isMatchingDue } from '../../../src/features/matching/run-matching.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { match, play } from '../../support/matching-world.ts';

const world = worldOfFile();
const isDue = () => isMatchingDue(world.database, 24);

test.each([
  [
    'new',
    `INSERT INTO conciliation.erp_payable (erp_key, supplier_external_id, open_value) VALUES ('k2', 'P-1', 20)`,
  ],
  ['changed', `UPDATE conciliation.erp_payable SET status = 'paid' WHERE erp_key = 'k1'`],
])('a %s payable that is committed after a run began makes a run due', async (_, statement) => {
  await play(world, [{ titles: 'a 10', snapshot: 'k1 10', matches: 'a=k1 exact' }]);
  expect(await isDue()).toBe(false);
  await world.database.prisma.$transaction(
    async (tx) => {
      await tx.$executeRawUnsafe(statement);
      await match(world.database);
      expect(await isDue()).toBe(false);
    },
    { timeout: 60_000 },
  );
  expect(await isDue()).toBe(true);
  await match(world.database);
  expect(await isDue()).toBe(false);
});
