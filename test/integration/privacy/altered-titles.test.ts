/** An erasure of personal data does not record an alteration from outside of the program as the work of a merge. */
import { expect, test } from 'vitest';
import { verifyDate } from '../../../src/features/verify/verify.sql.ts';
import { erase } from '../../support/erase.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';
import { titlesOf } from '../../support/titles.ts';

const TAX_ID = '11144477735';
const { signal } = new AbortController();

const world = worldOfFile();

const read = async () => {
  const { rows } = await world.database.pool.query(
    `SELECT order_uid AS uid, anticipated_due_date::text AS due, provider_identification AS provider, provider_account AS account
     FROM conciliation.title WHERE accepted_date = $1 AND status = 'current' ORDER BY order_uid`,
    [DAY],
  );
  return rows;
};

test('a title that was altered before the erasure is found after it and repaired, without the personal data', async () => {
  const { database } = world;
  await world.serve(DAY, titlesOf(['a', 'b'], { taxId: TAX_ID }));
  await database.pool.query(
    `UPDATE conciliation.title SET anticipated_due_date = '2026-07-01' WHERE order_uid = 'a'`,
  );
  const { partyId } = await erase(database, { taxId: TAX_ID });
  const { alterations, repairPullId } = await verifyDate(database, DAY, signal);
  expect(alterations).toMatchObject([{ problem: 'titles' }, { problem: 'day' }]);
  await world.run(repairPullId ?? 0n);
  const erased = { due: '2026-06-30', provider: `erased-${partyId}`, account: null };
  expect(await read()).toEqual([
    { uid: 'a', ...erased },
    { uid: 'b', ...erased },
  ]);
  expect((await verifyDate(database, DAY, signal)).alterations).toEqual([]);
});
