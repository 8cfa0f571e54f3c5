import { parseCivilDate } from '../../../base/values/business-day.ts';
import { CHECK_CODES } from '../../../base/values/checks.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { FINDING_STATES, type FindingFilter } from '../findings.sql.ts';

/** Reads the filter of a query or of a form. A value that is not known is left out. The state is `open` by default. */
export function findingFilter(query: unknown): FindingFilter {
  const text = (name: string) => textParameter(query, name);
  const state = text('state') ?? 'open';
  return {
    state: FINDING_STATES.find((known) => known === state) ?? null,
    code: CHECK_CODES.find((known) => known === text('check')) ?? null,
    severity: (['info', 'review'] as const).find((known) => known === text('severity')) ?? null,
    date: parseCivilDate(text('date') ?? ''),
  };
}

export function findingsHref(filter: Partial<FindingFilter>, page = 1): string {
  const { state = 'open', code = null, date = null, severity = null } = filter;
  const query = new URLSearchParams({
    ...(state !== 'open' && { state: state ?? 'all' }),
    ...(date !== null && { date }),
    ...(code !== null && { check: code }),
    ...(severity !== null && { severity }),
    ...(page > 1 && { page: String(page) }),
  });
  return query.size === 0 ? '/findings' : `/findings?${query}`;
}
