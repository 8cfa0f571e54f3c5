/** Payables that lines explain, titles that follow others, and payables that belong to another title. */
import { beforeEach, expect, test } from 'vitest';
import { addDays, type CivilDate } from '../../../src/base/values/business-day.ts';
import { listBreaks } from '../../../src/features/matching/break-list.sql.ts';
import { GRACE_DAYS } from '../../../src/features/matching/judgement.sql.ts';
import { AGENT, judgedWorldOfFile, SUPPLIER, THIRD_PARTY } from '../../support/judged-world.ts';
import { clearMatching, listMatches, OPEN_BREAKS } from '../../support/matching-world.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';

const { world, judged } = judgedWorldOfFile();
let date: CivilDate = DAY;
beforeEach(async () => {
  date = daysFrom(5, date);
  await clearMatching(world.database);
});

const breaks = async () => {
  await judged.match();
  return (await judged.breaks(date)).filter((text) => !text.includes(' rest '));
};
async function expectBreaks(payables: string, found: string, kind: 'delta' | 'snapshot' = 'delta') {
  if (payables !== '') await judged.state(payables, kind);
  expect((await breaks()).join(', ')).toBe(found);
}
const matches = async () => (await listMatches(world.database)).join(', ');

const release = (titles: string, payables: string, isPosted = true) =>
  judged.book(date, `${titles}, rest 9999`, payables, isPosted ? 'posted' : null);

test.each([
  ['B: the exact payable is paid, one is due 5 days later', 'k1 1500 paid', 'paid_to_supplier!'],
  ['C: the exact payable is gone', '', 'gone_from_erp!'],
  ['E: the exact payable is cancelled', 'k1 1500 doc=NF cancelled', 'cancelled_in_erp'],
])('no other payable takes the place of the one that fits. %s', async (_, later, kind) => {
  await judged.pull(date, 'a 1500');
  const near = 'k2 1500 due=2099-07-05 doc=NF-2';
  await judged.state(`k1 1500 doc=NF-1, ${near}`, 'snapshot');
  await expectBreaks(later === '' ? near : `${later}, ${near}`, `${kind} a k1`, 'snapshot');
  expect(await judged.waiting(date)).toEqual(['a']);
  expect(await matches()).toBe('');
});

test('F: two invoices of one day and value, and one of them is paid', async () => {
  await judged.pull(date, 'a 1500');
  await expectBreaks('k1 1500 doc=N1 paid, k2 1500 doc=N2', 'paid_to_supplier! a k1', 'snapshot');
});

test.each([
  ['paid with the value', 'k1 1500 paid', ''],
  ['paid, nothing left, with the order', 'k1 0 order=a paid', ''],
  ['paid, nothing left, without the order', 'k1 0 paid', ''],
  // The ERP has cancelled what it has posted: a break, and no instruction to enter the payable.
  ['cancelled', 'k1 1500 cancelled', 'cancelled_in_erp a k1'],
])('the write-off of a posted title without a match is no break: %s', async (_, stated, found) => {
  await release('a 1500', '');
  await expectBreaks(stated, found);
});

test('the successor of a restated title keeps the payable that the booking of its predecessor has settled', async () => {
  await release('a 1600', 'k1 1600 order=a');
  await expectBreaks('k1 1600 order=a paid', '');
  await judged.pull(date, 'a 1600 due=2099-07-07, rest 9999');
  await expectBreaks('', '');
  expect(await matches()).toBe('a=k1 inherited');
  expect(await judged.waiting(date)).toEqual([]);
  await judged.release(date);
  const lines = (await judged.lines(date)).filter((line) => line.includes('k1'));
  expect(lines.toSorted()).toEqual(['book a k1 1', 'book a k1 1', 'reverse a k1 2']);
  await expectBreaks('', '');
  await judged.answer(date, 'posted');
  await expectBreaks('', '');
});

test.each([
  ['due date', 'a 1610 due=2099-07-07', 'due_date_differs a k1'],
  ['value', 'a 1611', 'value_differs a k1'],
])(
  'a restated %s differs from the open payable that the title takes over, until its line is released',
  async (_, restated, kind) => {
    await release('a 1610', 'k1 1610', false);
    await judged.pull(date, `${restated}, rest 9999`);
    await expectBreaks('', kind);
    expect(await matches()).toBe('a=k1 inherited');
    expect(await judged.waiting(date)).toEqual([]);
    await judged.release(date);
    await expectBreaks('', '');
  },
);

