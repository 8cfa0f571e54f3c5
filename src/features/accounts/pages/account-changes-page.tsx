import { Type } from 'typebox';
import { words } from '../../../console/api/schema-parts.ts';
import { declareAction, reason } from '../../../console/declare.tsx';
import type { Column } from '../../../console/list/columns.tsx';
import { asTabs, choice } from '../../../console/list/filter.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { maskBankAccount, maskTaxId } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { authorText, DecisionButtons } from '../../../console/shell/parts.tsx';
import { DECIDE, STAFF } from '../../../console/shell/route-access.ts';
import {
  ACCOUNT_DECISIONS,
  AccountChange,
  type AccountDecision,
  CHANGE_LISTS,
  type ChangeListName,
  countAccountChanges,
  decideAccountChanges,
  readAccountChanges,
} from '../account-changes.sql.ts';
import { accountText } from './account-text.tsx';
import { ChangeList } from './change-list.tsx';

/** Each of `changes` has the ids of one account of a party. */
export const DECIDE_CHANGES = declareAction({
  path: '/account-changes/decide',
  who: DECIDE,
  input: {
    changes: Type.Optional(Type.Array(Type.String({ pattern: '^\\d{1,18}( \\d{1,18})*$' }))),
    decision: words(ACCOUNT_DECISIONS),
    reason,
  },
  deed: async ({ database }, { changes = [], decision: state, reason }, by) => {
    const ids = changes.flatMap((text) => text.split(' '));
    await decideAccountChanges(database, ids.map(BigInt), { by, state, reason });
    return state;
  },
  next: (_, state) => `/account-changes?notice=account_${state}`,
});

const DECISIONS_OF_LIST: Readonly<Record<ChangeListName, readonly AccountDecision[]>> = {
  open: ACCOUNT_DECISIONS,
  refused: ['confirmed', 'parallel'],
  decided: ['refused'],
  all: [],
};

const LISTS = {
  open: 'providers.changeLists.open',
  refused: 'providers.changeLists.refused',
  decided: 'providers.changeLists.decided',
  all: 'providers.changeLists.all',
} as const;

const COLUMNS: readonly Column<AccountChange>[] = [
  { name: 'accepted_date', head: 'days.date', kind: 'date', value: (row) => row.acceptedDate },
  {
    name: 'kind',
    head: 'providers.partyKind',
    kind: 'text',
    value: ({ kind }, { text }) => text(`providers.kinds.${kind}`),
  },
  { name: 'party', head: 'providers.party', kind: 'text', value: ({ partyKey }) => partyKey },
  {
    name: 'party_name',
    head: 'providers.partyName',
    kind: 'text',
    value: ({ partyName }) => partyName,
  },
  {
    name: 'before',
    head: 'providers.before',
    kind: 'text',
    value: ({ before }, page) => accountText(before, page),
  },
  {
    name: 'after',
    head: 'providers.after',
    kind: 'text',
    value: ({ after }, page) => accountText(after, page),
  },
  { name: 'order_uid', head: 'providers.title_', kind: 'text', value: ({ orderUid }) => orderUid },
  {
    name: 'detected_at',
    head: 'providers.detected',
    kind: 'instant',
    value: ({ detectedAt }) => detectedAt,
  },
  {
    name: 'held_titles',
    head: 'providers.heldTitles',
    kind: 'count',
    value: ({ heldTitles }) => heldTitles,
  },
  {
    name: 'held_value',
    head: 'providers.heldValue',
    kind: 'amount',
    value: ({ heldValue }) => heldValue,
  },
  {
    name: 'state',
    head: 'providers.changeState',
    kind: 'text',
    value: ({ state }, { text }) =>
      text(state === 'open' ? 'providers.undecided' : `providers.decisions.${state}`),
  },
  {
    name: 'decided_by',
    head: 'providers.decidedBy',
    kind: 'text',
    value: ({ decidedBy }, { text }) => decidedBy && authorText(text, decidedBy),
  },
  {
    name: 'decided_at',
    head: 'providers.decidedAt',
    kind: 'instant',
    value: ({ decidedAt }) => decidedAt,
  },
  { name: 'reason', head: 'day.reason', kind: 'text', value: (change) => change.reason },
];

/** The changes of bank accounts of all parties, and the form that decides about them. */
export const ACCOUNT_CHANGES = declareList(AccountChange, {
  name: 'account_changes',
  path: '/account-changes',
  active: '/account-changes',
  filter: {
    state: asTabs(choice('providers.changeState', CHANGE_LISTS, 'open', (list) => LISTS[list])),
  },
  columns: COLUMNS,
  total: countAccountChanges,
  read: readAccountChanges,
  mask: (change) => ({
    ...change,
    partyKey: change.isKeyTaxId ? maskTaxId(change.partyKey) : change.partyKey,
    before: maskBankAccount(change.before),
    after: maskBankAccount(change.after),
  }),
  reveal: {
    who: STAFF,
    entry: (changes) => ({
      action: 'account_change.reveal',
      details: { accountChangeIds: changes.map(({ id }) => id) },
    }),
  },
  body: (changes, { state }, isRevealed) => <Changes {...{ state, changes, isRevealed }} />,
  api: {
    tag: 'suppliers',
    operationId: 'listAccountChanges',
    summary: 'Changes of bank accounts, the oldest first where all are open',
  },
});

function Changes(props: {
  readonly state: ChangeListName;
  readonly changes: readonly AccountChange[];
  readonly isRevealed: boolean;
}) {
  const { state, ...list } = props;
  const page = usePage();
  const { text } = page;
  const decisions = DECISIONS_OF_LIST[state];
  if (decisions.length === 0 || !DECIDE_CHANGES.isOffered(page)) {
    return <ChangeList {...list} />;
  }
  return (
    <DECIDE_CHANGES.Form
      values={{}}
      class="stack"
      reason={text('providers.finding')}
      button={
        <DecisionButtons
          name="decision"
          values={decisions}
          text={(decision) => text(`providers.decide.${decision}`)}
        />
      }
    >
      <ChangeList {...list} isForm />
    </DECIDE_CHANGES.Form>
  );
}
