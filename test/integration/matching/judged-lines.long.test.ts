/** Payables that lines explain, titles that follow others, and payables that belong to another title. */
import { beforeEach, expect, test } from 'vitest';
import { addDays } from '../../../src/base/values/business-day.ts';
import { listBreaks } from '../../../src/features/matching/break-list.sql.ts';
import { GRACE_DAYS } from '../../../src/features/matching/judgement.sql.ts';
import {
  AGENT,
  BUYER,
  type JudgedStep,
  judgedWorldOfFile,
  playerOf,
  SUPPLIER,
  THIRD_PARTY,
} from '../../support/judged-world.ts';
import { clearMatching, OPEN_BREAKS } from '../../support/matching-world.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';

const { world, judged } = judgedWorldOfFile();
let date = DAY;
beforeEach(async () => {
  date = daysFrom(5, date);
  await clearMatching(world.database);
});
const play = playerOf({ world, judged }, { date: () => date });

test.each([
  ['B: the exact payable is paid, one is due 5 days later', 'k1 1500 paid', 'paid_to_supplier!'],
  ['C: the exact payable is gone', 'k3 1 code=P-9', 'gone_from_erp!'],
  ['E: the exact payable is cancelled', 'k1 1500 doc=NF cancelled', 'cancelled_in_erp'],
])('no other payable takes the place of the one that fits. %s', (_, later, kind) => {
  const near = 'k2 1500 due=2099-07-05 doc=NF-2';
  return play(
    { pull: 'a 1500', snapshot: `k1 1500 doc=NF-1, ${near}` },
    { snapshot: `${later}, ${near}`, breaks: `${kind} a k1`, waits: 'a', matches: '' },
  );
});

test.each([
  ['paid with the value', 'k1 1500 paid', ''],
  ['paid, nothing left, with the order', 'k1 0 order=a paid', ''],
  ['paid, nothing left, without the order', 'k1 0 paid', ''],
  // The ERP has cancelled what it has posted: a break, and no instruction to enter the payable.
  ['cancelled', 'k1 1500 cancelled', 'cancelled_in_erp a k1'],
])('the write-off of a posted title without a match is no break: %s', (_, stated, found) =>
  play({ pull: 'a 1500', snapshot: '', book: 'posted' }, { state: stated, breaks: found }),
);

test('a posted instalment of the order is judged by an equal one of the due date that is stated later', () =>
  play(
    { pull: 'a 1630', snapshot: 'k1 1630 order=a due=2099-06-28', book: 'posted' },
    {
      snapshot: 'k1 1630 order=a due=2099-06-28 paid as=assignment by=KEY(a), k2 1630 order=a',
      breaks: '',
    },
    { passDays: GRACE_DAYS + 1, breaks: 'still_open! a k2' },
  ));

test.each([
  ['due date', 'unanswered', 'a 1610 due=2099-07-07', 'due_date_differs a k1'],
  ['value', 'unanswered', 'a 1611', 'value_differs a k1'],
  ['value after the posting', 'posted', 'a 1611', 'value_differs a k1'],
] as const)(
  'a restated %s differs from the open payable that the title takes over, until its line is released',
  (_, book, restated, kind) =>
    play(
      { pull: 'a 1610', snapshot: 'k1 1610', book },
      { pull: restated, breaks: kind, matches: 'a=k1 inherited', waits: '' },
      { release: true, breaks: '' },
    ),
);

test.each([
  ['paid, due later', 'k1 1613 paid', 'a 1613 due=2099-07-12', 'paid_to_supplier!'],
  ['paid, with another value', 'k1 1613 paid', 'a 1614', 'paid_to_supplier!'],
  ['paid in part', 'k1 613 total=1613', 'a 1613 due=2099-07-12', 'paid_in_part!'],
  ['gone', '', 'a 1613 due=2099-07-12', 'gone_from_erp!'],
])(
  'a restated title without a match waits for the payable that its predecessor fits: %s',
  (_, stated, restated, kind) =>
    play(
      ...(stated === '' ? [{ snapshot: 'k1 1613' }] : []),
      { snapshot: stated },
      ...['a 1613', restated].map((pull) => ({ pull, breaks: `${kind} a k1`, waits: 'a' })),
    ),
);

const due = `due=${addDays(TODAY, -14)}`;
const others = 'k2 1510 order=paid-one due=2099-07-30, k3 1510 order=paid-one due=2099-08-30';

