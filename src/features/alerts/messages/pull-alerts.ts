import { addDays, type CivilDate, daysBetween } from '../../../base/values/business-day.ts';
import type { Alert } from './alert.ts';
import { type AlertDate, alertsByCause, inBoth, type Words } from './dated-alerts.ts';

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
    ({ items, oldest, listed }, words) => {
      const attempts = Math.max(...items.map((pull) => pull.attempts));
      const after = afterAttempts({ attempts, errorCode: oldest.errorCode }, words);
      return words.text('alertMessages.failedPulls', { pulls: items.length, listed, after });
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
  return {
    kind: 'pull_overdue',
    dedupeKey: 'pull_overdue',
    ...inBoth(({ text, day }) =>
      text('alertMessages.overduePulls', { pulls, hours: OVERDUE_HOURS, date: day(date) }),
    ),
    date,
    pullId,
  };
}

function afterAttempts(
  { attempts, errorCode }: Pick<FailedPull, 'attempts' | 'errorCode'>,
  { text }: Words,
): string {
  const error = errorCode ?? text('alertMessages.noError');
  return text('alertMessages.afterAttempts', { attempts, error });
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
    ...inBoth(({ text }) => {
      const listed = named.join(', ');
      return text('alertMessages.drift', {
        pull: String(pullId),
        paths: more > 0 ? text('alertMessages.more', { listed, more }) : listed,
      });
    }),
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
  return /^(\*|[A-Za-z_$][\w$-]{0,63}(\[\]|\*)?)$/.test(name) && !/\d{5}/.test(name);
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
  return {
    kind: 'checkpoint_stale',
    dedupeKey: 'checkpoint_stale',
    ...inBoth(({ text, day }) =>
      checkpoint.lastReconciledDate === null
        ? text('alertMessages.nothingReconciled', { days: lagDays })
        : text('alertMessages.reconciledUpTo', { date: day(reached), days: lagDays }),
    ),
    date: addDays(reached, 1),
    pullId: null,
  };
}
