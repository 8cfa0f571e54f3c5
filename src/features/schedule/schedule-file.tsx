import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../base/audit/audit.ts';
import type { Language } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { maySeePersonalData } from '../../base/values/role.ts';
import type { Column } from '../../console/list/columns.tsx';
import { encodeList, type FileFormat } from '../../console/list/file.tsx';
import type { ConsoleParts } from '../../console/shell/console-parts.ts';
import { actorOf } from '../../console/shell/guard.ts';
import { maskBankAccount, maskTaxId } from '../../console/shell/masking.ts';
import { usePage, wordsOf } from '../../console/shell/page-context.ts';
import { sendFile } from '../../console/shell/send-file.ts';
import { accountText, destinationText } from '../accounts/pages/account-changes-page.tsx';
import { providerHref } from '../providers/provider.ts';
import {
  type DueRange,
  type Payee,
  readScheduleSnapshot,
  type ScheduleGroup,
  type ScheduleSnapshot,
  type ScheduleTotals,
} from './read-schedule.sql.ts';

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

export const maskGroup = <Group extends { readonly payee: Payee }>(group: Group): Group => ({
  ...group,
  payee: maskPayee(group.payee),
});

const TOTALS_COLUMNS: readonly Column<ScheduleTotals>[] = [
  { name: 'titles', head: 'schedule.titles', kind: 'count' },
  { name: 'original_value', head: 'title.fields.original_value', kind: 'amount' },
  {
    name: 'waiting_titles',
    head: 'scheduleFile.waitingTitles',
    kind: 'count',
    only: 'file',
  },
  {
    name: 'waiting_value',
    head: 'scheduleFile.waitingValue',
    kind: 'amount',
    only: 'file',
  },
];

function Waiting({ totals }: { readonly totals: ScheduleTotals }) {
  const { text, formats } = usePage();
  if (totals.waitingTitles === 0) return null;
  return (
    <span class="tag is-changed" title={text('schedule.waitingHelp')}>
      {text('schedule.waitingTitles', { titles: formats.count(totals.waitingTitles) })}
    </span>
  );
}

/** The totals of a due date; of all of them, where the date is null. */
export const dateColumns = (
  hrefOf: (date: CivilDate) => string,
): readonly Column<
  ScheduleTotals & { readonly date: CivilDate | null; readonly businessDay?: CivilDate }
>[] => [
  {
    name: 'due_date',
    head: 'schedule.dueDate',
    kind: 'date',
    value: ({ date }, { text }) => date ?? text('titleFile.total'),
    cell: ({ date }, { formats }) =>
      date !== null && <a href={hrefOf(date)}>{formats.date(date)}</a>,
    isHead: true,
  },
  {
    name: 'business_day',
    head: 'calendar.businessDay',
    kind: 'date',
    value: ({ businessDay = null }) => businessDay,
  },
  ...TOTALS_COLUMNS,
  {
    name: 'marks',
    head: 'schedule.marks',
    kind: 'text',
    cell: (totals) => <Waiting totals={totals} />,
    only: 'page',
  },
];

type Line = ScheduleGroup & { readonly dueDate?: CivilDate };

const ofPayee = (
  name: string,
  head: Column<Line>['head'],
  value: (payee: Payee) => string | null,
): Column<Line> => ({
  name,
  head,
  kind: 'text',
  value: ({ payee }) => value(payee),
  only: 'file',
});

