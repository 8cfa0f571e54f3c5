import type { CivilDate } from '../../../base/values/business-day.ts';
import type { Alert, AlertKind } from './alert.ts';
import { type AlertDate, alertsByCause, inBoth, type Words } from './dated-alerts.ts';

/** Without a date and a pull, because the newest sweep replaces all earlier ones. */
function sweepAlert(kind: AlertKind, cause: string | null, tell: (words: Words) => string): Alert {
  const dedupeKey = cause === null ? kind : `${kind}:${cause}`;
  return { kind, dedupeKey, ...inBoth(tell), date: null, pullId: null };
}

export interface StaleSweep {
  /** When the newest complete sweep sent its request; null: no sweep is complete. */
  readonly completeAt: Date | null;
  /** Of the newest sweep; null: it did not fail. */
  readonly errorCode: string | null;
}

export function staleSweepAlert({ completeAt, errorCode }: StaleSweep): Alert {
  const since = completeAt?.toISOString().slice(0, 10);
  return sweepAlert('sweep_stale', null, ({ text, day }) => {
    const stale =
      since === undefined
        ? text('alertMessages.noSweep')
        : text('alertMessages.noSweepSince', { date: day(since) });
    return errorCode === null
      ? stale
      : text('alertMessages.sweepFailed', { stale, error: errorCode });
  });
}

/** The findings of the newest complete sweep. */
export interface SweepFindings {
  readonly from: CivilDate;
  readonly datesCompared: number;
  /** Number of differing dates that had been answered before. */
  readonly datesDiffering: number;
  readonly undated: number;
  readonly future: number;
  readonly early: number;
}

/** A larger share points to the platform or to this program, not to single dates. */
const MAX_DIFFERING_SHARE = 1 / 5;

/** Returns up to two alerts: many differing dates, and titles that belong to no requested date. */
export function sweepFindingAlerts(sweep: SweepFindings): Alert[] {
  const { from, datesCompared, datesDiffering } = sweep;
  const { undated, future, early } = sweep;
  return [
    ...(datesDiffering > datesCompared * MAX_DIFFERING_SHARE
      ? [
          sweepAlert('sweep_differs', 'dates', ({ text, day }) =>
            text('alertMessages.sweepDiffers', {
              from: day(from),
              differing: datesDiffering,
              compared: datesCompared,
            }),
          ),
        ]
      : []),
    ...(undated + future + early > 0
      ? [
          sweepAlert('sweep_differs', 'unplaced', ({ text, day }) => {
            const parts = [
              undated > 0 ? text('alertMessages.undatedPart', { count: undated }) : null,
              future > 0 ? text('alertMessages.futurePart', { count: future }) : null,
              early > 0 ? text('alertMessages.earlyPart', { count: early, from: day(from) }) : null,
            ].filter((part) => part !== null);
            return text('alertMessages.sweepUnplaced', {
              from: day(from),
              parts: parts.join(', '),
            });
          }),
        ]
      : []),
  ];
}

export interface ContradictedDate extends AlertDate {
  readonly pullId: bigint;
  /** Titles of the date in the response to the newest sweep, and to the pull after it. */
  readonly sweepTitles: number;
  readonly pullTitles: number;
}

export function contradictedDateAlerts(contradicted: readonly ContradictedDate[]): Alert[] {
  return alertsByCause(
    'sweep_differs',
    contradicted,
    () => 'filters',
    ({ items, oldest, listed }, { text, day }) =>
      text('alertMessages.contradicted', {
        dates: items.length,
        listed,
        date: day(oldest.date),
        sweepTitles: oldest.sweepTitles,
        pullTitles: oldest.pullTitles,
      }),
  );
}
