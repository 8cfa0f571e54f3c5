import type { FastifyReply, FastifyRequest } from 'fastify';
import { renderToString } from 'preact-render-to-string';
import { Type } from 'typebox';
import { type CivilDate, toCivilDate } from '../../../base/values/business-day.ts';
import { declareAction, declarePage, reason } from '../../../console/declare.tsx';
import { type Column, ListTable, type Words } from '../../../console/list/columns.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import {
  type PageContext,
  PageProvider,
  pageContext,
  usePage,
} from '../../../console/shell/page-context.ts';
import {
  authorText,
  Banner,
  Card,
  DayLink,
  type DayLook,
  lookOf,
  Metric,
  StateBadge,
  StateIcon,
} from '../../../console/shell/parts.tsx';
import { REVIEW, STAFF } from '../../../console/shell/route-access.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { BREAKS } from '../../matching/pages/breaks-page.tsx';
import { type Evidence, readEvidence, writeEvidenceFile } from '../months/evidence.sql.ts';
import {
  blockersOf,
  type CivilMonth,
  digestOfDays,
  type ErpStage,
  type ErpStages,
  firstDateOf,
  lastDateOf,
  Month,
  type MonthDay,
  type MonthState,
  type MonthTotals,
  month,
  readErpStages,
  readMonthDays,
  readMonths,
  sealMonth,
} from '../months/month-seal.sql.ts';

/** The looks of days, which mean the same for a month. */
const LOOKS: Readonly<Record<MonthState, DayLook>> = {
  open: 'pending',
  ready: 'reconciled',
  sealed: 'signed',
  broken: 'restated',
};

/** All months of the ledger, the newest first. */
export const MONTHS = declareList(Month, {
  name: 'months',
  path: '/months',
  active: '/months',
  filter: {},
  columns: [
    {
      name: 'month',
      head: 'months.month',
      value: ({ month }, { formats }) => formats.month(month),
      href: ({ month }) => `/months/${month}`,
      isHead: true,
    },
    {
      name: 'state',
      head: 'months.state',
      value: stateText,
      cell: (month) => <State month={month} />,
    },
    {
      name: 'signed_days',
      head: 'months.signedDays',
      value: ({ signed, days }, { text, formats }) =>
        text('months.ofDays', { signed: formats.count(signed), days: formats.count(days) }),
    },
    { name: 'titles', head: 'days.titles', kind: 'count' },
    {
      name: 'original_value',
      head: 'amounts.original_value',
      kind: 'amount',
      value: ({ originalValueSum }) => originalValueSum,
    },
    { name: 'breaks', head: 'months.breaks', kind: 'count' },
    {
      name: 'sealed_by',
      head: 'months.sealedBy',
      kind: 'author',
      value: ({ seal }) => seal?.sealedBy ?? null,
    },
    {
      name: 'sealed_at',
      head: 'audit.at',
      kind: 'instant',
      value: ({ seal }) => seal?.sealedAt ?? null,
    },
  ],
  read: async (tx, _, { offset, limit }, { parts }) => {
    const months = await readMonths(tx, todayOf(parts));
    return { total: { rows: months.length }, rows: months.slice(offset, offset + limit) };
  },
  api: {
    tag: 'months',
    operationId: 'listMonths',
    summary: 'The months of the ledger with their seals, the newest first',
  },
});

export const MONTH = declarePage({
  path: '/months/:month',
  active: '/months',
  input: { month },
  read: (parts, { month }) => readMonthPage(parts, month),
  title: ({ formats }, { month }) => formats.month(month.month),
  body: (data, { text, formats }) => {
    const { month } = data;
    return (
      <>
        <div class="day-head">
          <h1>{formats.month(month.month)}</h1>
          <State month={month} />
        </div>
        {month.broken.length > 0 && (
          <Banner look="restated" title={text('months.broken')}>
            <ul class="small">
              {month.broken.map(({ date, cause }) => (
                <li key={date}>
                  <DayLink date={date} />: {text(`months.causes.${cause}`)}
                </li>
              ))}
            </ul>
            <p>{text('months.brokenHelp')}</p>
          </Banner>
        )}
        <SealCard data={data} />
        <Card title={text('months.days')}>
          <DaysTable days={data.days} stages={data.stages} sealed={null} />
        </Card>
      </>
    );
  },
});

export const SEAL_MONTH = declareAction({
  path: '/months/:month/seal',
  who: REVIEW,
  input: { month, digest: Type.Optional(Type.String()), reason: Type.Optional(reason) },
  deed: ({ database }, { month, digest: seenDigest = '', reason = null }, by) =>
    sealMonth(database, month, { by, reason, seenDigest }),
  next: ({ month }) => `/months/${month}`,
  notice: 'month_sealed',
});