test.each([
  ['paid, due later', 'k1 1613 paid', 'a 1613 due=2099-07-12', 'paid_to_supplier!'],
  ['paid, with another value', 'k1 1613 paid', 'a 1614', 'paid_to_supplier!'],
  ['paid in part', 'k1 613 total=1613', 'a 1613 due=2099-07-12', 'paid_in_part!'],
  ['gone', '', 'a 1613 due=2099-07-12', 'gone_from_erp!'],
])(
  'a restated title without a match waits for the payable that its predecessor fits: %s',
  async (_, stated, restated, kind) => {
    if (stated === '') await judged.state('k1 1613', 'snapshot');
    await judged.snapshot(stated);
    for (const titles of ['a 1613', restated]) {
      await judged.pull(date, titles);
      await expectBreaks('', `${kind} a k1`);
      expect(await judged.waiting(date)).toEqual(['a']);
    }
  },
);

test('what a payable says of a title that was withdrawn since the last run is no break', async () => {
  await release('a 1612', 'k1 1612');
  await expectBreaks('other 1 code=P-9 paid', '', 'snapshot');
  await judged.pull(date, 'rest 9999');
  expect((await judged.breaks(date)).filter((text) => text.includes('k1'))).toEqual([]);
});

test('a title that moved to another accepted date keeps its payable, and is one of two until the old date is pulled and signed off', async () => {
  const other = daysFrom(1, date);
  await release('m 1700', 'k1 1700 order=m');
  await judged.state('k1 1700 order=m paid');
  await judged.pull(other, 'm 1700');
  await judged.match();
  expect(await judged.breaks(other)).toEqual(['anticipated_twice! m k1']);
  expect(await judged.waiting(other)).toEqual(['m']);
  await judged.pull(date, 'rest 9999');
  await judged.match();
  expect(await judged.breaks(other)).toEqual(['already_assigned m k1']);
  expect(await matches()).toBe('m=k1 inherited');
  expect(await judged.waiting(other)).toEqual(['m']);
  await judged.release(date);
  await judged.match();
  expect(await judged.breaks(other)).toEqual([]);
  expect(await judged.waiting(other)).toEqual([]);
});

test('after the release: less is open, paid without an answer, paid in part', async () => {
  await release('a 100, b 200, c 300', 'k1 100 order=a, k2 200 order=b, k3 300 order=c', false);
  const stated = 'k1 60 order=a, k2 200 order=b paid, k3 299 order=c paid';
  await expectBreaks(stated, 'paid_in_part! a k1');
  expect(await matches()).toBe('a=k1 order, b=k2 order, c=k3 order');
  await judged.passDays(GRACE_DAYS + 1);
  await expectBreaks('', 'paid_to_supplier! c k3, paid_to_supplier! b k2, paid_in_part! a k1');
});

test('the payee of a later booking says nothing of an earlier booking that was reversed', async () => {
  await release('v 1740', 'k1 1740 order=v');
  await judged.pull(date, 'v 1741, rest 9999');
  await expectBreaks('k1 1741 order=v', '');
  await judged.release(date);
  await judged.answer(date, 'posted');
  await expectBreaks(`k1 1741 order=v payee=${AGENT}`, '');
  // The second title is withdrawn, too. Its reversal is not released yet.
  await judged.pull(date, 'rest 9999');
  await expectBreaks('', 'withdrawn_open v k1');
  await judged.release(date);
  await judged.answer(date, 'posted');
  await expectBreaks(
    `k1 1741 order=v payee=${AGENT}`,
    'payee_changed! v k1, payee_changed! v k1, withdrawn_open v k1',
  );
});

test('of two equal payables, the payable that names the booking of a title is that of the title', async () => {
  await judged.pull(date, 'x 1750, y 1750, rest 9999');
  const [x, y] = [await judged.keyOf('x', date), await judged.keyOf('y', date)];
  const settled = `k1 1750 paid as=assignment by=${y}, k2 1750 paid as=assignment by=${x}`;
  await expectBreaks(settled, 'already_assigned x k2, already_assigned y k1', 'snapshot');
});

test('a posting on a payable of several titles makes no other title of it differ, and a part that was paid does', async () => {
  const due = 'due=2098-01-31';
  await release(`s 100 ${due}, s 200 ${due}`, `k1 300 order=s ${due} total=300`, false);
  expect(await matches()).toBe('s=k1 sum, s=k1 sum');
  await world.database.prisma.$executeRaw`
    UPDATE conciliation.booking_line SET state = 'posted' WHERE date = ${date}::date AND original_value = 100`;
  await expectBreaks(`k1 200 order=s ${due} total=300`, '');
  const partly = 'paid_in_part! s k1, paid_in_part! s k1';
  await expectBreaks(`k1 150 order=s ${due} total=300`, partly);
  expect(await matches()).toBe('s=k1 sum, s=k1 sum');
});

