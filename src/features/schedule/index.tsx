import { addDays, type CivilDate, parseCivilDate } from '../../base/values/business-day.ts';
import { maySeePersonalData } from '../../base/values/role.ts';
import { type Column, TableCard } from '../../console/list/columns.tsx';
import { dateField, type FilterOf } from '../../console/list/filter.tsx';
import { declareList, type ListTotal } from '../../console/list/list.tsx';
import { type Feature, todayOf } from '../../console/shell/console-parts.ts';
import { maskBankAccount, maskTaxId } from '../../console/shell/masking.ts';
import { usePage } from '../../console/shell/page-context.ts';
import { Card, Metric } from '../../console/shell/parts.tsx';
import { accountText, destinationText } from '../accounts/pages/account-changes-page.tsx';
import { providerHref } from '../providers/provider.ts';
import { firstDateOf, lastDateOf, monthOf } from '../review/months/month-seal.sql.ts';
import { writeMergedTotals } from './payee.sql.ts';
import {
  type DueDate,
  DueLine,
  type DueRange,
  dueRange,
  type Payee,
  readNextPayment,
  readSchedule,
  type Schedule,
} from './schedule.sql.ts';

interface PayeeProps {
  readonly payee: Payee;
}

/** The party to be paid: name, number in the ERP, tax identifier. */
export function PayeeName({ payee }: PayeeProps) {
  const { text } = usePage();
  const { kind, name, externalId, identification } = payee;
  if (kind === null) return <>{text('schedule.noPayee')}</>;
  const stated = [name, identification].filter((part) => part !== null && part !== '');
  return (
    <>
      {externalId !== null && <a href={providerHref(externalId)}>{externalId}</a>}
      {externalId !== null && stated.length > 0 && ' · '}
      {stated.join(' · ')}
      {externalId === null && stated.length === 0 && text('schedule.noParty')}
    </>
  );
}

export function PayeeAccount({ payee: { account } }: PayeeProps) {
  const page = usePage();
  const isStated = Object.values(account).some((value) => value !== null);
  return <>{isStated ? accountText(account, page) : page.text('schedule.noAccount')}</>;
}

/** Returns a payee for readers without the right to see identifiers. */
export function maskPayee({ identification, account, ...payee }: Payee): Payee {
  // The pseudonym of an erased party names no person.
  const isOpen = !identification || identification.startsWith('erased-');
  return {
    ...payee,
    identification: isOpen ? identification : maskTaxId(identification),
    account: maskBankAccount(account),
  };
}

const TOTALS_COLUMNS: readonly Column<DueDate>[] = [
  { name: 'titles', head: 'schedule.titles', kind: 'count' },
  { name: 'original_value', head: 'title.fields.original_value', kind: 'amount' },
  { name: 'waiting_titles', head: 'schedule.waitingTitles', kind: 'count' },
  { name: 'waiting_value', head: 'schedule.waitingValue', kind: 'amount', only: 'file' },
  {
    name: 'urgent_titles',
    head: 'schedule.urgentTitles',
    kind: 'count',
    cell: ({ urgentTitles }, { formats }) =>
      urgentTitles > 0 && (
        <a class="tag is-withdrawn" href="/breaks?urgency=urgent">
          {formats.count(urgentTitles)}
        </a>
      ),
  },
  { name: 'urgent_value', head: 'schedule.urgentValue', kind: 'amount', only: 'file' },
];

const DATE_COLUMNS: readonly Column<DueDate>[] = [
  {
    name: 'due_date',
    head: 'schedule.dueDate',
    kind: 'date',
    href: ({ dueDate }) => SCHEDULE.href({ dueFrom: dueDate, dueTo: dueDate }),
    isHead: true,
  },
  { name: 'business_day', head: 'calendar.businessDay', kind: 'date' },
  ...TOTALS_COLUMNS,
];

