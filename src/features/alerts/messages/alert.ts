/**
 * alerts/ turns conditions that were read off the tables into alerts: the key, the message in both languages, the date and
 * the pull. One file has one subject. `src/alerts/` reads the conditions and delivers the alerts.
 */
import type { CivilDate } from '../../../base/values/business-day.ts';

/** Conditions that a person should know. Every condition can be derived from the tables at any time. */
export const ALERT_KINDS = [
  'pull_failed',
  'pull_overdue',
  'sweep_stale',
  'sweep_differs',
  'day_held',
  'day_attention',
  'findings_open',
  'checkpoint_stale',
  'restated_after_sign_off',
  'booking_failed',
  'booking_overdue',
  'booking_receipts',
  'booking_waiting',
  'month_seal_broken',
  'titles_altered',
  'verification_overdue',
  'provider_rejected',
  'push_failing',
  'account_changed',
  'payables_stale',
  'paid_to_supplier',
  'contract_drift',
  'platform_auth',
  'clock_skew',
] as const;

export type AlertKind = (typeof ALERT_KINDS)[number];

const ALERT_SEVERITIES = ['critical', 'warning'] as const;

export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

/** Kinds that stop the work or may mean fraud. ops/prometheus/rules.yml has the same list. */
const CRITICAL_ALERT_KINDS: readonly AlertKind[] = [
  'platform_auth',
  'clock_skew',
  'pull_overdue',
  'checkpoint_stale',
  'titles_altered',
  'account_changed',
  'paid_to_supplier',
];

/** An open alert whose message has changed is sent again this long after its last message, in hours. */
export const UPDATE_HOURS = 1;

/** The messages of these kinds change with every attempt, so changed messages are sent again only after a day. */
export const DAILY_ALERT_KINDS: readonly AlertKind[] = [
  'pull_failed',
  'sweep_stale',
  'push_failing',
];
export const DAILY_UPDATE_HOURS = 24;

export function severityOf(kind: AlertKind): AlertSeverity {
  return CRITICAL_ALERT_KINDS.includes(kind) ? 'critical' : 'warning';
}

export type AlertChannel = 'webhook' | 'slack' | 'teams' | 'email';

/** Kinds that are derived from the tables of providers. */
export const PROVIDER_ALERT_KINDS: readonly AlertKind[] = ['provider_rejected', 'push_failing'];

/** All other kinds. */
export const LEDGER_ALERT_KINDS = ALERT_KINDS.filter(
  (kind) => !PROVIDER_ALERT_KINDS.includes(kind),
);

/** A condition while it lasts. `dedupeKey` identifies it. */
export interface Alert {
  readonly kind: AlertKind;
  readonly dedupeKey: string;
  /** A sentence for a person, without personal data. */
  readonly message: string;
  /** The same sentence in Portuguese. */
  readonly messagePt: string;
  readonly date: CivilDate | null;
  readonly pullId: bigint | null;
}
