/** Payables that are not open, and an order against the other fields. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { clearMatching, listMatches, match, pullTitles } from '../../support/matching-world.ts';
import { importPayables, type PayableFields } from '../../support/payables.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());
beforeEach(() => clearMatching(world.database));

const load = (...payables: readonly PayableFields[]) => importPayables(world.database, payables);
const matched = async () => {
  await match(world.database);
  return listMatches(world.database);
};
/** A complete snapshot without these payables closes them. */
const vanish = (...rest: readonly PayableFields[]) =>
  importPayables(world.database, rest, 'snapshot');

const TITLE = { uid: 'a', value: '10' };
const NEAR = { erpKey: 'near', openValue: '10', dueDate: '2026-07-04' };
const EXACT = { erpKey: 'exact', openValue: '10', dueDate: '2026-06-30' };

describe('a payable that is not open keeps the pair of another one from being matched', () => {
  test.each([['paid'], ['cancelled']])(
    'the instalment of the title is %s, the next one open',
    async (status) => {
      await pullTitles(world, [TITLE]);
      await load(
        { ...EXACT, orderUid: 'a', instalment: '1/3', status },
        { erpKey: 'k2', openValue: '10', orderUid: 'a', instalment: '2/3', dueDate: '2026-07-31' },
      );
      expect(await matched()).toEqual([]);
    },
  );

  test('a delivery of the same value is due within the tolerance, and that of the title is paid', async () => {
    await pullTitles(world, [TITLE]);
    await load({ ...EXACT, status: 'paid' }, NEAR);
    expect(await matched()).toEqual([]);
    // The ERP takes the payment back.
    await load(EXACT);
    expect(await matched()).toEqual(['a=exact exact']);
  });

  test('the payable of the title has vanished from a snapshot', async () => {
    await pullTitles(world, [TITLE]);
    await importPayables(world.database, [EXACT, NEAR], 'snapshot');
    await vanish(NEAR);
    expect(await matched()).toEqual([]);
  });

  test.each([
    ['its value', { openValue: '10' }],
    ['the order and no value', { openValue: '0', orderUid: 'a' }],
  ])('one of two invoices of a day is paid, and stated with %s', async (_, fields) => {
    await pullTitles(world, [TITLE]);
    await load({ ...EXACT, erpKey: 'k1', ...fields, status: 'paid' }, EXACT);
    expect(await matched()).toEqual([]);
  });

  test('the whole value of a paid payable counts where nothing is left', async () => {
    await pullTitles(world, [TITLE]);
    await load({ ...EXACT, erpKey: 'k1', openValue: '0', status: 'paid' }, EXACT);
    await world.database.prisma.erpPayable.update({
      where: { erpKey: 'k1' },
      data: { totalValue: '10.00' },
    });
    expect(await matched()).toEqual([]);
  });

  test('the value of a sum is paid in one payable', async () => {
    await pullTitles(world, [TITLE]);
    const parts = ['4', '6'].map((openValue) => ({ erpKey: openValue, openValue, orderUid: 'a' }));
    await load({ ...NEAR, status: 'paid' }, ...parts);
    expect(await matched()).toEqual([]);
    await load({ ...NEAR, openValue: '11', status: 'paid' });
    expect(await matched()).toEqual(['a=4 sum', 'a=6 sum']);
  });
});

