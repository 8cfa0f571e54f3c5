import { LANGUAGES, type Language } from '../texts/texts.ts';
import { isPlainHost, mailAddressFault, type PlaintextHosts } from './address-faults.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { readWebhookUrl, withPassword } from './secret-variables.ts';

/** The channels of alerts and of the digest. */
export interface AlertConfig {
  readonly alertLanguage: Language;
  /** The addresses of channels are never logged: path or query may hold a secret. */
  readonly alertWebhookUrl: URL | null;
  /** At most one of the two is set; neither: webhooks carry no signature. */
  readonly alertWebhookSecretFile: string | null;
  readonly alertWebhookSecret: string | null;
  readonly alertSlackUrl: URL | null;
  readonly alertTeamsUrl: URL | null;
  /** Null: alerts are not sent by e-mail. */
  readonly alertEmail: EmailConfig | null;
  /** Whether the channels receive the daily digest. */
  readonly sendsDigest: boolean;
}

interface EmailConfig {
  /** With the password of SMTP_PASSWORD_FILE. */
  readonly url: URL;
  /** Without TLS, on this machine or to a host of ALLOW_PLAINTEXT. */
  readonly isPlain: boolean;
  readonly from: string;
  readonly to: readonly string[];
}

export function readAlertChannels(reader: EnvironmentReader, allowed: PlaintextHosts): AlertConfig {
  const alertLanguage = reader.choice('ALERT_LANGUAGE', 'en', LANGUAGES);
  const alertWebhookUrl = readWebhookUrl(reader, 'ALERT_WEBHOOK_URL', allowed);
  const { secretFile, secret } = reader.secret('ALERT_WEBHOOK_SECRET');
  const channels = {
    alertLanguage,
    alertWebhookUrl,
    alertWebhookSecretFile: secretFile,
    alertWebhookSecret: secret,
    alertSlackUrl: readWebhookUrl(reader, 'ALERT_SLACK_URL', allowed),
    alertTeamsUrl: readWebhookUrl(reader, 'ALERT_TEAMS_URL', allowed),
    alertEmail: readEmail(reader, allowed),
    sendsDigest: reader.choice('DIGEST', 'off', ['on', 'off']) === 'on',
  };
  const names = ['ALERT_WEBHOOK_URL', 'ALERT_SLACK_URL', 'ALERT_TEAMS_URL', 'ALERT_EMAIL_TO'];
  const isSet = (name: string) =>
    reader.text(name) !== null || reader.text(`${name}_FILE`) !== null;
  if (channels.sendsDigest && !names.some(isSet)) {
    reader.problems.push(`DIGEST: on, and none of ${names.join(', ')} is set`);
  }
  return channels;
}

function readEmail(reader: EnvironmentReader, allowed: PlaintextHosts): EmailConfig | null {
  const text = reader.text('SMTP_URL');
  const fault = text === null ? null : mailAddressFault(text);
  if (fault !== null) reader.secretFault('SMTP_URL', fault);
  const address = withPassword(reader, 'SMTP', fault === null ? text : null);
  const from = reader.text('ALERT_EMAIL_FROM');
  const to = (reader.text('ALERT_EMAIL_TO') ?? '').split(',').map((entry) => entry.trim());
  const given = [text, from, reader.text('ALERT_EMAIL_TO')].filter((value) => value !== null);
  if (given.length === 0) return null;
  if (given.length < 3) {
    reader.problems.push(
      'SMTP_URL, ALERT_EMAIL_FROM, ALERT_EMAIL_TO: expected all of them or none',
    );
    return null;
  }
  for (const [name, addresses] of [
    ['ALERT_EMAIL_FROM', [from ?? '']],
    ['ALERT_EMAIL_TO', to],
  ] as const) {
    if (!addresses.every((entry) => MAIL_ADDRESS.test(entry))) {
      reader.secretFault(name, 'e-mail addresses such as finance@example.com');
    }
  }
  if (address === null || from === null) return null;
  const url = new URL(address);
  return { url, isPlain: url.protocol === 'smtp:' && isPlainHost(url.hostname, allowed), from, to };
}

const MAIL_ADDRESS = /^[^\s@<>",;]+@[^\s@<>",;]+$/;
