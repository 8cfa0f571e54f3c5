import type { AlertRow } from '../../staging/alert-list.ts';
import type { PageContext } from '../page-context.ts';
import { Card, DayLink, Instant, TableFrame } from './parts.tsx';

export function AlertsPage(props: {
  readonly context: PageContext;
  readonly alerts: readonly AlertRow[];
}) {
  const { context, alerts } = props;
  const { text } = context;
  const open = alerts.filter(({ resolvedAt }) => resolvedAt === null);
  const over = alerts.filter(({ resolvedAt }) => resolvedAt !== null);
  return (
    <>
      <h1>{text.alerts.title}</h1>
      <Card title={text.alerts.open}>
        {open.length === 0 ? (
          <p class="quiet">{text.alerts.none}</p>
        ) : (
          <AlertTable context={context} label={text.alerts.open} alerts={open} isOver={false} />
        )}
      </Card>
      <Card title={text.alerts.over}>
        {over.length === 0 ? (
          <p class="quiet">{text.alerts.noneOver}</p>
        ) : (
          <AlertTable context={context} label={text.alerts.over} alerts={over} isOver />
        )}
      </Card>
    </>
  );
}

function AlertTable(props: {
  readonly context: PageContext;
  readonly label: string;
  readonly alerts: readonly AlertRow[];
  readonly isOver: boolean;
}) {
  const { context } = props;
  const { text } = context;
  // A kind that is newer than these words is shown by its own name.
  const kinds: Readonly<Record<string, string>> = text.alerts.kinds;
  return (
    <TableFrame label={props.label}>
      <table class="data">
        <thead>
          <tr>
            <th scope="col">{text.alerts.kind}</th>
            <th scope="col">{text.audit.date}</th>
            <th scope="col">{text.alerts.message}</th>
            <th scope="col">{text.alerts.raised}</th>
            {props.isOver && <th scope="col">{text.alerts.resolved}</th>}
          </tr>
        </thead>
        <tbody>
          {props.alerts.map((alert) => (
            <tr key={alert.id}>
              <th scope="row">
                <span class={`tag ${props.isOver ? '' : 'is-changed'}`}>
                  {kinds[alert.kind] ?? alert.kind}
                </span>
              </th>
              <td>
                <DayLink context={context} date={alert.date} />
              </td>
              <td lang="en">{alert.message}</td>
              <td>
                <Instant context={context} at={alert.raisedAt} />
              </td>
              {props.isOver && (
                <td>
                  <Instant context={context} at={alert.resolvedAt} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}
