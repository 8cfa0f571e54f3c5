import { localDecimal, writeCsv } from '../../../base/export/csv.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../../../base/export/table.ts';
import { type Language, textOf } from '../../../base/texts/texts.ts';
import { isPlainDecimal } from '../../../base/values/decimal.ts';
import { maskColumn } from '../../../console/shell/masking.ts';
import { AMOUNT_COLUMNS } from '../../../core/title/title.ts';
import { headingOf, withHeadings } from '../../titles/title-file.ts';
import type { ChangedRows } from '../restated-days.sql.ts';

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

/** The differing titles as a CSV file. */
export function writeMoved(
  moved: ChangedRows,
  isMasked: boolean,
  locale: Language,
): AsyncIterable<Uint8Array> {
  return writeCsv(withHeadings(FIELDS_COLUMNS, locale), fieldRows(moved, isMasked, locale), locale);
}

async function* fieldRows(moved: ChangedRows, isMasked: boolean, locale: Language): RowBatches {
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
