import type { CivilDate } from '../../../base/values/business-day.ts';
import type { Alert } from './alert.ts';
import { inBoth, sumOf } from './dated-alerts.ts';

export interface RefusedProviders {
  /** The date on which the ERP wrote the rows, in the configured time zone. */
  readonly writtenDate: CivilDate;
  /** Rejected by the platform. */
  readonly rejected: number;
  /** Found invalid by the check before the request. */
  readonly invalid: number;
}

/** @returns null: no provider is refused */
export function refusedProvidersAlert(refused: readonly RefusedProviders[]): Alert | null {
  if (refused.length === 0) return null;
  const dates = refused.map(({ writtenDate }) => writtenDate);
  const rejected = sumOf(refused, (date) => date.rejected);
  const invalid = sumOf(refused, (date) => date.invalid);
  return {
    kind: 'provider_rejected',
    dedupeKey: 'provider_rejected',
    ...inBoth(({ text, list }) => {
      const parts = [
        ...(rejected > 0 ? [text('alertMessages.rejectedPart', { count: rejected })] : []),
        ...(invalid > 0 ? [text('alertMessages.invalidPart', { count: invalid })] : []),
      ].join(', ');
      return text('alertMessages.refusedProviders', { listed: list(dates), parts });
    }),
    // Not an accepted date: the alert concerns no day of the ledger.
    date: null,
    pullId: null,
  };
}

export interface FailingPush {
  readonly pending: number;
  /** Of the last failure; null: no request has failed since the last decision. */
  readonly errorCode: string | null;
}

/** How long pushing may fail before an alert is raised. */
export const PUSH_FAILING_MINUTES = 60;

/** The time that providers may wait while none is accepted or refused, for any cause. */
export const PUSH_OVERDUE_HOURS = 2;

export function failingPushAlert({ pending, errorCode }: FailingPush): Alert {
  return {
    kind: 'push_failing',
    dedupeKey: 'push_failing',
    ...inBoth(({ text }) =>
      errorCode === null
        ? text('alertMessages.pushOverdue', { hours: PUSH_OVERDUE_HOURS, pending })
        : text('alertMessages.pushFailing', { error: errorCode, pending }),
    ),
    date: null,
    pullId: null,
  };
}

export interface ChangedAccounts {
  /** The pull that received the titles. */
  readonly pullId: bigint;
  readonly changes: number;
  /** The accepted date of the titles; null: they have several. */
  readonly acceptedDate: CivilDate | null;
}

/**
 * Raises one alert for each pull, so that a new change is reported at once while older ones are open. The change
 * of a party is recorded once, by the first pull that has it, so one cause is one alert here too.
 */
export function changedAccountsAlert({ pullId, changes, acceptedDate }: ChangedAccounts): Alert {
  return {
    kind: 'account_changed',
    dedupeKey: `account_changed:${pullId}`,
    ...inBoth(({ text }) =>
      text('alertMessages.changedAccounts', { pull: String(pullId), changes }),
    ),
    date: acceptedDate,
    pullId,
  };
}
