import { usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging } from '../../../console/shell/paging.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import {
  ACCOUNT_DECISIONS,
  type AccountChange,
  type AccountDecision,
  CHANGE_LISTS,
  type ChangeListName,
} from '../account-changes.sql.ts';
import { ChangeList, DecisionForm, RevealForm } from './change-list.tsx';

export interface AccountChangesData {
  readonly state: ChangeListName;
  readonly counts: Readonly<Record<ChangeListName, number>>;
  readonly changes: readonly AccountChange[];
  readonly paging: Paging;
  readonly isRevealed: boolean;
}

const DECISIONS_OF_LIST: Readonly<Record<ChangeListName, readonly AccountDecision[]>> = {
  open: ACCOUNT_DECISIONS,
  refused: ['confirmed', 'parallel'],
  decided: ['refused'],
  all: [],
};

const hrefOf = (state: ChangeListName, page = 1) =>
  `/account-changes?${new URLSearchParams({ state, ...(page > 1 && { page: String(page) }) })}`;

/** The changes of bank accounts of all parties. */
export function AccountChangesPage({ data }: { readonly data: AccountChangesData }) {
  const context = usePage();
  const { text, formats } = context;
  const role = context.principal?.role ?? 'viewer';
  const mayDecide = mayUse(role, 'POST', '/account-changes/decide');
  const decisions = mayDecide ? DECISIONS_OF_LIST[data.state] : [];
  return (
    <>
      <div>
        <h1>{text('providers.changes')}</h1>
        <p class="quiet">{text('providers.changesHelp')}</p>
      </div>
      <nav class="tabs" aria-label={text('providers.changes')}>
        {CHANGE_LISTS.map((state) => (
          <a
            key={state}
            href={hrefOf(state)}
            {...(data.state === state && { 'aria-current': 'page' })}
          >
            {text(`providers.changeLists.${state}`)} ({formats.count(data.counts[state])})
          </a>
        ))}
      </nav>
      <section class="card stack">
        {data.changes.length === 0 ? (
          <p class="quiet">{text('providers.changesNone')}</p>
        ) : (
          <>
            <RevealForm
              action={hrefOf(data.state, data.paging.page)}
              isRevealed={data.isRevealed}
              mayReveal={mayUse(role, 'POST', '/account-changes')}
            />
            {decisions.length > 0 ? (
              <DecisionForm decisions={decisions}>
                <ChangeList changes={data.changes} isRevealed={data.isRevealed} isForm />
              </DecisionForm>
            ) : (
              <ChangeList changes={data.changes} isRevealed={data.isRevealed} />
            )}
            <Pager
              label={text('providers.changes')}
              paging={data.paging}
              hrefOf={(page) => hrefOf(data.state, page)}
            />
          </>
        )}
      </section>
    </>
  );
}