const stories: Record<string, readonly JudgedStep[]> = {
  'F: two invoices of one day and value, and one of them is paid': [
    { pull: 'a 1500', snapshot: 'k1 1500 doc=N1 paid, k2 1500 doc=N2' },
    { breaks: 'paid_to_supplier! a k1' },
  ],
  'the successor of a restated title keeps the payable that the booking of its predecessor has settled':
    [
      { pull: 'a 1600', snapshot: 'k1 1600 order=a', book: 'posted' },
      { state: 'k1 1600 order=a paid', breaks: '' },
      { pull: 'a 1600 due=2099-07-07', breaks: '', matches: 'a=k1 inherited', waits: '' },
      { release: true, lines: 'book a k1 1, book a k1 1, reverse a k1 2', breaks: '' },
      { answer: 'posted', breaks: '' },
    ],
  'after the release: less is open, paid without an answer, paid in part': [
    {
      pull: 'a 100, b 200, c 300',
      snapshot: 'k1 100 order=a, k2 200 order=b, k3 300 order=c',
      book: 'unanswered',
    },
    { state: 'k1 60 order=a, k2 200 order=b paid, k3 299 order=c paid' },
    { breaks: 'paid_in_part! a k1', matches: 'a=k1 order, b=k2 order, c=k3 order' },
    { passDays: GRACE_DAYS + 1 },
    { breaks: 'paid_in_part! a k1, paid_to_supplier! b k2, paid_to_supplier! c k3' },
  ],
  'the payee of a later booking says nothing of an earlier booking that was reversed': [
    { pull: 'v 1740', snapshot: 'k1 1740 order=v', book: 'posted' },
    { pull: 'v 1741', state: 'k1 1741 order=v', breaks: '' },
    { release: true, answer: 'posted' },
    { state: `k1 1741 order=v payee=${AGENT}`, breaks: '' },
    // The second title is withdrawn, too. Its reversal is not released yet.
    { pull: '', breaks: 'withdrawn_open v k1' },
    { release: true, answer: 'posted' },
    { state: `k1 1741 order=v payee=${AGENT}` },
    { breaks: 'payee_changed! v k1, payee_changed! v k1, withdrawn_open v k1' },
  ],
  'of two equal payables, the payable that names the booking of a title is that of the title': [
    { pull: 'x 1750, y 1750' },
    { snapshot: 'k1 1750 paid as=assignment by=KEY(y), k2 1750 paid as=assignment by=KEY(x)' },
    { breaks: 'already_assigned x k2, already_assigned y k1' },
  ],
  'the payable of another title: anticipated twice, and never an instruction to enter the payable':
    [
      { pull: 'a 1501', snapshot: 'k1 1501', book: 'unanswered' },
      { on: 1, pull: 'b 1501', breaks: 'anticipated_twice! b k1', waits: 'b' },
      { on: 1, state: 'k1 1501 paid', breaks: 'anticipated_twice! b k1' },
    ],
  // Its business day is over too, whatever day of the week it is.
  'a title that falls due before its release is urgent, and does not wait': [
    { pull: `a 1504 ${due}`, snapshot: `k1 1504 ${due}` },
    { breaks: 'due_before_release! a k1', waits: '' },
    { release: true, breaks: '' },
  ],
  'a posting ends no break of an open payable; what the ERP then states of one does': [
    { pull: 'kept 1560, none 1561', snapshot: 'k1 1560, k2 1560' },
    { breaks: 'in_doubt kept k1, missing_in_erp none -' },
    { release: true, answer: 'posted', breaks: 'in_doubt kept k1' },
    { snapshot: 'k1 1560, k2 1560', breaks: 'in_doubt kept k1' },
    { state: `k2 1560 payee=${AGENT}`, breaks: '' },
    // No break begins.
    { state: 'k2 1560', breaks: '' },
  ],
  'a posting on one of two payables does not hide that the other one was paid': [
    {
      pull: 'copied 1562',
      snapshot: 'k1 1562 doc=7, k2 1562 doc=7',
      release: true,
      answer: 'failed',
    },
    { state: `k2 0 total=1562 doc=7 paid to=${SUPPLIER}`, breaks: 'paid_to_supplier! copied k2' },
    { state: 'k1 0 total=1562 doc=7 paid as=assignment by=KEY(copied)', answer: 'posted' },
    { breaks: 'paid_to_supplier! copied k2' },
  ],
  'a document that the ERP enters again after the posting': [
    { pull: 'again 1563', snapshot: 'k1 1563 doc=8', book: 'posted' },
    { state: `k1 0 total=1563 doc=8 paid as=assignment to=${AGENT}, k2 1563 doc=8` },
    { breaks: 'duplicated_in_erp again k2' },
    { state: `k2 0 total=1563 doc=8 paid to=${SUPPLIER}`, breaks: 'paid_to_supplier! again k2' },
  ],
  'after a posted reversal the agent must not be paid': [
    { pull: 'a 1503', snapshot: 'k1 1503', book: 'posted' },
    { state: `k1 1503 payee=${AGENT}`, pull: '', book: 'unanswered', breaks: '' },
    // What the ERP stated before the receipt says nothing about the reversal.
    { answer: 'posted', breaks: '' },
    { snapshot: `k1 1503 payee=${AGENT}`, breaks: 'payee_changed! a k1' },
    { snapshot: 'k1 1503', breaks: '' },
  ],
  'a reversal that the ERP refuses for good is urgent, and what was posted stays expected': [
    { pull: 'r 1507', snapshot: 'k1 1507', book: 'posted' },
    { state: `k1 0 paid to=${AGENT}`, pull: '', book: 'failed', breaks: '' },
    { answer: 'refused', breaks: 'reversal_refused! r k1' },
    // The booking explains its own payable, and not that of another instalment of the order.
    { on: 1, pull: 'r 1508', state: 'k2 1508 paid', breaks: 'paid_to_supplier! r k2' },
  ],
  'the paid instalment of a title is judged, and not an open one of the order that is due later': [
    { pull: 'paid-one 1510, paid-one 1510 due=2099-08-30', snapshot: `k1 1510, ${others}` },
    { breaks: 'in_doubt paid-one k1', matches: 'paid-one=k3 order' },
    { snapshot: `k1 0 total=1510 paid, ${others}` },
    { breaks: 'paid_to_supplier! paid-one k1', waits: 'paid-one' },
  ],
  'the paid payable of the due date is judged, and not an open one of the order that is due on another day':
    [
      { pull: 'near 1538', snapshot: 'k1 1538, k2 1538 order=near due=2099-07-03' },
      { breaks: 'in_doubt near k1', waits: '' },
      { state: `k1 0 total=1538 paid to=${SUPPLIER}` },
      { breaks: 'paid_to_supplier! near k1', waits: 'near' },
    ],
  'a payable that snapshots of open rows lack is urgent, although an earlier snapshot had a paid one':
    [
      { pull: 'gone 1531', snapshot: 'k1 1531, k9 0 total=9 paid', match: true },
      { snapshot: 'k9 0 total=9 paid', breaks: 'gone_from_erp gone k1' },
      { snapshot: 'k8 8 order=other', breaks: 'gone_from_erp! gone k1' },
    ],
  'a booking of a title that moved counts for no other instalment of the order': [
    { pull: 'part 1532', snapshot: 'k1 1532 order=part', book: 'posted' },
    { state: `k1 0 total=1532 order=part paid as=assignment to=${AGENT}` },
    { on: 2, pull: 'part 1532 due=2099-08-30' },
    { pull: '' },
    { on: 1, pull: 'part 1532' },
    { breaks: '' },
    { on: 2, breaks: 'missing_in_erp part -' },
    { on: 1, breaks: 'anticipated_twice! part k1' },
    // The ERP does not reverse what was paid.
    { release: true, answer: 'refused' },
    { on: 1, pull: 'part 1532 due=2099-07-02', breaks: 'reversal_refused! part k1' },
    // Neither has a booking, and neither has the due date of the line. The order has no other payable.
    { on: 2, breaks: 'reversal_refused! part k1' },
  ],
  'the settled payable of a withdrawn instalment hides no payment to the supplier on that of another instalment':
    [
      { pull: 'own 1536, own 1536 due=2099-07-30', snapshot: 'k2 1536 order=own due=2099-07-30' },
      { match: true, release: true, answer: 'posted' },
      { pull: 'own 1536' },
      {
        state: `k1 0 total=1536 order=own paid as=payment to=${SUPPLIER}, k2 0 total=1536 order=own due=2099-07-30 paid as=assignment by=LINE(k2)`,
        breaks: 'paid_to_supplier! own k1',
      },
    ],
  'the settled payable of a withdrawn instalment hides no payment to the supplier that was known before it':
    [
      { pull: 'known 1538, known 1538 due=2099-07-30' },
      {
        snapshot: `k1 0 total=1538 order=known paid as=payment to=${SUPPLIER}, k2 1538 order=known due=2099-07-30`,
        breaks: 'paid_to_supplier! known k1',
      },
      { release: true, answer: 'posted' },
      { pull: 'known 1538' },
      { state: 'k2 0 total=1538 order=known due=2099-07-30 paid as=assignment by=LINE(k2)' },
      { breaks: 'paid_to_supplier! known k1', waits: 'known' },
    ],
  'the booking of a withdrawn instalment that names no payable explains no payment of another instalment':
    [
      { pull: 'plain 1537 due=2099-08-30', book: 'posted' },
      { pull: 'plain 1537', snapshot: 'k1 0 total=1537 paid' },
      { breaks: 'paid_to_supplier! plain k1', waits: 'plain' },
    ],
};
test.each(Object.entries(stories))('%s', (_, steps) => play(...steps));

