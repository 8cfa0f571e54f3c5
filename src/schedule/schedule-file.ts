import { recordAudit } from '../audit/audit.ts';
import type { Database } from '../database/database.ts';
import { AMOUNT_COLUMNS } from '../domain/title.ts';
import { type CsvLocale, writeCsv } from '../export/csv.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../export/export-columns.ts';
import type { AmountColumn } from '../export/export-titles.sql.ts';
import { writeXlsx } from '../export/xlsx.ts';
import type {
  DueRange,
  ScheduleLine,
  ScheduleSnapshot,
  ScheduleTotals,
} from './read-schedule.sql.ts';

export const SCHEDULE_FORMATS = ['csv', 'xlsx'] as const;
export type ScheduleFormat = (typeof SCHEDULE_FORMATS)[number];

export const SCHEDULE_TYPES: Readonly<Record<ScheduleFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** The longest range of due dates of a file, in days. */
export const MAX_DUE_DAYS = 366;

type PayeeKind = NonNullable<ScheduleLine['payee']['kind']>;

interface Words {
  readonly sheet: string;
  readonly total: string;
  readonly dueDate: string;
  readonly kind: string;
  readonly kinds: Readonly<Record<PayeeKind, string>>;
  readonly name: string;
  readonly externalId: string;
  readonly identification: string;
  readonly account: readonly [string, string, string, string, string];
  readonly titles: string;
  readonly amounts: Readonly<Record<AmountColumn, string>>;
  readonly changed: string;
  readonly waitingTitles: string;
  readonly waitingValue: string;
  readonly yes: string;
  readonly no: string;
}

const WORDS: Readonly<Record<CsvLocale, Words>> = {
  en: {
    sheet: 'payments',
    total: 'total',
    dueDate: 'Due date',
    kind: 'Kind of party',
    kinds: { financial_agent: 'financial agent', provider: 'provider' },
    name: 'To be paid',
    externalId: 'Code in the ERP',
    identification: 'Tax identifier',
    account: ['Bank', 'Branch', 'Branch digit', 'Account', 'Account digit'],
    titles: 'Titles',
    amounts: {
      original_value: 'Original value',
      platform_discounted_value: 'platformDiscountedValue',
      financial_discounted_value: 'financialDiscountedValue',
      buyer_discounted_value: 'buyerDiscountedValue',
      billing_fee: 'Billing fee',
      money_transfer_fee: 'Transfer fee',
    },
    changed: 'Account changed, not confirmed',
    waitingTitles: 'Titles of days that wait for a person',
    waitingValue: 'Their original value',
    yes: 'yes',
    no: 'no',
  },
  'pt-BR': {
    sheet: 'pagamentos',
    total: 'total',
    dueDate: 'Vencimento',
    kind: 'Tipo de favorecido',
    kinds: { financial_agent: 'agente financeiro', provider: 'fornecedor' },
    name: 'Favorecido',
    externalId: 'Código no ERP',
    identification: 'CPF/CNPJ',
    account: ['Banco', 'Agência', 'Dígito da agência', 'Conta', 'Dígito da conta'],
    titles: 'Títulos',
    amounts: {
      original_value: 'Valor original',
      platform_discounted_value: 'platformDiscountedValue',
      financial_discounted_value: 'financialDiscountedValue',
      buyer_discounted_value: 'buyerDiscountedValue',
      billing_fee: 'Tarifa de cobrança',
      money_transfer_fee: 'Tarifa de transferência',
    },
    changed: 'Conta alterada, não confirmada',
    waitingTitles: 'Títulos de dias com pendência',
    waitingValue: 'Valor original com pendência',
    yes: 'sim',
    no: 'não',
  },
};

/**
 * Returns the schedule as a file: a row for each due date, party and account.
 */
export function encodeSchedule(
  snapshot: Pick<ScheduleSnapshot, 'overall' | 'lineCount' | 'dates' | 'lines'>,
  { format, locale }: { format: ScheduleFormat; locale: CsvLocale },
): AsyncIterable<Uint8Array> {
  const words = WORDS[locale];
  const columns = columnsOf(words);
  const batches = rowsOf(snapshot.lines, words);
  if (format === 'csv') return writeCsv(columns, batches, locale);
  const workbook = writeXlsx({
    sheets: { titles: words.sheet, totals: words.total },
    columns,
    batches,
    rowCount: snapshot.lineCount,
    totals: {
      columns: [{ name: words.dueDate, kind: 'date' }, ...amountColumnsOf(words)],
      rows: [
        ...snapshot.dates.map((day) => [day.date, ...amountCells(day)]),
        [words.total, ...amountCells(snapshot.overall)],
      ],
    },
  });
  return workbook.bytes;
}

function amountColumnsOf(words: Words): readonly ExportColumn[] {
  return [
    { name: words.titles, kind: 'integer' },
    ...AMOUNT_COLUMNS.map((column) => ({ name: words.amounts[column], kind: 'amount' as const })),
    { name: words.waitingTitles, kind: 'integer' },
    { name: words.waitingValue, kind: 'amount' },
  ];
}

function amountCells(totals: ScheduleTotals): ExportRow {
  return [
    String(totals.titles),
    ...AMOUNT_COLUMNS.map((column) => totals.sums[column]),
    String(totals.waitingTitles),
    totals.waitingValue,
  ];
}

function columnsOf(words: Words): readonly ExportColumn[] {
  const texts = [words.kind, words.name, words.externalId, words.identification, ...words.account];
  return [
    { name: words.dueDate, kind: 'date' },
    ...texts.map((name) => ({ name, kind: 'text' as const })),
    ...amountColumnsOf(words),
    { name: words.changed, kind: 'text' },
  ];
}

async function* rowsOf(batches: ScheduleSnapshot['lines'], words: Words): RowBatches {
  for await (const lines of batches) {
    yield lines.map((line): ExportRow => {
      const { kind, name, externalId, identification, account, isChanged } = line.payee;
      return [
        line.dueDate,
        kind === null ? null : words.kinds[kind],
        name,
        externalId,
        identification,
        account.bank,
        account.agency,
        account.agencyDigit,
        account.account,
        account.accountDigit,
        ...amountCells(line),
        isChanged ? words.yes : words.no,
      ];
    });
  }
}

/** Writes an entry of the audit log about an export. */
export async function recordScheduleExport(
  database: Database,
  actor: string,
  exported: {
    readonly range: DueRange;
    readonly format: ScheduleFormat;
    readonly snapshot: Pick<ScheduleSnapshot, 'lineCount' | 'overall'>;
  },
): Promise<void> {
  const { range, format, snapshot } = exported;
  await recordAudit(database.prisma, {
    actor,
    action: 'schedule.export',
    details: {
      dueFrom: range.from,
      dueTo: range.to,
      format,
      rows: snapshot.lineCount,
      titles: snapshot.overall.titles,
    },
  });
}
