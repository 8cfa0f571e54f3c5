import { createHash } from 'node:crypto';
import { reasonsText, type Text } from '../../base/texts/texts.ts';
import { declarePage } from '../../console/declare.tsx';
import type { Column, Words } from '../../console/list/columns.tsx';
import { declareList, inTwo } from '../../console/list/list.tsx';
import type { ConsoleParts, Feature } from '../../console/shell/console-parts.ts';
import { MASKED, maskBankAccount, maskTaxId } from '../../console/shell/masking.ts';
import { usePage } from '../../console/shell/page-context.ts';
import { Card, Fields, Instant, PlatformValue, RevealForm } from '../../console/shell/parts.tsx';
import { ACCOUNT_CHANGES, accountText } from '../accounts/pages/account-changes-page.tsx';
import { accountPartyKey, externalId, providerHref } from './provider.ts';
import {
  countProviders,
  PROVIDER_FILTER,
  Provider,
  type ProviderDetail,
  readProviders,
  readSupplier,
} from './provider-list.sql.ts';

const faultsText = ({ faults }: Provider, { text }: Words) => faults && reasonsText(text, faults);

const COLUMNS: readonly Column<Provider>[] = [
  {
    name: 'external_id',
    head: 'providers.externalId',
    href: ({ externalId }) => providerHref(externalId),
    isHead: true,
  },
  { name: 'name', head: 'providers.name' },
  { name: 'tax_id', head: 'providers.taxId', value: (row) => row.identification },
  {
    name: 'state',
    head: 'titles.status',
    word: ({ state }) => `providers.state.${state}`,
    cell: ({ state }) => <ProviderState state={state} />,
    note: faultsText,
  },
  {
    name: 'faults',
    head: 'providers.reason',
    value: faultsText,
    only: 'file',
  },
  { name: 'last_sent', head: 'providers.lastSent', kind: 'instant', value: (row) => row.sentAt },
  {
    name: 'last_answer',
    head: 'providers.lastAnswer',
    value: ({ httpStatus, errorCode }) => [httpStatus ?? '', errorCode ?? ''].join(' ').trim(),
    cell: (row) => <LastAnswer last={row} />,
  },
  { name: 'taken', head: 'providers.taken', kind: 'instant', value: ({ syncedAt }) => syncedAt },
];

/** The ERP's suppliers, with the newest request of each. */
const SUPPLIERS = declareList(Provider, {
  name: 'suppliers',
  path: '/providers',
  active: '/providers',
  filter: PROVIDER_FILTER,
  columns: COLUMNS,
  read: inTwo(countProviders, readProviders),
  mask: (row) => ({
    ...row,
    identification: row.identification === null ? null : maskTaxId(row.identification),
  }),
  api: {
    tag: 'suppliers',
    operationId: 'listProviders',
    summary: 'Suppliers with their states and newest requests',
  },
});

/** The answer to the last request: the status, and why the request decided nothing. */
function LastAnswer({ last }: { readonly last: Provider }) {
  const { text } = usePage();
  if (last.sentAt === null) return <span class="quiet">–</span>;
  if (last.isUnderWay) return <span class="quiet">{text('providers.underWay')}</span>;
  return (
    <>
      {last.httpStatus === null ? text('providers.noAnswer') : `HTTP ${last.httpStatus}`}
      {last.errorCode !== null && (
        <span class="quiet small">
          {' '}
          {text.find(`errorCodes.${last.errorCode}`) ?? last.errorCode}
        </span>
      )}
    </>
  );
}

function ProviderState({ state }: Pick<Provider, 'state'>) {
  const { text } = usePage();
  const looks = {
    pending: '',
    synced: 'is-inserted',
    rejected: 'is-withdrawn',
    invalid: 'is-withdrawn',
  } as const;
  return <span class={`tag ${looks[state]}`}>{text(`providers.state.${state}`)}</span>;
}

/** @returns with a fingerprint, which names the provider in the audit log: no key of a person gets there */
async function readPage(parts: ConsoleParts, id: string) {
  const supplier = await readSupplier(parts, id);
  const fingerprint = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return supplier && { externalId: id, fingerprint, ...supplier };
}

