import { DataTable } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { maskTaxId } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging } from '../../../console/shell/paging.tsx';
import {
  ActionForm,
  Banner,
  Card,
  Instant,
  InstantCell,
  Metric,
  Options,
  Submit,
} from '../../../console/shell/parts.tsx';
import { reasonsText } from '../../review/pages/reason-text.ts';
import { SYNC_STATES, type SyncState } from '../provider.ts';
import type { ProviderSummary } from '../providers.sql.ts';
import { providerHref } from './provider-address.ts';
import type { ProviderFilter, ProviderRow } from './provider-list.sql.ts';
import { LastAnswer, LastSent, ProviderState } from './request-texts.tsx';

export interface ProvidersPageData {
  readonly summary: ProviderSummary;
  readonly openChanges: number;
  readonly filter: ProviderFilter;
  readonly providers: readonly ProviderRow[];
  readonly paging: Paging;
}

/** The address of a list. A tax identifier is never a part of an address. */
export function providersHref(text: string | null, state: SyncState | null, page = 1): string {
  const query = new URLSearchParams({
    ...(text !== null && { q: text }),
    ...(state !== null && { state }),
    ...(page > 1 && { page: String(page) }),
  });
  return query.size === 0 ? '/providers' : `/providers?${query}`;
}

export function ProvidersPage({ data }: { readonly data: ProvidersPageData }) {
  const { text, formats } = usePage();
  const { summary } = data;
  return (
    <>
      <section class="headline">
        <h1>{text('providers.title')}</h1>
        <dl class="metrics">
          {SYNC_STATES.map((state) => (
            <Metric
              key={state}
              label={text(`providers.states.${state}`)}
              class={
                (state === 'rejected' || state === 'invalid') && summary[state] > 0
                  ? 'is-warning'
                  : ''
              }
              value={formats.count(summary[state])}
              href={providersHref(null, state)}
            />
          ))}
          {summary.lastRequestAt !== null && (
            <Metric
              label={text('providers.lastRequest')}
              value={<Instant at={summary.lastRequestAt} />}
            />
          )}
          {summary.lastErrorCode !== null && (
            <Metric
              label={text('providers.lastError')}
              class="is-warning"
              value={summary.lastErrorCode}
            />
          )}
        </dl>
      </section>
      {data.openChanges > 0 ? (
        <Banner
          look="attention"
          title={text('days.accountChanges', { count: formats.count(data.openChanges) })}
        >
          <p>
            {text('days.accountChangesHelp')}{' '}
            <a href="/account-changes">{text('providers.changesOpen')}</a>
          </p>
        </Banner>
      ) : (
        <p>
          <a href="/account-changes?state=all">{text('providers.changes')}</a>
        </p>
      )}
      <Card title={text('providers.search')}>
        <Search filter={data.filter} />
      </Card>
      <List data={data} />
    </>
  );
}

/** Sent as a form, because a tax identifier in an address would be in the logs of proxies. */
function Search({ filter }: { filter: ProviderFilter }) {
  const { text } = usePage();
  return (
    <ActionForm action="/providers" class="filters">
      <Field label={text('providers.searchLabel')}>
        <input name="q" type="search" value={filter.text ?? ''} maxLength={200} />
      </Field>
      <Field label={text('titles.status')}>
        <select name="state">
          <option value="">{text('filter.all')}</option>
          <Options
            values={SYNC_STATES}
            chosen={filter.state}
            text={(state) => text(`providers.states.${state}`)}
          />
        </select>
      </Field>
      <div class="buttons">
        <Submit class="primary">{text('providers.search')}</Submit>
        <a class="button" href="/providers">
          {text('filter.clear')}
        </a>
      </div>
    </ActionForm>
  );
}

function List({ data }: { data: ProvidersPageData }) {
  const { text } = usePage();
  const { filter } = data;
  if (data.providers.length === 0) {
    const isFiltered = filter.text !== null || filter.state !== null || filter.taxId !== null;
    return <p class="quiet">{isFiltered ? text('providers.noneFound') : text('providers.none')}</p>;
  }
  return (
    <section class="card">
      <DataTable
        label={text('providers.title')}
        heads={[
          text('providers.externalId'),
          text('providers.name'),
          text('providers.taxId'),
          text('titles.status'),
          text('providers.lastSent'),
          text('providers.lastAnswer'),
          text('providers.taken'),
        ]}
      >
        {data.providers.map((provider) => (
          <tr key={provider.externalId}>
            <th scope="row">
              <a href={providerHref(provider.externalId)}>{provider.externalId}</a>
            </th>
            <td>{provider.name ?? '–'}</td>
            <td class="tight">
              {provider.identification === null ? '–' : maskTaxId(provider.identification)}
            </td>
            <td>
              <ProviderState state={provider.state} />
              {provider.faults !== null && (
                <p class="quiet small anywhere">{reasonsText(text, provider.faults)}</p>
              )}
            </td>
            <td>
              <LastSent last={provider} />
            </td>
            <td>
              <LastAnswer last={provider} />
            </td>
            <InstantCell at={provider.syncedAt} />
          </tr>
        ))}
      </DataTable>
      <Pager
        label={text('providers.title')}
        paging={data.paging}
        hrefOf={(page) => providersHref(filter.text, filter.state, page)}
      />
    </section>
  );
}
