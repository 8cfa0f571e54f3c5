import type { AuditRow } from '../../../base/audit/audit.ts';
import type { ChainLink } from '../../../base/audit/audit-chain.sql.ts';
import { namesIn } from '../../../base/texts/texts.ts';
import { type CivilDate, parseCivilDate } from '../../../base/values/business-day.ts';
import { DataTable } from '../../../console/shell/data-table.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { Author, DayCell, InstantCell } from '../../../console/shell/parts.tsx';

export function AuditPage(props: {
  readonly entries: readonly AuditRow[];
  /** Null: the entries of all days. */
  readonly date: CivilDate | null;
  readonly isFirst: boolean;
  /** The newest link of the log's chain; null: the log is empty. */
  readonly head: ChainLink | null;
  /** The next page shows entries with smaller ids; null: no next page. */
  readonly older: number | null;
}) {
  const { entries, date, head } = props;
  const { text, formats } = usePage();
  const day = date === null ? '' : `date=${date}&`;
  return (
    <>
      <h1>
        {date === null ? text('audit.title') : text('audit.of', { date: formats.date(date) })}
      </h1>
      {head !== null && (
        <p class="quiet small">
          {text('audit.chained', { entries: head.position })}{' '}
          <span class="mono">{`${head.position}:${head.hash}`}</span>
        </p>
      )}
      <section class="card">
        {entries.length === 0 ? (
          <p class="quiet">{text('audit.none')}</p>
        ) : (
          <DataTable
            label={text('audit.title')}
            heads={[
              text('audit.at'),
              text('audit.actor'),
              text('audit.action'),
              text('audit.date'),
              text('audit.pull'),
              text('audit.reason'),
            ]}
          >
            {entries.map((entry) => (
              <tr key={entry.id}>
                <InstantCell at={entry.at} />
                <th scope="row">
                  <Author name={entry.actor} />
                </th>
                <td>
                  {text.find(`audit.actions.${entry.action}`) ?? entry.action}
                  <Details entry={entry} />
                </td>
                <DayCell date={entry.date} />
                <td class="number">{entry.pullId ?? ''}</td>
                <td>{entry.reason ?? ''}</td>
              </tr>
            ))}
          </DataTable>
        )}
        {(!props.isFirst || props.older !== null) && (
          <nav class="pager" aria-label={text('audit.title')}>
            {!props.isFirst && (
              <a href={`/audit${date === null ? '' : `?date=${date}`}`}>{text('audit.newest')}</a>
            )}
            {props.older !== null && (
              <a href={`/audit?${day}before=${props.older}`}>{text('audit.older')} →</a>
            )}
          </nav>
        )}
      </section>
    </>
  );
}

const LABELLED = namesIn('audit.details');

/** The values that have a label, in the order of the labels. The database has the others. */
function Details({ entry }: { entry: AuditRow }) {
  const context = usePage();
  const { details } = entry;
  if (typeof details !== 'object' || details === null) return null;
  const values = new Map<string, unknown>(Object.entries(details));
  const { text } = context;
  const show = (name: string, value: unknown): string => {
    if (typeof value === 'boolean') return text(value ? 'title.yes' : 'title.no');
    if (Array.isArray(value)) return value.map((item) => show(name, item)).join(', ');
    if (typeof value === 'number' && !name.endsWith('Id')) return context.formats.count(value);
    if (name === 'month') return context.formats.month(String(value));
    const date = typeof value === 'string' ? parseCivilDate(value) : null;
    if (date !== null) return context.formats.date(date);
    const words: Readonly<Record<string, string | null>> = {
      check: text.find(`checks.names.${value}`),
      role: text.find(`roles.${value}`),
      scopes: text.find(`users.scopeNames.${value}`),
      reason: text.find(`audit.refusals.${value}`),
      secondFactor: text.find(`audit.secondFactors.${value}`),
    };
    return words[name] ?? String(value);
  };
  const shown = LABELLED.filter((name) => (values.get(name) ?? null) !== null)
    // Options that an export did not use are left out.
    .filter((name) => name !== 'includeWithdrawn' || values.get(name) === true)
    .map((name) => ({
      label: text.find(`audit.details.${name}`),
      value: show(name, values.get(name)),
    }))
    .filter(({ value }) => value !== '')
    .map(({ label, value }) => `${label} ${value}`);
  return shown.length === 0 ? null : <p class="quiet small anywhere">{shown.join(' · ')}</p>;
}
