import type { ProcessFault } from '../../../core/work/process-fault.ts';
import type { Alert, AlertKind } from './alert.ts';
import { inBoth } from './dated-alerts.ts';

export interface FaultyProcesses {
  readonly kind: ProcessFault;
  readonly processes: number;
}

/** Raises at most one alert about tokens, clocks, planners and workers each, for any number of processes. */
export function faultyProcessAlerts(faulty: readonly FaultyProcesses[]): Alert[] {
  const countOf = (fault: ProcessFault) =>
    faulty.find(({ kind }) => kind === fault)?.processes ?? 0;
  const [refused, unusable] = [countOf('token_refused'), countOf('token_unusable')];
  const skewed = countOf('clock_skew');
  const failing = countOf('planning_failed');
  const unrecorded = countOf('work_unrecorded');
  return [
    ...(refused + unusable > 0
      ? [
          refused > 0
            ? processAlert('platform_auth', null, 'tokenRefused', refused)
            : processAlert('platform_auth', null, 'tokenUnusable', unusable),
        ]
      : []),
    ...(skewed > 0 ? [processAlert('clock_skew', null, 'clockSkew', skewed)] : []),
    ...(failing > 0 ? [processAlert('pull_overdue', 'planning', 'planningFailed', failing)] : []),
    ...(unrecorded > 0
      ? [processAlert('pull_overdue', 'unrecorded', 'workUnrecorded', unrecorded)]
      : []),
  ];
}

/** The share of PostgreSQL's queue of notifications that may be used. Ordinary queues are almost empty. */
export const NOTIFICATIONS_LIMIT = 0.1;

export interface HeldNotifications {
  readonly percent: number;
  /** Numbers and users of sessions of PostgreSQL whose transactions may hold the queue, the likeliest first. */
  readonly sessions: readonly string[];
}

export function heldNotificationsAlert({ percent, sessions }: HeldNotifications): Alert {
  const values = { percent, held: sessions.join(', ') || '-' };
  return {
    kind: 'pull_overdue',
    dedupeKey: 'pull_overdue:notifications',
    ...inBoth(({ text }) => text('alertMessages.notificationsHeld', values)),
    date: null,
    pullId: null,
  };
}

function processAlert(
  kind: AlertKind,
  cause: string | null,
  message: 'tokenRefused' | 'tokenUnusable' | 'clockSkew' | 'planningFailed' | 'workUnrecorded',
  processes: number,
): Alert {
  return {
    kind,
    dedupeKey: cause === null ? kind : `${kind}:${cause}`,
    ...inBoth(({ text }) => text(`alertMessages.processes.${message}`, { processes })),
    date: null,
    pullId: null,
  };
}