test('the payable of another title: anticipated twice, and never an instruction to enter the payable', async () => {
  await release('a 1501', 'k1 1501', false);
  date = daysFrom(1, date);
  await judged.pull(date, 'b 1501');
  await expectBreaks('', 'anticipated_twice! b k1');
  expect(await judged.waiting(date)).toEqual(['b']);
  await expectBreaks('k1 1501 paid', 'anticipated_twice! b k1');
});

test('the payable that a posting made has no title, and two of one booking are posted twice', async () => {
  await release('a 1502', 'k1 1502');
  const made = `1502 bookingKey=${await judged.keyOf('a', date)} order=x doc=N`;
  await expectBreaks(`k1 0 paid, m1 ${made}`, '');
  expect((await judged.breaks()).filter((text) => text.includes(' m1'))).toEqual([]);
  await expectBreaks(`m2 ${made}`, 'posted_twice! a m2');
});

test('a payable in another currency is no payable of a title, and no break of its own', async () => {
  await judged.pull(date, 'a 1500');
  await expectBreaks('k1 1500 currency=USD order=a', 'missing_in_erp a -');
  await judged.state('k1 1500 currency=USD order=x');
  expect(await judged.breaks()).not.toContain('missing_on_platform - k1');
});

test('a title that falls due before its release is urgent, and does not wait', async () => {
  // Its business day is over too, whatever day of the week it is.
  const due = addDays(TODAY, -14);
  await judged.pull(date, `a 1504 due=${due}`);
  await expectBreaks(`k1 1504 due=${due}`, 'due_before_release! a k1', 'snapshot');
  expect(await judged.waiting(date)).toEqual([]);
  await judged.release(date);
  await expectBreaks('', '');
});

test('after a posted reversal the agent must not be paid', async () => {
  await release('a 1503', 'k1 1503');
  await judged.state(`k1 1503 payee=${AGENT}`);
  await judged.pull(date, 'rest 9999');
  await judged.match();
  await judged.release(date);
  await expectBreaks('', '');
  await judged.answer(date, 'posted');
  // What the ERP stated before the receipt says nothing about the reversal.
  await expectBreaks('', '');
  await expectBreaks(`k1 1503 payee=${AGENT}`, 'payee_changed! a k1', 'snapshot');
  await expectBreaks('k1 1503', '', 'snapshot');
});

test('a reversal that the ERP refuses for good is urgent, and what was posted stays expected', async () => {
  await release('r 1507', 'k1 1507');
  await judged.state(`k1 0 paid to=${AGENT}`);
  await judged.pull(date, 'rest 9999');
  await judged.match();
  await judged.release(date);
  await judged.answer(date, 'failed');
  await expectBreaks('', '');
  await judged.answer(date, 'failed', true);
  await expectBreaks('', 'reversal_refused! r k1');
  // The booking explains its own payable, and not that of another instalment of the order.
  date = daysFrom(1, date);
  await judged.pull(date, 'r 1508');
  await expectBreaks('k2 1508 paid', 'paid_to_supplier! r k2');
});

test.each([
  ['r', 'answered', true],
  ['q', 'not answered', false],
])(
  'a restated agent: the payee that a line asked for is expected until another line is posted and the payable is stated: %s %s',
  async (uid, _, isPosted) => {
    await release(`${uid} 1509`, `k1 1509 order=${uid}`, isPosted);
    await expectBreaks(`k1 1509 order=${uid} payee=${AGENT}`, '');
    await judged.pull(date, `${uid} 1509 agent=${THIRD_PARTY}, rest 9999`);
    await expectBreaks('', '');
    await judged.release(date);
    await expectBreaks('', '');
    await judged.answer(date, 'posted');
    await expectBreaks('', '');
    await expectBreaks(`k1 1509 order=${uid} payee=${AGENT}`, `payee_changed! ${uid} k1`);
    await expectBreaks(`k1 1509 order=${uid} payee=${THIRD_PARTY}`, '');
  },
);

