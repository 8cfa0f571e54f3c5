import type { CivilDate } from '../../domain/business-day.ts';
import type { AuditRow } from '../../staging/audit.ts';
import type { PageContext } from '../page-context.ts';
import { DayLink, Instant, TableFrame } from './parts.tsx';

export function AuditPage(props: {
  readonly context: PageContext;
  readonly entries: readonly AuditRow[];
  /** Null: of all days. */
  readonly date: CivilDate | null;
  readonly isFirst: boolean;
  /** The id that the next page begins before; null: there is none. */
  readonly older: number | null;
}) {
  const { context, entries, date } = props;
  const { text, formats } = context;
  const day = date === null ? '' : `date=${date}&`;
  return (
    <>
      <h1>{date === null ? text.audit.title : text.audit.of(formats.date(date))}</h1>
      <section class="card">
        {entries.length === 0 ? (
          <p class="quiet">{text.audit.none}</p>
        ) : (
          <TableFrame label={text.audit.title}>
            <table class="data">
              <thead>
                <tr>
                  <th scope="col">{text.audit.at}</th>
                  <th scope="col">{text.audit.actor}</th>
                  <th scope="col">{text.audit.action}</th>
                  <th scope="col">{text.audit.date}</th>
                  <th scope="col">{text.audit.pull}</th>
                  <th scope="col">{text.audit.reason}</th>
                </tr>
              </thead>
              <tbody>
                {entries.map((entry) => (
                  <tr key={entry.id}>
                    <td>
                      <Instant context={context} at={entry.at} />
                    </td>
                    <th scope="row">{entry.actor}</th>
                    <td>
                      {text.audit.actions[entry.action] ?? entry.action}
                      <Details details={entry.details} />
                    </td>
                    <td>
                      <DayLink context={context} date={entry.date} />
                    </td>
                    <td class="number">{entry.pullId ?? ''}</td>
                    <td>{entry.reason ?? ''}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </TableFrame>
        )}
        {(!props.isFirst || props.older !== null) && (
          <nav class="pager" aria-label={text.audit.title}>
            {!props.isFirst && (
              <a href={`/audit${date === null ? '' : `?date=${date}`}`}>{text.audit.newest}</a>
            )}
            {props.older !== null && (
              <a href={`/audit?${day}before=${props.older}`}>{text.audit.older} →</a>
            )}
          </nav>
        )}
      </section>
    </>
  );
}

/** Short values that say which; a digest is for the database. */
function Details({ details }: { readonly details: unknown }) {
  if (typeof details !== 'object' || details === null) return null;
  const shown = Object.entries(details)
    .filter(([name, value]) => value !== null && !name.endsWith('Digest'))
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return shown.length === 0 ? null : <span class="quiet small"> {shown.join(', ')}</span>;
}
