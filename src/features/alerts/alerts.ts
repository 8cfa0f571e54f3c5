import type { Text } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { AlertEntry } from '../../console/alert-entry.ts';
import { accountAlerts } from '../accounts/account-changes.sql.ts';
import { bookingAlerts } from '../bookings/booking-alerts.sql.ts';
import { payableAlerts } from '../matching/break-list.sql.ts';
import { providerAlerts } from '../providers/provider-batches.sql.ts';
import { dayAlerts } from '../review/day-alerts.sql.ts';
import { sweepAlerts } from '../sweep/sweeps.sql.ts';
import { verifyAlerts } from '../verify/verify.sql.ts';
import { engineAlerts } from './engine-alerts.sql.ts';

const ENTRIES = {
  ...engineAlerts,
  ...sweepAlerts,
  ...dayAlerts,
  ...bookingAlerts,
  ...payableAlerts,
  ...accountAlerts,
  ...providerAlerts,
  ...verifyAlerts,
};
export type AlertKind = keyof typeof ENTRIES;

/** The kinds of alerts, each stated by the feature that it is about. */
export const ALERTS: Readonly<Record<AlertKind, AlertEntry>> = ENTRIES;
export const ALERT_KINDS = Object.keys(ENTRIES) as readonly AlertKind[];

/** What a person does next about an alert of that cause, or of that kind. Null: a later version has raised it. */
export const nextStepOf = (text: Text, { kind, cause }: { kind: string; cause: string | null }) =>
  text.find(`alerts.nextSteps.${kind}:${cause}`) ?? text.find(`alerts.nextSteps.${kind}`);

/** The page that shows what the alert is about. The message names the dates; a link leads to the oldest. */
export function pageOf(kind: AlertKind, date: CivilDate | null): string {
  return ALERTS[kind].page ?? (date === null ? '/alerts' : `/days/${date}`);
}