test('a break that a person has resolved does not keep the title any more, and the payable that changes does again', async () => {
  await judged.pull(date, 'a 1506');
  await judged.state('k1 1506', 'snapshot');
  await judged.match();
  // The release sees the change before any run does.
  await judged.state('k1 1506 paid');
  expect(await judged.waiting(date)).toEqual(['a']);
  await judged.match();
  const { breaks: found } = await listBreaks(world.database.prisma, { ...OPEN_BREAKS, date });
  expect(found).toMatchObject([{ kind: 'paid_to_supplier', waits: true }]);
  await judged.resolve('paid_to_supplier', 'k1', date);
  expect(await judged.waiting(date)).toEqual([]);
  await judged.state(`k1 1506 paid to=${THIRD_PARTY}`);
  expect(await judged.waiting(date)).toEqual(['a']);
});

test('the paid instalment of a title is judged, and not an open one of the order that is due later', async () => {
  await judged.pull(date, 'paid-one 1510, paid-one 1510 due=2099-08-30');
  const others = 'k2 1510 order=paid-one due=2099-07-30, k3 1510 order=paid-one due=2099-08-30';
  await judged.state(`k1 1510, ${others}`, 'snapshot');
  await expectBreaks('', 'in_doubt paid-one k1');
  expect(await matches()).toBe('paid-one=k3 order');
  await expectBreaks(
    `k1 0 total=1510 paid, ${others}`,
    'paid_to_supplier! paid-one k1',
    'snapshot',
  );
  expect(await judged.waiting(date)).toEqual(['paid-one']);
});

test('another instalment that comes on the date of a moved one keeps its own payable', async () => {
  await release('moved 1520', 'k2 1520 order=moved');
  const third = 'k3 1520 order=moved due=2099-08-30';
  await judged.state('k2 0 total=1520 order=moved paid', 'delta');
  await judged.state(third, 'delta');
  await judged.pull(date, 'moved 1520 due=2099-08-30, rest 9999');
  await breaks();
  expect(await matches()).toBe('moved=k3 order');
  expect(await world.database.prisma.titleSuccession.count()).toBeGreaterThan(0);
});

test('a paid payable of the order that is due later is not that of a title whose own payable is open', async () => {
  await judged.pull(date, 'some 1530');
  const later = 'k2 0 total=1530 order=some due=2099-07-30 paid';
  await judged.state(`k1 1530, ${later}`, 'snapshot');
  await expectBreaks('', 'in_doubt some k1');
  // The open payable names another order, or is due on another day.
  for (const open of ['k1 1530 order=another', 'k1 1530 due=2099-07-03']) {
    await judged.state(`${open}, ${later}`, 'snapshot');
    const all = await breaks();
    expect(all).toContain('paid_to_supplier! some k2');
  }
});

test('a payable that snapshots of open rows lack is urgent, although an earlier snapshot had a paid one', async () => {
  await judged.pull(date, 'gone 1531');
  await judged.state('k1 1531, k9 0 total=9 paid', 'snapshot');
  await judged.match();
  await judged.state('k9 0 total=9 paid', 'snapshot');
  await expectBreaks('', 'gone_from_erp gone k1');
  await judged.state('k8 8 order=other', 'snapshot');
  await expectBreaks('', 'gone_from_erp! gone k1');
});

test('a booking of a title that moved counts for no other instalment of the order', async () => {
  const [moved, second] = [daysFrom(1, date), daysFrom(2, date)];
  await release('part 1532', 'k1 1532 order=part');
  await judged.state(`k1 0 total=1532 order=part paid as=assignment to=${AGENT}`, 'delta');
  await judged.pull(second, 'part 1532 due=2099-08-30, rest 9997');
  await judged.pull(date, 'rest 9999');
  await judged.pull(moved, 'part 1532, rest 9998');
  await expectBreaks('', '');
  const of = async (on: CivilDate) =>
    (await judged.breaks(on)).filter((text) => !/ rest /.test(text));
  expect(await of(second)).toEqual(['missing_in_erp part -']);
  expect(await of(moved)).toEqual(['anticipated_twice! part k1']);
  // The ERP does not reverse what was paid.
  await judged.release(date);
  await judged.answer(date, 'failed', true);
  await judged.pull(moved, 'part 1532 due=2099-07-02, rest 9998');
  await judged.match();
  expect(await of(moved)).toEqual(['reversal_refused! part k1']);
  // Neither has a booking, and neither has the due date of the line. The order has no other payable.
  expect(await of(second)).toEqual(['reversal_refused! part k1']);
});

