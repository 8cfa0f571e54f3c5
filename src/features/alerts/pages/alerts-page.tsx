import { capitalised } from '../../../base/values/display-text.ts';
import { DataTable } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging } from '../../../console/shell/paging.tsx';
import {
  ActionForm,
  Card,
  DayCell,
  Disclosure,
  InstantCell,
  Submit,
} from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import type { OpenDrift } from '../../../core/ledger/drift.sql.ts';
import type { AlertRow, AlertState } from '../alert-list.sql.ts';

const DRIFT_SHOWN = 100;

export function AlertsPage(props: {
  readonly lists: Readonly<Record<AlertState, Paging>>;
  readonly alerts: Readonly<Record<AlertState, readonly AlertRow[]>>;
  readonly drift: OpenDrift;
  readonly altered: { readonly findings: number; readonly newestId: bigint } | null;
}) {
  const { lists, drift, altered } = props;
  const { text } = usePage();
  const { open, over } = props.alerts;
  const hrefOf = (pages: Readonly<Record<AlertState, number>>) =>
    `/alerts?open=${pages.open}&over=${pages.over}`;
  const [openPage, overPage] = [lists.open.page, lists.over.page];
  return (
    <>
      <h1>{text('alerts.title')}</h1>
      <Card title={text('alerts.open')}>
        {open.length === 0 ? (
          <p class="quiet">{text('alerts.none')}</p>
        ) : (
          <>
            <AlertTable label={text('alerts.open')} alerts={open} isOver={false} />
            <Pager
              label={text('alerts.open')}
              paging={lists.open}
              hrefOf={(page) => hrefOf({ open: page, over: overPage })}
            />
          </>
        )}
      </Card>
      {drift.items.length > 0 && <DriftCard drift={drift} />}
      {altered !== null && <AlteredCard {...altered} />}
      <Card title={text('alerts.over')}>
        {over.length === 0 ? (
          <p class="quiet">{text('alerts.noneOver')}</p>
        ) : (
          <>
            <AlertTable label={text('alerts.over')} alerts={over} isOver />
            <Pager
              label={text('alerts.over')}
              paging={lists.over}
              hrefOf={(page) => hrefOf({ open: openPage, over: page })}
            />
          </>
        )}
      </Card>
    </>
  );
}

/** Shows no values, because one may be personal data. They are in the table `drift`. */
function DriftCard({ drift }: { drift: OpenDrift }) {
  const context = usePage();
  const { text, formats } = context;
  const role = context.principal?.role ?? 'viewer';
  const shown = drift.items.slice(0, DRIFT_SHOWN);
  const hidden = drift.items.length - shown.length;
  return (
    <Card title={text('drift.title')} id="drift">
      <p class="quiet">{text('drift.help')}</p>
      <DataTable
        label={text('drift.title')}
        heads={[
          text('drift.path'),
          text('alerts.kind'),
          text('drift.firstSeen'),
          text('audit.pull'),
        ]}
      >
        {shown.map((item) => (
          <tr key={`${item.kind} ${item.path} ${item.value}`}>
            <th scope="row" class="mono">
              {item.path}
            </th>
            <td>
              {text(`drift.kinds.${item.kind}`)}
              {item.names > 1 && ` × ${formats.count(item.names)}`}
            </td>
            <InstantCell at={item.firstSeenAt} />
            <td class="number">{item.pullId}</td>
          </tr>
        ))}
      </DataTable>
      {hidden > 0 && <p class="quiet">{text('days.more', { count: formats.count(hidden) })}</p>}
      {mayUse(role, 'POST', '/drift/acknowledge') && (
        <Disclosure label={text('drift.acknowledge')}>
          <ActionForm action="/drift/acknowledge">
            <input type="hidden" name="digest" value={drift.digest} />
            <p class="small">{text('drift.acknowledgeHelp')}</p>
            <Field label={text('day.reason')}>
              <input name="reason" required maxLength={500} />
            </Field>
            <Submit class="primary">{text('drift.acknowledge')}</Submit>
          </ActionForm>
        </Disclosure>
      )}
    </Card>
  );
}

/** The alerts name the dates and titles; `conciliation verify` lists each difference. */
function AlteredCard({ findings, newestId }: { findings: number; newestId: bigint }) {
  const { principal, text, formats } = usePage();
  return (
    <Card title={text('altered.title')} id="altered">
      <p>{text('altered.found', { findings: formats.count(findings) })}</p>
      {mayUse(principal?.role ?? 'viewer', 'POST', '/alterations/acknowledge') && (
        <Disclosure label={text('altered.acknowledge')}>
          <ActionForm action="/alterations/acknowledge">
            <input type="hidden" name="newest" value={String(newestId)} />
            <p class="small">{text('altered.acknowledgeHelp')}</p>
            <Field label={text('day.reason')}>
              <input name="reason" required maxLength={500} />
            </Field>
            <Submit class="primary">{text('altered.acknowledge')}</Submit>
          </ActionForm>
        </Disclosure>
      )}
    </Card>
  );
}

function AlertTable(props: {
  readonly label: string;
  readonly alerts: readonly AlertRow[];
  readonly isOver: boolean;
}) {
  const context = usePage();
  const { text } = context;
  return (
    <DataTable
      label={props.label}
      heads={[
        text('alerts.message'),
        text('alerts.date'),
        text('alerts.raised'),
        ...(props.isOver ? [text('alerts.resolved')] : []),
      ]}
    >
      {props.alerts.map((alert) => (
        <tr key={alert.id}>
          <td class="prose">
            <p>
              <span class={`tag ${props.isOver ? '' : 'is-changed'}`}>
                {text.find(`alerts.kinds.${alert.kind}`) ?? alert.kind}
              </span>
            </p>
            <p>{capitalised(context.language === 'pt-BR' ? alert.messagePt : alert.message)}.</p>
            {!props.isOver && <NextStep kind={alert.kind} />}
          </td>
          <DayCell date={alert.date} />
          <InstantCell at={alert.raisedAt} />
          {props.isOver && <InstantCell at={alert.resolvedAt} />}
        </tr>
      ))}
    </DataTable>
  );
}

function NextStep({ kind }: { readonly kind: string }) {
  const { text } = usePage();
  const step = text.find(`alerts.nextSteps.${kind}`);
  return step === null ? null : <p class="quiet small">{text('alerts.nextStep', { step })}</p>;
}