const ofPayee = (
  name: string,
  head: Column<DueLine>['head'],
  value: (payee: Payee) => string | null,
): Column<DueLine> => ({
  ...{ name, head, value: ({ payee }) => value(payee), only: 'file' },
});

/** Of the parties, of which the files have each value by itself. */
const COLUMNS: readonly Column<DueLine>[] = [
  { name: 'due_date', head: 'schedule.dueDate', kind: 'date' },
  { name: 'business_day', head: 'calendar.businessDay', kind: 'date' },
  {
    name: 'kind',
    head: 'schedule.kind',
    value: ({ payee: { kind } }, { text }) => kind && text(`schedule.kinds.${kind}`),
  },
  {
    name: 'party',
    head: 'schedule.party',
    value: ({ payee }) => payee.name,
    cell: ({ payee }) => <PayeeName payee={payee} />,
    isHead: true,
  },
  ofPayee('external_id', 'schedule.externalId', ({ externalId }) => externalId),
  ofPayee('identification', 'schedule.identification', (payee) => payee.identification),
  ofPayee('bank', 'schedule.bank', ({ account }) => account.bank),
  ofPayee('agency', 'schedule.agency', ({ account }) => account.agency),
  ofPayee('agency_digit', 'schedule.agencyDigit', ({ account }) => account.agencyDigit),
  ofPayee('account', 'schedule.account', ({ account }) => account.account),
  ofPayee('account_digit', 'schedule.accountDigit', ({ account }) => account.accountDigit),
  ofPayee('destination', 'schedule.destination', ({ account }) => destinationText(account)),
  {
    name: 'account_text',
    head: 'schedule.account',
    cell: ({ payee }) => <PayeeAccount payee={payee} />,
    only: 'page',
  },
  {
    name: 'changed',
    head: 'schedule.changed',
    value: ({ payee }, { text }) => text(payee.isChanged ? 'title.yes' : 'title.no'),
    cell: ({ payee }, { text }) =>
      payee.isChanged && (
        <a class="tag is-withdrawn" href="/account-changes">
          {text('title.yes')}
        </a>
      ),
  },
  {
    name: 'titles',
    head: 'schedule.titles',
    kind: 'count',
    cell: ({ dueDate, titleId, titles }, { text, formats }) => (
      <a
        href={titlesHref({ from: dueDate, to: dueDate }, titleId)}
        aria-label={text('schedule.openTitles', { titles: formats.count(titles) })}
      >
        {formats.count(titles)}
      </a>
    ),
  },
  ...TOTALS_COLUMNS.slice(1),
];

const dueField = (label: 'titles.dueFrom' | 'titles.dueTo') => ({
  ...dateField(label),
  // The page links to the months before and after, which the first and the last date of the calendar lack.
  parse: (text: string) =>
    (text > '0002' && text < '9999' ? parseCivilDate(text) : null) ?? undefined,
});
const FILTER = { dueFrom: dueField('titles.dueFrom'), dueTo: dueField('titles.dueTo') };

function rangeOf({ dueFrom, dueTo }: FilterOf<typeof FILTER>): DueRange {
  if (dueFrom === null || dueTo === null) throw new Error('the dates are not filled in');
  return dueRange(dueFrom, dueTo);
}

