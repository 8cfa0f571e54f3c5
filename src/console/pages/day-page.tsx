import { addDays, type CivilDate } from '../../domain/business-day.ts';
import { AMOUNT_COLUMNS } from '../../domain/title.ts';
import type { DayPull, DayReject } from '../../staging/day-pulls.ts';
import type { DayTotalsBy } from '../../staging/day-totals.ts';
import type { LedgerDay } from '../../staging/ledger-days.ts';
import type { DayChanges } from '../../staging/moved-titles.ts';
import type { SignOff } from '../../staging/sign-off.ts';
import type { PageContext } from '../page-context.ts';
import { mayUse } from '../route-access.ts';
import { DayActions, SignOffCard } from './day-actions.tsx';
import { Field } from './layout.tsx';
import { MovedTable } from './moved.tsx';
import {
  ActionForm,
  Amount,
  Banner,
  Card,
  Disclosure,
  Instant,
  lookOf,
  StateBadge,
  TableFrame,
} from './parts.tsx';
import { PartyTable } from './party-table.tsx';

export interface DayPageData {
  readonly date: CivilDate;
  readonly day: LedgerDay | null;
  readonly totals: DayTotalsBy;
  readonly changes: DayChanges;
  readonly rejects: readonly DayReject[];
  readonly pulls: readonly DayPull[];
  readonly seals: readonly SignOff[];
  /** Whether this person decided something about the day that keeps them from signing it. */
  readonly isOwnDecision: boolean;
}

export function DayHead(props: {
  readonly context: PageContext;
  readonly date: CivilDate;
  readonly day: LedgerDay | null;
  readonly active: 'overview' | 'titles';
}) {
  const { context, date, day } = props;
  const { text, formats } = context;
  const tabs = [
    ['overview', `/days/${date}`, text.day.overview],
    ['titles', `/days/${date}/titles`, text.day.titles],
  ] as const;
  return (
    <>
      <nav class="crumbs" aria-label={text.nav.days}>
        <a href={`/days/${addDays(date, -1)}`}>← {text.day.previous}</a>
        <a href={`/days/${addDays(date, 1)}`}>{text.day.next} →</a>
      </nav>
      <div class="day-head">
        <h1>{formats.longDate(date)}</h1>
        <StateBadge context={context} look={lookOf(day)} />
        {day !== null && lookOf(day) !== 'restated' && day.isRestated && (
          <StateBadge context={context} look="restated" />
        )}
        {day !== null && (
          <p class="quiet small">
            {day.verifiedAt === null
              ? text.day.never
              : text.day.verified(formats.instant(day.verifiedAt))}
          </p>
        )}
      </div>
      {day !== null && (
        <nav class="tabs" aria-label={formats.date(date)}>
          {tabs.map(([name, href, label]) => (
            <a key={name} href={href} {...(props.active === name && { 'aria-current': 'page' })}>
              {label}
              {name === 'titles' && ` (${formats.count(day.titles)})`}
            </a>
          ))}
        </nav>
      )}
    </>
  );
}

export function DayPage({ context, data }: { context: PageContext; data: DayPageData }) {
  const { day, date } = data;
  const { text } = context;
  return (
    <>
      <DayHead context={context} date={date} day={day} active="overview" />
      {day === null ? (
        <section class="card stack">
          <p>{text.day.notInLedger}</p>
          <p class="quiet">{text.day.notInLedgerHelp}</p>
          <DayActions context={context} date={date} day={day} />
        </section>
      ) : (
        <DayBody context={context} data={data} day={day} />
      )}
    </>
  );
}

