import type { AccountChange, BankAccount } from '../../accounts/account-changes.sql.ts';
import type { ProviderSummary, RefusedProvider } from '../../providers/providers.sql.ts';
import { DataTable } from '../shell/data-table.tsx';
import { Field } from '../shell/layout.tsx';
import { maskAccount, maskTaxId } from '../shell/masking.ts';
import type { PageContext } from '../shell/page-context.ts';
import { ActionForm, Card, DayLink, Disclosure, Instant, Metric } from '../shell/parts.tsx';
import { mayUse } from '../shell/route-access.ts';

export interface ProvidersPageData {
  readonly summary: ProviderSummary;
  readonly refused: readonly RefusedProvider[];
  readonly changes: readonly AccountChange[];
  readonly isRevealed: boolean;
}

export function ProvidersPage(props: {
  readonly context: PageContext;
  readonly data: ProvidersPageData;
}) {
  const { context, data } = props;
  const { text, formats } = context;
  const { summary } = data;
  return (
    <>
      <section class="headline">
        <h1>{text.providers.title}</h1>
        <dl class="metrics">
          {(['pending', 'synced', 'rejected', 'invalid'] as const).map((state) => (
            <Metric
              key={state}
              label={text.providers.states[state]}
              class={
                (state === 'rejected' || state === 'invalid') && summary[state] > 0
                  ? 'is-warning'
                  : ''
              }
              value={formats.count(summary[state])}
            />
          ))}
          {summary.lastRequestAt !== null && (
            <Metric
              label={text.providers.lastRequest}
              value={<Instant context={context} at={summary.lastRequestAt} />}
            />
          )}
          {summary.lastErrorCode !== null && (
            <Metric
              label={text.providers.lastError}
              class="is-warning"
              value={summary.lastErrorCode}
            />
          )}
        </dl>
      </section>
      <Card title={text.providers.changes} id="changes">
        {data.changes.length === 0 ? (
          <p class="quiet">{text.providers.changesNone}</p>
        ) : (
          <Changes context={context} data={data} />
        )}
      </Card>
      <Card title={text.providers.refused}>
        {data.refused.length === 0 ? (
          <p class="quiet">{text.providers.refusedNone}</p>
        ) : (
          <DataTable
            label={text.providers.refused}
            heads={[text.providers.externalId, text.days.state, text.providers.reason]}
          >
            {data.refused.map((provider) => (
              <tr key={provider.externalId}>
                <th scope="row">{provider.externalId}</th>
                <td>{text.providers.states[provider.state]}</td>
                <td>
                  {provider.reason === null ? (
                    <span class="quiet">{text.providers.byPlatform}</span>
                  ) : (
                    <span lang="en">{provider.reason}</span>
                  )}
                </td>
              </tr>
            ))}
          </DataTable>
        )}
      </Card>
    </>
  );
}

function Changes(props: { readonly context: PageContext; readonly data: ProvidersPageData }) {
  const { context, data } = props;
  const { text } = context;
  const role = context.principal?.role ?? 'viewer';
  const mayAct = mayUse(role, 'POST', '/providers');
  return (
    <div class="stack">
      <p class="quiet">{text.providers.changesHelp}</p>
      {mayAct && !data.isRevealed && (
        <ActionForm context={context} action="/providers">
          <button type="submit" class="button" title={text.title.revealHelp}>
            {text.title.reveal}
          </button>
          <p class="quiet small">
            {text.title.masked} {text.title.revealHelp}
          </p>
        </ActionForm>
      )}
      <ul class="timeline">
        {data.changes.map((change) => (
          <li key={change.id}>
            <div>
              <p>
                <strong>
                  {data.isRevealed || change.kind === 'provider'
                    ? change.partyKey
                    : maskTaxId(change.partyKey)}
                </strong>
              </p>
              <p class="quiet small">
                {text.providers.kinds[change.kind]}
                <br />
                <DayLink context={context} date={change.acceptedDate} /> ·{' '}
                <a href={`/titles/${change.titleId}`}>
                  {text.providers.title_} {change.titleId}
                </a>
              </p>
            </div>
            <div class="stack">
              <p>
                <del class="before">
                  <span class="sr">{text.providers.before}: </span>
                  <AccountText {...props} account={change.before} />
                </del>
                {' → '}
                <ins class="after">
                  <span class="sr">{text.providers.after}: </span>
                  <AccountText {...props} account={change.after} />
                </ins>
              </p>
              {mayAct && (
                <Disclosure label={text.providers.acknowledge}>
                  <ActionForm
                    context={context}
                    action={`/account-changes/${change.id}/acknowledge`}
                  >
                    <Field label={text.providers.finding}>
                      <input name="reason" required maxLength={500} />
                    </Field>
                    <button type="submit" class="button primary">
                      {text.providers.acknowledge}
                    </button>
                  </ActionForm>
                </Disclosure>
              )}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

function AccountText(props: {
  readonly context: PageContext;
  readonly data: ProvidersPageData;
  readonly account: BankAccount;
}) {
  const { account, data } = props;
  const { providers } = props.context.text;
  const show = (value: string | null, digit: string | null) => {
    if (value === null) return '–';
    if (!data.isRevealed) return maskAccount(value);
    return digit === null || digit === '' ? value : `${value}-${digit}`;
  };
  return (
    <>
      {providers.bank} {account.bank ?? '–'}, {providers.agency}{' '}
      {show(account.agency, account.agencyDigit)}, {providers.account}{' '}
      {show(account.account, account.accountDigit)}
    </>
  );
}
