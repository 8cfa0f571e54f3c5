/** Every cell of the tables of docs/matching.md: what a payable says, by what the line of its title has asked for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { EARLY_PAYMENT, GRACE_DAYS, PAYEE_CHANGE } from '../../../src/matching/judgement.sql.ts';
import {
  AGENT,
  BUYER,
  judgedWorld,
  type StatedPayable,
  SUPPLIER,
  THIRD_PARTY,
} from '../../support/judged-world.ts';
import { daysFrom, openPullWorld, type PullWorld, TODAY } from '../../support/pull-world.ts';

let world: PullWorld;
let judged: ReturnType<typeof judgedWorld>;
beforeAll(async () => {
  world = await openPullWorld({ startDate: daysFrom(-3) });
  judged = judgedWorld(world);
});
afterAll(() => world.close());

const STATES = ['unbooked', 'before', 'reversed', 'released', 'failed', 'posted'] as const;
type State = (typeof STATES)[number];
const DATES = Object.fromEntries(
  STATES.map((state, index) => [state, daysFrom(state === 'unbooked' ? -1 : index)]),
) as Record<State, CivilDate>;

const ELSEWHERE = '2026-01-02:00000000000000000000000000000000:1:1';

/** Two rows of the tables may be one situation: the payee of the supplier is as no payee. */
interface Case {
  /** What the second import states; null: the complete snapshot lacks the payable. */
  readonly states: ((value: string, key: string, agent: string) => Partial<StatedPayable>) | null;
  /** unbooked, before, reversed, released, failed, posted: `-`, or the outcome. `a/b`: at once, and after the grace. */
  readonly payeeChange: string;
  readonly earlyPayment: string;
  readonly kind: string;
}

const cases: Record<string, Case> = {
  'open, no payee': {
    states: () => ({}),
    payeeChange: '- - - - - -/urgent',
    earlyPayment: '- - - - - -',
    kind: 'still_open',
  },
  "open, the payee is the supplier's own identifier": {
    states: () => ({ payee: SUPPLIER }),
    payeeChange: '- - - - - -/urgent',
    earlyPayment: '- - - - - -',
    kind: 'still_open',
  },
  'settled by a booking of the title': {
    states: (_, key) => ({ status: 'paid', openValue: '0', settledBy: key }),
    payeeChange: '- break urgent - break -',
    earlyPayment: '- break urgent - break -',
    kind: 'already_assigned',
  },
  'settled by another booking': {
    states: () => ({ status: 'paid', openValue: '0', settledBy: ELSEWHERE }),
    payeeChange: 'urgent urgent urgent urgent urgent urgent',
    earlyPayment: 'urgent urgent urgent urgent urgent urgent',
    kind: 'anticipated_twice',
  },
  'assigned without a key': {
    states: () => ({ status: 'paid', openValue: '0', settledAs: 'assignment' }),
    payeeChange: '- break break - break -',
    earlyPayment: '- break break break break break',
    kind: 'already_assigned',
  },
  'paid to the supplier': {
    states: () => ({ status: 'paid', paidTo: SUPPLIER }),
    payeeChange: 'urgent urgent urgent urgent urgent urgent',
    earlyPayment: '- break break - break -',
    kind: 'paid_to_supplier',
  },
  'paid to a third party': {
    states: () => ({ status: 'paid', paidTo: THIRD_PARTY }),
    payeeChange: 'urgent urgent urgent urgent urgent urgent',
    earlyPayment: '- break break - break -',
    kind: 'paid_to_supplier',
  },
  'paid to the agent': {
    states: (_, __, agent) => ({ status: 'paid', paidTo: agent }),
    payeeChange: '- break break - break -',
    earlyPayment: '- break break break break break',
    kind: 'already_assigned',
  },
  'paid, with the value': {
    states: () => ({ status: 'paid' }),
    payeeChange: '- urgent urgent -/urgent urgent -',
    earlyPayment: '- break break - break -',
    kind: 'paid_to_supplier',
  },
  "paid, the payee is the supplier's own identifier": {
    states: () => ({ status: 'paid', payee: SUPPLIER }),
    payeeChange: '- urgent urgent -/urgent urgent -',
    earlyPayment: '- break break - break -',
    kind: 'paid_to_supplier',
  },
  'paid, with what is left': {
    states: () => ({ openValue: '0' }),
    payeeChange: '- urgent urgent -/urgent urgent -',
    earlyPayment: '- break break - break -',
    kind: 'paid_to_supplier',
  },
  'paid before the day of the release': {
    states: () => ({ status: 'paid', settledOn: daysFrom(-1, TODAY) }),
    payeeChange: '- urgent urgent urgent urgent -',
    earlyPayment: '- break break - break -',
    kind: 'paid_to_supplier',
  },
  'gone from a complete snapshot': {
    states: null,
    payeeChange: '- break break -/urgent urgent -',
    earlyPayment: '- break break - break -',
    kind: 'gone_from_erp',
  },
  'set off': {
    states: () => ({ status: 'paid', openValue: '0', settledAs: 'offset' }),
    payeeChange: '- break break break break break',
    earlyPayment: '- break break break break break',
    kind: 'offset_in_erp',
  },
  'paid in part': {
    states: (value) => ({ openValue: '1', totalValue: value }),
    // The line has asked for the whole value, so none of its titles still asks for what was paid.
    payeeChange: 'break urgent urgent urgent urgent -/open',
    earlyPayment: 'break break break - break -',
    kind: 'paid_in_part',
  },
  'paid in part, the payee is the agent': {
    states: (value, _, agent) => ({ openValue: '1', totalValue: value, payee: agent }),
    payeeChange: 'break urgent urgent urgent urgent -',
    earlyPayment: 'break break break break break payee',
    kind: 'paid_in_part',
  },
  'the payee is the agent': {
    states: (_, __, agent) => ({ payee: agent }),
    payeeChange: '- break urgent - break -',
    earlyPayment: 'break break break break break break',
    kind: 'payee_changed',
  },
  'the payee is a third party': {
    states: () => ({ payee: THIRD_PARTY }),
    payeeChange: 'urgent break break urgent urgent urgent',
    earlyPayment: 'urgent break break urgent urgent urgent',
    kind: 'payee_changed',
  },
  cancelled: {
    states: () => ({ status: 'cancelled' }),
    // The match ends with the payable, so without bookings the title lacks one.
    payeeChange: 'missing break break urgent break break',
    earlyPayment: 'missing break break urgent break break',
    kind: 'cancelled_in_erp',
  },
};