export const EVIDENCE = declareAction({
  path: '/months/:month/evidence',
  who: STAFF,
  input: { month },
  answer: (request, reply, parts, { month }) => sendEvidence(request, reply, parts, month),
  isDownload: true,
});

/**
 * Streams the evidence of a month. The audit log records the file before the first byte.
 * @throws InputError when the month is not sealed
 */
export function sendEvidence(
  request: FastifyRequest,
  reply: FastifyReply,
  { database, logger, timeZone }: ConsoleParts,
  month: CivilMonth,
): Promise<FastifyReply> {
  const actor = actorOf(request);
  const context = pageContext(request, timeZone);
  return sendFile(reply, logger, (signal, send) =>
    readEvidence(database, { month, actor }, signal, async (evidence) => {
      const range = { from: firstDateOf(month), to: lastDateOf(month) };
      const made = { at: new Date(), by: actor };
      const data = { evidence, made, stages: await readErpStages(database, range) };
      return send({
        name: `${context.text('fileNames.evidence')}-${month}.zip`,
        type: 'application/zip',
        bytes: writeEvidenceFile(evidence, { ...made, summary: renderSummary(context, data) }),
      });
    }),
  );
}

/** Returns the data of a month; null: the ledger does not have the month. */
async function readMonthPage(parts: ConsoleParts, name: CivilMonth) {
  const { database, bookingsFrom = null } = parts;
  const today = todayOf(parts);
  const [month] = await readMonths(database.prisma, today, name);
  if (month === undefined) return null;
  const [days, stages] = await Promise.all([
    readMonthDays(database.prisma, month),
    readErpStages(database, month),
  ]);
  const hasBookings = bookingsFrom !== null && bookingsFrom <= month.from;
  return { month, today, days, stages, hasBookings, presentDigest: digestOfDays(name, days) };
}

type MonthPageData = NonNullable<Awaited<ReturnType<typeof readMonthPage>>>;

/** @param props.from the first day of the month that the ledger has */
function PartOfMonth({ from }: { readonly from: CivilDate }) {
  const { text, formats } = usePage();
  return from.endsWith('-01') ? null : <p>{text('months.part', { from: formats.date(from) })}</p>;
}

function SealCard({ data }: { data: MonthPageData }) {
  const context = usePage();
  const { text, formats } = context;
  const { month, presentDigest, today } = data;
  const { seal } = month;
  const { sum } = data.stages;
  const isSealed = month.state === 'sealed';
  const isUnposted = data.hasBookings && sum.posted < sum.titles;
  return (
    <Card title={text('months.seal')}>
      <div class="stack">
        {seal === null ? (
          <p>{text('months.notSealed')}</p>
        ) : (
          <>
            <p>
              {text('months.sealedByAt', {
                name: authorText(text, seal.sealedBy),
                at: formats.instant(seal.sealedAt),
              })}
            </p>
            {seal.reason !== null && <p class="quiet">{seal.reason}</p>}
            <p class="small">
              {text('months.digest')}: <span class="mono">{seal.digest}</span>
            </p>
          </>
        )}
        <PartOfMonth from={month.from} />
        <ErpMetrics sum={sum} />
        {month.to >= today && <p>{text('months.notOver', { date: formats.date(month.to) })}</p>}
        {!isSealed &&
          blockersOf(data.days.filter(({ date }) => date < today)).map(({ fault, days }) => (
            <p key={fault}>
              {text(`faults.sealing_${fault}`)}{' '}
              {days.map(({ date }) => [<DayLink key={date} date={date} />, ' '])}
            </p>
          ))}
        {!isSealed && presentDigest !== null && (
          <SEAL_MONTH.Form
            values={{ month: month.month, digest: presentDigest }}
            reason={text('months.note')}
            button={text(seal === null ? 'months.sealMonth' : 'months.sealAgain')}
            look="primary"
            help={text('months.sealHelp')}
            otherwise={text('months.reviewersSeal')}
            isFolded={month.breaks > 0 || isUnposted}
          >
            {month.breaks > 0 && (
              <p class="error">
                {text('months.sealWithBreaks', {
                  breaks: month.breaks,
                  value: formats.amount(month.breaksValue),
                  agreed: formats.count(sum.agreed ?? 0),
                  titles: formats.count(sum.titles),
                })}
              </p>
            )}
            {isUnposted && (
              <p class="error">
                {text('months.sealUnposted', {
                  count: sum.titles - sum.posted,
                  titles: sum.titles,
                })}
              </p>
            )}
          </SEAL_MONTH.Form>
        )}
        {seal !== null && (
          <EVIDENCE.Form
            values={{ month: month.month }}
            button={text('months.evidenceDownload')}
            help={text(month.broken.length > 0 ? 'months.evidenceBroken' : 'months.evidenceHelp')}
            otherwise={text('months.evidenceForbidden')}
          />
        )}
      </div>
    </Card>
  );
}