/** Who is to be paid on the due dates of a range, and on which account. */
const SCHEDULE = declareList(DueLine, {
  name: 'schedule',
  path: '/schedule',
  active: '/schedule',
  filter: FILTER,
  // The whole month of a date that is stated alone, or of the next payment.
  fill: async ({ dueFrom, dueTo }, parts) => {
    const stated = dueFrom ?? dueTo ?? (await readNextPayment(parts.database, todayOf(parts)));
    const month = monthOf(stated);
    return { dueFrom: dueFrom ?? firstDateOf(month), dueTo: dueTo ?? lastDateOf(month) };
  },
  columns: COLUMNS,
  read: async (tx, filter, place) => {
    const { lines: rows, lineCount, ...shown } = await readSchedule(tx, rangeOf(filter), place);
    const { value, waiting, urgent } = shown.figures;
    const sums = {
      titles: value.titles,
      original_value: value.originalValue,
      waiting_titles: waiting.titles,
      urgent_titles: urgent.titles,
    };
    const total: ListTotal & typeof shown = { rows: lineCount, sums, ...shown };
    return { total, rows };
  },
  mask: (line) => ({ ...line, payee: maskPayee(line.payee) }),
  reveal: (lines, filter) => {
    const details = { ...filter, titleIds: lines.map(({ titleId }) => titleId) };
    return { action: 'schedule.reveal', details };
  },
  api: {
    tag: 'titles',
    operationId: 'getPaymentSchedule',
    summary:
      'Who is to be paid on the due dates of a range, and on which account, over all accepted dates',
  },
  layout: async (_, filter, request) => {
    const range = rangeOf(filter);
    const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
    return ({ page: { text }, head, filter, table, total: { figures, dates } }) => (
      <>
        {head}
        {filter}
        <Figures range={range} figures={figures} />
        <TableCard head="schedule.dueDates" columns={DATE_COLUMNS} rows={dates} />
        {table}
        <p class="quiet small">
          {text('schedule.exportHelp')} {text(isMasked ? 'exports.masked' : 'exports.personal')}
        </p>
        <Card title={text('schedule.helpHead')}>
          <p>{text('schedule.help')}</p>
          <p>{text('schedule.helpTitles')}</p>
        </Card>
      </>
    );
  },
});

const titlesHref = (range: DueRange, payeeOf: number | null) =>
  `/titles?${new URLSearchParams({
    dueFrom: range.from,
    dueTo: range.to,
    status: 'current',
    ...(payeeOf !== null && { payeeOf: String(payeeOf) }),
  })}`;

/** The figures of the range, and the way to the months before and after. */
function Figures(props: { readonly range: DueRange } & Pick<Schedule, 'figures'>) {
  const { range, figures } = props;
  const { text, formats } = usePage();
  const shown = [
    ['value', 'schedule.value', titlesHref(range, null)],
    ['paid', 'schedule.paid', null],
    ['urgent', 'schedule.urgent', '/breaks?urgency=urgent'],
    ['onChanged', 'schedule.onChanged', '/account-changes'],
    ['waiting', 'schedule.waiting', null],
    ['undated', 'schedule.undated', '/titles?undated=true&status=current'],
  ] as const;
  const hrefOf = (dates: { dueFrom: CivilDate } | { dueTo: CivilDate }) => SCHEDULE.href(dates);
  return (
    <Card title={`${formats.date(range.from)} – ${formats.date(range.to)}`} class="stack">
      <nav class="pager" aria-label={text('schedule.dueDate')}>
        <a rel="prev" href={hrefOf({ dueTo: addDays(range.from, -1) })}>
          ← {text('schedule.previous')}
        </a>
        <a rel="next" href={hrefOf({ dueFrom: addDays(range.to, 1) })}>
          {text('schedule.next')} →
        </a>
      </nav>
      <dl class="metrics">
        {shown.map(([name, label, href]) => {
          const { titles, originalValue } = figures[name];
          const isAlarming = titles > 0 && ['urgent', 'onChanged', 'waiting'].includes(name);
          return (
            <Metric
              key={name}
              label={text(label)}
              value={text('schedule.titlesAndValue', {
                titles: text('schedule.titleCount', { count: titles }),
                value: formats.amount(originalValue),
              })}
              class={isAlarming ? 'is-warning' : ''}
              {...(titles > 0 && href !== null && { href })}
            />
          );
        })}
      </dl>
      <p class="quiet small">{text('schedule.figuresHelp')}</p>
    </Card>
  );
}

export const schedule: Feature = {
  name: 'schedule',
  engine: {
    // After those of the accounts, because the totals compare accounts in any writing.
    inOwnDate: writeMergedTotals,
  },
  lists: [SCHEDULE],
};