describe('a payable that is not open does not count', () => {
  test('where it fits less well', async () => {
    await pullTitles(world, [TITLE, { uid: 'b', value: '20' }]);
    await load(
      { ...NEAR, status: 'paid' },
      EXACT,
      { ...NEAR, erpKey: 'k1', openValue: '20', dueDate: '2026-07-03', status: 'paid' },
      { ...NEAR, erpKey: 'k2', openValue: '20', dueDate: '2026-07-02' },
    );
    expect(await matched()).toEqual(['a=exact exact', 'b=k2 tolerance']);
    // As near as the open payable.
    await clearMatching(world.database);
    await load(
      { ...NEAR, erpKey: 'k1', openValue: '20', dueDate: '2026-06-28', status: 'paid' },
      { ...NEAR, erpKey: 'k2', openValue: '20', dueDate: '2026-07-02' },
    );
    expect(await matched()).toEqual([]);
  });

  test('where it is due outside the tolerance, in years of weekly deliveries', async () => {
    await pullTitles(world, [TITLE]);
    await load(EXACT);
    await world.database.prisma.$executeRaw`
      INSERT INTO conciliation.erp_payable (erp_key, supplier_external_id, due_date, open_value, status)
      SELECT 'week ' || week, 'P-1', DATE '2026-06-30' - 7 * week, 10, CASE WHEN week % 2 = 0 THEN 'paid' ELSE 'open' END
      FROM generate_series(1, 2000) AS week`;
    expect(await matched()).toEqual(['a=exact exact']);
  });

  test.each([['cancelled'], ['vanished']])(
    'where it is %s, and the same document was entered again',
    async (end) => {
      const first = { ...EXACT, document: '00071', instalment: '1' };
      const again = { ...NEAR, document: '71', instalment: '1' };
      const endFirst = () =>
        end === 'cancelled' ? load({ ...first, status: 'cancelled' }) : vanish(again);
      await pullTitles(world, [TITLE]);
      await importPayables(world.database, [first, again], 'snapshot');
      await endFirst();
      expect(await matched()).toEqual(['a=near tolerance']);
      // Another instalment, another document, or no document at all is no invoice that was entered again.
      for (const other of [{ instalment: '2' }, { document: '72' }, { document: '' }]) {
        await clearMatching(world.database);
        await importPayables(world.database, [{ ...first, ...other }, again], 'snapshot');
        if (end === 'cancelled') await load({ ...first, ...other, status: 'cancelled' });
        else await vanish(again);
        expect(await matched()).toEqual([]);
      }
    },
  );

  test('where it is the payable of another title', async () => {
    await pullTitles(world, [TITLE]);
    await load(EXACT);
    expect(await matched()).toEqual(['a=exact exact']);
    // Three days before and after the due date of the second title.
    await pullTitles(world, [TITLE, { uid: 'b', value: '10', dueDate: '2026-07-03' }]);
    await load({ ...EXACT, status: 'paid' }, { ...NEAR, dueDate: '2026-07-06' });
    expect(await matched()).toEqual(['a=exact exact', 'b=near tolerance']);
  });

  test.each([
    ['another order', 'z', ['a=near tolerance']],
    ['the order of the title', 'a', []],
  ])('where a booking of %s has it', async (_, order, expected) => {
    await pullTitles(world, [TITLE]);
    const booked = `of ${order}`;
    await load({ ...EXACT, erpKey: booked, status: 'paid' }, NEAR);
    await world.database.prisma.$executeRaw`
      WITH batch AS (
        INSERT INTO conciliation.booking_batch
          (date, released_by, line_count, book_count, adjust_count, reverse_count, original_value_sum,
           platform_discounted_value_sum, financial_discounted_value_sum, buyer_discounted_value_sum,
           billing_fee_sum, money_transfer_fee_sum, digest)
        VALUES ('2026-03-01', 'test', 1, 1, 0, 0, 10, 0, 0, 0, 0, 0, '') RETURNING id
      )
      INSERT INTO conciliation.booking_line
        (batch_id, consumer, date, identity_hash, occurrence, version, kind, content_hash, state, erp_key, title_id,
         order_uid)
      SELECT id, (SELECT min(name) FROM conciliation.booking_consumer), '2026-03-01', md5(${order})::uuid, 1, 1, 'book',
             md5('')::uuid, 'posted', ${booked}, 0, ${order} FROM batch`;
    expect(await matched()).toEqual(expected);
  });
});

describe('the rule order', () => {
  const withOrder = (fields: Partial<PayableFields>) => ({ ...EXACT, orderUid: 'a', ...fields });

  test('accepts the supplier by code, tax identifier or CNPJ root, and no other one', async () => {
    await pullTitles(world, [TITLE]);
    await load(withOrder({ supplierExternalId: 'P-9' }));
    expect(await matched()).toEqual([]);
    await load(withOrder({ supplierExternalId: 'P-9', supplierTaxId: '529.982.247-25' }));
    expect(await matched()).toEqual(['a=exact order']);
  });

  test.each([
    ['2026-07-05', ['a=exact order']],
    ['2026-07-06', []],
    ['', ['a=exact order']],
  ])('accepts a due date within the tolerance, or none: %s', async (dueDate, expected) => {
    await pullTitles(world, [TITLE]);
    await load(withOrder({ dueDate }));
    expect(await matched()).toEqual(expected);
  });

  test('an order by a typing error at another supplier leaves the exact payable', async () => {
    await pullTitles(world, [TITLE]);
    await load(
      { ...withOrder({ dueDate: '2026-11-30' }), erpKey: 'typed', supplierExternalId: 'P-9' },
      EXACT,
    );
    expect(await matched()).toEqual(['a=exact exact']);
  });

  test.each([['open'], ['paid'], ['cancelled']])(
    'an order on another due date leaves the title in doubt beside an exact payable that is %s',
    async (status) => {
      await pullTitles(world, [TITLE]);
      await load({ ...NEAR, orderUid: 'a' }, { ...EXACT, status });
      expect(await matched()).toEqual([]);
      await load({ ...EXACT, openValue: '9', status });
      expect(await matched()).toEqual(['a=near order']);
    },
  );

  test('a second payable of the order that was paid leaves the title in doubt', async () => {
    await pullTitles(world, [TITLE]);
    await load(withOrder({}), { ...withOrder({ dueDate: '' }), erpKey: 'k2', status: 'paid' });
    expect(await matched()).toEqual([]);
  });

  test('blank orders are no order', async () => {
    await pullTitles(world, [{ uid: '  ', value: '10' }]);
    await load({ ...EXACT, supplierExternalId: '', supplierTaxId: '52998224725' });
    await world.database.prisma.erpPayable.update({
      where: { erpKey: 'exact' },
      data: { orderUid: '', supplierExternalId: 'P-9', dueDate: null },
    });
    expect(await matched()).toEqual([]);
  });
});
