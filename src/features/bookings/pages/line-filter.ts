import { type CivilDate, parseCivilDate } from '../../../base/values/business-day.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { BOOKING_OVERDUE_DAYS } from '../../alerts/messages/erp-alerts.ts';
import { LINE_STATES, type LineFilter } from './booking-list.sql.ts';

/** Returns the filter of a query. A parameter that cannot be read is left out, and the page says so. */
export function filterOf(query: unknown): {
  readonly filter: LineFilter;
  readonly isFilterBad: boolean;
} {
  const [from, to] = ['from', 'to'].map((name) => dateOf(textParameter(query, name)));
  const wantedState = textParameter(query, 'state');
  const wantedDays = daysOf(query) ?? String(BOOKING_OVERDUE_DAYS);
  const areDaysBad = !/^\d{1,4}$/.test(wantedDays) || Number(wantedDays) > 3_650;
  return {
    filter: {
      from: from ?? null,
      to: to ?? null,
      state: LINE_STATES.find((state) => state === wantedState) ?? 'all',
      overdueDays: areDaysBad ? BOOKING_OVERDUE_DAYS : Number(wantedDays),
    },
    isFilterBad: from === undefined || to === undefined || areDaysBad,
  };
}

/** Returns null for no date, and undefined for a text that is no date. */
function dateOf(text: string | null): CivilDate | null | undefined {
  return text === null ? null : (parseCivilDate(text) ?? undefined);
}

/** A page has the number as text; a schema of the API has converted the text to a number. */
function daysOf(query: unknown): string | null {
  const days: unknown =
    query === null || typeof query !== 'object' ? null : Reflect.get(query, 'days');
  if (typeof days === 'number') return String(days);
  return textParameter(query, 'days');
}
