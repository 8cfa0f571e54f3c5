import { parseCivilDate } from '../../../base/values/business-day.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { BREAK_KINDS, type Break, type BreakFilter, type BreakKey } from '../breaks.sql.ts';

const MAX_TEXT = 255;
const ID = /^[1-9]\d{0,17}$/;

/** Parses the filter of a query or a form. A parameter that cannot be read counts as absent. */
export function breakFilter(source: unknown): BreakFilter {
  const supplier = textParameter(source, 'supplier');
  return {
    kind: kindOf(source),
    date: parseCivilDate(textParameter(source, 'date') ?? ''),
    supplier: supplier !== null && supplier.length <= MAX_TEXT ? supplier : null,
  };
}

/** Returns the break that a query or a form names; null: it names none. */
export function breakKey(source: unknown): BreakKey | null {
  const kind = kindOf(source);
  const title = textParameter(source, 'title');
  const erpKey = textParameter(source, 'payable');
  if (kind === null || (title === null && erpKey === null)) return null;
  if (title !== null && !ID.test(title)) return null;
  if (erpKey !== null && erpKey.length > MAX_TEXT) return null;
  return { kind, titleId: title === null ? null : BigInt(title), erpKey };
}

function kindOf(source: unknown) {
  const text = textParameter(source, 'kind');
  return BREAK_KINDS.find((known) => known === text) ?? null;
}

export const breaksHref = (filter: Partial<BreakFilter>, page = 1) =>
  `/breaks?${new URLSearchParams([
    ...Object.entries(filter).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
    ...(page > 1 ? [['page', String(page)]] : []),
  ] as [string, string][])}`;

export const breakHref = ({ kind, title, payable }: Pick<Break, 'kind' | 'title' | 'payable'>) =>
  `/break?${new URLSearchParams({
    kind,
    ...(title !== null && { title: String(title.id) }),
    ...(payable !== null && { payable: payable.erpKey }),
  })}`;
