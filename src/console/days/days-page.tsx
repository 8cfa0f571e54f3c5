import { headlineOf } from '../../alerts/headline.ts';
import type { OpenItems } from '../../alerts/open-items.sql.ts';
import type { LedgerDay, Need, NeedCounts } from '../../ledger/ledger-days.sql.ts';
import type { CompleteSweep } from '../../sweep/sweeps.sql.ts';
import type { Badges } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { Banner, Card, DayLink, type DayLook, Metric, StateIcon } from '../shell/parts.tsx';
import { Calendar } from './calendar.tsx';

export interface DaysPageData {
  readonly items: OpenItems;
  /** The newest complete sweep. */
  readonly sweep: CompleteSweep | null;
  /** `YYYY-MM`: the shown months, in order. */
  readonly months: readonly string[];
  readonly days: readonly LedgerDay[];
  readonly badges: Badges;
  /** The number of days that changed after their sign-off. */
  readonly restated: number;
  readonly earlier: string | null;
  readonly later: string | null;
}

const NEED_LOOKS: Readonly<Record<Need, DayLook>> = {
  failed: 'failed',
  restated: 'restated',
  held: 'held',
  attention: 'attention',
  sign_off: 'reconciled',
};

/** The page that lists all days with the need, where there is one. */
const NEED_LISTS: Readonly<Partial<Record<Need, string>>> = {
  restated: '/restated',
  sign_off: '/sign-offs',
};

export function DaysPage({ data }: { data: DaysPageData }) {
  const context = usePage();
  const { text } = context;
  return (
    <>
      <Headline data={data} />
      {data.badges.accountChanges > 0 && (
        <Banner
          look="attention"
          title={text('days.accountChanges', {
            count: context.formats.count(data.badges.accountChanges),
          })}
        >
          <p>
            {text('days.accountChangesHelp')}{' '}
            <a href="/account-changes">{context.text('providers.changesOpen')}</a>
          </p>
        </Banner>
      )}
      {data.items.needs.days.length > 0 && <Needs needs={data.items.needs} />}
      <Card
        title={text('days.calendar')}
        aside={
          <nav class="pager" aria-label={text('days.calendar')}>
            {data.earlier !== null && <a href={`/?to=${data.earlier}`}>← {text('days.earlier')}</a>}
            {data.later !== null && <a href={`/?to=${data.later}`}>{text('days.later')} →</a>}
            <a href="/months">{context.text('months.title')}</a>
          </nav>
        }
      >
        <Calendar months={data.months} days={data.days} />
      </Card>
    </>
  );
}

function Headline({ data }: { data: DaysPageData }) {
  const context = usePage();
  const { text, formats } = context;
  const { lastReconciledDate, lagDays, needs } = data.items;
  const headline = headlineOf(data.items, context.language);
  return (
    <section class="headline">
      <div>
        <h1>{headline.title}</h1>
        <ul class="quiet">
          {headline.lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </div>
      <dl class="metrics">
        <Metric
          label={text('days.checkpoint')}
          value={lastReconciledDate === null ? '–' : formats.date(lastReconciledDate)}
        />
        <Metric
          label={text('days.lag')}
          class={lagDays > 0 ? 'is-warning' : ''}
          value={
            lagDays === 0
              ? text('days.noLag')
              : lagDays === 1
                ? text('days.lagDay')
                : text('days.lagDays', { count: formats.count(lagDays) })
          }
        />
        <Metric
          label={text('days.lastSweep')}
          value={data.sweep === null ? text('days.noSweep') : formats.instant(data.sweep.startedAt)}
        />
        <Metric
          label={text('days.waitingToSign')}
          value={formats.count(needs.counts.sign_off)}
          href="/sign-offs"
        />
        <Metric
          label={text('days.changedSince')}
          class={data.restated > 0 ? 'is-warning' : ''}
          value={formats.count(data.restated)}
          href="/restated"
        />
        <Metric
          label={text('days.openAlerts')}
          class={data.badges.alerts > 0 ? 'is-warning' : ''}
          value={formats.count(data.badges.alerts)}
          href="/alerts"
        />
      </dl>
    </section>
  );
}

function Needs({ needs }: { needs: NeedCounts }) {
  const { text, formats } = usePage();
  const shown = new Map<Need, number>();
  for (const { need } of needs.days) shown.set(need, (shown.get(need) ?? 0) + 1);
  const kinds = [...shown.keys()];
  return (
    <Card title={text('days.needs')}>
      <ul class="needs">
        {kinds.map((need) => (
          <li key={need} class={`need is-${NEED_LOOKS[need]}`}>
            <p class="need-what">
              <StateIcon look={NEED_LOOKS[need]} />
              {text(`days.need.${need}`)}
            </p>
            <p class="need-days">
              {needs.days
                .filter((day) => day.need === need)
                .map((day) => (
                  <DayLink key={day.date} date={day.date} />
                ))}
              {needs.counts[need] > (shown.get(need) ?? 0) && (
                <More
                  text={text('days.more', {
                    count: formats.count(needs.counts[need] - (shown.get(need) ?? 0)),
                  })}
                  href={NEED_LISTS[need]}
                />
              )}
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function More(props: { readonly text: string; readonly href: string | undefined }) {
  return props.href === undefined ? (
    <span class="quiet">{props.text}</span>
  ) : (
    <a href={props.href}>{props.text}</a>
  );
}
