import type { CivilDate } from '../../domain/business-day.ts';
import type { FourEyesFault } from '../../domain/sign-off.ts';
import { AMOUNT_COLUMNS } from '../../domain/title.ts';
import type { LedgerDay } from '../../ledger/ledger-days.sql.ts';
import type { SignOff, SignOffOutcome } from '../../ledger/sign-off.sql.ts';
import type { SignableTotals } from '../../ledger/signable-days.sql.ts';
import { DataTable, right } from '../shell/data-table.tsx';
import { Field } from '../shell/layout.tsx';
import type { PageContext } from '../shell/page-context.ts';
import { Pager, type Paging } from '../shell/paging.tsx';
import { ActionForm, Amount, Card, DayLink } from '../shell/parts.tsx';
import { mayUse } from '../shell/route-access.ts';

export interface SignOffsPageData {
  readonly cleanOnly: boolean;
  readonly isAllSelected: boolean;
  readonly counts: { readonly all: number; readonly clean: number };
  readonly totals: SignableTotals;
  readonly days: readonly LedgerDay[];
  readonly excluded: ReadonlyMap<CivilDate, FourEyesFault>;
  readonly paging: Paging;
}

const hrefOf = (cleanOnly: boolean, page = 1, isAllSelected = false) => {
  const query = new URLSearchParams({
    ...(cleanOnly && { clean: 'true' }),
    ...(page > 1 && { page: String(page) }),
    ...(isAllSelected && { select: 'all' }),
  });
  return query.size === 0 ? '/sign-offs' : `/sign-offs?${query}`;
};

/** The days that can be signed off now, with a box for each. */
export function SignOffsPage(props: {
  readonly context: PageContext;
  readonly data: SignOffsPageData;
}) {
  const { context, data } = props;
  const { text, formats } = context;
  const { signOffs } = text;
  const tabs = [
    [false, signOffs.all, data.counts.all],
    [true, signOffs.clean, data.counts.clean],
  ] as const;
  const maySign = mayUse(context.principal?.role ?? 'viewer', 'POST', '/sign-offs');
  const table = <Days context={context} data={data} maySign={maySign} />;
  return (
    <>
      <Crumbs context={context} />
      <div>
        <h1>{signOffs.title}</h1>
        <p class="quiet">{data.cleanOnly ? signOffs.cleanHelp : signOffs.intro}</p>
      </div>
      <nav class="tabs" aria-label={signOffs.title}>
        {tabs.map(([cleanOnly, label, count]) => (
          <a
            key={label}
            href={hrefOf(cleanOnly)}
            {...(data.cleanOnly === cleanOnly && { 'aria-current': 'page' })}
          >
            {label} ({formats.count(count)})
          </a>
        ))}
      </nav>
      {data.days.length === 0 ? (
        <p class="quiet">{signOffs.none}</p>
      ) : maySign ? (
        <form method="get" action="/sign-offs/preview" class="card stack">
          <div class="buttons">
            <button type="submit" class="button primary">
              {signOffs.toPreview}
            </button>
            <a class="button" href={hrefOf(data.cleanOnly, data.paging.page, !data.isAllSelected)}>
              {data.isAllSelected ? signOffs.selectNone : signOffs.selectAll}
            </a>
          </div>
          {table}
        </form>
      ) : (
        <section class="card stack">
          <p class="quiet">{text.day.reviewersSign}</p>
          {table}
        </section>
      )}
    </>
  );
}

