/** The files of titles for finance and the ERP: the columns of a title, and the day of its accepted date. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../base/audit/audit.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../../base/export/table.ts';
import type { Language, TextKey } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { maySeePersonalData } from '../../base/values/role.ts';
import type { Column, Words } from '../../console/list/columns.tsx';
import { encodeList, type FileFormat } from '../../console/list/file.tsx';
import { type ConsoleParts, todayOf } from '../../console/shell/console-parts.ts';
import { actorOf } from '../../console/shell/guard.ts';
import { maskColumn, maskPromoted } from '../../console/shell/masking.ts';
import { pageContext, wordsOf } from '../../console/shell/page-context.ts';
import { sendFile } from '../../console/shell/send-file.ts';
import type { PromotedField } from '../../core/title/promoted-fields.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import {
  daysUntil,
  type ExportedDay,
  readTitleSnapshot,
  TITLE_EXPORT_COLUMNS,
  type TitleSelection,
  type TitleSnapshot,
  type TitleTotals,
} from './export-titles.sql.ts';

export const EXPORT_FORMATS = ['csv', 'xlsx', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

interface Line {
  readonly cells: ExportRow;
  readonly day: ExportedDay | undefined;
}

const headOf = (column: string) => `headings.${column}` as TextKey;

/** The open decisions about a title: whether its payment is held, and the checks with open findings. */
const NOTE_COLUMNS: readonly ExportColumn[] = [
  { name: 'payment_hold', kind: 'boolean' },
  { name: 'open_findings', kind: 'text' },
];
/** Columns with words of the platform. English files, which are for programs, have them as they are. */
const WORDS = new Set<string>(['financial_agent_type', 'payment_type']);
const TITLE_COLUMNS = [...TITLE_EXPORT_COLUMNS, ...NOTE_COLUMNS].map(
  ({ name, kind }, index): Column<Line> => ({
    name,
    head: headOf(name),
    kind,
    value:
      name === 'status'
        ? ({ cells }, { text }) => text.find(`titleFile.statuses.${cells[index]}`)
        : ({ cells }, { text, language }) =>
            (language !== 'en' && WORDS.has(name) && text.find(`values.${cells[index]}`)) ||
            (cells[index] ?? null),
  }),
);

const promotedColumn = ({ name }: PromotedField, index: number): Column<Line> => ({
  name,
  head: null,
  kind: 'text',
  value: ({ cells }) => cells[TITLE_COLUMNS.length + index] ?? null,
});

/** English files, which are for programs, have an instant as it is. */
const signedAt = (day: ExportedDay | undefined, { language, formats }: Words) => {
  const at = day?.signedOffAt ?? null;
  return at === null || language === 'en' ? at : formats.instant(new Date(at));
};

const stateOf = (day: ExportedDay | undefined, { text }: Words) =>
  day === undefined ? null : text(`titleFile.states.${day.isRestated ? 'restated' : day.state}`);

const ofDay = (
  name: string,
  value: (day: ExportedDay | undefined, page: Words) => string | null,
): Column<Pick<Line, 'day'>> => ({
  name,
  head: headOf(name),
  kind: 'text',
  value: ({ day }, page) => value(day, page),
});

/** The day of a title's accepted date, in the formats without a sheet of totals. */
const DAY_COLUMNS = [
  ofDay('day_state', stateOf),
  ofDay('day_signed_off_at', signedAt),
  ofDay('day_signed_off_digest', (day) => day?.signedOffDigest ?? null),
  ofDay('day_content_digest', (day) => day?.contentDigest ?? null),
];

interface TotalsLine extends Pick<Line, 'day'> {
  /** Null: the sum of all dates. */
  readonly date: CivilDate | null;
  readonly totals: TitleTotals | undefined;
}

/** The names and the meaning of the columns of `conciliation.day`. */
const TOTALS_COLUMNS: readonly Column<TotalsLine>[] = [
  {
    name: 'date',
    head: 'headings.date',
    kind: 'date',
    value: ({ date }, { text }) => date ?? text('titleFile.total'),
  },
  {
    name: 'title_count',
    head: 'headings.title_count',
    kind: 'count',
    value: ({ totals }) => totals?.current ?? 0,
  },
  {
    name: 'withdrawn_count',
    head: 'headings.withdrawn_count',
    kind: 'count',
    value: ({ totals }) => totals?.withdrawn ?? 0,
  },
  ...AMOUNT_COLUMNS.map(
    (column): Column<TotalsLine> => ({
      name: `${column}_sum`,
      head: `headings.${column}_sum`,
      kind: 'amount',
      value: ({ totals }) => totals?.sums[column] ?? '0',
    }),
  ),
  ofDay('state', stateOf),
  ofDay('signed_off_at', signedAt),
  ofDay('signed_off_by', (day) => day?.signedOffBy ?? null),
  ofDay('signed_off_digest', (day) => day?.signedOffDigest ?? null),
  ofDay('content_digest', (day) => day?.contentDigest ?? null),
];

