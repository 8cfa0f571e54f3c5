import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { type PageContext, usePage } from '../../../console/shell/page-context.ts';
import {
  ActionForm,
  AmountCell,
  authorText,
  Banner,
  Card,
  DayLink,
  type DayLook,
  lookOf,
  StateBadge,
  StateIcon,
  Submit,
} from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import type { CivilMonth, MonthFault } from '../months/civil-month.ts';
import {
  type Month,
  type MonthDay,
  type MonthSeal,
  type MonthState,
  type MonthTotals,
  stateOf,
} from '../months/month-seal.sql.ts';

/** The looks of days, which mean the same for a month. */
const LOOKS: Readonly<Record<MonthState, DayLook>> = {
  open: 'pending',
  ready: 'reconciled',
  sealed: 'signed',
  broken: 'restated',
};

/** All months of the ledger, the newest first. */
export function MonthsPage(props: { readonly months: readonly Month[] }) {
  const context = usePage();
  const { text, formats } = context;
  return (
    <>
      <div>
        <h1>{text('months.title')}</h1>
        <p class="quiet">
          {props.months.length === 0 ? text('months.empty') : text('months.intro')}
        </p>
      </div>
      {props.months.length > 0 && (
        <section class="card">
          <DataTable
            label={text('months.title')}
            heads={[
              text('months.month'),
              text('months.state'),
              right(text('months.signedDays')),
              right(text('days.titles')),
              right(text('amounts.original_value')),
              text('months.sealedBy'),
            ]}
          >
            {props.months.map((month) => (
              <tr key={month.month}>
                <th scope="row">
                  <a class="date" href={`/months/${month.month}`}>
                    {formats.month(month.month)}
                  </a>
                </th>
                <td>
                  <State state={stateOf(month)} />
                </td>
                <td class="right number">
                  {text('months.ofDays', {
                    signed: formats.count(month.signed),
                    days: formats.count(month.days),
                  })}
                </td>
                <td class="right number">
                  {month.seal === null ? '–' : countOf(context, month.seal.totals.title_count)}
                </td>
                <AmountCell value={month.seal?.totals.original_value_sum ?? null} />
                <td>
                  {month.seal === null ? (
                    <span class="quiet">–</span>
                  ) : (
                    `${authorText(text, month.seal.sealedBy)}, ${formats.instant(month.seal.sealedAt)}`
                  )}
                </td>
              </tr>
            ))}
          </DataTable>
        </section>
      )}
    </>
  );
}

export interface MonthPageData {
  readonly month: Month;
  readonly days: readonly MonthDay[];
  /** All seals of the month, the newest first. */
  readonly seals: readonly MonthSeal[];
  /** The digest of a seal over the present seals of the days; null: a day cannot be covered. */
  readonly presentDigest: string | null;
  /** Why the month was just not sealed; null: it was not tried. */
  readonly refusal: MonthFault | null;
}

