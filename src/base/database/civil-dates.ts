import { DATE_FIELDS, JSON_FIELDS } from '../../generated/schema-fields.ts';
import { type CivilDate, parseCivilDate } from '../values/business-day.ts';

type DateFields = typeof DATE_FIELDS;

/**
 * The fields with `@db.Date`, for the `result` part of a client extension. Prisma returns such a field as a
 * `Date` at midnight UTC; the extension returns text. A row of these models is a proxy with an additional
 * symbol. Functions that return rows therefore copy the fields into plain objects.
 */
export const CIVIL_DATES = Object.fromEntries(
  Object.entries(DATE_FIELDS).map(([model, fields]) => [
    model,
    Object.fromEntries(Object.keys(fields).map((field) => [field, civilDate(field)])),
  ]),
) as {
  [Model in keyof DateFields]: {
    [Field in keyof DateFields[Model]]: {
      needs: Record<Field, true>;
      // Years 0001 to 9999, like every date in the tables.
      compute: () => CivilDate | (DateFields[Model][Field] extends 'optional' ? null : never);
    };
  };
};

function civilDate(field: string) {
  return {
    needs: { [field]: true },
    compute: (row: Record<string, Date | null>) => row[field]?.toISOString().slice(0, 10) ?? null,
  };
}

const DATE_NAMES: ReadonlySet<string> = new Set(Object.values(DATE_FIELDS).flatMap(Object.keys));
/** The values of these fields may have any key. */
const JSON_NAMES: ReadonlySet<string> = new Set(JSON_FIELDS);

/**
 * Returns the arguments of a model's call with civil-date text replaced by the `Date` that Prisma
 * expects. Other text is left unchanged, and Prisma refuses it.
 */
export function withPrismaDates<Args>(args: Args): Args {
  return convert(args, false) as Args;
}

function convert(value: unknown, isDate: boolean): unknown {
  if (typeof value === 'string') {
    return isDate && parseCivilDate(value) !== null ? new Date(`${value}T00:00:00Z`) : value;
  }
  if (Array.isArray(value)) return value.map((each) => convert(each, isDate));
  // Instants, decimals, buffers and Prisma's own values are not plain objects.
  if (value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value as object).map(([key, each]) => [
      key,
      JSON_NAMES.has(key) ? each : convert(each, isDate || DATE_NAMES.has(key)),
    ]),
  );
}
