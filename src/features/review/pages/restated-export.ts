import { recordAudit } from '../../../base/audit/audit.ts';
import type { Database } from '../../../base/database/database.ts';
import { localDecimal, writeCsv } from '../../../base/export/csv.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../../../base/export/table.ts';
import { type Language, textOf } from '../../../base/texts/texts.ts';
import { isPlainDecimal } from '../../../base/values/decimal.ts';
import { maskColumn } from '../../../console/shell/masking.ts';
import { AMOUNT_COLUMNS } from '../../../core/title/title.ts';
import { headingOf, withHeadings } from '../../titles/headings.ts';
import {
  type RestatedDay,
  type RestatedFilter,
  type RestatedSnapshot,
  readRestatedSnapshot,
  SEALED_MEASURES,
} from '../restated-days.sql.ts';

/** totals: a row for each day and measure. fields: a row for each differing field of a title. */
export const RESTATED_FILES = ['totals', 'fields'] as const;
export type RestatedFile = (typeof RESTATED_FILES)[number];

const TOTALS_COLUMNS: readonly ExportColumn[] = [
  { name: 'date', kind: 'date' },
  { name: 'signed_off_at', kind: 'text' },
  { name: 'signed_off_by', kind: 'text' },
  { name: 'sealed_digest', kind: 'text' },
  { name: 'present_digest', kind: 'text' },
  { name: 'measure', kind: 'text' },
  { name: 'sealed', kind: 'amount' },
  { name: 'present', kind: 'amount' },
  { name: 'difference', kind: 'amount' },
];

/** Amounts have separate columns, so that a spreadsheet can add them up. */
const FIELDS_COLUMNS: readonly ExportColumn[] = [
  { name: 'date', kind: 'date' },
  { name: 'title_id', kind: 'integer' },
  { name: 'order_uid', kind: 'text' },
  { name: 'occurrence', kind: 'integer' },
  { name: 'change', kind: 'text' },
  { name: 'original_value', kind: 'amount' },
  { name: 'field', kind: 'text' },
  { name: 'before', kind: 'text' },
  { name: 'after', kind: 'text' },
  { name: 'before_amount', kind: 'amount' },
  { name: 'after_amount', kind: 'amount' },
  { name: 'pull_id', kind: 'integer' },
];

const AMOUNTS: ReadonlySet<string> = new Set(AMOUNT_COLUMNS);

/** Passes the CSV file on to `send`, after the audit log has recorded the export. */
export function exportRestated(
  database: Database,
  request: {
    readonly file: RestatedFile;
    readonly filter: RestatedFilter;
    readonly actor: string;
    readonly locale: Language;
    readonly isMasked: boolean;
  },
  signal: AbortSignal,
  send: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const { file, filter, actor, locale, isMasked } = request;
  return readRestatedSnapshot(database, filter, signal, async ({ days, moved }) => {
    await recordAudit(database.prisma, {
      actor,
      action: 'restated.export',
      details: { format: 'csv', days: days.length },
    });
    await send(
      file === 'totals'
        ? writeCsv(withHeadings(TOTALS_COLUMNS, locale), totalsRows(days, locale), locale)
        : writeMoved(moved, isMasked, locale),
    );
  });
}

/** The differing titles as a CSV file. */
export function writeMoved(
  moved: RestatedSnapshot['moved'],
  isMasked: boolean,
  locale: Language,
): AsyncIterable<Uint8Array> {
  return writeCsv(withHeadings(FIELDS_COLUMNS, locale), fieldRows(moved, isMasked, locale), locale);
}

async function* totalsRows(days: readonly RestatedDay[], language: Language): RowBatches {
  yield days.flatMap((day) =>
    SEALED_MEASURES.map((measure): ExportRow => {
      const { sealed, present, difference } = day.differences[measure];
      return [
        day.date,
        day.signedOffAt.toISOString(),
        day.signedOffBy,
        day.sealedDigest,
        day.presentDigest,
        headingOf(measure, language),
        sealed,
        present,
        difference,
      ];
    }),
  );
}

async function* fieldRows(
  moved: RestatedSnapshot['moved'],
  isMasked: boolean,
  locale: Language,
): RowBatches {
  const show = (column: string, value: string | null) => {
    const shown = isMasked ? maskColumn(column, value) : value;
    const isDecimal = column === 'platform_commission' && shown !== null && isPlainDecimal(shown);
    return isDecimal ? localDecimal(shown, locale) : shown;
  };
  for await (const titles of moved) {
    yield titles.flatMap((title) => {
      const head = [
        title.date,
        String(title.titleId),
        title.orderUid,
        String(title.occurrence),
        textOf(locale)(`restated.kinds.${title.kind}`),
        title.originalValue,
      ];
      const pullId = String(title.pullId);
      // A title that is new, withdrawn or restored may have no differing field.
      if (title.fields.length === 0) return [[...head, null, null, null, null, null, pullId]];
      return title.fields.map(({ column, before, after }): ExportRow => {
        const [old, now] = [show(column, before), show(column, after)];
        const values = AMOUNTS.has(column) ? [null, null, old, now] : [old, now, null, null];
        return [...head, headingOf(column, locale), ...values, pullId];
      });
    });
  }
}