function DayBody(props: { context: PageContext; data: DayPageData; day: LedgerDay }) {
  const { context, data, day } = props;
  const { text, formats } = context;
  const { changes } = data;
  const movedTitle =
    changes.since === 'sign_off'
      ? text.day.movedSinceSeal
      : text.day.movedLast(String(changes.pullId ?? '–'));
  const moved = (
    <Card title={movedTitle}>
      <MovedTable context={context} label={movedTitle} moved={changes.moved} />
    </Card>
  );
  return (
    <>
      <Banners context={context} day={day} />
      <DayActions context={context} date={data.date} day={day} />
      {day.isRestated && moved}
      <div class="columns wide-first">
        <ControlTotals context={context} day={day} />
        <SignOffCard
          context={context}
          day={day}
          seals={data.seals}
          isOwnDecision={data.isOwnDecision}
        />
      </div>
      {data.rejects.length > 0 && <Rejects context={context} data={data} />}
      {!day.isRestated && moved}
      <div class="columns">
        <Card title={text.day.byAgent}>
          <PartyTable context={context} by="agent" totals={data.totals.agent} date={data.date} />
        </Card>
        <Card title={text.day.byProvider}>
          <PartyTable
            context={context}
            by="provider"
            totals={data.totals.provider}
            date={data.date}
          />
        </Card>
      </div>
      <Card
        title={text.day.pulls}
        aside={<a href={`/audit?date=${data.date}`}>{text.day.audit}</a>}
      >
        <PullsTable context={context} pulls={data.pulls} />
      </Card>
      <p class="quiet small">
        {text.day.digest}: <span class="mono">{day.contentDigest ?? '–'}</span>.{' '}
        {text.day.digestHelp} {formats.count(day.titles)} {text.days.titles.toLowerCase()}.
      </p>
    </>
  );
}

function Banners({ context, day }: { context: PageContext; day: LedgerDay }) {
  const { text } = context;
  const role = context.principal?.role ?? 'viewer';
  return (
    <>
      {day.isRestated && (
        <Banner look="restated" title={text.day.restatedTitle}>
          <p>{text.day.restatedHelp}</p>
          <p class="small">
            {text.day.digestSigned}: <span class="mono">{day.signedOffDigest}</span>
            <br />
            {text.day.digestNow}: <span class="mono">{day.contentDigest}</span>
          </p>
        </Banner>
      )}
      {day.state === 'held' && day.heldPullId !== null && (
        <Banner look="held" title={text.day.heldTitle}>
          <p>{text.day.held(String(day.heldPullId))}</p>
          {mayUse(role, 'GET', '/pulls/:id/release') ? (
            <a class="button" href={`/pulls/${day.heldPullId}/release`}>
              {text.day.review}
            </a>
          ) : (
            <p class="quiet">{text.day.waitsForOperator}</p>
          )}
        </Banner>
      )}
      {day.state === 'attention' && (
        <Banner look="attention" title={text.day.attentionTitle}>
          <p>
            {text.day.rejectsHelp} <a href="#rejects">{text.day.rejects}</a>
          </p>
        </Banner>
      )}
      {day.state === 'failed' && (
        <Banner look="failed" title={text.day.failedTitle}>
          <p>{text.day.failedHelp}</p>
        </Banner>
      )}
    </>
  );
}

