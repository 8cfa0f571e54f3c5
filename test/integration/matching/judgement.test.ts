/** Every cell of the tables of docs/matching.md: what a payable says, by what the line of its title has asked for. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import {
  EARLY_PAYMENT,
  GRACE_DAYS,
  PAYEE_CHANGE,
} from '../../../src/features/matching/judgement.sql.ts';
import {
  AGENT,
  BUYER,
  judgedWorldOfFile,
  SUPPLIER,
  THIRD_PARTY,
} from '../../support/judged-world.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';

const { judged, world } = judgedWorldOfFile({ startDate: daysFrom(-3) });

const STATES = ['unbooked', 'before', 'reversed', 'released', 'failed', 'posted'] as const;
type State = (typeof STATES)[number];
const DATES = Object.fromEntries(
  STATES.map((state, index) => [state, daysFrom(state === 'unbooked' ? -1 : index)]),
) as Record<State, CivilDate>;

const ELSEWHERE = '2026-01-02:00000000000000000000000000000000:1:1';

/**
 * What the second import states of a payable, with VALUE and KEY of its title and AGENT; null: the complete snapshot
 * lacks the payable. Then the cells of each table, for unbooked, before, reversed, released, failed, posted: `-`, or
 * the outcome; `a/b` is at once, and after the grace. Two rows of the tables may be one situation: the payee of the
 * supplier is as no payee.
 */
type Case = readonly [
  states: string | null,
  kind: string,
  payeeChange: string,
  earlyPayment: string,
];

const NOTHING = '- - - - - -';
const URGENT = 'urgent urgent urgent urgent urgent urgent';
const PAID_EARLY = '- break break - break -';
const BREAKS = '- break break break break break';
const PAID = '- urgent urgent -/urgent urgent -';
const cases: Record<string, Case> = {
  'open, no payee': ['VALUE', 'still_open', '- - - - - -/urgent', NOTHING],
  "open, the payee is the supplier's own identifier": [
    `VALUE payee=${SUPPLIER}`,
    'still_open',
    '- - - - - -/urgent',
    NOTHING,
  ],
  'settled by a booking of the title': [
    '0 paid by=KEY',
    'already_assigned',
    '- break urgent - break -',
    '- break urgent - break -',
  ],
  'settled by another booking': [`0 paid by=${ELSEWHERE}`, 'anticipated_twice', URGENT, URGENT],
  'assigned without a key': ['0 paid as=assignment', 'already_assigned', PAID_EARLY, BREAKS],
  'paid to the supplier': [`VALUE paid to=${SUPPLIER}`, 'paid_to_supplier', URGENT, PAID_EARLY],
  'paid to a third party': [`VALUE paid to=${THIRD_PARTY}`, 'paid_to_supplier', URGENT, PAID_EARLY],
  'paid to the agent': ['VALUE paid to=AGENT', 'already_assigned', PAID_EARLY, BREAKS],
  'paid, with the value': ['VALUE paid', 'paid_to_supplier', PAID, PAID_EARLY],
  "paid, the payee is the supplier's own identifier": [
    `VALUE paid payee=${SUPPLIER}`,
    'paid_to_supplier',
    PAID,
    PAID_EARLY,
  ],
  'paid, with what is left': ['0', 'paid_to_supplier', PAID, PAID_EARLY],
  'paid before the day of the release': [
    `VALUE paid settledOn=${daysFrom(-1, TODAY)}`,
    'paid_to_supplier',
    '- urgent urgent urgent urgent -',
    PAID_EARLY,
  ],
  'gone from a complete snapshot': [
    null,
    'gone_from_erp',
    '- break break -/urgent urgent -',
    PAID_EARLY,
  ],
  'set off': ['0 paid as=offset', 'offset_in_erp', BREAKS, BREAKS],
  'paid in part': [
    '1 total=VALUE',
    'paid_in_part',
    // The line has asked for the whole value, so none of its titles still asks for what was paid.
    'break urgent urgent urgent urgent -/open',
    'break break break - break -',
  ],
  'paid in part, the payee is the agent': [
    '1 total=VALUE payee=AGENT',
    'paid_in_part',
    'break urgent urgent urgent urgent -',
    'break break break break break payee',
  ],
  'the payee is the agent': [
    'VALUE payee=AGENT',
    'payee_changed',
    '- break urgent - break -',
    'break break break break break break',
  ],
  'the payee is a third party': [
    `VALUE payee=${THIRD_PARTY}`,
    'payee_changed',
    'urgent break break urgent urgent urgent',
    'urgent break break urgent urgent urgent',
  ],
  // The match ends with the payable, so without bookings the title lacks one.
  cancelled: [
    'VALUE cancelled',
    'cancelled_in_erp',
    'missing break break urgent break break',
    'missing break break urgent break break',
  ],
};

