import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging } from '../../../console/shell/paging.tsx';
import {
  ActionForm,
  AmountCell,
  authorText,
  Card,
  DayCell,
  DayLink,
  DecisionButtons,
  InstantCell,
  Metric,
  Submit,
} from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import type { ConsumerLag } from '../open-lines.sql.ts';
import { RECEIPT_ANSWERS } from '../receipt-decisions.sql.ts';
import type { ReceiptQuestions } from '../receipts.sql.ts';
import type { WaitingDays } from '../release.sql.ts';
import type { UnbookedChange } from '../unbooked-changes.sql.ts';
import {
  LINE_STATES,
  type LineFilter,
  type LineState,
  type LineTotals,
  type ListedLine,
} from './booking-list.sql.ts';
import type { ListedReceipt } from './booking-receipts.sql.ts';

interface BookingsPageData {
  readonly filter: LineFilter;
  /** Whether a parameter could not be read. */
  readonly isFilterBad: boolean;
  readonly totals: LineTotals;
  readonly lines: readonly ListedLine[];
  readonly paging: Paging;
  readonly kept: {
    readonly count: number;
    readonly receipts: readonly ListedReceipt[];
    readonly questions: readonly ReceiptQuestions[];
  };
  readonly consumers: readonly ConsumerLag[];
  readonly waiting: readonly WaitingDays[];
  readonly differences: readonly UnbookedChange[];
}

interface PageProps {
  readonly data: BookingsPageData;
}

function hrefOf(filter: LineFilter, state: LineState, page = 1): string {
  const { from, to, overdueDays } = filter;
  return `/bookings?${new URLSearchParams({
    state,
    ...(from !== null && { from }),
    ...(to !== null && { to }),
    days: String(overdueDays),
    ...(page > 1 && { page: String(page) }),
  })}`;
}

const DATES_SHOWN = 20;

