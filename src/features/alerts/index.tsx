import { type Static, Type } from 'typebox';
import { readChainHead } from '../../base/audit/audit-chain.sql.ts';
import { capitalised, namesIn, type TextKey } from '../../base/texts/texts.ts';
import { parseCivilDate } from '../../base/values/business-day.ts';
import { dateOrNull, id, instant, orNull } from '../../console/api/schema-parts.ts';
import { declareAction, reason } from '../../console/declare.tsx';
import { type Column, TableCard, type Words } from '../../console/list/columns.tsx';
import {
  anyOf,
  asTabs,
  choice,
  dateField,
  type FilterOf,
  textField,
} from '../../console/list/filter.tsx';
import { declareList, inTwo } from '../../console/list/list.tsx';
import type { Feature } from '../../console/shell/console-parts.ts';
import { Card } from '../../console/shell/parts.tsx';
import { REVIEW, STAFF } from '../../console/shell/route-access.ts';
import { acknowledgeFindings, readAlertedFindings } from '../verify/verify.sql.ts';
import {
  ALERT_STATES,
  AlertRow,
  acknowledgeDrift,
  countAlerts,
  type Drift,
  readAlerts,
  readOpenDrift,
} from './alert-list.sql.ts';
import { ALERT_KINDS, nextStepOf } from './alerts.sql.ts';
import { deliveryPartsOf, startAlertLoop } from './deliveries.sql.ts';

const sentenceOf = ({ message, messagePt }: AlertRow, { language }: Words) =>
  `${capitalised(language === 'en' ? message : messagePt)}.`;

const ALERT_COLUMNS: readonly Column<AlertRow>[] = [
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
const ALERT_LIST = declareList(AlertRow, {
  name: 'alerts',
  path: '/alerts',
  active: '/alerts',
  filter: {
    state: asTabs(choice('alerts.state', ALERT_STATES, 'open', (state) => STATES[state])),
    kind: anyOf('alerts.kind', ALERT_KINDS, (kind) => `alerts.kinds.${kind}`),
  },
  columns: ALERT_COLUMNS,
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

const ACKNOWLEDGEMENTS = [ACKNOWLEDGE_DRIFT, ACKNOWLEDGE_ALTERED];

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

const AuditEntry = Type.Object({
  id,
  at: instant,
  actor: Type.String(),
  action: Type.String(),
  date: dateOrNull,
  pullId: orNull('integer'),
  reason: orNull('string'),
  details: Type.Unknown(),
});
type AuditEntry = Readonly<Static<typeof AuditEntry>>;

const AUDIT_FILTER = {
  actor: textField('audit.actor'),
  action: anyOf(
    'audit.action',
    namesIn('audit.actions'),
    (name) => `audit.actions.${name}` as TextKey,
  ),
  date: dateField('audit.date'),
};

type AuditFilter = FilterOf<typeof AUDIT_FILTER>;

const selected = ({ actor, action, date }: AuditFilter) => ({
  where: {
    ...(actor !== null && { actor: { contains: actor, mode: 'insensitive' as const } }),
    ...(action !== null && { action }),
    ...(date !== null && { date }),
  },
});

const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  { name: 'at', head: 'audit.at', kind: 'instant' },
  {
    name: 'actor',
    head: 'audit.actor',
    kind: 'author',
    isHead: true,
  },
  {
    name: 'action',
    head: 'audit.action',
    value: ({ action }, { text }) => text.find(`audit.actions.${action}`) ?? action,
    note: detailsText,
  },
  { name: 'details', head: 'audit.values', value: detailsText, only: 'file' },
  { name: 'date', head: 'audit.date', kind: 'day' },
  {
    name: 'pull',
    head: 'audit.pull',
    value: ({ pullId }) => (pullId === null ? '' : String(pullId)),
  },
  { name: 'reason', head: 'audit.reason', value: ({ reason }) => reason ?? '' },
];

/** The audit log, newest first. */
const AUDIT_LIST = declareList(AuditEntry, {
  name: 'audit',
  path: '/audit',
  active: '/audit',
  filter: AUDIT_FILTER,
  columns: AUDIT_COLUMNS,
  rowsPerPage: 100,
  read: inTwo(
    async (tx, filter: AuditFilter) => ({ rows: await tx.auditEntry.count(selected(filter)) }),
    async (tx, filter, { offset, limit }) => {
      const place = { orderBy: { id: 'desc' }, skip: offset, take: limit } as const;
      const entries = await tx.auditEntry.findMany({ ...selected(filter), ...place });
      return entries.map(({ id, pullId, ...entry }) => ({
        ...entry,
        id: Number(id),
        pullId: pullId === null ? null : Number(pullId),
      }));
    },
  ),
  api: {
    tag: 'audit',
    operationId: 'listAuditEntries',
    summary: 'The audit log, newest first',
  },
  layout: async ({ database }) => {
    const chain = await readChainHead(database);
    return ({ page: { text }, head, filter, table }) => (
      <>
        {head}
        {chain !== null && (
          <p class="quiet small">
            {text('audit.chained', { entries: chain.position })}{' '}
            <span class="mono">{`${chain.position}:${chain.hash}`}</span>
          </p>
        )}
        {filter}
        {table}
      </>
    );
  },
});

const LABELLED = namesIn('audit.details');

/** The values that have a label, in the order of the labels. The database has the others. */
function detailsText({ details }: AuditEntry, { text, formats }: Words): string {
  if (typeof details !== 'object' || details === null) return '';
  const values = new Map<string, unknown>(Object.entries(details));
  const show = (name: string, value: unknown): string => {
    if (typeof value === 'boolean') return text(value ? 'title.yes' : 'title.no');
    if (Array.isArray(value)) return value.map((item) => show(name, item)).join(', ');
    if (typeof value === 'number' && !/Ids?$/.test(name)) return formats.count(value);
    if (name === 'month') return formats.month(String(value));
    const date = typeof value === 'string' ? parseCivilDate(value) : null;
    if (date !== null) return formats.date(date);
    const known: Readonly<Record<string, string | null>> = {
      check: text.find(`checks.names.${value}`),
      kind: text.find(`matching.kinds.${value}`),
      code: text.find(`matching.codes.${value}`),
      list: text.find(`lists.${value}.title`),
      role: text.find(`roles.${value}`),
      scopes: text.find(`users.scopeNames.${value}`),
      reason: text.find(`audit.refusals.${value}`),
      secondFactor: text.find(`audit.secondFactors.${value}`),
    };
    return known[name] ?? String(value);
  };
  return (
    LABELLED.filter((name) => (values.get(name) ?? null) !== null)
      // Options that an export did not use are left out.
      .filter((name) => name !== 'includeWithdrawn' || values.get(name) === true)
      .map((name) => [text.find(`audit.details.${name}`), show(name, values.get(name))])
      .filter(([, value]) => value !== '')
      .map(([label, value]) => `${label} ${value}`)
      .join(' · ')
  );
}

export const alerts: Feature = {
  name: 'alerts',
  lists: [ALERT_LIST, AUDIT_LIST],
  actions: ACKNOWLEDGEMENTS,
  loops: (parts) => [startAlertLoop(deliveryPartsOf(parts), parts.everyMs)],
};
