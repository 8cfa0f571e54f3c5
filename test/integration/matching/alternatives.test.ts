/** Payables that are not open, and an order against the other fields. */
import { beforeEach, describe, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { addBooking, clearMatching, play, type Step } from '../../support/matching-world.ts';

const world = worldOfFile();
beforeEach(() => clearMatching(world.database));

type Cases = Record<string, readonly Step[]>;
const NEAR = 'near 10 due=2026-07-04';
const NEXT_PART = 'k2 10 order=a part=2/3 due=2026-07-31';

const keeping: Cases = {
  'the instalment of the title is paid, the next one open': [
    { titles: 'a 10', load: `exact 10 order=a part=1/3 paid, ${NEXT_PART}`, matches: '' },
  ],
  'the instalment of the title is cancelled, the next one open': [
    { titles: 'a 10', load: `exact 10 order=a part=1/3 cancelled, ${NEXT_PART}`, matches: '' },
  ],
  'a delivery of the same value is due within the tolerance, and that of the title is paid': [
    { titles: 'a 10', load: `exact 10 paid, ${NEAR}`, matches: '' },
    // The ERP takes the payment back.
    { load: 'exact 10', matches: 'a=exact exact' },
  ],
  'the payable of the title has vanished from a snapshot': [
    { titles: 'a 10', snapshot: `exact 10, ${NEAR}` },
    { snapshot: NEAR, matches: '' },
  ],
  'one of two invoices of a day is paid, and stated with its value': [
    { titles: 'a 10', load: 'k1 10 paid, exact 10', matches: '' },
  ],
  'one of two invoices of a day is paid, and stated with the order and no value': [
    { titles: 'a 10', load: 'k1 0 order=a paid, exact 10', matches: '' },
  ],
  'the whole value of a paid payable counts where nothing is left': [
    { titles: 'a 10', load: 'k1 0 paid, exact 10' },
    { set: { erpKey: 'k1', totalValue: '10.00' }, matches: '' },
  ],
  'the value of a sum is paid in one payable': [
    { titles: 'a 10', load: `${NEAR} paid, 4 4 order=a, 6 6 order=a`, matches: '' },
    { load: 'near 11 due=2026-07-04 paid', matches: 'a=4 sum, a=6 sum' },
  ],
};
describe('a payable that is not open keeps the pair of another one from being matched', () => {
  test.each(Object.entries(keeping))('%s', (_, steps) => play(world, steps));
});

const again = 'near 10 due=2026-07-04 doc=71 part=1';
/** Another instalment, another document, or no document at all is no invoice that was entered again. */
const others = ['doc=00071 part=2', 'doc=72 part=1', 'doc= part=1'];
const uncounted: Cases = {
  'where it fits less well': [
    { titles: 'a 10, b 20', load: `${NEAR} paid, exact 10` },
    { load: 'k1 20 due=2026-07-03 paid, k2 20 due=2026-07-02' },
    { matches: 'a=exact exact, b=k2 tolerance' },
    // As near as the open payable.
    { clear: true, load: 'k1 20 due=2026-06-28 paid, k2 20 due=2026-07-02', matches: '' },
  ],
  'where it is cancelled, and the same document was entered again': [
    { titles: 'a 10', snapshot: `exact 10 doc=00071 part=1, ${again}` },
    { load: 'exact 10 doc=00071 part=1 cancelled', matches: 'a=near tolerance' },
    ...others.flatMap((other): Step[] => [
      { clear: true, snapshot: `exact 10 ${other}, ${again}` },
      { load: `exact 10 ${other} cancelled`, matches: '' },
    ]),
  ],
  'where it is vanished, and the same document was entered again': [
    { titles: 'a 10', snapshot: `exact 10 doc=00071 part=1, ${again}` },
    { snapshot: again, matches: 'a=near tolerance' },
    ...others.flatMap((other): Step[] => [
      { clear: true, snapshot: `exact 10 ${other}, ${again}` },
      { snapshot: again, matches: '' },
    ]),
  ],
  'where it is the payable of another title': [
    { titles: 'a 10', load: 'exact 10', matches: 'a=exact exact' },
    // Three days before and after the due date of the second title.
    { titles: 'a 10, b 10 due=2026-07-03', load: 'exact 10 paid, near 10 due=2026-07-06' },
    { matches: 'a=exact exact, b=near tolerance' },
  ],
};
describe('a payable that is not open does not count', () => {
  test.each(Object.entries(uncounted))('%s', (_, steps) => play(world, steps));

  test('where it is due outside the tolerance, in years of weekly deliveries', async () => {
    await play(world, [{ titles: 'a 10', load: 'exact 10' }]);
    await world.database.prisma.$executeRaw`
      INSERT INTO conciliation.erp_payable (erp_key, supplier_external_id, due_date, open_value, status)
      SELECT 'week ' || week, 'P-1', DATE '2026-06-30' - 7 * week, 10, CASE WHEN week % 2 = 0 THEN 'paid' ELSE 'open' END
      FROM generate_series(1, 2000) AS week`;
    await play(world, [{ matches: 'a=exact exact' }]);
  });

  test.each([
    ['another order', 'z', 'a=near tolerance'],
    ['the order of the title', 'a', ''],
  ])('where a booking of %s has it', async (_, order, matches) => {
    await play(world, [{ titles: 'a 10', load: `booked 10 paid, ${NEAR}` }]);
    await addBooking(world.database, order, 'booked');
    await play(world, [{ matches }]);
  });
});

const byOrder: Cases = {
  'accepts the supplier by code, tax identifier or CNPJ root, and no other one': [
    { titles: 'a 10', load: 'exact 10 order=a code=P-9', matches: '' },
    { load: 'exact 10 order=a code=P-9 tax=529.982.247-25', matches: 'a=exact order' },
  ],
  'accepts a due date within the tolerance, or none': [
    { titles: 'a 10', load: 'exact 10 order=a due=2026-07-05', matches: 'a=exact order' },
    { clear: true, load: 'exact 10 order=a due=2026-07-06', matches: '' },
    { clear: true, load: 'exact 10 order=a due=', matches: 'a=exact order' },
  ],
  'an order by a typing error at another supplier leaves the exact payable': [
    { titles: 'a 10', load: 'typed 10 order=a due=2026-11-30 code=P-9, exact 10' },
    { matches: 'a=exact exact' },
  ],
  ...Object.fromEntries(
    ['open', 'paid', 'cancelled'].map((status): [string, Step[]] => [
      `an order on another due date leaves the title in doubt beside an exact payable that is ${status}`,
      [
        { titles: 'a 10', load: `${NEAR} order=a, exact 10 ${status}`, matches: '' },
        { load: `exact 9 ${status}`, matches: 'a=near order' },
      ],
    ]),
  ),
  'a second payable of the order that was paid leaves the title in doubt': [
    { titles: 'a 10', load: 'exact 10 order=a, k2 10 order=a due= paid', matches: '' },
  ],
  'blank orders are no order': [
    { titles: [{ uid: '  ', value: '10' }], load: 'exact 10 code= tax=52998224725' },
    {
      set: { erpKey: 'exact', orderUid: '', supplierExternalId: 'P-9', dueDate: null },
      matches: '',
    },
  ],
};
describe('the rule order', () => {
  test.each(Object.entries(byOrder))('%s', (_, steps) => play(world, steps));
});