test('a posting on a payable of several titles makes no other title of it differ, and a part that was paid does', async () => {
  const due = 'due=2098-01-31';
  await play({
    ...{ pull: `s 100 ${due}, s 200 ${due}`, snapshot: `k1 300 order=s ${due} total=300` },
    ...{ book: 'unanswered', matches: 's=k1 sum, s=k1 sum' },
  });
  await world.prisma.$executeRaw`
    UPDATE conciliation.booking_line SET state = 'posted' WHERE date = ${date}::date AND original_value = 100`;
  await play(
    // The document is compared, and ends the match of no title with a line.
    { state: `k1 200 order=s ${due} total=300 doc=N`, breaks: '' },
    { state: `k1 150 order=s ${due} total=300` },
    { breaks: 'paid_in_part! s k1, paid_in_part! s k1', matches: 's=k1 sum, s=k1 sum' },
  );
});

test('the payable that a posting made has no title, and two of one booking are posted twice', async () => {
  const made = '1502 bookingKey=KEY(a) order=x doc=N';
  await play(
    { pull: 'a 1502', snapshot: 'k1 1502', book: 'posted' },
    { state: `k1 0 paid, m1 ${made}`, breaks: '' },
  );
  expect((await judged.breaks()).filter((text) => text.includes(' m1'))).toEqual([]);
  // The ERP does not state how the first one was settled.
  const paid = made.replace('1502', '0 paid');
  await play({ state: `m1 ${paid}, m2 ${made}`, breaks: 'posted_twice! a m2' });
});

