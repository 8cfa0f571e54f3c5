import { type Static, Type } from 'typebox';
import { readChainHead } from '../../../base/audit/audit-chain.sql.ts';
import { namesIn, type TextKey } from '../../../base/texts/texts.ts';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import { dateOrNull, id, instant, orNull } from '../../../console/api/schema-parts.ts';
import type { Column, Words } from '../../../console/list/columns.tsx';
import { anyOf, dateField, type FilterOf, textField } from '../../../console/list/filter.tsx';
import { declareList, inTwo } from '../../../console/list/list.tsx';

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

const FILTER = {
  actor: textField('audit.actor'),
  action: anyOf(
    'audit.action',
    namesIn('audit.actions'),
    (name) => `audit.actions.${name}` as TextKey,
  ),
  date: dateField('audit.date'),
};

type AuditFilter = FilterOf<typeof FILTER>;

const selected = ({ actor, action, date }: AuditFilter) => ({
  where: {
    ...(actor !== null && { actor: { contains: actor, mode: 'insensitive' as const } }),
    ...(action !== null && { action }),
    ...(date !== null && { date }),
  },
});

const COLUMNS: readonly Column<AuditEntry>[] = [
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
export const AUDIT_LIST = declareList(AuditEntry, {
  name: 'audit',
  path: '/audit',
  active: '/audit',
  filter: FILTER,
  columns: COLUMNS,
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
    if (typeof value === 'number' && !name.endsWith('Id')) return formats.count(value);
    if (name === 'month') return formats.month(String(value));
    const date = typeof value === 'string' ? parseCivilDate(value) : null;
    if (date !== null) return formats.date(date);
    const known: Readonly<Record<string, string | null>> = {
      check: text.find(`checks.names.${value}`),
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