/** One of the ERP's suppliers, or one that titles name. */
const PROVIDER = declarePage({
  path: '/provider',
  active: '/providers',
  input: { id: externalId },
  read: (parts, { id }) => readPage(parts, id),
  title: (_, { provider }, { id }) => provider?.name ?? id,
  body: (data, { text, formats }, { isRevealed }) => {
    const { provider, externalId } = data;
    const { titles, originalValueSum } = data.titleCount;
    return (
      <>
        <nav class="crumbs" aria-label={text('nav.providers')}>
          <a href="/providers">← {text('lists.suppliers.title')}</a>
        </nav>
        <div class="day-head">
          <h1 class="anywhere">{provider?.name ?? externalId}</h1>
          {provider !== null && <ProviderState state={provider.state} />}
        </div>
        {provider === null && <p>{text('providers.notInErp')}</p>}
        <RevealForm action={providerHref(externalId)} isRevealed={isRevealed} />
        <div class="columns">
          {provider !== null && (
            <Card title={text('providers.sending')}>
              <Fields rows={sentFields(provider, isRevealed, text)} />
            </Card>
          )}
          <Card title={text('providers.master')}>
            <Fields
              rows={[
                [text('providers.externalId'), externalId],
                ...(provider === null ? [] : statedFields(provider, isRevealed, text)),
                [text('providers.fingerprint'), data.fingerprint, 'mono'],
              ]}
            />
          </Card>
        </div>
        <Card title={text('lists.titles.title')}>
          <p>
            <a
              href={ACCOUNT_CHANGES.href({
                state: 'all',
                providerKey: accountPartyKey(externalId),
              })}
            >
              {text('lists.account_changes.title')}
            </a>
            : {formats.count(data.changeCount)}
          </p>
          <p>
            <a href={`/titles?${new URLSearchParams({ providerId: externalId })}`}>
              {text('schedule.titlesAndValue', {
                titles: text('schedule.titleCount', { count: titles }),
                value: formats.amount(originalValueSum),
              })}
            </a>
          </p>
        </Card>
      </>
    );
  },
  reveal: ({ fingerprint }) => ({
    action: 'provider.reveal',
    details: { provider: fingerprint },
  }),
});

function sentFields(provider: ProviderDetail, isRevealed: boolean, text: Text) {
  const { batchId, faults, refusal } = provider;
  return [
    [text('providers.lastSent'), <Instant at={provider.sentAt} />],
    [text('providers.lastAnswer'), <LastAnswer last={provider} />],
    [text('providers.taken'), <Instant at={provider.syncedAt} />],
    [text('providers.changedInErp'), <Instant at={provider.changedAt} />],
    [text('providers.lastBatch'), batchId === null ? '–' : String(batchId)],
    ...(faults === null ? [] : [[text('providers.reason'), reasonsText(text, faults)] as const]),
    ...(refusal === null
      ? []
      : [[text('providers.refusal'), isRevealed ? refusal : MASKED] as const]),
  ] as const;
}

function statedFields(provider: ProviderDetail, isRevealed: boolean, text: Text) {
  const { name, identification, type, canAnticipate } = provider;
  const contact = (value: unknown, member: string) => {
    const texts = listOf(value).map((item) => textOf(item, member) ?? '–');
    return texts.map((stated) => (isRevealed ? stated : MASKED)).join(', ') || '–';
  };
  const taxId = isRevealed ? identification : identification && maskTaxId(identification);
  return [
    [text('providers.name'), name ?? '–'],
    [text('providers.taxId'), taxId ?? '–', 'number'],
    [text('providers.type'), type === null ? '–' : <PlatformValue value={type} />],
    [
      text('providers.canAnticipate'),
      canAnticipate === null ? '–' : text(canAnticipate ? 'title.yes' : 'title.no'),
    ],
    [text('providers.phones'), contact(provider.phones, 'number'), 'number'],
    [text('providers.emails'), contact(provider.emailAddresses, 'email')],
    [
      text('providers.erpAccounts'),
      <ErpAccounts accounts={listOf(provider.accounts)} isRevealed={isRevealed} />,
      'number',
    ],
  ] as const;
}

/** The accounts as the ERP wrote them, which nothing has checked. */
function ErpAccounts(props: {
  readonly accounts: readonly unknown[];
  readonly isRevealed: boolean;
}) {
  const { accounts, isRevealed } = props;
  const page = usePage();
  if (accounts.length === 0) return <>–</>;
  const stated = accounts.map((account) => ({
    bank: textOf(account, 'bankNumber'),
    agency: textOf(account, 'agencyNumber'),
    agencyDigit: null,
    account: textOf(account, 'accountNumber'),
    accountDigit: textOf(account, 'accountDigit'),
    destination: null,
  }));
  return (
    <ul>
      {stated.map((account, index) => (
        <li key={index}>{accountText(isRevealed ? account : maskBankAccount(account), page)}</li>
      ))}
    </ul>
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

export const providers: Feature = {
  name: 'providers',
  pages: [PROVIDER],
  lists: [SUPPLIERS],
};