/** The columns of the payment schedule, of which the files have others than the page. */
export const groupColumns = (titlesHref: (titleId: number) => string): readonly Column<Line>[] => [
  {
    name: 'due_date',
    head: 'schedule.dueDate',
    kind: 'date',
    value: ({ dueDate = null }) => dueDate,
    only: 'file',
  },
  {
    name: 'kind',
    head: 'scheduleFile.kind',
    kind: 'text',
    value: ({ payee: { kind } }, { text }) =>
      kind === null ? null : text(`schedule.kinds.${kind}`),
    only: 'file',
  },
  {
    name: 'party',
    head: 'schedule.party',
    kind: 'text',
    value: ({ payee }) => payee.name,
    cell: ({ payee }, { text }) => (
      <>
        <PayeeName payee={payee} />
        {payee.kind !== null && (
          <>
            <br />
            <span class="quiet small">{text(`schedule.kinds.${payee.kind}`)}</span>
          </>
        )}
      </>
    ),
    isHead: true,
  },
  ofPayee('external_id', 'scheduleFile.externalId', ({ externalId }) => externalId),
  ofPayee('identification', 'scheduleFile.identification', (payee) => payee.identification),
  ofPayee('bank', 'scheduleFile.bank', ({ account }) => account.bank),
  ofPayee('agency', 'scheduleFile.agency', ({ account }) => account.agency),
  ofPayee('agency_digit', 'scheduleFile.agencyDigit', ({ account }) => account.agencyDigit),
  ofPayee('account', 'scheduleFile.account', ({ account }) => account.account),
  ofPayee('account_digit', 'scheduleFile.accountDigit', ({ account }) => account.accountDigit),
  ofPayee('destination', 'scheduleFile.destination', ({ account }) => destinationText(account)),
  {
    name: 'account_text',
    head: 'schedule.account',
    kind: 'text',
    cell: ({ payee }) => <PayeeAccount payee={payee} />,
    only: 'page',
  },
  ...TOTALS_COLUMNS.map(
    (column): Column<Line> =>
      column.name === 'titles'
        ? {
            ...column,
            cell: ({ titleId, titles }, { text, formats }) => (
              <a
                href={titlesHref(titleId)}
                aria-label={text('schedule.openTitles', { titles: formats.count(titles) })}
              >
                {formats.count(titles)}
              </a>
            ),
          }
        : column,
  ),
  {
    name: 'changed',
    head: 'scheduleFile.changed',
    kind: 'text',
    value: ({ payee }, { text }) => text(payee.isChanged ? 'title.yes' : 'title.no'),
    only: 'file',
  },
  {
    name: 'marks',
    head: 'schedule.marks',
    kind: 'text',
    cell: (group, { text }) => (
      <>
        {group.payee.isChanged && (
          <>
            <a class="tag is-withdrawn" href="/account-changes">
              {text('schedule.changed')}
            </a>{' '}
          </>
        )}
        <Waiting totals={group} />
      </>
    ),
    only: 'page',
  },
];

/**
 * Streams the payment schedule as a file, a row for each due date, party and account. The audit log records the export
 * before the first byte. Readers without the right to see identifiers receive masked ones.
 */
export function sendScheduleFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { database, logger, timeZone }: ConsoleParts,
  range: DueRange,
  format: FileFormat,
  language: Language,
): Promise<FastifyReply> {
  const page = wordsOf(language, timeZone);
  const { text } = page;
  const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
  return sendFile(reply, logger, (signal, send) =>
    readScheduleSnapshot(database, range, signal, async (snapshot) => {
      const { lineCount: rowCount, overall, dates, batches } = snapshot;
      await recordAudit(database.prisma, {
        actor: actorOf(request),
        action: 'schedule.export',
        details: {
          ...{ dueFrom: range.from, dueTo: range.to, format },
          ...{ rows: rowCount, titles: overall.titles },
        },
      });
      const content = {
        columns: groupColumns(() => ''),
        rows: linesOf(batches, isMasked),
        rowCount,
        sheet: text('scheduleFile.sheet'),
        totals: {
          columns: dateColumns(() => ''),
          rows: [...dates, { ...overall, date: null }],
          sheet: text('titleFile.total'),
        },
      };
      await send({
        name: `${text('fileNames.schedule')}-${range.from}-${range.to}.${format}`,
        ...encodeList(content, format, page),
      });
    }),
  );
}

async function* linesOf(batches: ScheduleSnapshot['batches'], isMasked: boolean) {
  for await (const rows of batches) {
    yield rows.map(({ line }) => (isMasked ? maskGroup(line) : line));
  }
}
