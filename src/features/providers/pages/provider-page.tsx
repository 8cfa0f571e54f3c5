import { DataTable } from '../../../console/shell/data-table.tsx';
import { maskTaxId } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging } from '../../../console/shell/paging.tsx';
import {
  Card,
  DayCell,
  Instant,
  InstantCell,
  PlatformValue,
} from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import type { AccountChange } from '../../accounts/account-changes.sql.ts';
import { accountNumber } from '../../accounts/pages/account-text.tsx';
import { ChangeList, RevealForm } from '../../accounts/pages/change-list.tsx';
import { reasonsText } from '../../review/pages/reason-text.ts';
import { providerHref } from './provider-address.ts';
import type { ProviderDetail, SeenAccount } from './provider-detail.sql.ts';
import { LastAnswer, LastSent, ProviderState } from './providers-page.tsx';

const MASKED = '••••';

interface ProviderPageData {
  readonly externalId: string;
  /** The fingerprint of the external id in the audit log. */
  readonly fingerprint: string;
  /** Null: titles name the provider, and the ERP has not written it. */
  readonly provider: ProviderDetail | null;
  readonly accounts: readonly SeenAccount[];
  readonly accountPaging: Paging;
  readonly changes: readonly AccountChange[];
  readonly changePaging: Paging;
  readonly titleCount: { readonly titles: number; readonly originalValueSum: string };
  readonly isRevealed: boolean;
}

interface PageProps {
  readonly data: ProviderPageData;
}

export function ProviderPage({ data }: PageProps) {
  const context = usePage();
  const { text } = context;
  const { provider, externalId, isRevealed } = data;
  const role = context.principal?.role ?? 'viewer';
  return (
    <>
      <nav class="crumbs" aria-label={text('nav.providers')}>
        <a href="/providers">← {text('lists.suppliers.title')}</a>
      </nav>
      <div class="day-head">
        <h1 class="anywhere">{provider?.name ?? externalId}</h1>
        {provider !== null && <ProviderState state={provider.state} />}
      </div>
      <p>{provider === null ? text('providers.notInErp') : <Verdict p={provider} />}</p>
      <RevealForm
        action={providerHref(externalId)}
        isRevealed={isRevealed}
        mayReveal={mayUse(role, 'POST', '/provider')}
      />
      <div class="columns">
        {provider !== null && <Sending provider={provider} data={data} />}
        <Master data={data} />
      </div>
      <Card title={text('providers.accounts')}>
        <Accounts data={data} />
      </Card>
      <Card title={text('providers.changes')}>
        {data.changes.length === 0 ? (
          <p class="quiet">{text('providers.changesNoneHere')}</p>
        ) : (
          <div class="stack">
            <ChangeList changes={data.changes} isRevealed={isRevealed} />
            <Pager
              label={text('providers.changes')}
              paging={data.changePaging}
              hrefOf={(page) => providerHref(externalId, { changes: String(page) })}
            />
          </div>
        )}
      </Card>
      <Card title={text('lists.titles.title')}>
        <Titles data={data} />
      </Card>
    </>
  );
}

/** The answer to: was the provider sent? */
function Verdict({ p }: { p: ProviderDetail }) {
  const context = usePage();
  const { text } = context;
  const at = (instant: Date | null) => (instant === null ? '–' : context.formats.instant(instant));
  if (p.state === 'synced') return <>{text('providers.verdict.synced', { at: at(p.syncedAt) })}</>;
  if (p.state === 'invalid') return <>{text('providers.verdict.invalid')}</>;
  if (p.state === 'rejected')
    return <>{text('providers.verdict.rejected', { at: at(p.sentAt) })}</>;
  if (p.syncedAt !== null)
    return (
      <>
        {text('providers.verdict.changed', { changedAt: at(p.changedAt), takenAt: at(p.syncedAt) })}
      </>
    );
  return (
    <>
      {p.sentAt === null
        ? text('providers.verdict.neverSent')
        : text('providers.verdict.undecided', { at: at(p.sentAt) })}
    </>
  );
}

function Sending({ provider, data }: PageProps & { readonly provider: ProviderDetail }) {
  const context = usePage();
  const { text } = context;
  return (
    <Card title={text('providers.sending')}>
      <dl class="fields">
        <dt>{text('providers.lastSent')}</dt>
        <dd>
          <LastSent last={provider} />
        </dd>
        <dt>{text('providers.lastAnswer')}</dt>
        <dd>
          <LastAnswer last={provider} />
        </dd>
        <dt>{text('providers.taken')}</dt>
        <dd>
          <Instant at={provider.syncedAt} />
        </dd>
        <dt>{text('providers.changedInErp')}</dt>
        <dd>
          <Instant at={provider.changedAt} />
        </dd>
        <dt>{text('providers.requests')}</dt>
        <dd>
          {context.formats.count(provider.requests)}
          {provider.batchId !== null && (
            <span class="quiet">
              {' '}
              {text('providers.lastBatch', { id: String(provider.batchId) })}
            </span>
          )}
        </dd>
        {provider.faults !== null && (
          <>
            <dt>{text('providers.reason')}</dt>
            <dd>{reasonsText(context.text, provider.faults)}</dd>
          </>
        )}
        {provider.refusal !== null && (
          <>
            <dt>{text('providers.refusal')}</dt>
            <dd>{data.isRevealed ? provider.refusal : MASKED}</dd>
          </>
        )}
      </dl>
    </Card>
  );
}