/** One month with its days, its seals and the form to seal it. */
export function MonthPage({ data }: { readonly data: MonthPageData }) {
  const context = usePage();
  const { text, formats } = context;
  const { month } = data;
  return (
    <>
      <div class="day-head">
        <h1>{formats.month(month.month)}</h1>
        <State state={stateOf(month)} />
      </div>
      {data.refusal !== null && (
        <Banner look="failed" title={text('months.refused')}>
          <p>{text(`months.refusals.${data.refusal}`)}</p>
        </Banner>
      )}
      {month.broken.length > 0 && (
        <Banner look="restated" title={text('months.broken')}>
          <ul class="small">
            {month.broken.map(({ date, cause }) => (
              <li key={date}>
                <DayLink date={date} />: {text(`months.causes.${cause}`)}
              </li>
            ))}
          </ul>
          <p>{text('months.brokenHelp')}</p>
        </Banner>
      )}
      <div class="columns wide-first">
        <SealCard data={data} />
        {month.seal !== null && (
          <EvidenceCard month={month.month} isBroken={month.broken.length > 0} />
        )}
      </div>
      <Card title={text('months.days')}>
        <DaysTable days={data.days} />
      </Card>
      {data.seals.length > 1 && (
        <Card title={text('months.earlier')}>
          <ul class="small">
            {data.seals.slice(1).map((seal) => (
              <li key={seal.id}>
                {text('months.sealedByAt', {
                  name: authorText(text, seal.sealedBy),
                  at: formats.instant(seal.sealedAt),
                })}
                {seal.reason !== null && <span class="quiet"> ({seal.reason})</span>}
                <br />
                <span class="quiet">
                  {text('day.sealedTitles', {
                    titles: countOf(context, seal.totals.title_count),
                    sum: formats.amount(seal.totals.original_value_sum),
                  })}
                </span>
                <br />
                <span class="mono">{seal.digest}</span>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

function SealCard({ data }: { data: MonthPageData }) {
  const context = usePage();
  const { text, formats } = context;
  const { month, presentDigest } = data;
  const { seal } = month;
  const maySeal = mayUse(context.principal?.role ?? 'viewer', 'POST', '/months/:month/seal');
  const isSealed = stateOf(month) === 'sealed';
  return (
    <Card title={text('months.seal')}>
      <div class="stack">
        {seal === null ? (
          <p>{text('months.notSealed')}</p>
        ) : (
          <>
            <p>
              {text('months.sealedByAt', {
                name: authorText(text, seal.sealedBy),
                at: formats.instant(seal.sealedAt),
              })}
            </p>
            {seal.reason !== null && <p class="quiet">{seal.reason}</p>}
            <Totals totals={seal.totals} />
            <p class="small">
              {text('months.digest')}: <span class="mono">{seal.digest}</span>
            </p>
          </>
        )}
        {!isSealed && presentDigest === null && <p class="quiet">{text('months.notReady')}</p>}
        {!isSealed && presentDigest !== null && !maySeal && (
          <p class="quiet">{text('months.reviewersSeal')}</p>
        )}
        {!isSealed && presentDigest !== null && maySeal && (
          <ActionForm action={`/months/${month.month}/seal`}>
            <input type="hidden" name="digest" value={presentDigest} />
            <Field label={text('months.note')}>
              <input name="reason" maxLength={500} />
            </Field>
            <Submit class="primary">
              {seal === null ? text('months.sealMonth') : text('months.sealAgain')}
            </Submit>
            <p class="quiet small">{text('months.sealHelp')}</p>
          </ActionForm>
        )}
      </div>
    </Card>
  );
}

function EvidenceCard(props: { readonly month: CivilMonth; readonly isBroken: boolean }) {
  const context = usePage();
  const { text } = context;
  const path = '/months/:month/evidence';
  const mayExport = mayUse(context.principal?.role ?? 'viewer', 'POST', path);
  return (
    <Card title={text('months.evidence')}>
      <div class="stack">
        <p class="small">{text('months.evidenceHelp')}</p>
        {props.isBroken && <p class="small">{text('months.evidenceBroken')}</p>}
        {mayExport ? (
          <ActionForm action={path.replace(':month', props.month)} isDownload>
            <Submit>{text('months.evidenceDownload')}</Submit>
          </ActionForm>
        ) : (
          <p class="quiet small">{text('months.evidenceForbidden')}</p>
        )}
      </div>
    </Card>
  );
}

function DaysTable(props: { readonly days: readonly MonthDay[] }) {
  const context = usePage();
  const { text, formats } = context;
  return (
    <DataTable
      label={text('months.days')}
      heads={[
        text('days.date'),
        text('days.state'),
        right(text('days.titles')),
        right(text('amounts.original_value')),
        text('months.daySignedBy'),
      ]}
    >
      {props.days.map(({ date, state, isRestated, seal }) => {
        const signedOffAt = seal?.signed_off_at ?? null;
        const look = lookOf(state === null ? null : { state, isRestated, signedOffAt });
        return (
          <tr key={date}>
            <th scope="row">
              <DayLink date={date} />
            </th>
            <td>
              <StateBadge look={look} />
            </td>
            <td class="right number">{seal === null ? '–' : countOf(context, seal.title_count)}</td>
            <AmountCell value={seal?.original_value_sum ?? null} />
            <td>
              {seal === null ? (
                <span class="quiet">–</span>
              ) : (
                `${authorText(text, seal.signed_off_by ?? '')}, ${formats.instant(new Date(seal.signed_off_at ?? 0))}`
              )}
            </td>
          </tr>
        );
      })}
    </DataTable>
  );
}

function Totals({ totals }: { totals: MonthTotals }) {
  const context = usePage();
  const { text, formats } = context;
  const counts = [
    ['title_count', text('days.titles')],
    ['withdrawn_count', text('days.withdrawn')],
    ['rejected_count', text('days.rejected')],
  ] as const;
  return (
    <DataTable
      label={text('months.sealedTotals')}
      heads={[text('day.amount'), right(text('day.sum'))]}
    >
      <tr>
        <th scope="row">{text('amounts.original_value')}</th>
        <td class="right number">{formats.amount(totals.original_value_sum)}</td>
      </tr>
      {counts.map(([measure, label]) => (
        <tr key={measure}>
          <th scope="row">{label}</th>
          <td class="right number">{countOf(context, totals[measure])}</td>
        </tr>
      ))}
    </DataTable>
  );
}

function State({ state }: { state: MonthState }) {
  const { text } = usePage();
  return (
    <span class={`badge is-${LOOKS[state]}`}>
      <StateIcon look={LOOKS[state]} />
      {text(`months.states.${state}`)}
    </span>
  );
}

/** A count that is decimal text. */
function countOf({ formats }: PageContext, count: string | null): string {
  return formats.amount(count ?? '0').replace(/[.,]00$/, '');
}