/** Titles of a day or a month, beside what the ERP has of them. */
export function ErpMetrics({ sum }: Pick<ErpStages, 'sum'>) {
  const { agreed, doubted, left, withdrawn, titles } = sum;
  const context = usePage();
  const { text } = context;
  const stage = (name: 'agreed' | 'doubted' | 'left' | 'withdrawn', isWarning: boolean) => (
    <Metric
      label={text(`months.stages.${name}`)}
      value={counted(context, sum[name] ?? 0, sum[`${name}Value`])}
      class={isWarning ? 'is-warning' : ''}
    />
  );
  return (
    <dl class="metrics">
      <Metric label={text('days.titles')} value={counted(context, titles, sum.value)} />
      {agreed !== null && stage('agreed', agreed < titles)}
      {agreed !== null && stage('doubted', doubted > 0)}
      {(left ?? 0) !== 0 && stage('left', true)}
      {withdrawn > 0 && stage('withdrawn', true)}
      <Metric
        label={text('bookings.states.posted')}
        value={counted(context, sum.posted, sum.postedValue)}
      />
    </dl>
  );
}

/** A day of a month, with its seal and what the ERP has of it. */
interface StagedDay extends MonthDay {
  /** Null: the ledger does not have the day. */
  readonly stage: ErpStage | null;
}

/** @param isFile the table is in a file, which has no other pages */
const dayColumns = (isFile: boolean): readonly Column<StagedDay>[] => [
  {
    name: 'date',
    head: 'days.date',
    kind: 'date',
    cell: ({ date }, { formats }) => (isFile ? formats.date(date) : <DayLink date={date} />),
    isHead: true,
  },
  {
    name: 'state',
    head: 'days.state',
    cell: ({ state, isRestated, seal }) => {
      const signedOffAt = seal?.signed_off_at ?? null;
      return (
        <StateBadge look={lookOf(state === null ? null : { state, isRestated, signedOffAt })} />
      );
    },
    only: 'page',
  },
  {
    name: 'titles',
    head: 'days.titles',
    kind: 'count',
    value: ({ seal, stage }) => (isFile ? Number(seal?.title_count) : (stage?.titles ?? null)),
  },
  {
    name: 'value',
    head: 'amounts.original_value',
    kind: 'amount',
    value: ({ seal, stage }) => (isFile ? seal?.original_value_sum : stage?.value) ?? null,
  },
  {
    name: 'agreed',
    head: 'months.stages.agreed',
    kind: 'count',
    value: ({ stage }, page) => stage && agreedOf(stage, page),
  },
  {
    name: 'doubted',
    head: 'months.stages.doubted',
    kind: 'count',
    value: ({ stage }, page) => stage && counted(page, stage.doubted, stage.doubtedValue),
    href: ({ date, stage }) => (isFile || !stage?.doubted ? null : BREAKS.href({ date })),
  },
  {
    name: 'left',
    head: 'months.stages.left',
    kind: 'count',
    value: ({ stage }, page) => stage && leftOf(stage, page),
  },
  {
    name: 'posted',
    head: 'bookings.states.posted',
    kind: 'count',
    value: ({ stage }, page) => stage && counted(page, stage.posted, stage.postedValue),
  },
  {
    name: 'signed',
    head: 'months.daySignedBy',
    value: ({ seal }, { text, formats }) =>
      seal &&
      `${authorText(text, seal.signed_off_by ?? '')}, ${formats.instant(new Date(seal.signed_off_at ?? 0))}`,
  },
];

const agreedOf = ({ agreed, agreedValue }: ErpStage, page: Words) =>
  agreed === null ? null : counted(page, agreed, agreedValue);

const leftOf = ({ left, leftValue }: ErpStage, page: Words) =>
  left === null ? null : counted(page, left, leftValue);

/** @param props.sealed the totals of the seal, for a file; null: the present ones are shown */
function DaysTable(props: {
  readonly days: readonly MonthDay[];
  readonly stages: ErpStages;
  readonly sealed: MonthTotals | null;
}) {
  const page = usePage();
  const { sealed } = props;
  const { days, sum } = props.stages;
  return (
    <ListTable
      label={page.text('months.days')}
      columns={dayColumns(sealed !== null)}
      rows={props.days.map((day) => ({ ...day, stage: days.get(day.date) ?? null }))}
      sums={{
        titles: sealed === null ? sum.titles : Number(sealed.title_count),
        value: sealed?.original_value_sum ?? sum.value,
        agreed: agreedOf(sum, page) ?? '–',
        doubted: counted(page, sum.doubted, sum.doubtedValue),
        left: leftOf(sum, page) ?? '–',
        posted: counted(page, sum.posted, sum.postedValue),
      }}
    />
  );
}

