import { Type } from 'typebox';
import { capitalised } from '../../../base/texts/texts.ts';
import { id } from '../../../console/api/schema-parts.ts';
import { declareAction, reason } from '../../../console/declare.tsx';
import { type Column, TableCard, type Words } from '../../../console/list/columns.tsx';
import { anyOf, asTabs, choice } from '../../../console/list/filter.tsx';
import { declareList, inTwo } from '../../../console/list/list.tsx';
import { Card } from '../../../console/shell/parts.tsx';
import { REVIEW, STAFF } from '../../../console/shell/route-access.ts';
import { acknowledgeFindings, readAlertedFindings } from '../../verify/verify.sql.ts';
import {
  ALERT_STATES,
  AlertRow,
  acknowledgeDrift,
  countAlerts,
  type Drift,
  readAlerts,
  readOpenDrift,
} from '../alert-list.sql.ts';
import { ALERT_KINDS, nextStepOf } from '../alerts.sql.ts';

const sentenceOf = ({ message, messagePt }: AlertRow, { language }: Words) =>
  `${capitalised(language === 'en' ? message : messagePt)}.`;

const COLUMNS: readonly Column<AlertRow>[] = [
  {
    name: 'kind',
    head: 'alerts.kind',
    // A later version may have raised it.
    value: ({ kind }, { text }) => text.find(`alerts.kinds.${kind}`) ?? kind,
    isHead: true,
  },
  {
    name: 'message',
    head: 'alerts.message',
    value: sentenceOf,
    cell: (alert, page) => {
      const { text } = page;
      const step = alert.resolvedAt === null ? nextStepOf(text, alert) : null;
      return (
        <div class="prose">
          <p>{sentenceOf(alert, page)}</p>
          {step !== null && <p class="quiet small">{text('alerts.nextStep', { step })}</p>}
        </div>
      );
    },
  },
  { name: 'date', head: 'alerts.date', kind: 'day' },
  { name: 'raised_at', head: 'alerts.raised', kind: 'instant' },
  { name: 'resolved_at', head: 'alerts.resolved', kind: 'instant' },
];

const STATES = { open: 'alerts.open', over: 'alerts.over', all: 'alerts.all' } as const;

/** Alerts, and what raises them and is acknowledged here. */
export const ALERT_LIST = declareList(AlertRow, {
  name: 'alerts',
  path: '/alerts',
  active: '/alerts',
  filter: {
    state: asTabs(choice('alerts.state', ALERT_STATES, 'open', (state) => STATES[state])),
    kind: anyOf('alerts.kind', ALERT_KINDS, (kind) => `alerts.kinds.${kind}`),
  },
  columns: COLUMNS,
  read: inTwo(countAlerts, readAlerts),
  api: { tag: 'alerts', operationId: 'listAlerts', summary: 'Alerts' },
  layout: async ({ database }) => {
    const [drift, altered] = await Promise.all([
      readOpenDrift(database),
      readAlertedFindings(database),
    ]);
    return ({ page: { text, formats }, head, filter, table }) => (
      <>
        {head}
        {filter}
        {table}
        {/* Without values, because one may be personal data. They are in the table `drift`. */}
        <TableCard
          id="drift"
          head="drift.title"
          help="drift.help"
          columns={DRIFT_COLUMNS}
          rows={drift.items}
        >
          <ACKNOWLEDGE_DRIFT.Form
            values={{ digest: drift.digest }}
            button={text('drift.acknowledge')}
            look="primary"
            isFolded
          >
            <p class="small">{text('drift.acknowledgeHelp')}</p>
          </ACKNOWLEDGE_DRIFT.Form>
        </TableCard>
        {/* The alerts name the dates and titles; `conciliation verify` lists each difference. */}
        {altered !== null && (
          <Card title={text('altered.title')} id="altered">
            <p>{text('altered.found', { findings: formats.count(altered.findings) })}</p>
            <ACKNOWLEDGE_ALTERED.Form
              values={{ newest: altered.newestId }}
              button={text('altered.acknowledge')}
              look="primary"
              isFolded
            >
              <p class="small">{text('altered.acknowledgeHelp')}</p>
            </ACKNOWLEDGE_ALTERED.Form>
          </Card>
        )}
      </>
    );
  },
});

const ACKNOWLEDGE_DRIFT = declareAction({
  path: '/drift/acknowledge',
  who: STAFF,
  /** The digest of the list that the page has shown. */
  input: { digest: Type.Optional(Type.String()), reason },
  deed: ({ database }, { digest: seenDigest = '', reason }, by) =>
    acknowledgeDrift(database, { by, reason, seenDigest }),
  next: () => '/alerts',
  notice: 'drift_acknowledged',
});

const ACKNOWLEDGE_ALTERED = declareAction({
  path: '/alterations/acknowledge',
  who: REVIEW,
  /** The newest finding that the page has shown. */
  input: { newest: id, reason },
  deed: ({ database }, { newest, reason }, by) =>
    acknowledgeFindings(database, BigInt(newest), { by, reason }),
  next: () => '/alerts',
  notice: 'alterations_acknowledged',
});

export const ACKNOWLEDGEMENTS = [ACKNOWLEDGE_DRIFT, ACKNOWLEDGE_ALTERED];

const DRIFT_COLUMNS: readonly Column<Drift>[] = [
  {
    name: 'path',
    head: 'drift.path',
    cell: ({ path }) => <span class="mono">{path}</span>,
    isHead: true,
  },
  {
    name: 'kind',
    head: 'alerts.kind',
    value: ({ kind, names }, { text, formats }) =>
      text(`drift.kinds.${kind}`) + (names > 1 ? ` × ${formats.count(names)}` : ''),
  },
  { name: 'first_seen_at', head: 'drift.firstSeen', kind: 'instant' },
  { name: 'pull', head: 'audit.pull', value: ({ pullId }) => String(pullId) },
];
