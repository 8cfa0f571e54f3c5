import type { Database } from '../database/database.ts';
import {
  DISCOUNTED_COLUMNS,
  DISCOUNTED_FIELDS,
  type DiscountedColumn,
} from '../domain/amount-meaning.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** How often the current titles of a range agree with statements about a field. */
export interface AmountEvidence {
  readonly column: DiscountedColumn;
  /** Titles that state the field. */
  readonly titles: number;
  readonly zero: number;
  /** Not zero, and less than half of the original value, as a discount mostly is. */
  readonly belowHalf: number;
  /** At least half of the original value and not above it, as a net amount mostly is. */
  readonly fromHalf: number;
  /** Above the original value: neither a discount nor a net amount. */
  readonly aboveOriginal: number;
  /** Equations between the field and other fields, the most frequent first. */
  readonly equations: readonly AmountEquation[];
}

interface AmountEquation {
  /** In the names of the interface, such as `originalValue - platformDiscountedValue = billingFee`. */
  readonly equation: string;
  /** Titles in which the equation holds and its sides are not zero. */
  readonly titles: number;
}

const FEES = { billing_fee: 'billingFee', money_transfer_fee: 'moneyTransferFee' } as const;

/** Each equation that the evidence counts, as SQL and in the names of the interface. */
function equationsOf(column: DiscountedColumn): { text: string; left: string; right: string }[] {
  const name = DISCOUNTED_FIELDS[column];
  const { billing_fee, money_transfer_fee } = FEES;
  const fees = {
    sql: `coalesce(billing_fee, 0) + coalesce(money_transfer_fee, 0)`,
    text: `${billing_fee} + ${money_transfer_fee}`,
  };
  const others = DISCOUNTED_COLUMNS.filter((other) => other !== column).flatMap((other) => [
    { sql: other as string, text: DISCOUNTED_FIELDS[other] as string },
    { sql: `${other} + ${fees.sql}`, text: `${DISCOUNTED_FIELDS[other]} + ${fees.text}` },
    {
      sql: `${other} - (${fees.sql})`,
      text: `${DISCOUNTED_FIELDS[other]} - (${fees.text})`,
    },
  ]);
  const rights = [
    ...others,
    ...Object.entries(FEES).map(([sql, text]) => ({ sql, text: text as string })),
    fees,
  ];
  return [
    { sql: column as string, text: name as string },
    { sql: `original_value - ${column}`, text: `originalValue - ${name}` },
  ].flatMap((left) =>
    rights.map((right) => ({
      text: `${left.text} = ${right.text}`,
      left: left.sql,
      right: right.sql,
    })),
  );
}

/** Equations that the evidence of a field lists. */
const EQUATIONS_LISTED = 3;

/** Titles that the evidence is read from, the newest dates of the range first. */
export const EVIDENCE_TITLES = 100_000;

/** Reads the current titles accepted in a range, both ends included, and at most `EVIDENCE_TITLES` of them. */
export async function readAmountEvidence(
  database: Database,
  range: { readonly from: CivilDate; readonly to: CivilDate },
): Promise<AmountEvidence[]> {
  const count = (condition: string) => `count(*) FILTER (WHERE ${condition})::int`;
  const columns = DISCOUNTED_COLUMNS.map((column) => {
    const equations = equationsOf(column)
      .map(({ left, right }) => count(`${left} = ${right} AND ${left} <> 0`))
      .join(', ');
    return `jsonb_build_object(
      'titles', count(${column}),
      'zero', ${count(`${column} = 0`)},
      'belowHalf', ${count(`${column} <> 0 AND ${column} < original_value / 2`)},
      'fromHalf', ${count(`${column} >= original_value / 2 AND ${column} <> 0 AND ${column} <= original_value`)},
      'aboveOriginal', ${count(`${column} > original_value`)},
      'equations', jsonb_build_array(${equations})) AS ${column}`;
  });
  type Counts = Omit<AmountEvidence, 'column' | 'equations'> & { equations: number[] };
  const [row] = await database.prisma.$queryRaw<[Record<DiscountedColumn, Counts>]>`
    SELECT ${Prisma.raw(columns.join(', '))}
    FROM (SELECT original_value, platform_discounted_value, financial_discounted_value,
                 buyer_discounted_value, billing_fee, money_transfer_fee
          FROM conciliation.title
          WHERE status = 'current'
            AND accepted_date BETWEEN ${range.from}::date AND ${range.to}::date
          ORDER BY accepted_date DESC LIMIT ${EVIDENCE_TITLES}) AS title`;
  return DISCOUNTED_COLUMNS.map((column) => ({
    column,
    ...row[column],
    equations: equationsOf(column)
      .map(({ text }, index) => ({ equation: text, titles: row[column].equations[index] ?? 0 }))
      .filter(({ titles }) => titles > 0)
      .toSorted((one, other) => other.titles - one.titles)
      .slice(0, EQUATIONS_LISTED),
  }));
}
