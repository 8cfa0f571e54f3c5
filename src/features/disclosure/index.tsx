import { Type } from 'typebox';
import type { TextKey } from '../../base/texts/texts.ts';
import {
  addDays,
  lastClosedDate,
  parseCivilDate,
  toCivilDate,
} from '../../base/values/business-day.ts';
import type { Column } from '../../console/list/columns.tsx';
import { dateField } from '../../console/list/filter.tsx';
import { declareList } from '../../console/list/list.tsx';
import { type Feature, todayOf } from '../../console/shell/console-parts.ts';
import { maskAgent } from '../../console/shell/masking.ts';
import { Card } from '../../console/shell/parts.tsx';
import { joinWholeSets } from '../matching/breaks.sql.ts';
import { readDoubtfulDates } from '../titles/export-titles.sql.ts';
import { DisclosureRow, type DisclosureRow as Row, readDisclosure } from './disclosure.sql.ts';

const COLUMNS: readonly Column<Row>[] = [
  { name: 'date', head: 'disclosure.date', kind: 'date' },
  {
    name: 'company',
    head: 'balance.company',
    value: ({ company }, { text }) =>
      company === null ? text('disclosure.all') : company || text('balance.unnamed'),
    isHead: true,
  },
  {
    name: 'liabilities',
    head: 'disclosure.liabilities',
    word: ({ liabilities }) => `disclosure.kinds.${liabilities}`,
  },
  {
    name: 'agent',
    head: 'balance.agent',
    value: ({ liabilities, company, agent }, { text }) => {
      if (liabilities === 'comparable') return null;
      return company === null ? text('list.sum') : agent || text('balance.unnamed');
    },
  },
  { name: 'number', head: 'disclosure.number', kind: 'count' },
  { name: 'value', head: 'disclosure.value', kind: 'amount' },
  {
    name: 'received',
    head: 'disclosure.received',
    value: ({ liabilities, number }, { text }) =>
      liabilities === 'anticipated' && number > 0 ? text('disclosure.unknown') : null,
  },
  { name: 'shortest', head: 'disclosure.shortest', kind: 'count' },
  { name: 'longest', head: 'disclosure.longest', kind: 'count' },
  { name: 'undated', head: 'disclosure.undated', kind: 'count' },
];

const reportingDate = (label: TextKey, description: string) => ({
  ...dateField(label),
  schema: Type.Unsafe({ type: 'string', format: 'date', description }),
});

/** The figures of two reporting dates, and what they do not say. */
const DISCLOSURE = declareList(DisclosureRow, {
  name: 'disclosure',
  path: '/disclosure',
  active: '/disclosure',
  filter: {
    beginning: reportingDate('disclosure.beginning', 'Default: the end of the year before `end`.'),
    end: reportingDate('disclosure.end', 'Default: the end of the last month.'),
  },
  fill: (filter, parts) => {
    const end = filter.end ?? addDays(toCivilDate(`${todayOf(parts).slice(0, 7)}-01`), -1);
    const year = String(Number(end.slice(0, 4)) - 1).padStart(4, '0');
    return { end, beginning: filter.beginning ?? parseCivilDate(`${year}-12-31`) ?? end };
  },
  columns: COLUMNS,
  read: async (tx, { beginning, end }, { offset, limit }) => {
    const dates = [beginning, end].filter((date) => date !== null);
    await joinWholeSets(tx);
    const rows = await readDisclosure(tx, dates);
    const first = await tx.day.findFirst({ orderBy: { date: 'asc' }, select: { date: true } });
    return {
      /** from: the first date of the ledger. Null: it has none. */
      total: { rows: rows.length, from: first?.date ?? null },
      rows: rows.slice(offset, offset + limit),
    };
  },
  mask: maskAgent,
  api: {
    tag: 'payables',
    operationId: 'listSupplierFinance',
    summary: 'Figures for the note on supplier finance arrangements (IAS 7, 44H(b)), at two dates',
  },
  layout: async (parts, { end }) => {
    const { database, timeZone } = parts;
    const until = lastClosedDate(timeZone, parts.now?.() ?? new Date());
    const doubtful = await readDoubtfulDates(database, { from: null, to: end }, until);
    return ({ page: { text, formats }, head, filter, table, total: { from } }) => (
      <>
        {head}
        {filter}
        {table}
        <Card title={text('disclosure.meaning')}>
          <ul>
            {from !== null && (
              <li>{text('disclosure.known', { date: formats.date(from), dates: doubtful })}</li>
            )}
            {LIMITS.map((limit) => (
              <li key={limit}>{text(`disclosure.limits.${limit}`)}</li>
            ))}
          </ul>
        </Card>
      </>
    );
  },
});

const LIMITS = [
  'counted',
  'ended',
  'value',
  'paid',
  'programme',
  'comparable',
  'term',
  'elsewhere',
] as const;

export const disclosure: Feature = { name: 'disclosure', lists: [DISCLOSURE] };
