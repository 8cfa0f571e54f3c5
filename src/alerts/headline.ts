import type { Alert, AlertKind, AlertLanguage } from '../domain/alerts/alert.ts';
import { listDates } from '../domain/alerts/dated-alerts.ts';
import { addDays } from '../domain/business-day.ts';
import { NEEDS } from '../ledger/ledger-days.sql.ts';
import { textOf } from '../texts/texts.ts';
import type { OpenItems } from './open-items.sql.ts';

/** The state of the ledger in words, the same in the console, in `conciliation status`, in the API and in the digest. */
export interface Headline {
  /** Whether nothing waits for a person. */
  readonly inOrder: boolean;
  readonly title: string;
  /** Sentences: the range of reconciled dates, its exceptions, and each open item. */
  readonly lines: readonly string[];
}

/** Alerts about something that a line of the headline counts already. */
const COUNTED_KINDS: readonly AlertKind[] = [
  'day_held',
  'day_attention',
  'findings_open',
  'restated_after_sign_off',
  'checkpoint_stale',
  'account_changed',
];

/** Returns whether an item waits for a person. Days that only wait for a sign-off do not count. */
export function needsPerson(items: OpenItems): boolean {
  const { sign_off: _, ...urgent } = items.needs.counts;
  return (
    Object.values(urgent).some((count) => count > 0) ||
    items.accountChanges > 0 ||
    items.breaks > 0 ||
    items.unmappedCompanies > 0 ||
    items.alerts.length > 0
  );
}

export function headlineOf(items: OpenItems, language: AlertLanguage): Headline {
  const text = textOf(language);
  const { startDate, lastReconciledDate, lagDays, exceptions, needs, accountChanges, breaks } =
    items;
  const { unmappedCompanies } = items;
  const show = (date: NonNullable<typeof startDate>) => listDates([date], language);
  const others = alertLines(items.alerts, language);
  const { sign_off: toSign, ...urgent } = needs.counts;
  const days = Object.values(urgent).reduce((sum, count) => sum + count, 0);
  const otherItems =
    others.length +
    [accountChanges > 0, breaks > 0, unmappedCompanies > 0, !items.providersRead].filter(
      (isOpen) => isOpen,
    ).length;
  const parts = [
    ...(days > 0 ? [text('headline.days', { count: days })] : []),
    ...(toSign > 0 ? [text('headline.toSign', { count: toSign })] : []),
    ...(lagDays > 0 ? [text('headline.behind', { count: lagDays })] : []),
    ...(otherItems > 0 ? [text('headline.others', { count: otherItems })] : []),
  ];
  const inOrder = lastReconciledDate !== null && parts.length === 0;
  return {
    inOrder,
    title: inOrder ? text('headline.inOrder') : parts.join(' · ') || text('headline.nothing'),
    lines: [
      ...rangeLines(),
      ...NEEDS.flatMap((need) => {
        const oldest = needs.days.find((day) => day.need === need);
        if (oldest === undefined) return [];
        return `${text(`days.need.${need}`)}: ${text('headline.count', { count: needs.counts[need], oldest: show(oldest.date) })}.`;
      }),
      ...(accountChanges > 0 ? [text('headline.accountChanges', { count: accountChanges })] : []),
      ...(breaks > 0 ? [text('headline.breaks', { count: breaks })] : []),
      ...(unmappedCompanies > 0
        ? [text('headline.unmappedCompanies', { count: unmappedCompanies })]
        : []),
      ...others,
      ...(items.providersRead ? [] : [text('headline.providersLocked')]),
    ],
  };

  function rangeLines(): string[] {
    if (startDate === null) return [text('headline.empty')];
    if (lastReconciledDate === null)
      return [text('headline.nothingYet', { start: show(startDate) })];
    const [start, last] = [show(startDate), show(lastReconciledDate)];
    return [
      exceptions === 0
        ? text('headline.range', { start, last })
        : text('headline.rangeExcept', { start, last, count: exceptions }),
      ...(lagDays > 0
        ? [
            text('headline.missing', {
              count: lagDays,
              first: show(addDays(lastReconciledDate, 1)),
            }),
          ]
        : []),
    ];
  }
}

/** One sentence for each kind: its first message, and the number of the others. */
function alertLines(alerts: readonly Alert[], language: AlertLanguage): string[] {
  const kinds = new Set(
    alerts.map(({ kind }) => kind).filter((kind) => !COUNTED_KINDS.includes(kind)),
  );
  const text = textOf(language);
  return [...kinds].map((kind) => {
    const [first, ...rest] = alerts.filter((alert) => alert.kind === kind);
    const message = language === 'en' ? first?.message : first?.messagePt;
    const more = rest.length === 0 ? '' : `, ${text('days.more', { count: rest.length })}`;
    return `${text(`alerts.kinds.${kind}`)}: ${message}${more}.`;
  });
}