test('a payable in another currency is no payable of a title, and no break of its own', async () => {
  await play({ pull: 'a 1500', state: 'k1 1500 currency=USD order=a' });
  await play({ breaks: 'missing_in_erp a -' }, { state: 'k1 1500 currency=USD order=x' });
  expect(await judged.breaks()).not.toContain('missing_on_platform - k1');
});

test.each([
  ['r', 'answered', 'posted'],
  ['q', 'not answered', 'unanswered'],
] as const)(
  'a restated agent: the payee that a line asked for is expected until another line is posted and the payable is stated: %s %s',
  (uid, _, book) =>
    play(
      { pull: `${uid} 1509`, snapshot: `k1 1509 order=${uid}`, book },
      { state: `k1 1509 order=${uid} payee=${AGENT}`, breaks: '' },
      { pull: `${uid} 1509 agent=${THIRD_PARTY}`, breaks: '' },
      { release: true, breaks: '' },
      { answer: 'posted', breaks: '' },
      { state: `k1 1509 order=${uid} payee=${AGENT}`, breaks: `payee_changed! ${uid} k1` },
      { state: `k1 1509 order=${uid} payee=${THIRD_PARTY}`, breaks: '' },
    ),
);

test('a break that a person has resolved does not keep the title any more, and the payable that changes does again', async () => {
  await play(
    { pull: 'a 1506', snapshot: 'k1 1506', match: true },
    // The release sees the change before any run does.
    { state: 'k1 1506 paid', waits: 'a' },
    { match: true },
  );
  const { breaks: found } = await listBreaks(world.prisma, { ...OPEN_BREAKS, date });
  expect(found.filter(({ title }) => title?.orderUid === 'a')).toMatchObject([
    { kind: 'paid_to_supplier', waits: true },
  ]);
  await play(
    { resolve: ['paid_to_supplier', 'k1'], waits: '' },
    { state: `k1 1506 paid to=${THIRD_PARTY}`, waits: 'a' },
  );
});