function Days(props: {
  readonly context: PageContext;
  readonly data: SignOffsPageData;
  readonly maySign: boolean;
}) {
  const { context, data, maySign } = props;
  const { text, formats } = context;
  const { signOffs } = text;
  return (
    <>
      <DataTable
        label={signOffs.title}
        heads={[...(maySign ? [signOffs.choose] : []), ...dayHeads(context), signOffs.remarks]}
        foot={<SumRow context={context} totals={data.totals} before={maySign ? 1 : 0} after={1} />}
      >
        {data.days.map((day) => {
          const fault = data.excluded.get(day.date) ?? null;
          return (
            <tr key={day.date}>
              {maySign && (
                <td>
                  {fault === null && (
                    <input
                      type="checkbox"
                      name="day"
                      value={day.date}
                      checked={data.isAllSelected}
                      aria-label={signOffs.select(formats.date(day.date))}
                    />
                  )}
                </td>
              )}
              <DayCells context={context} day={day} />
              <td>
                <Remarks context={context} day={day} fault={fault} />
              </td>
            </tr>
          );
        })}
      </DataTable>
      <Pager
        context={context}
        label={signOffs.title}
        paging={data.paging}
        hrefOf={(page) => hrefOf(data.cleanOnly, page)}
      />
    </>
  );
}

export interface PreviewPageData {
  /** The chosen days that can be signed off, newest first. */
  readonly days: readonly LedgerDay[];
  readonly totals: SignableTotals;
  /** The other chosen days. */
  readonly refused: readonly SignOffOutcome[];
}

/** The chosen days with their totals and the sum of all. The form has the digest of each. */
export function SignOffPreviewPage(props: {
  readonly context: PageContext;
  readonly data: PreviewPageData;
}) {
  const { context, data } = props;
  const { text, formats } = context;
  const { signOffs } = text;
  return (
    <>
      <Crumbs context={context} isBelowList />
      <div>
        <h1>{signOffs.previewTitle}</h1>
        <p class="quiet">
          {data.days.length === 0 ? signOffs.nothingChosen : signOffs.previewIntro}
        </p>
      </div>
      {data.days.length > 0 && (
        <section class="card stack">
          <DataTable
            label={signOffs.previewTitle}
            heads={[...dayHeads(context), signOffs.remarks]}
            foot={<SumRow context={context} totals={data.totals} before={0} after={1} />}
          >
            {data.days.map((day) => (
              <tr key={day.date}>
                <DayCells context={context} day={day} />
                <td>
                  <Remarks context={context} day={day} fault={null} />
                </td>
              </tr>
            ))}
          </DataTable>
          <ActionForm context={context} action="/sign-offs">
            {data.days.map((day) => (
              <input
                key={day.date}
                type="hidden"
                name="day"
                value={`${day.date}:${day.contentDigest}`}
              />
            ))}
            <Field label={signOffs.note}>
              <input name="reason" maxLength={500} />
            </Field>
            <button type="submit" class="button primary">
              {signOffs.sign(formats.count(data.days.length))}
            </button>
            <p class="quiet small">{text.day.signHelp}</p>
          </ActionForm>
        </section>
      )}
      <Refused context={context} title={signOffs.cannot} refused={data.refused} />
    </>
  );
}

export interface ResultPageData {
  /** The seals of the days that were signed off, newest first. */
  readonly seals: readonly SignOff[];
  readonly refused: readonly SignOffOutcome[];
  /** The number of days that can still be signed off. */
  readonly remaining: number;
}

/** What became of each day. */
export function SignOffResultPage(props: {
  readonly context: PageContext;
  readonly data: ResultPageData;
}) {
  const { context, data } = props;
  const { text, formats } = context;
  const { signOffs } = text;
  const { seals, refused } = data;
  const list = signOffs.remaining(formats.count(data.remaining));
  return (
    <>
      <Crumbs context={context} isBelowList />
      <h1>
        {signOffs.resultTitle(
          formats.count(seals.length),
          formats.count(seals.length + refused.length),
        )}
      </h1>
      <Refused context={context} title={signOffs.refused} refused={refused} />
      {seals.length > 0 && (
        <Card title={signOffs.signed}>
          <DataTable
            label={signOffs.signed}
            heads={[
              text.days.date,
              right(text.days.titles),
              right(text.amounts.original_value),
              text.day.digest,
            ]}
          >
            {seals.map((seal) => (
              <tr key={seal.id}>
                <th scope="row">
                  <DayLink context={context} date={seal.date} />
                </th>
                <td class="right number">{formats.count(seal.titles)}</td>
                <td class="right">
                  <Amount context={context} value={seal.originalValueSum} />
                </td>
                <td class="mono">{seal.contentDigest}</td>
              </tr>
            ))}
          </DataTable>
        </Card>
      )}
      <p class="pager">
        <a href="/sign-offs">{list}</a>
        <a href="/">{text.nav.days}</a>
      </p>
    </>
  );
}

