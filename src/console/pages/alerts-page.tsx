import type { AlertRow } from '../../staging/alert-list.ts';
import type { PageContext } from '../page-context.ts';
import { DataTable } from './data-table.tsx';
import { Card, DayLink, Instant } from './parts.tsx';

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
  const sentences: Readonly<Record<string, string>> | null = text.alerts.sentences;
  return (
    <DataTable
      label={props.label}
      heads={[
        text.alerts.kind,
        text.audit.date,
        text.alerts.message,
        text.alerts.raised,
        ...(props.isOver ? [text.alerts.resolved] : []),
      ]}
    >
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
          <td class="prose">
            {sentences?.[alert.kind] !== undefined && <p>{sentences[alert.kind]}</p>}
            <p lang="en" class={sentences === null ? '' : 'quiet small'}>
              {alert.message}
            </p>
          </td>
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
    </DataTable>
  );
}
