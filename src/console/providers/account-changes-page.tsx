import type { AccountChange } from '../../accounts/account-changes.sql.ts';
import { usePage } from '../shell/page-context.ts';
import { Pager, type Paging } from '../shell/paging.tsx';
import { mayUse } from '../shell/route-access.ts';
import { ChangeList, RevealForm } from './change-list.tsx';

export const CHANGE_STATES = ['open', 'acknowledged', 'all'] as const;
export type ChangeState = (typeof CHANGE_STATES)[number];

export interface AccountChangesData {
  readonly state: ChangeState;
  readonly counts: Readonly<Record<ChangeState, number>>;
  readonly changes: readonly AccountChange[];
  readonly paging: Paging;
  readonly isRevealed: boolean;
}

const hrefOf = (state: ChangeState, page = 1) =>
  `/account-changes?${new URLSearchParams({ state, ...(page > 1 && { page: String(page) }) })}`;

/** The changes of bank accounts of all parties. */
export function AccountChangesPage({ data }: { readonly data: AccountChangesData }) {
  const context = usePage();
  const { text, formats } = context;
  const { providers } = text;
  const role = context.principal?.role ?? 'viewer';
  return (
    <>
      <nav class="crumbs" aria-label={text.nav.providers}>
        <a href="/providers">← {providers.title}</a>
      </nav>
      <div>
        <h1>{providers.changes}</h1>
        <p class="quiet">{providers.changesHelp}</p>
      </div>
      <nav class="tabs" aria-label={providers.changes}>
        {CHANGE_STATES.map((state) => (
          <a
            key={state}
            href={hrefOf(state)}
            {...(data.state === state && { 'aria-current': 'page' })}
          >
            {providers.changeStates[state]} ({formats.count(data.counts[state])})
          </a>
        ))}
      </nav>
      <section class="card stack">
        {data.changes.length === 0 ? (
          <p class="quiet">{providers.changesNone}</p>
        ) : (
          <>
            <RevealForm
              action={hrefOf(data.state, data.paging.page)}
              isRevealed={data.isRevealed}
              mayReveal={mayUse(role, 'POST', '/account-changes')}
            />
            <ChangeList changes={data.changes} isRevealed={data.isRevealed} />
            <Pager
              label={providers.changes}
              paging={data.paging}
              hrefOf={(page) => hrefOf(data.state, page)}
            />
          </>
        )}
      </section>
    </>
  );
}