function Refused(props: {
  readonly context: PageContext;
  readonly title: string;
  readonly refused: readonly SignOffOutcome[];
}) {
  const { context, refused } = props;
  const { text } = context;
  if (refused.length === 0) return null;
  return (
    <Card title={props.title}>
      <DataTable label={props.title} heads={[text.days.date, text.signOffs.reason]}>
        {refused.map(({ date, refusal }) => (
          <tr key={date}>
            <th scope="row">
              <DayLink context={context} date={date} />
            </th>
            <td>{refusal === null ? '' : text.signOffs.refusals[refusal]}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

function Crumbs(props: { readonly context: PageContext; readonly isBelowList?: boolean }) {
  const { nav, signOffs } = props.context.text;
  return (
    <nav class="crumbs" aria-label={nav.days}>
      <a href="/">← {nav.days}</a>
      {props.isBelowList === true && <a href="/sign-offs">← {signOffs.title}</a>}
    </nav>
  );
}

function dayHeads({ text }: PageContext) {
  return [
    text.days.date,
    right(text.days.titles),
    ...AMOUNT_COLUMNS.map((column) => right(text.amounts[column])),
  ];
}

function DayCells({ context, day }: { context: PageContext; day: LedgerDay }) {
  return (
    <>
      <th scope="row">
        <DayLink context={context} date={day.date} />
      </th>
      <td class="right number">{context.formats.count(day.titles)}</td>
      <AmountCells context={context} sums={day.sums} />
    </>
  );
}

function AmountCells(props: {
  readonly context: PageContext;
  readonly sums: SignableTotals['sums'];
}) {
  return (
    <>
      {AMOUNT_COLUMNS.map((column) => (
        <td key={column} class="right">
          <Amount context={props.context} value={props.sums[column]} />
        </td>
      ))}
    </>
  );
}

/** The totals of a table, with empty cells in front and behind. */
function SumRow(props: {
  readonly context: PageContext;
  readonly totals: SignableTotals;
  readonly before: number;
  readonly after: number;
}) {
  const { context, totals } = props;
  const { text, formats } = context;
  return (
    <tr>
      {props.before > 0 && <td colSpan={props.before} />}
      <th scope="row">{text.signOffs.total(formats.count(totals.days))}</th>
      <td class="right number">{formats.count(totals.titles)}</td>
      <AmountCells context={context} sums={totals.sums} />
      <td colSpan={props.after} />
    </tr>
  );
}

/** What a person should know of a day before signing it. */
function Remarks(props: {
  readonly context: PageContext;
  readonly day: LedgerDay;
  readonly fault: FourEyesFault | null;
}) {
  const { day, fault } = props;
  const { text, formats } = props.context;
  const { signOffs } = text;
  const remarks = [
    fault === null ? null : signOffs.excluded[fault],
    day.isRestated ? signOffs.restated : null,
    day.heldPayments > 0 ? (
      <a href="/account-changes">{signOffs.paymentsHeld(formats.count(day.heldPayments))}</a>
    ) : null,
    day.isChecked ? null : props.context.text.findings.notChecked,
    day.rejected > 0 ? signOffs.rejects(formats.count(day.rejected)) : null,
    day.withheld > 0 ? signOffs.withheld(formats.count(day.withheld)) : null,
  ].filter((remark) => remark !== null);
  if (remarks.length === 0) return <span class="quiet">–</span>;
  return (
    <ul class="small">
      {remarks.map((remark, index) => (
        <li key={index}>{remark}</li>
      ))}
    </ul>
  );
}
