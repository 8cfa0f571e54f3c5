import { type CivilDate, parseCivilDate } from '../values/business-day.ts';

/**
 * The fields with `@db.Date`, for the `result` part of a client extension. Prisma returns such a field as a
 * `Date` at midnight UTC; the extension returns text. A row of these models is a proxy with an additional
 * symbol. Functions that return rows therefore copy the fields into plain objects.
 */
export const CIVIL_DATES = {
  accountChange: { acceptedDate: civilDate('acceptedDate') },
  alert: { date: optionalCivilDate('date') },
  auditEntry: { date: optionalCivilDate('date') },
  backfill: { fromDate: civilDate('fromDate'), toDate: civilDate('toDate') },
  bookingBatch: { date: civilDate('date') },
  bookingLine: {
    date: civilDate('date'),
    anticipatedDueDate: optionalCivilDate('anticipatedDueDate'),
  },
  bookingReceipt: { date: civilDate('date') },
  bookingStart: { bookingsFrom: optionalCivilDate('bookingsFrom') },
  checkFinding: { acceptedDate: civilDate('acceptedDate') },
  checkpoint: {
    startDate: civilDate('startDate'),
    lastReconciledDate: optionalCivilDate('lastReconciledDate'),
  },
  day: { date: civilDate('date'), latestDueDate: optionalCivilDate('latestDueDate') },
  dayBuyer: { date: civilDate('date') },
  dayCheck: { date: civilDate('date') },
  erpPayable: {
    dueDate: optionalCivilDate('dueDate'),
    settledOn: optionalCivilDate('settledOn'),
    issueDate: optionalCivilDate('issueDate'),
  },
  holiday: { date: civilDate('date') },
  closedDay: { date: civilDate('date'), businessDay: civilDate('businessDay') },
  matchRun: { bookingsFrom: civilDate('bookingsFrom') },
  monthSeal: { month: civilDate('month') },
  partyAccount: { lastAcceptedDate: civilDate('lastAcceptedDate') },
  paymentHold: { acceptedDate: civilDate('acceptedDate') },
  pull: { date: civilDate('date') },
  rejectedTitle: { date: civilDate('date') },
  signOff: { date: civilDate('date') },
  sweep: { fromDate: civilDate('fromDate') },
  sweepDifference: { date: civilDate('date') },
  title: {
    acceptedDate: civilDate('acceptedDate'),
    anticipatedDueDate: optionalCivilDate('anticipatedDueDate'),
  },
  dateDigest: { date: civilDate('date') },
  titleCheck: { date: civilDate('date') },
  titleSuccession: { acceptedDate: civilDate('acceptedDate') },
  titleFinding: { date: civilDate('date') },
};

/** The fields of type `Json`. Their values may have any key. */
export const JSON_FIELDS: ReadonlySet<string> = new Set([
  'accounts',
  'after',
  'agreed',
  'before',
  'breaks',
  'destination',
  'detail',
  'details',
  'holdDetail',
  'emailAddresses',
  'extra',
  'paymentDestination',
  'phones',
  'providerDestination',
]);

const DATE_FIELDS: ReadonlySet<string> = new Set(Object.values(CIVIL_DATES).flatMap(Object.keys));

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
      JSON_FIELDS.has(key) ? each : convert(each, isDate || DATE_FIELDS.has(key)),
    ]),
  );
}

function civilDate<Field extends string>(field: Field) {
  return {
    needs: { [field]: true } as Record<Field, true>,
    compute: (row: Record<Field, Date>) => toText(row[field]),
  };
}

function optionalCivilDate<Field extends string>(field: Field) {
  return {
    needs: { [field]: true } as Record<Field, true>,
    compute: (row: Record<Field, Date | null>) => {
      const date = row[field];
      return date === null ? null : toText(date);
    },
  };
}

/** Years 0001 to 9999, like every date in the tables. */
function toText(date: Date): CivilDate {
  return date.toISOString().slice(0, 10) as CivilDate;
}
