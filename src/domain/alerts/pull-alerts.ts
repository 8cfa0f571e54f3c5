import { addDays, type CivilDate, daysBetween } from '../business-day.ts';
import type { Alert } from './alert.ts';
import { type AlertDate, alertsByCause, countPt, dayPt } from './dated-alerts.ts';

export interface FailedPull extends AlertDate {
  readonly pullId: bigint;
  readonly attempts: number;
  readonly errorCode: string | null;
}

/** Pulls that fail with the same error code mostly have the same cause. */
export function failedPullAlerts(pulls: readonly FailedPull[]): Alert[] {
  return alertsByCause(
    'pull_failed',
    pulls,
    ({ errorCode }) => `${errorCode}`,
    (failed) => {
      const { items, oldest, listed, listedPt } = failed;
      const attempts = Math.max(...items.map((pull) => pull.attempts));
      const { errorCode } = oldest;
      const after = afterAttempts({ attempts, errorCode });
      const afterPt = afterAttemptsPt({ attempts, errorCode });
      return items.length === 1
        ? {
            message: `the pull of ${listed} failed ${after}`,
            messagePt: `a busca de ${listedPt} falhou ${afterPt}`,
          }
        : {
            message: `the pulls of ${items.length} dates failed ${after}: ${listed}`,
            messagePt: `as buscas de ${items.length} datas falharam ${afterPt}: ${listedPt}`,
          };
    },
  );
}

export interface OverduePulls {
  readonly pulls: number;
  /** Of the pull with the oldest slot. */
  readonly date: CivilDate;
  readonly pullId: bigint;
}

/** A planned pull that has not ended is overdue this long after its slot. */
export const OVERDUE_HOURS = 2;

/** One alert for all dates, because one cause delays the pulls of all dates. */
export function overduePullsAlert({ pulls, date, pullId }: OverduePulls): Alert {
  const subject = pulls === 1 ? 'a planned pull has' : `${pulls} planned pulls have`;
  return {
    kind: 'pull_overdue',
    dedupeKey: 'pull_overdue',
    message: `${subject} not ended ${OVERDUE_HOURS} hours after the slot; the oldest is that of ${date}`,
    messagePt: `${countPt(pulls, 'busca prevista não terminou', 'buscas previstas não terminaram')} ${OVERDUE_HOURS} horas depois do horário; a mais antiga é a de ${dayPt(date)}`,
    date,
    pullId,
  };
}

export function afterAttempts(failed: Pick<FailedPull, 'attempts' | 'errorCode'>): string {
  const attempts = `${failed.attempts} ${failed.attempts === 1 ? 'attempt' : 'attempts'}`;
  return `after ${attempts} (${failed.errorCode ?? 'no error recorded'})`;
}

export function afterAttemptsPt(failed: Pick<FailedPull, 'attempts' | 'errorCode'>): string {
  const attempts = countPt(failed.attempts, 'tentativa', 'tentativas');
  return `após ${attempts} (${failed.errorCode ?? 'sem erro registrado'})`;
}

export interface NewDrift {
  /** The first pull whose response had the item. */
  readonly pullId: bigint;
  readonly date: CivilDate | null;
  /** Some of the places in the response, in order. */
  readonly paths: readonly string[];
  /** Number of all places. */
  readonly pathCount: number;
}

/** Number of paths that the message of an alert lists. */
export const DRIFT_PATHS_NAMED = 5;

/**
 * Raises one alert for each pull, so that new items are reported at once while older ones are open. An item is
 * recorded once, by the first pull that has it.
 */
export function contractDriftAlert({ pullId, date, paths, pathCount }: NewDrift): Alert {
  const named = paths.slice(0, DRIFT_PATHS_NAMED).map(toSafePath);
  const more = pathCount - named.length;
  return {
    kind: 'contract_drift',
    dedupeKey: `contract_drift:${pullId}`,
    message:
      `the response to pull ${pullId} has fields or values that the documented interface does not ` +
      `have: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    messagePt:
      `a resposta da busca ${pullId} tem campos ou valores que a documentação da plataforma não ` +
      `prevê: ${named.join(', ')}${more > 0 ? ` e mais ${more}` : ''}`,
    date,
    pullId,
  };
}

/**
 * Alerts hold no personal data, and the name of an undocumented field may be any text. A name that
 * is not an ordinary identifier, or that has as many consecutive digits as a part of a tax
 * identifier, is replaced by `…`.
 */
function toSafePath(path: string): string {
  const names = path.split('.');
  return names.map((name) => (isOrdinaryName(name) ? name : '…')).join('.');
}

function isOrdinaryName(name: string): boolean {
  return /^[A-Za-z_$][\w$-]{0,63}(\[\])?$/.test(name) && !/\d{5}/.test(name);
}

/** How far the checkpoint may be behind, and how long it may stay unchanged, before an alert is raised. */
export interface StalenessLimits {
  readonly maxLagDays: number;
  /** Longer than the longest gap between two daily runs. */
  readonly maxIdleHours: number;
}

export const STALENESS_LIMITS: StalenessLimits = { maxLagDays: 3, maxIdleHours: 26 };

/** A shrinking backlog raises no alert: while it is worked off, days are merged more often than this. */
const CATCH_UP_IDLE_HOURS = 1;

const HOUR_MS = 3_600_000;

export interface CheckpointProgress {
  readonly startDate: CivilDate;
  readonly lastReconciledDate: CivilDate | null;
  /** When the checkpoint last advanced. */
  readonly advancedAt: Date;
}

/**
 * Returns the alert for a checkpoint that is behind the last closed date and has not advanced for
 * `maxIdleHours`, or for one hour if it is more than `maxLagDays` behind. Null otherwise.
 */
export function staleCheckpointAlert(
  checkpoint: CheckpointProgress,
  at: { readonly now: Date; readonly lastClosedDate: CivilDate },
  limits: StalenessLimits,
): Alert | null {
  const reached = checkpoint.lastReconciledDate ?? addDays(checkpoint.startDate, -1);
  const lagDays = daysBetween(reached, at.lastClosedDate);
  if (lagDays <= 0) return null;
  const idleHours = (at.now.getTime() - checkpoint.advancedAt.getTime()) / HOUR_MS;
  const patienceHours =
    lagDays > limits.maxLagDays
      ? Math.min(CATCH_UP_IDLE_HOURS, limits.maxIdleHours)
      : limits.maxIdleHours;
  if (idleHours <= patienceHours) return null;
  const behind = `${lagDays} ${lagDays === 1 ? 'day' : 'days'} behind`;
  const behindPt = `atraso de ${countPt(lagDays, 'dia', 'dias')}`;
  return {
    kind: 'checkpoint_stale',
    dedupeKey: 'checkpoint_stale',
    message:
      checkpoint.lastReconciledDate === null
        ? `no date is reconciled yet, ${behind}`
        : `reconciled only up to ${reached}, ${behind}`,
    messagePt:
      checkpoint.lastReconciledDate === null
        ? `nenhuma data foi conciliada até agora; ${behindPt}`
        : `a conciliação só chega até ${dayPt(reached)}; ${behindPt}`,
    date: addDays(reached, 1),
    pullId: null,
  };
}