test.each(['paid', `paid as=assignment by=2026-01-01:${'0'.repeat(32)}:1:1`])(
  'the payable of an instalment is not that of another one whose payable is missing: %s',
  async (how) => {
    await judged.pull(date, `sibling 1540, sibling 1540 due=2099-08-30`);
    await judged.state(`k2 0 total=1540 order=sibling due=2099-08-30 ${how}`, 'snapshot');
    const kind = how === 'paid' ? 'paid_to_supplier' : 'anticipated_twice';
    await expectBreaks('', `${kind}! sibling k2, missing_in_erp sibling -`);
    // Without the other title, the payable may be that of the title.
    await judged.pull(date, 'sibling 1540, rest 9999');
    await expectBreaks('', `${kind}! sibling k2`);
  },
);

test.each([
  ['waiting', ''],
  ['posted and reversed', 'posted'],
])(
  'a payable that the ERP has paid is that of a title that moved to another accepted and another due date: %s',
  async (state, answer) => {
    const uid = `late ${state}`.replaceAll(' ', '-');
    const value = answer ? 1533 : 1534;
    const moved = daysFrom(1, date);
    const rest = `${uid} ${value} due=2099-08-30, rest 9999`;
    await judged.pull(date, `${uid} ${value}, ${rest}`);
    await judged.state(`k1 ${value}, k2 ${value} due=2099-08-30`, 'snapshot');
    await judged.match();
    const bookDate = async () => {
      await judged.release(date);
      await judged.answer(date, 'posted');
    };
    if (answer) await bookDate();
    await judged.pull(date, rest);
    await judged.pull(moved, `${uid} ${value} due=2099-07-12`);
    await judged.match();
    if (answer) await bookDate();
    await judged.state(`k1 0 total=${value} paid as=payment to=${SUPPLIER}`);
    await judged.match();
    expect(await judged.breaks(moved)).toEqual([`paid_to_supplier! ${uid} k1`]);
    expect(await judged.waiting(moved)).toEqual([uid]);
  },
);

test('of equal titles that moved, the payable of each is that of the nearest due date', async () => {
  const moved = daysFrom(1, date);
  await judged.pull(date, 'pair 1535, pair 1535 due=2099-08-30');
  await judged.state('k1 1535, k2 1535 due=2099-08-30', 'snapshot');
  await judged.match();
  await judged.pull(date, 'rest 9999');
  await judged.pull(moved, 'pair 1535 due=2099-07-12, pair 1535 due=2099-09-12');
  await judged.state(`k2 0 total=1535 due=2099-08-30 paid as=payment to=${SUPPLIER}`);
  await judged.match();
  const { breaks } = await listBreaks(world.database.prisma, { ...OPEN_BREAKS, date: moved });
  expect(breaks.map(({ kind, title }) => `${kind} ${title?.dueDate}`)).toEqual([
    'paid_to_supplier 2099-09-12',
    'due_date_differs 2099-07-12',
  ]);
});

test('the settled payable of a withdrawn instalment hides no payment to the supplier on that of another instalment', async () => {
  await judged.pull(date, 'own 1536, own 1536 due=2099-07-30');
  const paid = `k1 0 total=1536 order=own paid as=payment to=${SUPPLIER}`;
  const open = 'k2 1536 order=own due=2099-07-30';
  await expectBreaks(`${paid}, ${open}`, 'paid_to_supplier! own k1', 'snapshot');
  await judged.release(date);
  await judged.answer(date, 'posted');
  const [line] = await world.database.prisma.$queryRaw<[{ key: string }]>`
    SELECT concat_ws(':', date, replace(identity_hash::text, '-', ''), occurrence, version) AS key
    FROM conciliation.booking_line WHERE date = ${date}::date AND erp_key = 'k2'`;
  await judged.pull(date, 'own 1536, rest 9999');
  const settled = `k2 0 total=1536 order=own due=2099-07-30 paid as=assignment by=${line.key}`;
  await expectBreaks(settled, 'paid_to_supplier! own k1');
  expect(await judged.waiting(date)).toEqual(['own']);
});

test('the booking of a withdrawn instalment that names no payable explains no payment of another instalment', async () => {
  await judged.pull(date, 'plain 1537 due=2099-08-30, rest 9999');
  await judged.match();
  await judged.release(date);
  await judged.answer(date, 'posted');
  await judged.pull(date, 'plain 1537, rest 9999');
  await expectBreaks('k1 0 total=1537 paid', 'paid_to_supplier! plain k1', 'snapshot');
  expect(await judged.waiting(date)).toEqual(['plain']);
});