function ControlTotals({ context, day }: { context: PageContext; day: LedgerDay }) {
  const { text, formats } = context;
  return (
    <Card title={text.day.controlTotals}>
      <table class="data">
        <thead>
          <tr>
            <th scope="col">{text.day.amount}</th>
            <th scope="col" class="right">
              {text.day.sum}
            </th>
          </tr>
        </thead>
        <tbody>
          {AMOUNT_COLUMNS.map((column) => (
            <tr key={column}>
              <th scope="row">{text.amounts[column]}</th>
              <td class="right">
                <Amount context={context} value={day.sums[column]} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{text.days.titles}</th>
            <td class="right number">{formats.count(day.titles)}</td>
          </tr>
        </tfoot>
      </table>
      <p class="quiet small">
        {text.days.withdrawn}: {formats.count(day.withdrawn)} · {text.days.rejected}:{' '}
        {formats.count(day.rejected)}
      </p>
    </Card>
  );
}

function Rejects({ context, data }: { context: PageContext; data: DayPageData }) {
  const { text, formats } = context;
  const role = context.principal?.role ?? 'viewer';
  const hasOpen = data.rejects.some(({ status }) => status === 'open');
  const isRevealed = data.rejects.some(({ raw }) => raw !== null);
  return (
    <Card title={text.day.rejects} id="rejects">
      <ul class="timeline">
        {data.rejects.map((reject) => (
          <li key={reject.id}>
            <div>
              <p>{text.day.rejectNumber(formats.count(reject.ordinal + 1))}</p>
              <p class="quiet small">
                {reject.status === 'open'
                  ? text.day.rejectOpen
                  : text.day.rejectAccepted(reject.decidedBy ?? '')}
                {' · '}
                {text.day.rejectBytes(formats.count(reject.rawBytes))}
              </p>
            </div>
            <div>
              <ul>
                {reject.reasons.map((reason) => (
                  <li key={reason}>{reason}</li>
                ))}
              </ul>
              {reject.reason !== null && <p class="quiet">{reject.reason}</p>}
              {reject.raw !== null && (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
                <pre class="raw mono" tabIndex={0}>
                  {reject.raw}
                </pre>
              )}
            </div>
          </li>
        ))}
      </ul>
      {mayUse(role, 'POST', '/days/:date/rejects') && (
        <div class="buttons">
          {!isRevealed && (
            <Disclosure label={text.day.showRaw}>
              <ActionForm context={context} action={`/days/${data.date}/rejects`}>
                <p class="small">{text.day.showRawHelp}</p>
                <button type="submit" class="button">
                  {text.day.showRaw}
                </button>
              </ActionForm>
            </Disclosure>
          )}
          {hasOpen && (
            <Disclosure label={text.day.accept}>
              <ActionForm context={context} action={`/days/${data.date}/accept-rejects`}>
                <p class="small">{text.day.acceptHelp}</p>
                <Field label={text.day.reason}>
                  <input name="reason" required maxLength={500} />
                </Field>
                <button type="submit" class="button primary">
                  {text.day.accept}
                </button>
              </ActionForm>
            </Disclosure>
          )}
        </div>
      )}
    </Card>
  );
}

function PullsTable({ context, pulls }: { context: PageContext; pulls: readonly DayPull[] }) {
  const { text, formats } = context;
  if (pulls.length === 0) return <p class="quiet">{text.day.pullsEmpty}</p>;
  const count = (value: number | null) => (value === null ? '–' : formats.count(value));
  return (
    <TableFrame label={text.day.pulls}>
      <table class="data">
        <thead>
          <tr>
            <th scope="col">{text.day.pullNumber}</th>
            <th scope="col">{text.day.origin}</th>
            <th scope="col">{text.day.fetched}</th>
            <th scope="col">{text.day.outcome}</th>
            <th scope="col">{text.day.counts}</th>
            <th scope="col">{text.day.by}</th>
          </tr>
        </thead>
        <tbody>
          {pulls.map((pull) => (
            <tr key={pull.id}>
              <th scope="row" class="number">
                {pull.id}
              </th>
              <td>{text.day.origins[pull.origin]}</td>
              <td>
                <Instant context={context} at={pull.fetchedAt ?? pull.createdAt} />
              </td>
              <td>
                {text.day.outcomes[pull.outcome ?? pull.state]}
                {pull.errorCode !== null && <span class="quiet small"> {pull.errorCode}</span>}
              </td>
              <td class="number">
                {pull.outcome === null
                  ? '–'
                  : [pull.inserted, pull.changed, pull.withdrawn, pull.restored]
                      .map(count)
                      .join(' · ')}
              </td>
              <td>
                {pull.decidedBy ?? pull.requestedBy}
                {pull.reason !== null && <span class="quiet small"> {pull.reason}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}