const EFFECTS = ['payeeChange', 'earlyPayment'] as const;
const rows = Object.entries(cases).flatMap(([name, [states, kind, ...cells]], index) =>
  EFFECTS.map((effect, isEarly) => ({
    ...{ name, effect, states, kind, place: index * 2 + isEarly, isEarly: isEarly === 1 },
    cells: (cells[isEarly] ?? '').split(' '),
  })),
);
const titleOf = (state: State, { place, isEarly }: (typeof rows)[number]) => ({
  uid: `${state}-${place}`,
  value: `${1000 + STATES.indexOf(state) * 100 + place}.5`,
  isEarly,
});

/** Kind and urgency by order. */
async function outcomes(): Promise<Record<string, string | undefined>> {
  const found = (await judged.breaks()).map((text) => text.split(' '));
  return Object.fromEntries(found.map(([kind, uid]) => [uid, kind]));
}
let atOnce: Awaited<ReturnType<typeof outcomes>>;
let later: typeof atOnce;
const waits: Record<string, readonly string[]> = {};
/** Of the breaks that say so. */
let told: readonly string[];

beforeAll(async () => {
  // An empty response would be held.
  const rest = { uid: 'rest', value: '9999' };
  const day = (state: State) => [...rows.map((row) => titleOf(state, row)), rest];
  const all = STATES.flatMap((state) => rows.map((row) => titleOf(state, row)));
  for (const state of STATES) await judged.pull(DATES[state], day(state));
  await judged.state(
    all.map(({ uid, value }) => `k-${uid} ${value} order=${uid}`).join(', '),
    'snapshot',
  );
  expect(await judged.match()).toMatchObject({ matched: all.length });
  for (const state of ['reversed', 'released', 'failed', 'posted'] as const) {
    await judged.release(DATES[state]);
  }
  await judged.answer(DATES.failed, 'failed');
  await judged.answer(DATES.posted, 'posted');
  await judged.answer(DATES.reversed, 'posted');
  // Withdrawn, reversed and stated again. The title was matched all the time but for one run.
  await judged.pull(DATES.reversed, [rest]);
  await judged.match();
  await judged.release(DATES.reversed);
  await judged.answer(DATES.reversed, 'posted');
  await judged.pull(DATES.reversed, day('reversed'));
  await judged.match();
  // The title without a payable. The ERP has posted two of them, so it knows their payables.
  expect(await judged.breaks()).toEqual(Array(STATES.length - 2).fill('missing_in_erp rest -'));
  const stated: string[] = [];
  for (const state of STATES) {
    for (const row of rows) {
      if (row.states === null) continue;
      const { uid, value } = titleOf(state, row);
      const key = await judged.keyOf(uid, DATES[state]);
      const agent = row.isEarly ? BUYER : AGENT;
      const words = row.states.replace('VALUE', value).replace('KEY', key).replace('AGENT', agent);
      stated.push(`k-${uid} ${words} order=${uid}`);
    }
  }
  await judged.state(stated.join(', '), 'snapshot');
  await judged.match();
  atOnce = await outcomes();
  for (const state of STATES) waits[state] = await judged.waiting(DATES[state]);
  const waiting = await world.prisma.$queryRaw<{ uid: string }[]>`
    SELECT order_uid AS uid FROM conciliation.erp_break JOIN conciliation.title ON title.id = title_id WHERE waits`;
  told = waiting.map(({ uid }) => uid);
  await judged.passDays(GRACE_DAYS + 1);
  await judged.match();
  later = await outcomes();
});

/** While one of these is urgent, a released line is not adjusted. */
const KEEPING_LINES: readonly (string | undefined)[] = [
  'paid_to_supplier',
  'anticipated_twice',
  'paid_in_part',
  'gone_from_erp',
];

describe.each(rows)('$effect: $name', (row) => {
  test.each(STATES.map((state, index) => ({ state, cell: row.cells[index] ?? '' })))(
    '$state: $cell',
    ({ state, cell }) => {
      const [first = '', last = first] = cell.split('/');
      const { uid } = titleOf(state, row);
      const kinds: Record<string, string | undefined> = {
        break: row.kind,
        urgent: `${row.kind}!`,
        open: 'still_open!',
        payee: 'payee_changed',
        missing: 'missing_in_erp',
      };
      expect(atOnce[uid]).toBe(kinds[first]);
      expect(later[uid]).toBe(kinds[last]);
      const isLive = state !== 'before' && state !== 'reversed';
      const hasToWait = isLive
        ? first === 'urgent' && KEEPING_LINES.includes(row.kind)
        : first !== '-';
      if (state !== 'unbooked') expect(waits[state]?.includes(uid)).toBe(hasToWait);
      expect(told.includes(uid)).toBe(!isLive && hasToWait);
    },
  );
});

test('each situation of the tables has a case, and each case has six cells', () => {
  expect(Object.keys(PAYEE_CHANGE)).toEqual(Object.keys(EARLY_PAYMENT));
  for (const { cells } of rows) expect(cells).toHaveLength(STATES.length);
});
