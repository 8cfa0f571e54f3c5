import { reasonsText } from '../../../base/texts/texts.ts';
import type { Column, Words } from '../../../console/list/columns.tsx';
import { declareList, inTwo } from '../../../console/list/list.tsx';
import { maskTaxId } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { providerHref } from '../provider.ts';
import { countProviders, PROVIDER_FILTER, Provider, readProviders } from './provider-list.sql.ts';

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
export const SUPPLIERS = declareList(Provider, {
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
export function LastAnswer({ last }: { readonly last: Provider }) {
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

export function ProviderState({ state }: Pick<Provider, 'state'>) {
  const { text } = usePage();
  const looks = {
    pending: '',
    synced: 'is-inserted',
    rejected: 'is-withdrawn',
    invalid: 'is-withdrawn',
  } as const;
  return <span class={`tag ${looks[state]}`}>{text(`providers.state.${state}`)}</span>;
}
