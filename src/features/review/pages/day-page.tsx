import type { FastifyRequest } from 'fastify';
import type { Database } from '../../../base/database/database.ts';
import { reasonsText } from '../../../base/texts/texts.ts';
import { addDays, type CivilDate } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import { ledgerDate } from '../../../console/api/schema-parts.ts';
import { declarePage } from '../../../console/declare.tsx';
import { type Column, TableCard } from '../../../console/list/columns.tsx';
import {
  type ConsoleParts,
  payablesMaxAge,
  todayOf,
} from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  ActionForm,
  authorText,
  Banner,
  Card,
  Disclosure,
  lookOf,
  StateBadge,
  Submit,
} from '../../../console/shell/parts.tsx';
import type { PullOrigin, PullState } from '../../../core/ledger/states.ts';
import { DayBookingsCard } from '../../bookings/pages/booking-cards.tsx';
import { readDayBookings } from '../../bookings/pages/booking-list.sql.ts';
import { BREAKS } from '../../matching/pages/breaks-page.tsx';
import { arePayablesStale, hasPayables } from '../../matching/payables/payable-state.sql.ts';
import { readDayChanges } from '../changed-titles.sql.ts';
import { type Hold, type LedgerDay, readLedgerDay } from '../ledger-days.sql.ts';
import { readErpStages } from '../months/month-seal.sql.ts';
import { type JudgedDay, withObstacles } from '../obstacles.sql.ts';
import { obstacleRules } from '../sign-off.sql.ts';
import { CHANGED_FIELDS } from './changed-fields.tsx';
import { ChangesTable } from './changed-titles.tsx';
import { ACCEPT_REJECTS, PULL_DAY, SignOffCard } from './day-actions.tsx';
import { ErpMetrics } from './months-pages.tsx';
import { holdText, RELEASE } from './release-page.tsx';

const MOVED_SHOWN = 100;
const REJECTS_SHOWN = 50;
const PULLS_SHOWN = 20;

export const DAY = declarePage({
  path: '/days/:date',
  active: '/sign-offs',
  input: { date: ledgerDate },
  read: readDayPage,
  title: ({ formats }, { date }) => formats.date(date),
  // The page follows a pull to its end.
  refreshSeconds: ({ pulls }) =>
    pulls.some(({ state }) => state === 'queued' || state === 'running') ? 2 : undefined,
  body: (data, { text }) => {
    const { day, date } = data;
    return (
      <>
        <DayHead date={date} day={day} />
        {day === null ? (
          <section class="card stack">
            <p>{text('day.notInLedger')}</p>
            <p class="quiet">{text('day.notInLedgerHelp')}</p>
            <DayActions date={date} day={day} />
          </section>
        ) : (
          <DayBody data={data} day={day} />
        )}
      </>
    );
  },
  /** Shows the rejected titles as the platform sent them. */
  reveal: ({ date }) => ({ action: 'rejects.reveal', date }),
});

async function readDayPage(
  parts: ConsoleParts,
  { date }: { readonly date: CivilDate },
  request: FastifyRequest,
  withRaw: boolean,
) {
  const { database } = parts;
  const { prisma } = database;
  const rules = obstacleRules(parts, actorOf(request));
  const hasBookings = (parts.bookingsFrom ?? null) !== null;
  const [known, rejects, pulls, changes, hasErp, isStale, bookings, stages] = await Promise.all([
    readLedgerDay(database, date, todayOf(parts)),
    readDayRejects(database, date, withRaw),
    readDayPulls(database, date),
    readDayChanges(database, date, MOVED_SHOWN),
    hasPayables(prisma),
    arePayablesStale(prisma, payablesMaxAge(parts)),
    hasBookings ? readDayBookings(database, [date], parts) : null,
    readErpStages(database, { from: date, to: date }),
  ]);
  const [day = null] = known === null ? [] : await withObstacles(prisma, [known], rules);
  return {
    ...{ date, day, rejects, pulls, changes, hasErp, isStale, stage: stages.sum },
    /** Null: seals release nothing. */
    bookings: bookings?.get(date) ?? null,
  };
}

type DayPageData = Awaited<ReturnType<typeof readDayPage>>;

