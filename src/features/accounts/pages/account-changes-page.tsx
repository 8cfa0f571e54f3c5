import { Type } from 'typebox';
import { type BankAccount, words } from '../../../console/api/schema-parts.ts';
import { declareAction, reason } from '../../../console/declare.tsx';
import type { Column, Words } from '../../../console/list/columns.tsx';
import { declareList, inTwo } from '../../../console/list/list.tsx';
import { MASKED, maskBankAccount, maskTaxId } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { authorText, DecisionButtons } from '../../../console/shell/parts.tsx';
import { DECIDE } from '../../../console/shell/route-access.ts';
import { providerHref } from '../../providers/provider.ts';
import {
  ACCOUNT_DECISIONS,
  AccountChange,
  CHANGE_FILTER,
  CHANGE_LISTS,
  type ChangeListName,
  countAccountChanges,
  DECISIONS_OF_LIST,
  decideAccountChanges,
  readAccountChanges,
} from '../account-changes.sql.ts';

/** Number and check digit, unless the digit is masked. */
function accountNumber(number: string | null, digit: string | null): string {
  if (number === null) return '–';
  return digit === null || digit === '' || digit === MASKED ? number : `${number}-${digit}`;
}

/** The members of an account beside its number, such as a Pix key; null: none. */
export const destinationText = ({ destination }: BankAccount): string | null =>
  destination &&
  Object.entries(destination)
    .map(([member, value]) => `${member} ${value}`)
    .join(', ');

export function accountText(stated: BankAccount, { text }: Pick<Words, 'text'>): string {
  const { bank, agency, agencyDigit, account, accountDigit } = stated;
  const destination = destinationText(stated);
  const isStated = [bank, agency, agencyDigit, account, accountDigit].some(
    (value) => value !== null,
  );
  if (!isStated && destination === null) return text('providers.noAccount');
  const numbers = [
    `${text('providers.bank')} ${bank ?? '–'}`,
    `${text('providers.agency')} ${accountNumber(agency, agencyDigit)}`,
    `${text('providers.account')} ${accountNumber(account, accountDigit)}`,
  ];
  return [...(isStated ? numbers : []), ...(destination ? [destination] : [])].join(', ');
}

export const DECIDE_CHANGES = declareAction({
  path: '/account-changes/decide',
  who: DECIDE,
  input: {
    changes: Type.Optional(Type.Array(Type.String({ pattern: '^\\d{1,18}$' }))),
    list: words(CHANGE_LISTS),
    decision: words(ACCOUNT_DECISIONS),
    reason,
  },
  deed: async ({ database }, { changes = [], list, decision: state, reason }, by) => {
    await decideAccountChanges(database, changes.map(BigInt), { by, state, list, reason });
    return state;
  },
  next: (_, state) => `/account-changes?notice=account_${state}`,
});

const FORM = 'account-decision';

/** The box of a change that the reader may decide, and the party. */
function Party(props: { readonly change: AccountChange; readonly isDecidable: boolean }) {
  const { id, kind, partyKey, partyName, isKeyTaxId, state } = props.change;
  const { text } = usePage();
  return (
    <>
      {props.isDecidable && state !== 'returned' && (
        <>
          <input
            type="checkbox"
            form={FORM}
            name="changes"
            value={id}
            aria-label={`${text('providers.choose')}: ${partyKey}`}
          />{' '}
        </>
      )}
      {isKeyTaxId ? (
        partyKey || text('providers.unidentified')
      ) : (
        <a href={providerHref(partyKey)}>{partyKey}</a>
      )}
      {partyName !== null && partyName !== partyKey && ` ${partyName}`}
      <br />
      <span class="quiet small">{text(`providers.kinds.${kind}`)}</span>
    </>
  );
}

function Accounts({ change: { before, after } }: { readonly change: AccountChange }) {
  const page = usePage();
  return (
    <>
      <del class="before">
        <span class="sr">{page.text('providers.before')}: </span>
        {accountText(before, page)}
      </del>
      {' → '}
      <ins class="after">
        <span class="sr">{page.text('providers.after')}: </span>
        {accountText(after, page)}
      </ins>
    </>
  );
}

