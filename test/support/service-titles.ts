import type { Database } from '../../src/base/database/database.ts';
import { type CivilDate, datesBetween } from '../../src/base/values/business-day.ts';
import { SyntheticTitles } from '../../src/demo/synthetic-titles.ts';

/** The titles of each date that has some, each as one text, in any order. */
export type TitlesByDate = Readonly<Record<string, readonly string[]>>;

interface JsonTitle {
  readonly order: { readonly uid: string };
  readonly buyerIdentification: string;
  readonly anticipatedDueDate: string;
  readonly originalValue: number;
  readonly financialDiscountedValue: number;
  readonly moneyTransferFee: number | null;
}

/** The answers of the service's sandbox for dates that are over, computed from the same options without the sandbox. */
export function predictTitles(
  sandbox: { readonly seed: string; readonly titlesPerDay: number },
  from: CivilDate,
  to: CivilDate,
): TitlesByDate {
  const synthetic = new SyntheticTitles({ ...sandbox, restate: false });
  return Object.fromEntries(
    datesBetween(from, to).map((date) => [
      date,
      [...synthetic.titlesOn(date, 1)].map((text) => toText(JSON.parse(text))).sort(),
    ]),
  );
}

function toText(title: JsonTitle): string {
  return [
    title.order.uid,
    title.buyerIdentification,
    title.anticipatedDueDate,
    title.originalValue,
    title.financialDiscountedValue,
    title.moneyTransferFee,
  ].join(' ');
}

/** The current titles in the database, to be compared with `predictTitles`. */
export async function readTitles(database: Database): Promise<TitlesByDate> {
  const { rows } = await database.pool.query<Record<string, string>>(`
    SELECT accepted_date AS date, order_uid, buyer_identification, anticipated_due_date,
           original_value, financial_discounted_value, money_transfer_fee
    FROM conciliation.title WHERE status = 'current'`);
  const byDate: Record<string, string[]> = {};
  for (const row of rows) {
    const texts = byDate[String(row['date'])] ?? [];
    byDate[String(row['date'])] = texts;
    texts.push(
      toText({
        order: { uid: String(row['order_uid']) },
        buyerIdentification: String(row['buyer_identification']),
        anticipatedDueDate: String(row['anticipated_due_date']),
        originalValue: Number(row['original_value']),
        financialDiscountedValue: Number(row['financial_discounted_value']),
        moneyTransferFee:
          row['money_transfer_fee'] === null ? null : Number(row['money_transfer_fee']),
      }),
    );
  }
  for (const texts of Object.values(byDate)) texts.sort();
  return byDate;
}