test('another instalment that comes on the date of a moved one keeps its own payable', async () => {
  await play(
    { pull: 'moved 1520', snapshot: 'k2 1520 order=moved', book: 'posted' },
    { state: 'k2 0 total=1520 order=moved paid' },
    { state: 'k3 1520 order=moved due=2099-08-30' },
    { pull: 'moved 1520 due=2099-08-30', matches: 'moved=k3 order' },
  );
  expect(await world.prisma.titleSuccession.count()).toBeGreaterThan(0);
});

test('a paid payable of the order that is due later is not that of a title whose own payable is open', async () => {
  const later = 'k2 0 total=1530 order=some due=2099-07-30 paid';
  await play({ pull: 'some 1530', snapshot: `k1 1530, ${later}`, breaks: 'in_doubt some k1' });
  // The open payable names another order, or is due on another day.
  for (const open of ['k1 1530 order=another', 'k1 1530 due=2099-07-03']) {
    await play({ snapshot: `${open}, ${later}`, match: true });
    expect(await judged.breaks(date)).toContain('paid_to_supplier! some k2');
  }
});

test.each(['paid', `paid as=assignment by=2026-01-01:${'0'.repeat(32)}:1:1`])(
  'the payable of an instalment is not that of another one whose payable is missing: %s',
  (how) => {
    const kind = how === 'paid' ? 'paid_to_supplier' : 'anticipated_twice';
    return play(
      { pull: 'sibling 1540, sibling 1540 due=2099-08-30' },
      { snapshot: `k2 0 total=1540 order=sibling due=2099-08-30 ${how}` },
      { breaks: ['missing_in_erp sibling -', `${kind}! sibling k2`].sort().join(', ') },
      // Without the other title, the payable may be that of the title.
      { pull: 'sibling 1540', breaks: `${kind}! sibling k2` },
    );
  },
);

test.each([
  ['waiting', 'late 1534', []],
  ['posted and reversed', 'late-posted 1533', [{ release: true, answer: 'posted' }]],
] as const)(
  'a payable that the ERP has paid is that of a title that moved to another accepted and another due date: %s',
  (_, title, book) => {
    const [uid = '', value] = title.split(' ');
    const rest = `${title} due=2099-08-30`;
    return play(
      { pull: `${title}, ${rest}`, snapshot: `k1 ${value}, k2 ${value} due=2099-08-30` },
      { match: true },
      ...book,
      { pull: rest },
      { on: 1, pull: `${title} due=2099-07-12`, match: true },
      ...book,
      { state: `k1 0 total=${value} paid as=payment to=${SUPPLIER}` },
      { on: 1, breaks: `paid_to_supplier! ${uid} k1`, waits: uid },
    );
  },
);

test('of equal titles that moved, the payable of each is that of the nearest due date', async () => {
  await play(
    { pull: 'pair 1535, pair 1535 due=2099-08-30', snapshot: 'k1 1535, k2 1535 due=2099-08-30' },
    { match: true },
    { pull: '' },
    { on: 1, pull: 'pair 1535 due=2099-07-12, pair 1535 due=2099-09-12' },
    { state: `k2 0 total=1535 due=2099-08-30 paid as=payment to=${SUPPLIER}`, match: true },
  );
  const filter = { ...OPEN_BREAKS, date: daysFrom(1, date) };
  const { breaks } = await listBreaks(world.prisma, filter);
  const pair = breaks.filter(({ title }) => title?.orderUid === 'pair');
  expect(pair.map(({ kind, title }) => `${kind} ${title?.dueDate}`)).toEqual([
    'paid_to_supplier 2099-09-12',
    'due_date_differs 2099-07-12',
  ]);
});

test.each([
  [
    'agent',
    AGENT,
    THIRD_PARTY,
    '1571',
    '0 total=1571 paid as=assignment by=KEY(#)',
    'already_assigned',
  ],
  ['unknown', BUYER, AGENT, '1572', '1572 paid', 'paid_to_supplier!'],
])(
  'an adjustment that the ERP refuses for good leaves what it has paid in a break: %s',
  async (uid, ...[before, after, value, stated, kind]) => {
    const pull = (agent: string) =>
      judged.pull(date, [
        { uid, value, agent, isEarly: agent === BUYER },
        { uid: 'rest', value: '9999' },
      ]);
    await pull(before);
    await play(
      { snapshot: `k1 ${value}`, book: 'posted' },
      { state: `k1 ${stated.replace('#', uid)}`, breaks: '' },
    );
    await pull(after);
    await play({ match: true, release: true }, { answer: 'failed', breaks: '' });
    await play({ answer: 'refused', breaks: `${kind} ${uid} k1` });
  },
);
