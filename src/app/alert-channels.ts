import type { Config } from '../base/config/config.ts';
import { slotBefore } from '../base/config/cron-schedule.ts';
import { openWebhookSecret } from '../base/webhooks/webhook-signature.ts';
import type { AlertPolicy } from '../console/alert-entry.ts';
import type { MessageStyle } from '../features/alerts/alert-message.ts';
import type { Channel } from '../features/alerts/channel.ts';
import { openEmail } from '../features/alerts/email-channel.ts';
import { openSlack, openTeams, openWebhook } from '../features/alerts/http-channels.ts';

/**
 * The channels that the configuration names.
 *
 * @throws ConfigError when the secret of the webhook has another form
 */
export function openChannels(config: Config): readonly Channel[] {
  const { alertWebhookUrl, alertSlackUrl, alertTeamsUrl, email } = config;
  const secret = openWebhookSecret('ALERT_WEBHOOK_SECRET', config.alertWebhookSecret);
  return [
    ...(alertWebhookUrl === null ? [] : [openWebhook({ url: alertWebhookUrl, secret })]),
    ...(alertSlackUrl === null ? [] : [openSlack({ url: alertSlackUrl })]),
    ...(alertTeamsUrl === null ? [] : [openTeams({ url: alertTeamsUrl })]),
    ...(email === null ? [] : [openEmail(email)]),
  ];
}

/** The conditions of alerts, for the scheduler and for each report of the state of the ledger. */
export function alertPolicy(config: Config): AlertPolicy {
  const { erpPayablesMaxAgeHours, timezone: timeZone, sweepCron } = config;
  return {
    timeZone,
    payablesMaxAgeHours: erpPayablesMaxAgeHours,
    sweepSlotBefore: (now) => slotBefore(sweepCron, timeZone, now),
  };
}

export function messageStyle(config: Config): MessageStyle {
  return {
    language: config.alertLanguage,
    timeZone: config.timezone,
    consoleUrl: config.consolePublicUrl,
  };
}
