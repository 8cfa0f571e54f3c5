import type { CivilDate } from '../business-day.ts';
import type { Alert, AlertKind } from './alert.ts';
import { type AlertDate, alertsByCause, countPt, dayPt } from './dated-alerts.ts';
import { afterAttempts, afterAttemptsPt, type FailedPull } from './pull-alerts.ts';

/** Without a date and a pull, because the newest sweep replaces all earlier ones. */
function sweepAlert(kind: AlertKind, cause: string, message: string, messagePt: string): Alert {
  return { kind, dedupeKey: `${kind}:${cause}`, message, messagePt, date: null, pullId: null };
}

export interface FailedSweep extends Pick<FailedPull, 'attempts' | 'errorCode'> {
  readonly from: CivilDate;
  readonly overLimit: boolean;
}

export function failedSweepAlert(sweep: FailedSweep): Alert {
  const message = `the sweep since ${sweep.from} failed ${afterAttempts(sweep)}`;
  const messagePt = `a varredura desde ${dayPt(sweep.from)} falhou ${afterAttemptsPt(sweep)}`;
  if (!sweep.overLimit) return sweepAlert('sweep_stale', 'failed', message, messagePt);
  return sweepAlert(
    'sweep_stale',
    'failed',
    `${message}: its answer exceeded a limit, so each date in its reach is pulled once a week`,
    `${messagePt}: a resposta passou de um limite; cada data do período é buscada uma vez por semana`,
  );
}

/** @param completeAt when the newest complete sweep sent its request; null: no sweep is complete */
export function staleSweepAlert(completeAt: Date | null): Alert {
  const since = completeAt?.toISOString().slice(0, 10);
  const last = since === undefined ? 'yet' : `since ${since}`;
  const lastPt = since === undefined ? 'até agora' : `desde ${dayPt(since)}`;
  return sweepAlert(
    'sweep_stale',
    'late',
    `no sweep has been complete ${last}: restatements of older dates go unnoticed`,
    `nenhuma varredura foi concluída ${lastPt}: alterações em datas antigas passam despercebidas`,
  );
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
  const unplaced = [
    [sweep.undated, 'without a readable accepted date', 'sem data de aceite legível'],
    [sweep.future, 'of a date in the future', 'de data futura'],
    [
      sweep.early,
      `of a date before ${from}, which were not asked for`,
      `de data anterior a ${dayPt(from)}, que não foi pedida`,
    ],
  ].filter(([titles]) => titles !== 0);
  return [
    ...(datesDiffering > datesCompared * MAX_DIFFERING_SHARE
      ? [
          sweepAlert(
            'sweep_differs',
            'dates',
            `the sweep since ${from} differs from the ledger on ${datesDiffering} of ${datesCompared} dates`,
            `a varredura desde ${dayPt(from)} diverge do registro em ${datesDiffering} de ${datesCompared} datas`,
          ),
        ]
      : []),
    ...(unplaced.length > 0
      ? [
          sweepAlert(
            'sweep_differs',
            'unplaced',
            `the sweep since ${from} had titles that belong to no date: ${unplaced.map(([titles, reason]) => `${titles} ${reason}`).join(', ')}`,
            `a varredura desde ${dayPt(from)} trouxe títulos que não pertencem a nenhuma data: ${unplaced.map(([titles, , reason]) => `${titles} ${reason}`).join(', ')}`,
          ),
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
    (hit) => {
      const { items, oldest, listed, listedPt } = hit;
      const { date, sweepTitles, pullTitles } = oldest;
      const titlesPt = countPt(sweepTitles, 'título', 'títulos');
      return items.length === 1
        ? {
            message: `two sweeps in a row contradict the pulls of ${listed} that followed them: by anticipationDate the date has ${sweepTitles} titles, by conciliationDate ${pullTitles}`,
            messagePt: `duas varreduras seguidas contradizem as buscas de ${listedPt} que vieram depois: por anticipationDate a data tem ${titlesPt}; por conciliationDate, ${pullTitles}`,
          }
        : {
            message: `two sweeps in a row contradict the pulls of ${items.length} dates that followed them: ${listed}; by anticipationDate ${date} has ${sweepTitles} titles, by conciliationDate ${pullTitles}`,
            messagePt: `duas varreduras seguidas contradizem as buscas de ${items.length} datas que vieram depois: ${listedPt}; por anticipationDate o dia ${dayPt(date)} tem ${titlesPt}; por conciliationDate, ${pullTitles}`,
          };
    },
  );
}