function DayBody({ data, day }: { data: DayPageData; day: JudgedDay }) {
  const { text } = usePage();
  const { changes } = data;
  const movedTitle =
    changes.since === 'sign_off'
      ? text('day.movedSinceSeal')
      : text('day.movedLast', { pull: String(changes.pullId) });
  // A day without a merged pull has no changes.
  const moved = (changes.since === 'sign_off' || changes.pullId !== null) && (
    <Card title={movedTitle}>
      <ChangesTable label={movedTitle} moved={changes} />
      {changes.since === 'sign_off' && changes.count > 0 && (
        <CHANGED_FIELDS.Form values={{ date: data.date }} button={text('day.changedFields')} />
      )}
    </Card>
  );
  return (
    <>
      {day.isRestated && (
        <Banner look="restated" title={text('day.restatedTitle')}>
          <p>{text('day.restatedHelp')}</p>
        </Banner>
      )}
      {day.hold !== null && <HeldBanner day={day} hold={day.hold} />}
      {day.state === 'failed' && (
        <Banner look="failed" title={text('day.failedTitle')}>
          <p>{text('day.failedHelp')}</p>
        </Banner>
      )}
      <DayActions date={data.date} day={day} />
      <Card
        title={text('day.erp')}
        aside={
          data.hasErp && (
            <a href={BREAKS.href({ date: data.date })}>{text('matching.openBreaks')}</a>
          )
        }
        class="stack"
      >
        <ErpMetrics sum={data.stage} />
        {data.hasErp && data.isStale && <p class="error">{text('matching.stale')}</p>}
      </Card>
      {day.isRestated && moved}
      <SignOffCard day={day} stage={data.stage} />
      {data.rejects.length > 0 && (
        <DayRejects date={data.date} rejects={data.rejects} isSigned={day.signedOffAt !== null} />
      )}
      {data.bookings !== null && <DayBookingsCard date={data.date} bookings={data.bookings} />}
      {!day.isRestated && moved}
      <TableCard head="day.pulls" none="day.pullsEmpty" columns={PULL_COLUMNS} rows={data.pulls}>
        <p class="quiet small">{text('day.countsHelp')}</p>
      </TableCard>
      {day.contentDigest !== null && (
        <p class="quiet small">
          {text('day.digest')}: <span class="mono">{day.contentDigest}</span>.{' '}
          {text('day.digestHelp')}
        </p>
      )}
    </>
  );
}

function HeldBanner({ day, hold }: { readonly day: LedgerDay; readonly hold: Hold }) {
  const context = usePage();
  const { text, formats } = context;
  const pull = String(day.heldPullId);
  // Titles that cannot be read cannot be released, so this banner has no link.
  if (hold.reason === 'unreadable') {
    return (
      <Banner look="held" title={text('day.unreadableTitle', { count: hold.titles })}>
        <p>{text('day.unreadable', { pull })}</p>
        {hold.faults.length > 0 && (
          <ul class="small">
            {hold.faults.map((fault) => (
              <li key={fault}>{reasonsText(text, fault)}</li>
            ))}
          </ul>
        )}
      </Banner>
    );
  }
  return (
    <Banner look="held" title={text('day.heldTitle')}>
      <p>
        {holdText(context, hold, day.titles)}{' '}
        {text('day.held', {
          pull,
          response: formats.count(hold.titles),
          titles: formats.count(day.titles),
        })}
      </p>
      {RELEASE.isOffered(context) ? (
        <a class="button" href={`/pulls/${pull}/release`}>
          {text('day.review')}
        </a>
      ) : (
        <p class="quiet">{text('day.waitsForOperator')}</p>
      )}
    </Banner>
  );
}

const PULL_COLUMNS: readonly Column<DayPull>[] = [
  {
    name: 'pull',
    head: 'day.pullNumber',
    value: ({ id }) => String(id),
    isHead: true,
  },
  { name: 'origin', head: 'day.origin', word: ({ origin }) => `day.origins.${origin}` },
  {
    name: 'fetched',
    head: 'day.fetched',
    kind: 'instant',
    value: ({ fetchStartedAt, createdAt }) => fetchStartedAt ?? createdAt,
  },
  {
    name: 'outcome',
    head: 'day.outcome',
    word: ({ isReleased, state }) => `day.outcomes.${isReleased ? 'released' : state}`,
    note: ({ errorCode }, { text }) =>
      errorCode && (text.find(`errorCodes.${errorCode}`) ?? errorCode),
  },
  {
    name: 'counts',
    head: 'day.counts',
    value: ({ state, inserted, changed, withdrawn, restored }, { text, formats }) => {
      if (inserted === null) return null;
      const counts = [inserted, changed, withdrawn, restored]
        .map((count) => (count === null ? '–' : formats.count(count)))
        .join(' · ');
      return state === 'held' ? text('day.wouldBe', { counts }) : counts;
    },
  },
  {
    name: 'by',
    head: 'day.by',
    kind: 'author',
    value: ({ decidedBy, requestedBy }) => decidedBy ?? requestedBy,
    note: ({ reason }) => reason,
  },
];