const DATE_INDEX = TITLE_EXPORT_COLUMNS.findIndex(({ name }) => name === 'accepted_date');

/**
 * Returns the titles of a snapshot as a file. Rows arrive in batches of text, and bytes are produced as they are read,
 * so memory does not grow with the number of rows.
 * @param page the headings, dates and words. JSON lines are for programs, in English
 * @param locale the separators of cells and decimals, for CSV only
 */
export function encodeTitles(
  { titles, promoted, overall, days, ledger }: TitleSnapshot,
  format: ExportFormat,
  page: Words,
  locale?: Language,
) {
  const dayOf = new Map<string | null, ExportedDay>(ledger.map((day) => [day.date, day]));
  const totalsOf = new Map(days.map((day) => [day.date, day]));
  // A day of the ledger may have no title, and a date with titles has a day.
  const dates = [...new Set([...totalsOf.keys(), ...ledger.map(({ date }) => date)])].sort();
  const words = format === 'jsonl' ? wordsOf('en', 'UTC') : page;
  return encodeList(
    {
      columns: [
        ...TITLE_COLUMNS,
        ...promoted.map(promotedColumn),
        ...(format === 'xlsx' ? [] : DAY_COLUMNS),
      ],
      rows: (async function* () {
        for await (const rows of titles) {
          yield rows.map((cells) => ({ cells, day: dayOf.get(cells[DATE_INDEX] ?? null) }));
        }
      })(),
      rowCount: overall.current + overall.withdrawn,
      sheet: page.text('titleFile.titles'),
      totals: {
        columns: TOTALS_COLUMNS,
        rows: [
          ...dates.map((date) => ({ date, totals: totalsOf.get(date), day: dayOf.get(date) })),
          { date: null, totals: overall, day: undefined },
        ],
        sheet: page.text('titleFile.totals'),
      },
    },
    format,
    words,
    locale,
  );
}

/**
 * Streams titles as a file. The audit log records the export before the first byte. Readers without
 * the right to see identifiers receive masked ones.
 */
export async function sendTitleFile(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ConsoleParts,
  file: {
    readonly selection: TitleSelection;
    /** For the audit log. */
    readonly noted: { readonly includeWithdrawn: boolean; readonly isPart?: boolean };
    readonly format: FileFormat;
    /** For programs: the separators of a CSV file that has English headings. Absent: the reader's language. */
    readonly locale?: Language;
  },
): Promise<FastifyReply> {
  const { database, logger, timeZone } = parts;
  const { selection, format } = file;
  const { from, to } = selection;
  const reader = pageContext(request, timeZone).language;
  const { locale = reader } = file;
  const page = wordsOf(file.locale === undefined ? reader : 'en', timeZone);
  const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
  return sendFile(reply, logger, (signal, send) =>
    readTitleSnapshot(database, selection, signal, async (snapshot) => {
      const today = todayOf(parts);
      const rows = snapshot.overall.current + snapshot.overall.withdrawn;
      const details = { from, to, format, rows, ...file.noted };
      await recordAudit(database.prisma, { actor: actorOf(request), action: 'export', details });
      const titles = isMasked ? maskRows(snapshot) : snapshot.titles;
      const content = { ...snapshot, titles, ledger: daysUntil(snapshot.ledger, today) };
      const dates = [from, to].filter((date) => date !== null).join('-') || today;
      await send({
        name: `${page.text('fileNames.titles')}-${dates}.${format}`,
        ...encodeTitles(content, format, page, locale),
      });
    }),
  );
}

async function* maskRows({ titles, promoted }: TitleSnapshot): RowBatches {
  for await (const rows of titles) {
    yield rows.map((row) =>
      row.map((cell, index) => {
        const field = promoted[index - TITLE_EXPORT_COLUMNS.length - NOTE_COLUMNS.length];
        if (field !== undefined) return cell && maskPromoted({ ...field, value: cell }).value;
        const { name = '', kind } = TITLE_EXPORT_COLUMNS[index] ?? {};
        const masked = maskColumn(name, cell);
        return kind === 'json' && masked !== null ? JSON.stringify(masked) : masked;
      }),
    );
  }
}