const columnsOf = (list: ChangeListName): readonly Column<AccountChange>[] => [
  { name: 'accepted_date', head: 'days.date', kind: 'day' },
  {
    name: 'kind',
    head: 'providers.partyKind',
    word: ({ kind }) => `providers.kinds.${kind}`,
    only: 'file',
  },
  {
    name: 'party',
    head: 'providers.party',
    value: ({ partyKey }) => partyKey,
    cell: (change, page) => (
      <Party
        change={change}
        isDecidable={DECISIONS_OF_LIST[list].length > 0 && DECIDE_CHANGES.isOffered(page)}
      />
    ),
    isHead: true,
  },
  { name: 'party_name', head: 'providers.partyName', only: 'file' },
  {
    name: 'before',
    head: 'providers.before',
    value: ({ before }, page) => accountText(before, page),
    only: 'file',
  },
  {
    name: 'after',
    head: 'providers.after',
    value: ({ after }, page) => accountText(after, page),
    cell: (change) => <Accounts change={change} />,
  },
  {
    name: 'order_uid',
    head: 'providers.title_',
    cell: ({ titleId, orderUid }) => orderUid ?? titleId,
    href: ({ titleId }) => `/titles/${titleId}`,
  },
  { name: 'detected_at', head: 'providers.detected', kind: 'instant' },
  { name: 'held_titles', head: 'providers.heldTitles', kind: 'count' },
  { name: 'held_value', head: 'providers.heldValue', kind: 'amount' },
  {
    name: 'state',
    head: 'providers.changeState',
    value: ({ state }, { text }) =>
      text(state === 'open' ? 'providers.undecided' : `providers.decisions.${state}`),
    note: ({ state, decidedBy, decidedAt, reason }, { text, formats }) => {
      if (state === 'open' || decidedBy === null || decidedAt === null) return reason;
      const decided = `${authorText(text, decidedBy)}, ${formats.instant(decidedAt)}`;
      return reason === null ? decided : `${decided}: ${reason}`;
    },
  },
  {
    name: 'decided_by',
    head: 'providers.decidedBy',
    kind: 'author',
    only: 'file',
  },
  { name: 'decided_at', head: 'providers.decidedAt', kind: 'instant', only: 'file' },
  { name: 'reason', head: 'day.reason', only: 'file' },
];

/** The changes of bank accounts of all parties, and the form that decides about them. */
export const ACCOUNT_CHANGES = declareList(AccountChange, {
  name: 'account_changes',
  path: '/account-changes',
  active: '/account-changes',
  filter: CHANGE_FILTER,
  columns: ({ state }) => columnsOf(state),
  read: inTwo(countAccountChanges, readAccountChanges),
  mask: (change) => ({
    ...change,
    partyKey: change.isKeyTaxId ? maskTaxId(change.partyKey) : change.partyKey,
    before: maskBankAccount(change.before),
    after: maskBankAccount(change.after),
  }),
  reveal: (changes) => ({
    action: 'account_change.reveal',
    details: { accountChangeIds: changes.map(({ id }) => id) },
  }),
  api: {
    tag: 'suppliers',
    operationId: 'listAccountChanges',
    summary: 'Changes of bank accounts, the oldest first where all are open',
  },
  layout:
    async (_, { state }) =>
    ({ page: { text }, head, filter, table, total: { rows } }) => (
      <>
        {head}
        {filter}
        {rows > 0 && DECISIONS_OF_LIST[state].length > 0 && (
          <DECIDE_CHANGES.Form
            id={FORM}
            values={{ list: state }}
            reason={text('providers.finding')}
            button={
              <DecisionButtons
                name="decision"
                values={DECISIONS_OF_LIST[state]}
                text={(decision) => text(`providers.decide.${decision}`)}
              />
            }
          />
        )}
        {table}
      </>
    ),
});