/** The titles of a day that break the contract, with the possible actions. */
function DayRejects(props: {
  readonly date: CivilDate;
  readonly rejects: readonly DayReject[];
  /** Whether the day has a seal. Its rejects then cannot be accepted. */
  readonly isSigned: boolean;
}) {
  const context = usePage();
  const { date, rejects } = props;
  const { text, formats, principal } = context;
  const hasOpen = rejects.some(({ status }) => status === 'open');
  const isRevealed = rejects.some(({ raw }) => raw !== undefined);
  return (
    <Card title={text('day.rejects')} id="rejects">
      <ul class="timeline">
        {rejects.map((reject) => (
          <li key={reject.id}>
            <div>
              <p>{text('day.rejectNumber', { number: formats.count(reject.ordinal + 1) })}</p>
              <p class="quiet small">
                {reject.status === 'open'
                  ? text('day.rejectOpen')
                  : text('day.rejectAccepted', { name: authorText(text, reject.decidedBy ?? '') })}
                {reject.orderUid !== null && ` · ${text('titles.order')} ${reject.orderUid}`}
              </p>
            </div>
            <div>
              <ul>
                {reject.reasons.map((reason) => (
                  <li key={reason}>{reasonsText(text, reason)}</li>
                ))}
              </ul>
              {reject.reason !== null && <p class="quiet">{reject.reason}</p>}
              {reject.raw !== undefined && (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
                <pre class="raw mono" tabIndex={0}>
                  {reject.raw}
                </pre>
              )}
            </div>
          </li>
        ))}
      </ul>
      {hasOpen && props.isSigned && <p class="quiet small">{text('day.acceptSigned')}</p>}
      <div class="buttons">
        {!isRevealed && maySeePersonalData(principal?.role ?? 'viewer') && (
          <Disclosure label={text('day.showRaw')}>
            <ActionForm action={`/days/${date}`}>
              <p class="small">{text('day.showRawHelp')}</p>
              <Submit>{text('day.showRaw')}</Submit>
            </ActionForm>
          </Disclosure>
        )}
        {hasOpen && !props.isSigned && (
          <ACCEPT_REJECTS.Form
            values={{ date }}
            button={text('day.accept')}
            look="primary"
            help={text('day.acceptHelp')}
            isFolded
          />
        )}
      </div>
    </Card>
  );
}

function DayActions(props: { readonly date: CivilDate; readonly day: LedgerDay | null }) {
  const { date, day } = props;
  const { text, formats } = usePage();
  return (
    <div class="buttons">
      <PULL_DAY.Form
        values={{ date }}
        button={text(day === null ? 'day.pullFirst' : 'day.pull')}
        {...(day !== null && { help: text('day.pullHelp') })}
        class="buttons"
      />
      {day !== null && (
        <a class="button" href={`/titles?from=${date}&to=${date}`}>
          {text('day.titles')} ({formats.count(day.titles)})
        </a>
      )}
    </div>
  );
}

function DayHead(props: { readonly date: CivilDate; readonly day: LedgerDay | null }) {
  const { date, day } = props;
  const { text, formats } = usePage();
  return (
    <>
      <nav class="crumbs" aria-label={text('nav.days')}>
        <a href={`/days/${addDays(date, -1)}`}>← {text('day.previous')}</a>
        <a href={`/days/${addDays(date, 1)}`}>{text('day.next')} →</a>
      </nav>
      <div class="day-head">
        <h1>{formats.longDate(date)}</h1>
        <StateBadge look={lookOf(day)} />
        {day !== null && lookOf(day) !== 'restated' && day.isRestated && (
          <StateBadge look="restated" />
        )}
        {day !== null && (
          <p class="quiet small">
            {day.verifiedAt === null
              ? text('day.never')
              : text('day.verified', { at: formats.instant(day.verifiedAt) })}
          </p>
        )}
      </div>
    </>
  );
}

async function readDayPulls(database: Database, date: CivilDate) {
  const pulls = await database.prisma.pull.findMany({
    where: { date },
    orderBy: { id: 'desc' },
    take: PULLS_SHOWN,
  });
  return pulls.map((pull) => ({
    ...pull,
    id: Number(pull.id),
    origin: pull.origin as PullOrigin,
    state: pull.state as PullState,
    /** Whether a person released it. */
    isReleased: pull.decidedAt !== null,
  }));
}

type DayPull = Awaited<ReturnType<typeof readDayPulls>>[number];

/** Returns the rejects of a date, open ones first. `raw` is personal data, and absent unless requested. */
async function readDayRejects(database: Database, date: CivilDate, withRaw: boolean) {
  const rejects = await database.prisma.rejectedTitle.findMany({
    where: { date, status: { not: 'resolved' } },
    omit: { raw: !withRaw },
    orderBy: [{ status: 'desc' }, { ordinal: 'asc' }],
    take: REJECTS_SHOWN,
  });
  return rejects.map((reject) => ({
    ...reject,
    id: Number(reject.id),
    status: reject.status as 'open' | 'accepted',
  }));
}

type DayReject = Awaited<ReturnType<typeof readDayRejects>>[number];
