import { ROW_COLUMNS } from '../../src/core/reader/title-row.ts';

/** The bytes of each value of a row; null: SQL null. */
export type RowValues = readonly (Buffer | null)[];

/** Takes rows of COPY's binary format apart. */
export function splitRows(rows: Buffer): RowValues[] {
  const found: RowValues[] = [];
  for (let at = 0; at < rows.length; ) {
    const values: (Buffer | null)[] = [];
    const count = rows.readInt16BE(at);
    at += 2;
    for (let value = 0; value < count; value += 1) {
      const length = rows.readInt32BE(at);
      at += 4;
      values.push(length === -1 ? null : rows.subarray(at, at + length));
      at += Math.max(length, 0);
    }
    found.push(values);
  }
  return found;
}

/** The ordinals of rows of `staged_title`. */
export function ordinalsOf(rows: Buffer): number[] {
  return splitRows(rows).map((values) => values[1]?.readInt32BE() ?? Number.NaN);
}

/** A value of a row, by the name of its column. */
export function valueIn(row: RowValues, column: string): Buffer | null {
  const index = ROW_COLUMNS.indexOf(column);
  if (index === -1) throw new Error(`staged_title has no column ${column}`);
  return row[index] ?? null;
}

/** The text of a `date` as PostgreSQL shows it. */
export function dateText(bytes: Buffer): string {
  const date = new Date(Date.UTC(2000, 0, 1) + 86_400_000 * bytes.readInt32BE());
  return date.toISOString().slice(0, 10);
}

/** The text of a finite `numeric` as PostgreSQL shows it. */
export function numericText(bytes: Buffer): string {
  const [groups, weight, sign, scale] = [0, 2, 4, 6].map((at) => bytes.readInt16BE(at)) as [
    number,
    number,
    number,
    number,
  ];
  let digits = 0n;
  for (let group = 0; group < groups; group += 1) {
    digits = 10_000n * digits + BigInt(bytes.readInt16BE(8 + 2 * group));
  }
  // The number is `digits` times 10,000 to this power.
  const power = 4 * (weight - groups + 1) + scale;
  const scaled = power >= 0 ? digits * 10n ** BigInt(power) : digits / 10n ** BigInt(-power);
  const text = scaled.toString().padStart(scale + 1, '0');
  const plain = scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`;
  return sign !== 0 && digits !== 0n ? `-${plain}` : plain;
}