function Master({ data }: PageProps) {
  const { text } = usePage();
  const { provider, isRevealed } = data;
  const contact = (value: unknown, name: string) => {
    const texts = listOf(value).map((item) => textOf(item, name) ?? '–');
    if (texts.length === 0) return '–';
    return isRevealed ? texts.join(', ') : texts.map(() => MASKED).join(', ');
  };
  return (
    <Card title={text('providers.master')}>
      <dl class="fields">
        <dt>{text('providers.externalId')}</dt>
        <dd>{data.externalId}</dd>
        {provider !== null && (
          <>
            <dt>{text('providers.name')}</dt>
            <dd>{provider.name ?? '–'}</dd>
            <dt>{text('providers.taxId')}</dt>
            <dd class="number">
              {provider.identification === null
                ? '–'
                : isRevealed
                  ? provider.identification
                  : maskTaxId(provider.identification)}
            </dd>
            <dt>{text('providers.type')}</dt>
            <dd>{provider.type === null ? '–' : <PlatformValue value={provider.type} />}</dd>
            <dt>{text('providers.canAnticipate')}</dt>
            <dd>
              {provider.canAnticipate === null
                ? '–'
                : text(provider.canAnticipate ? 'title.yes' : 'title.no')}
            </dd>
            <dt>{text('providers.phones')}</dt>
            <dd class="number">{contact(provider.phones, 'number')}</dd>
            <dt>{text('providers.emails')}</dt>
            <dd>{contact(provider.emailAddresses, 'email')}</dd>
            <dt>{text('providers.erpAccounts')}</dt>
            <dd class="number">
              <ErpAccounts data={data} />
            </dd>
          </>
        )}
        <dt>{text('providers.fingerprint')}</dt>
        <dd class="mono">{data.fingerprint}</dd>
      </dl>
    </Card>
  );
}

/** The accounts as the ERP wrote them, which nothing has checked. */
function ErpAccounts({ data }: PageProps) {
  const { text } = usePage();
  const accounts = listOf(data.provider?.accounts);
  if (accounts.length === 0) return <>–</>;
  return (
    <ul>
      {accounts.map((account, index) => (
        <li key={`${index} ${textOf(account, 'accountNumber')}`}>
          {text('providers.bank')} {textOf(account, 'bankNumber') ?? '–'},{' '}
          {text('providers.agency')}{' '}
          {accountNumber(textOf(account, 'agencyNumber'), null, data.isRevealed)},{' '}
          {text('providers.account')}{' '}
          {accountNumber(
            textOf(account, 'accountNumber'),
            textOf(account, 'accountDigit'),
            data.isRevealed,
          )}
        </li>
      ))}
    </ul>
  );
}

function Accounts({ data }: PageProps) {
  const { text } = usePage();
  const { isRevealed } = data;
  if (data.accounts.length === 0) return <p class="quiet">{text('providers.accountsNone')}</p>;
  return (
    <>
      <DataTable
        label={text('providers.accounts')}
        heads={[
          text('providers.bank'),
          text('providers.branchHead'),
          text('providers.accountHead'),
          text('providers.lastTitle'),
          text('providers.firstSeen'),
        ]}
      >
        {data.accounts.map((account) => (
          <tr key={JSON.stringify(account)}>
            <th scope="row">{account.bank ?? '–'}</th>
            <td class="tight">{accountNumber(account.agency, account.agencyDigit, isRevealed)}</td>
            <td class="tight">
              {accountNumber(account.account, account.accountDigit, isRevealed)}
            </td>
            <DayCell date={account.lastAcceptedDate} />
            <InstantCell at={account.firstSeenAt} />
          </tr>
        ))}
      </DataTable>
      <Pager
        label={text('providers.accounts')}
        paging={data.accountPaging}
        hrefOf={(page) => providerHref(data.externalId, { accounts: String(page) })}
      />
    </>
  );
}

/** The number of titles and their value, with a link to their list. */
function Titles({ data }: PageProps) {
  const { text, formats } = usePage();
  const { titles, originalValueSum } = data.titleCount;
  if (titles === 0) return <p class="quiet">{text('providers.titlesNone')}</p>;
  return (
    <p>
      <a href={`/titles?${new URLSearchParams({ providerId: data.externalId })}`}>
        {text('schedule.titlesAndValue', {
          titles: text('schedule.titleCount', { count: titles }),
          value: formats.amount(originalValueSum),
        })}
      </a>
    </p>
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(item: unknown, name: string): string | null {
  if (typeof item !== 'object' || item === null) return null;
  const value: unknown = Reflect.get(item, name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
