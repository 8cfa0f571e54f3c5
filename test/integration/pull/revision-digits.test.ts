import { expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

const withFee = (text: string, fee: string) =>
  text.replace('"moneyTransferFee":3.90', `"moneyTransferFee":${fee}`);

test('a revision has the old and the new digits, also when only the digits differ', async () => {
  await world.serve(DAY, [titleText({ discount: '12.34' })]);
  await world.serve(DAY, [withFee(titleText({ discount: '12.35' }), '3.9')]);
  await world.serve(DAY, [withFee(titleText({ discount: '12.36' }), '3.900')]);
  const { rows } = await world.database.pool.query(
    'SELECT before::text, after::text FROM conciliation.title_revision ORDER BY revision',
  );
  expect(rows.map(({ before, after }) => `${before} -> ${after}`)).toEqual([
    '{"money_transfer_fee": 3.90, "platform_discounted_value": 12.34} -> {"money_transfer_fee": 3.9, "platform_discounted_value": 12.35}',
    '{"money_transfer_fee": 3.9, "platform_discounted_value": 12.35} -> {"money_transfer_fee": 3.900, "platform_discounted_value": 12.36}',
  ]);
  const { rows: titles } = await world.database.pool.query(
    'SELECT money_transfer_fee::text AS fee FROM conciliation.title',
  );
  expect(titles).toEqual([{ fee: '3.900' }]);
});