const EFFECTS = ['payeeChange', 'earlyPayment'] as const;
const rows = Object.entries(cases).flatMap(([name, found], place) =>
  EFFECTS.map((effect, isEarly) => ({
    name,
    effect,
    place: place * 2 + isEarly,
    isEarly: isEarly === 1,
    ...found,
  })),
);
const titleOf = (state: State, { place, isEarly }: (typeof rows)[number]) => ({
  uid: `${state}-${place}`,
  value: `${1000 + STATES.indexOf(state) * 100 + place}.5`,
  isEarly,
});

/** Cells of a document: kind and urgency by order. */
async function outcomes(): Promise<Map<string, string>> {
  const found = await judged.breaks();
  return new Map(
    found.map((text) => {
      const [kind = '', uid = ''] = text.split(' ');
      return [uid, kind];
    }),
  );
}
let atOnce: Map<string, string>;
let later: Map<string, string>;
const waits: Record<string, readonly string[]> = {};

beforeAll(async () => {
  const day = (state: State) => rows.map((row) => titleOf(state, row));
  const all = STATES.flatMap((state) => day(state));
  const openOf = ({ uid, value }: { uid: string; value: string }) => ({
    ...{ erpKey: `k-${uid}`, orderUid: uid, openValue: value },
  });
  // An empty response would be held.
  const rest = { uid: 'rest', value: '9999' };
  for (const state of STATES) await judged.pull(DATES[state], ...day(state), rest);
  await judged.state(all.map(openOf), 'snapshot');
  expect(await judged.match()).toMatchObject({ matched: all.length });
  for (const state of ['reversed', 'released', 'failed', 'posted'] as const) {
    await judged.release(DATES[state]);
  }
  await judged.answer(DATES.failed, 'failed');
  await judged.answer(DATES.posted, 'posted');
  await judged.answer(DATES.reversed, 'posted');
  // Withdrawn, reversed and stated again. The title was matched all the time but for one run.
  await judged.pull(DATES.reversed, rest);
  await judged.match();
  await judged.release(DATES.reversed);
  await judged.answer(DATES.reversed, 'posted');
  await judged.pull(DATES.reversed, ...day('reversed'), rest);
  await judged.match();
  // The title without a payable. The ERP has posted two of them, so it knows their payables.
  expect(await judged.breaks()).toEqual(Array(STATES.length - 2).fill('missing_in_erp rest -'));
  const stated: StatedPayable[] = [];
  for (const state of STATES) {
    for (const row of rows) {
      if (row.states === null) continue;
      const title = titleOf(state, row);
      const key = await judged.keyOf(title.uid, DATES[state]);
      const more = row.states(title.value, key, row.isEarly ? BUYER : AGENT);
      stated.push({ ...openOf(title), ...more });
    }
  }
  await judged.state(stated, 'snapshot');
  await judged.match();
  atOnce = await outcomes();
  for (const state of STATES) waits[state] = await judged.waiting(DATES[state]);
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
  const cells = row[row.effect].split(' ');
  test.each(STATES.map((state, index) => ({ state, cell: cells[index] ?? '' })))(
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
      expect(atOnce.get(uid)).toBe(kinds[first]);
      expect(later.get(uid)).toBe(kinds[last]);
      const isLive = state !== 'before' && state !== 'reversed';
      const hasToWait = isLive
        ? first === 'urgent' && KEEPING_LINES.includes(row.kind)
        : first !== '-';
      if (state !== 'unbooked') expect(waits[state]?.includes(uid)).toBe(hasToWait);
    },
  );
});

test('each situation of the tables has a case, and each case has six cells', () => {
  expect(Object.keys(PAYEE_CHANGE)).toEqual(Object.keys(EARLY_PAYMENT));
  for (const found of Object.values(cases)) {
    for (const effect of EFFECTS) expect(found[effect].split(' ')).toHaveLength(STATES.length);
  }
});