/** The signed-off days that are not released, with the reason and the step that ends the waiting. */
function Waiting({ waiting }: { readonly waiting: readonly WaitingDays[] }) {
  const { text, formats } = usePage();
  return (
    <Card title={text('bookings.waiting')} class="stack">
      <DataTable
        label={text('bookings.waiting')}
        heads={[
          text('bookings.waitingReason'),
          right(text('bookings.waitingCount')),
          right(text('bookings.waitingTitles')),
          text('bookings.waitingDates'),
        ]}
      >
        {waiting.map(({ fault, days, titles, dates }) => (
          <tr key={fault ?? 'none'}>
            <th scope="row">{text(`bookings.waitingReasons.${fault ?? 'none'}`)}</th>
            <td class="right number">{formats.count(days)}</td>
            <td class="right number">{titles === 0 ? '–' : formats.count(titles)}</td>
            <td>
              {dates.slice(0, DATES_SHOWN).map((date) => (
                <>
                  {fault === 'titles' ? (
                    <a href={`/breaks?${new URLSearchParams({ date })}`}>{formats.date(date)}</a>
                  ) : (
                    <DayLink date={date} />
                  )}{' '}
                </>
              ))}
              {days > DATES_SHOWN &&
                text('bookings.waitingMore', { count: formats.count(days - DATES_SHOWN) })}
            </td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

/** The days whose difference a person has to post in the ERP. */
function Differences({ changes }: { readonly changes: readonly UnbookedChange[] }) {
  const { text, principal } = usePage();
  const mayConfirm = mayUse(principal?.role ?? 'viewer', 'POST', '/bookings/differences/:date');
  return (
    <Card title={text('bookings.differences')} class="stack">
      <p>{text('bookings.differencesHelp')}</p>
      <DataTable
        label={text('bookings.differences')}
        heads={[
          text('bookings.date'),
          text('bookings.signedOffAt'),
          text('bookings.signedOffBy'),
          text('bookings.difference'),
        ]}
      >
        {changes.map(({ date, signOffId, signedOffAt, signedOffBy }) => (
          <tr key={date}>
            <DayCell date={date} />
            <InstantCell at={signedOffAt} />
            <td>{authorText(text, signedOffBy)}</td>
            <td>
              <ActionForm action={`/bookings/differences/${date}/export`} isDownload>
                <Submit>{text('bookings.download')}</Submit>
              </ActionForm>
              {mayConfirm && (
                <ActionForm action={`/bookings/differences/${date}`}>
                  <input type="hidden" name="seal" value={String(signOffId)} />
                  <Field label={text('day.reason')}>
                    <input name="reason" required maxLength={500} />
                  </Field>
                  <Submit>{text('bookings.confirmDifference')}</Submit>
                </ActionForm>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

export function BookingsPage({ data }: PageProps) {
  const { text, formats } = usePage();
  const { filter, totals } = data;
  const hasAnyLine = totals.states.all > 0 || filter.from !== null || filter.to !== null;
  return (
    <>
      <div>
        <h1>{text('bookings.title')}</h1>
        <p class="quiet">{text('bookings.intro')}</p>
      </div>
      {data.waiting.length > 0 && <Waiting waiting={data.waiting} />}
      {data.differences.length > 0 && <Differences changes={data.differences} />}
      {data.kept.count > 0 && <Kept data={data} />}
      <nav class="tabs" aria-label={text('bookings.state')}>
        {LINE_STATES.map((state) => (
          <a
            key={state}
            href={hrefOf(filter, state)}
            {...(filter.state === state && { 'aria-current': 'page' })}
          >
            {text(`bookings.states.${state}`)} ({formats.count(totals.states[state])})
          </a>
        ))}
      </nav>
      {data.isFilterBad && <p class="error">{text('bookings.badFilter')}</p>}
      <Card title={text('bookings.lines')} class="stack">
        <Filters filter={filter} />
        {totals.lines === 0 ? (
          <p class="quiet">{hasAnyLine ? text('bookings.none') : text('bookings.noneYet')}</p>
        ) : (
          <>
            <dl class="metrics">
              {totals.kinds.map(({ kind, lines, originalValue }) => (
                <Metric
                  key={kind}
                  label={text(`bookings.kinds.${kind}`)}
                  value={text('bookings.kindTotal', {
                    lines,
                    value: formats.amount(originalValue),
                  })}
                />
              ))}
            </dl>
            <LinesTable lines={data.lines} />
            <Pager
              label={text('bookings.lines')}
              paging={data.paging}
              hrefOf={(page) => hrefOf(filter, filter.state, page)}
            />
            <ActionForm action={hrefOf(filter, filter.state)} class="buttons" isDownload>
              <Submit>{text('bookings.export')}</Submit>
            </ActionForm>
          </>
        )}
        <p class="quiet small">{text('bookings.statesHelp')}</p>
      </Card>
      <Consumers consumers={data.consumers} />
    </>
  );
}

function Filters({ filter }: { filter: LineFilter }) {
  const { text } = usePage();
  return (
    <form method="get" class="filters">
      <input type="hidden" name="state" value={filter.state} />
      <Field label={text('bookings.from')}>
        <input type="date" name="from" value={filter.from ?? ''} />
      </Field>
      <Field label={text('bookings.to')}>
        <input type="date" name="to" value={filter.to ?? ''} />
      </Field>
      <Field label={text('bookings.overdueDays')}>
        <input type="number" name="days" min="0" max="3650" value={String(filter.overdueDays)} />
      </Field>
      <div class="buttons">
        <Submit>{text('bookings.show')}</Submit>
      </div>
    </form>
  );
}

function StateTag({ line }: { line: ListedLine }) {
  const { text } = usePage();
  const look = line.state === 'failed' || line.state === 'refused' ? 'is-withdrawn' : '';
  return (
    <>
      <span class={`tag ${look}`}>{text(`bookings.states.${line.state}`)}</span>{' '}
      {line.isOverdue && <span class="tag is-changed">{text('bookings.states.overdue')}</span>}
    </>
  );
}

/** Lines with their state. The version links to the history of the booking. */
export function LinesTable({ lines }: { readonly lines: readonly ListedLine[] }) {
  const { text } = usePage();
  return (
    <DataTable
      label={text('bookings.lines')}
      heads={[
        text('bookings.date'),
        text('bookings.order'),
        text('bookings.version'),
        text('bookings.kind'),
        right(text('bookings.value')),
        text('bookings.state'),
        text('bookings.answer'),
        text('bookings.releasedAt'),
        text('bookings.consumer'),
      ]}
    >
      {lines.map((line) => (
        <tr key={line.id}>
          <DayCell date={line.date} />
          <td class="anywhere">{line.orderUid ?? '–'}</td>
          <td>
            <a href={`/bookings/${line.id}`} title={line.key}>
              {line.key.slice(line.key.lastIndexOf(':') + 1)}
            </a>
          </td>
          <td>{text(`bookings.kinds.${line.kind}`)}</td>
          <AmountCell value={line.originalValue} />
          <td>
            <StateTag line={line} />
          </td>
          <td class="anywhere">{line.document ?? line.failure ?? '–'}</td>
          <InstantCell at={line.releasedAt} />
          <td>{line.consumer}</td>
        </tr>
      ))}
    </DataTable>
  );
}

function Kept({ data }: PageProps) {
  const { text, formats, principal } = usePage();
  const { count, receipts, questions } = data.kept;
  return (
    <Card title={text('bookings.kept')}>
      <p>{text('bookings.keptHelp')}</p>
      <ReceiptsTable receipts={receipts} />
      {count > receipts.length && (
        <p class="quiet small">
          {text('bookings.keptMore', {
            shown: formats.count(receipts.length),
            all: formats.count(count),
          })}
        </p>
      )}
      {mayUse(principal?.role ?? 'viewer', 'POST', '/bookings/receipts') && (
        <ActionForm action="/bookings/receipts">
          <Field label={text('bookings.receipts')}>
            <select name="receipts">
              {questions.map(({ date, receipts: ofDay, newest }) => (
                <option key={date} value={`${date}/0/${newest}/${ofDay}`}>
                  {text('bookings.allOfDay', {
                    date: formats.date(date),
                    count: formats.count(ofDay),
                  })}
                </option>
              ))}
              {receipts.map(({ id, date, key, document, reason }) => (
                <option key={id} value={`${date}/${id}/${id}/1`}>
                  {key} {document ?? reason}
                </option>
              ))}
            </select>
          </Field>
          <Field label={text('day.reason')}>
            <input name="reason" required maxLength={500} />
          </Field>
          <DecisionButtons
            name="answer"
            values={RECEIPT_ANSWERS}
            text={(answer) => text(`bookings.answers.${answer}`)}
          />
        </ActionForm>
      )}
    </Card>
  );
}

export function ReceiptsTable({ receipts }: { readonly receipts: readonly ListedReceipt[] }) {
  const { text } = usePage();
  return (
    <DataTable
      label={text('bookings.receipts')}
      heads={[
        text('bookings.date'),
        text('bookings.key'),
        text('bookings.state'),
        text('bookings.answer'),
        text('bookings.outcome'),
        text('bookings.receivedAt'),
        text('bookings.consumer'),
      ]}
    >
      {receipts.map((receipt) => (
        <tr key={receipt.id}>
          <DayCell date={receipt.date} />
          <td class="mono anywhere">{receipt.key}</td>
          <td>{text(`bookings.states.${receipt.isFinal ? 'refused' : receipt.status}`)}</td>
          <td class="anywhere">{receipt.document ?? receipt.reason}</td>
          <td>{text(`bookings.outcomes.${receipt.outcome ?? 'none'}`)}</td>
          <InstantCell at={receipt.receivedAt} />
          <td>{receipt.consumer}</td>
        </tr>
      ))}
    </DataTable>
  );
}

function Consumers({ consumers }: { readonly consumers: readonly ConsumerLag[] }) {
  const { text, formats } = usePage();
  return (
    <Card title={text('bookings.consumers')}>
      <DataTable
        label={text('bookings.consumers')}
        heads={[
          text('bookings.consumer'),
          right(text('bookings.position')),
          right(text('bookings.behind')),
          text('bookings.behindSince'),
          text('bookings.acknowledgedAt'),
        ]}
      >
        {consumers.map((consumer) => (
          <tr key={consumer.name}>
            <th scope="row">{consumer.name}</th>
            <td class="right number">{consumer.lastSeq}</td>
            <td class="right number">{formats.count(consumer.behind)}</td>
            <InstantCell at={consumer.behindSince} />
            <InstantCell at={consumer.acknowledgedAt} />
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}