const hasBreaks = ({ state, breaks }: Month) => state === 'ready' && breaks > 0;

function stateText(month: Month, { text, formats }: Words): string {
  const state = text(`months.states.${month.state}`);
  if (!hasBreaks(month)) return state;
  const value = formats.amount(month.breaksValue);
  return text('months.withBreaks', { state, breaks: month.breaks, value });
}

function State({ month }: { readonly month: Month }) {
  const look = hasBreaks(month) ? 'attention' : LOOKS[month.state];
  return (
    <span class={`badge is-${look}`}>
      <StateIcon look={look} />
      {stateText(month, usePage())}
    </span>
  );
}

/** The printed first page of an evidence file. The file is read without this server. */
const PRINT_STYLE = `
  body { font: 10pt/1.4 system-ui, sans-serif; margin: 1.5cm; }
  table { border-collapse: collapse; width: 100%; margin-bottom: 1em; }
  th, td { border-bottom: 1px solid #999; padding: 2pt 6pt; text-align: left; vertical-align: top; }
  .right { text-align: right; font-variant-numeric: tabular-nums; } .mono { font-family: monospace; overflow-wrap: anywhere; }
  tr { break-inside: avoid; } dl { display: flex; flex-wrap: wrap; gap: 1em 2.5em; } dd { margin: 0; font-weight: bold; }
  @page { size: A4 landscape; margin: 1.2cm; } @media print { body { margin: 0; } }`;

const AUDIT_COLUMNS: readonly Column<Evidence['audit'][number]>[] = [
  {
    name: 'at',
    head: 'audit.at',
    kind: 'instant',
    value: ({ at }) => new Date(at ?? 0),
  },
  { name: 'actor', head: 'audit.actor', kind: 'author' },
  {
    name: 'action',
    head: 'audit.action',
    value: ({ action }, { text }) => text.find(`audit.actions.${action}`) ?? action,
  },
  { name: 'date', head: 'audit.date', kind: 'date' },
  { name: 'reason', head: 'audit.reason', value: ({ reason }) => reason ?? '' },
];

/** What an evidence file holds, as an HTML document for people. */
function renderSummary(
  context: PageContext,
  data: {
    readonly evidence: Evidence;
    readonly made: { readonly at: Date; readonly by: string };
    readonly stages: ErpStages;
  },
): string {
  const { text, formats, language } = context;
  const { evidence, made, stages } = data;
  const { seal, broken, audit } = evidence;
  const title = `${text('lists.months.title')}: ${formats.month(seal.month)}`;
  const by = (name: string, at: Date) =>
    text('months.sealedByAt', { name: authorText(text, name), at: formats.instant(at) });
  const days = evidence.days.map((day) => ({
    date: toCivilDate(day.date ?? ''),
    state: 'reconciled' as const,
    isRestated: false,
    seal: day,
  }));
  const document = (
    <PageProvider value={context}>
      <html lang={language}>
        <head>
          <meta charset="utf-8" />
          <title>{title}</title>
          <style>{PRINT_STYLE}</style>
        </head>
        <body>
          <h1>{title}</h1>
          <p>
            {by(seal.sealedBy, seal.sealedAt)}
            {seal.reason !== null && `: ${seal.reason}`}
          </p>
          {broken.map(({ date, cause }) => (
            <p key={date}>
              <strong>
                {text('months.broken')}: {formats.date(date)}: {text(`months.causes.${cause}`)}
              </strong>
            </p>
          ))}
          {days[0] !== undefined && <PartOfMonth from={days[0].date} />}
          <p>{text('months.stagesAt', { at: formats.instant(made.at) })}</p>
          <ErpMetrics sum={stages.sum} />
          <h2>{text('months.days')}</h2>
          <DaysTable days={days} stages={stages} sealed={seal.totals} />
          <h2>{text('months.audit')}</h2>
          <ListTable label={text('months.audit')} columns={AUDIT_COLUMNS} rows={audit} />
          <p>
            {text('months.digest')}: <span class="mono">{seal.digest}</span>
          </p>
          <p>{text('months.madeBy', { name: made.by, at: formats.instant(made.at) })}</p>
        </body>
      </html>
    </PageProvider>
  );
  return `<!doctype html>${renderToString(document)}`;
}

/** `60 (1.234,00)`; without a value nothing is counted. */
function counted({ formats }: Words, count: number, value: string | null): string {
  return count === 0 ? '0' : `${formats.count(count)} (${formats.amount(value ?? '0')})`;
}
