import type { MessageStyle } from '../alerts/alert-message.ts';
import type { Channel } from '../alerts/channel.ts';
import type { AlertPolicy } from '../alerts/derive-alerts.sql.ts';
import { openEmail } from '../alerts/email-channel.ts';
import { openSlack, openTeams, openWebhook } from '../alerts/http-channels.ts';
import type { Config } from '../config/config.ts';
import { STALENESS_LIMITS } from '../domain/alerts/pull-alerts.ts';
import { slotBefore } from '../scheduler/cron-slot.ts';
import { openWebhookSecret } from '../webhooks/webhook-signature.ts';

/**
 * The channels that the configuration names.
 *
 * @throws ConfigError when the secret of the webhook has another form
 */
export function openChannels(config: Config): readonly Channel[] {
  const { alertWebhookUrl, alertSlackUrl, alertTeamsUrl, alertEmail } = config;
  const secret = openWebhookSecret('ALERT_WEBHOOK_SECRET', {
    secretFile: config.alertWebhookSecretFile,
    secret: config.alertWebhookSecret,
  });
  return [
    ...(alertWebhookUrl === null ? [] : [openWebhook({ url: alertWebhookUrl, secret })]),
    ...(alertSlackUrl === null ? [] : [openSlack({ url: alertSlackUrl })]),
    ...(alertTeamsUrl === null ? [] : [openTeams({ url: alertTeamsUrl })]),
    ...(alertEmail === null ? [] : [openEmail(alertEmail)]),
  ];
}

/** The conditions of alerts, for the scheduler and for each report of the state of the ledger. */
export function alertPolicy(config: Config): AlertPolicy {
  const { erpPayablesMaxAgeHours, timeZone, sweepCron } = config;
  return {
    ...STALENESS_LIMITS,
    timeZone,
    payablesMaxAgeHours: erpPayablesMaxAgeHours,
    sweepSlotBefore: (now) => slotBefore(sweepCron, timeZone, now),
  };
}

export function messageStyle(config: Config): MessageStyle {
  return {
    language: config.alertLanguage,
    timeZone: config.timeZone,
    consoleUrl: config.consolePublicUrl,
  };
}
