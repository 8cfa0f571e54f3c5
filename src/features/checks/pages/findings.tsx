import { Type } from 'typebox';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import { CHECK_CODES } from '../../../base/values/checks.ts';
import { id, ledgerDate, words } from '../../../console/api/schema-parts.ts';
import { declareAction, reason } from '../../../console/declare.tsx';
import { type Column, TableCard, type Words } from '../../../console/list/columns.tsx';
import { declareList, inTwo } from '../../../console/list/list.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { authorText, Card } from '../../../console/shell/parts.tsx';
import { DECIDE } from '../../../console/shell/route-access.ts';
import {
  countFindings,
  FINDING_FILTER,
  Finding,
  type FindingGroup,
  readFindings,
  readOpenFindingGroups,
  resolveFindings,
} from '../findings.sql.ts';

const COLUMNS: readonly Column<Finding>[] = [
  { name: 'accepted_date', head: 'days.date', kind: 'date', value: ({ date }) => date },
  {
    name: 'order_uid',
    head: 'title.fields.order_uid',
    href: ({ titleId }) => `/titles/${titleId}`,
    isHead: true,
  },
  { name: 'provider_external_id', head: 'title.fields.provider_external_id' },
  { name: 'original_value', head: 'amounts.original_value', kind: 'amount' },
  { name: 'check', head: 'findings.check', word: ({ code }) => `checks.names.${code}` },
  {
    name: 'compared',
    head: 'findings.compared',
    value: comparedText,
    href: ({ detail: { otherTitle } }) =>
      otherTitle === undefined ? null : `/titles/${otherTitle}`,
  },
  {
    name: 'state',
    head: 'findings.state',
    word: ({ state }) => `findings.states.${state}`,
    cell: stateText,
    note: ({ resolvedBy, reason }) => resolvedBy && reason,
  },
  {
    name: 'reason',
    head: 'day.reason',
    only: 'file',
  },
];

const GROUP_COLUMNS: readonly Column<FindingGroup>[] = [
  { name: 'date', head: 'days.date', kind: 'day', isHead: true },
  {
    name: 'check',
    head: 'findings.check',
    word: ({ code }) => `checks.names.${code}`,
    href: ({ date, code }) => FINDINGS.href({ date, check: code }),
  },
  {
    name: 'severity',
    head: 'findings.severity',
    word: ({ severity }) => `findings.severities.${severity}`,
  },
  { name: 'findings', head: 'findings.count', kind: 'count' },
];

/** The findings of the checks. With one date and one check chosen, a person resolves all of them. */
export const FINDINGS = declareList(Finding, {
  name: 'findings',
  path: '/findings',
  active: '/sign-offs',
  filter: FINDING_FILTER,
  columns: COLUMNS,
  read: inTwo(countFindings, readFindings),
  api: { tag: 'days', operationId: 'listFindings', summary: 'Findings of the checks' },
  layout: async ({ database }, filter) => {
    const groups = await readOpenFindingGroups(database, filter);
    const chosen = groups.find(({ date, code }) => date === filter.date && code === filter.check);
    return ({ page: { text, formats }, head, filter: form, table }) => (
      <>
        {head}
        <TableCard
          head="findings.states.open"
          none="findings.nothingOpen"
          columns={GROUP_COLUMNS}
          rows={groups}
        />
        {/* What a check compares, and the form that resolves its open findings on one date. */}
        {filter.check !== null && (
          <Card title={text(`checks.names.${filter.check}`)}>
            <p>{text(`checks.texts.${filter.check}`)}</p>
            {chosen !== undefined && (
              <ResolveForm
                group={chosen}
                label={text('findings.resolveAll', { count: formats.count(chosen.findings) })}
              />
            )}
          </Card>
        )}
        {form}
        {table}
      </>
    );
  },
});

/** Resolves the findings of a check on a date, or of one title, up to the newest one that the page shows. */
export const RESOLVE_FINDINGS = declareAction({
  path: '/findings',
  who: DECIDE,
  input: {
    ...{ date: ledgerDate, check: words(CHECK_CODES), newestId: id },
    titleId: Type.Optional(id),
    reason,
  },
  deed: ({ database }, { date, check: code, newestId, titleId, reason }, by) => {
    const ofTitle = titleId === undefined ? null : BigInt(titleId);
    const chosen = { date, code, newestId: BigInt(newestId), titleId: ofTitle };
    return resolveFindings(database, chosen, { by, reason });
  },
  next: ({ date, titleId }) =>
    titleId === undefined ? FINDINGS.href({ date }) : `/titles/${titleId}`,
  notice: 'findings_resolved',
});

function ResolveForm(props: {
  readonly group: Pick<FindingGroup, 'date' | 'code' | 'newestId'>;
  readonly label: string;
  /** Absent: each title. */
  readonly titleId?: number;
}) {
  const { date, code: check, newestId } = props.group;
  const { text } = usePage();
  return (
    <RESOLVE_FINDINGS.Form
      values={{ date, check, newestId, titleId: props.titleId }}
      reason={`${props.label}: ${text('day.reason')}`}
      button={text('findings.resolve')}
      help={text('findings.resolveHelp')}
    />
  );
}

const TITLE_COLUMNS: readonly Column<Finding>[] = [
  {
    name: 'check',
    head: 'findings.check',
    word: ({ code }) => `checks.names.${code}`,
    note: ({ code, severity }, { text }) =>
      `${text(`findings.severities.${severity}`)} · ${text(`checks.texts.${code}`)}`,
    isHead: true,
  },
  ...COLUMNS.filter(({ name }) => name === 'compared' || name === 'state'),
  {
    name: 'resolve',
    head: 'findings.resolve',
    cell: ({ state, date, code, id, titleId }, { text }) =>
      state === 'open' && (
        <ResolveForm
          group={{ date, code, newestId: id }}
          titleId={titleId}
          label={text('findings.resolveOne')}
        />
      ),
    only: 'page',
  },
];

export const TitleFindings = ({ findings }: { readonly findings: readonly Finding[] }) => (
  <TableCard head="findings.ofTitle" columns={TITLE_COLUMNS} rows={findings} />
);

function comparedText({ detail }: Finding, { text, formats }: Words): string | null {
  const show = (value: string) => {
    const date = parseCivilDate(value);
    if (date !== null) return formats.date(date);
    return /^-?\d+(\.\d+)?$/.test(value) ? formats.amount(value) : value;
  };
  const compared = Object.entries(detail)
    .filter(([name]) => name !== 'otherTitle')
    .map(([name, value]) => `${text.find(`findings.detail.${name}`) ?? name}: ${show(value)}`);
  return compared.join('; ') || null;
}

function stateText({ state, resolvedBy, resolvedAt }: Finding, { text, formats }: Words): string {
  if (resolvedBy === null || resolvedAt === null) return text(`findings.states.${state}`);
  const by = authorText(text, resolvedBy);
  return text('findings.resolvedBy', { by, at: formats.instant(resolvedAt) });
}
