import { addDays, type CivilDate } from '../../../base/values/business-day.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { lookOf, StateBadge } from '../../../console/shell/parts.tsx';
import type { LedgerDay } from '../ledger-days.sql.ts';

/** The head of both pages of a day. */
export function DayHead(props: {
  readonly date: CivilDate;
  readonly day: LedgerDay | null;
  readonly active: 'overview' | 'titles';
}) {
  const { date, day } = props;
  const { text, formats } = usePage();
  const tabs = [
    ['overview', `/days/${date}`, text('day.overview')],
    ['titles', `/days/${date}/titles`, text('day.titles')],
  ] as const;
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
