import type { Text } from '../../../base/texts/texts.ts';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging } from '../../../console/shell/paging.tsx';
import {
  ActionForm,
  AmountCell,
  authorText,
  Card,
  DayLink,
  Submit,
} from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import {
  FINDING_STATES,
  type FindingFilter,
  type FindingGroup,
  type FindingRow,
} from '../findings.sql.ts';
import { findingsHref } from './finding-address.ts';

export interface FindingsPageData {
  readonly filter: FindingFilter;
  /** The open findings by date and check, of the date of the filter. */
  readonly groups: readonly FindingGroup[];
  readonly findings: readonly FindingRow[];
  readonly paging: Paging;
}

/** The findings of the checks. With one date and one check chosen, a person resolves all of them. */
export function FindingsPage({ data }: { readonly data: FindingsPageData }) {
  const context = usePage();
  const { text, formats } = context;
  const { filter, groups, paging } = data;
  const chosen = groups.find(({ date, code }) => date === filter.date && code === filter.code);
  const mayResolve = mayUse(context.principal?.role ?? 'viewer', 'POST', '/findings');
  return (
    <>
      <nav class="crumbs" aria-label={text('nav.days')}>
        {filter.date === null ? (
          <a href="/">← {text('nav.days')}</a>
        ) : (
          <a href={`/days/${filter.date}`}>← {formats.date(filter.date)}</a>
        )}
      </nav>
      <div>
        <h1>
          {text('findings.title')}
          {filter.date !== null && ` · ${formats.date(filter.date)}`}
        </h1>
        <p class="quiet">{text('findings.intro')}</p>
        {filter.date !== null && (
          <p>
            <a href={findingsHref({ ...filter, date: null })}>{text('findings.all')}</a>
          </p>
        )}
      </div>
      <Card title={text('findings.states.open')}>
        {groups.length === 0 ? (
          <p class="quiet">{text('findings.nothingOpen')}</p>
        ) : (
          <DataTable
            label={text('findings.states.open')}
            heads={[
              text('days.date'),
              text('findings.check'),
              text('findings.severity'),
              right(text('findings.count')),
            ]}
          >
            {groups.map((group) => (
              <tr key={`${group.date} ${group.code}`}>
                <th scope="row">
                  <DayLink date={group.date} />
                </th>
                <td>
                  <a href={findingsHref({ date: group.date, code: group.code })}>
                    {text(`checks.names.${group.code}`)}
                  </a>
                </td>
                <td>{text(`findings.severities.${group.severity}`)}</td>
                <td class="right number">{formats.count(group.findings)}</td>
              </tr>
            ))}
          </DataTable>
        )}
      </Card>
      {filter.code !== null && (
        <Card title={text(`checks.names.${filter.code}`)}>
          <p>{text(`checks.texts.${filter.code}`)}</p>
          {chosen !== undefined && mayResolve && (
            <ResolveForm
              group={chosen}
              label={text('findings.resolveAll', { count: formats.count(chosen.findings) })}
            />
          )}
        </Card>
      )}
      <nav class="tabs" aria-label={text('findings.state')}>
        {[...FINDING_STATES, null].map((state) => (
          <a
            key={state}
            href={findingsHref({ ...filter, state })}
            {...(filter.state === state && { 'aria-current': 'page' })}
          >
            {state === null ? text('findings.anyState') : text(`findings.states.${state}`)}
          </a>
        ))}
      </nav>
      <section class="card stack">
        {data.findings.length === 0 ? (
          <p class="quiet">{text('findings.none')}</p>
        ) : (
          <>
            <DataTable
              label={text('findings.title')}
              heads={[
                text('days.date'),
                text('title.fields.order_uid'),
                text('title.fields.provider_external_id'),
                right(text('amounts.original_value')),
                text('findings.check'),
                text('findings.compared'),
                text('findings.state'),
              ]}
            >
              {data.findings.map((finding) => (
                <tr key={finding.id}>
                  <td>{formats.date(finding.date)}</td>
                  <th scope="row">
                    <a href={`/titles/${finding.titleId}`}>{finding.orderUid}</a>
                  </th>
                  <td>{finding.providerExternalId ?? '–'}</td>
                  <AmountCell value={finding.originalValue} />
                  <td>{text(`checks.names.${finding.code}`)}</td>
                  <td>
                    <Compared finding={finding} />
                  </td>
                  <td>
                    <FindingStateText finding={finding} />
                  </td>
                </tr>
              ))}
            </DataTable>
            <Pager
              label={text('findings.title')}
              paging={paging}
              hrefOf={(page) => findingsHref(filter, page)}
            />
          </>
        )}
      </section>
    </>
  );
}

/** Resolves the findings of a check on a date up to the newest one that the page shows. */
export function ResolveForm(props: {
  readonly group: Pick<FindingGroup, 'date' | 'code' | 'newestId'>;
  readonly label: string;
  /** Absent: each title. */
  readonly titleId?: number;
}) {
  const { group } = props;
  const { text } = usePage();
  return (
    <ActionForm action="/findings">
      <input type="hidden" name="date" value={group.date} />
      <input type="hidden" name="check" value={group.code} />
      <input type="hidden" name="newestId" value={String(group.newestId)} />
      {props.titleId !== undefined && (
        <input type="hidden" name="titleId" value={String(props.titleId)} />
      )}
      <Field label={`${props.label}: ${text('day.reason')}`}>
        <input name="reason" required maxLength={500} />
      </Field>
      <p class="quiet small">{text('findings.resolveHelp')}</p>
      <Submit>{text('findings.resolve')}</Submit>
    </ActionForm>
  );
}

/** A field of the interface as other pages name it: `provider.identification` is the column `provider_identification`. */
function fieldName(text: Text, field: string): string {
  const column = field
    .replace('identificationNumber', 'identification')
    .replace(/\.|(?=[A-Z])/g, '_')
    .toLowerCase();
  return text.find(`title.fields.${column}`) ?? field;
}

/** The fields and values of a finding. */
export function Compared({ finding }: { readonly finding: FindingRow }) {
  const { text, formats } = usePage();
  const { otherTitle, ...detail } = finding.detail;
  const show = (value: string) => {
    const date = parseCivilDate(value);
    if (date !== null) return formats.date(date);
    return /^-?\d+(\.\d+)?$/.test(value) ? formats.amount(value) : value;
  };
  const parts = Object.entries(detail).map(
    ([name, value]) =>
      `${text.find(`findings.detail.${name}`) ?? name}: ${name === 'field' ? fieldName(text, value) : show(value)}`,
  );
  return (
    <>
      {parts.length === 0 && otherTitle === undefined ? '–' : parts.join('; ')}
      {otherTitle !== undefined && (
        <>
          {' '}
          <a href={`/titles/${otherTitle}`}>{text('findings.otherTitle')}</a>
        </>
      )}
    </>
  );
}

export function FindingStateText({ finding }: { readonly finding: FindingRow }) {
  const { text, formats } = usePage();
  const { resolvedBy, resolvedAt, reason } = finding;
  if (resolvedBy === null || resolvedAt === null) {
    return <>{text(`findings.states.${finding.state}`)}</>;
  }
  return (
    <>
      {text('findings.resolvedBy', {
        by: authorText(text, resolvedBy),
        at: formats.instant(resolvedAt),
      })}
      <br />
      <span class="quiet">{reason}</span>
    </>
  );
}
