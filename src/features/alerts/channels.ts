import { createHmac } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { Agent, request } from 'undici';
import type { Config } from '../../base/config/config.ts';
import { faultCode } from '../../base/runtime/errors.ts';
import { within } from '../../base/runtime/timing.ts';
import type { Language } from '../../base/texts/texts.ts';
import type { AlertEntry } from '../../console/alert-entry.ts';

export type AlertChannel = 'webhook' | 'slack' | 'teams' | 'email';

/** How messages are written. */
export interface MessageStyle {
  readonly language: Language;
  readonly timeZone: string;
  /** Address of the console; null: messages have no link. */
  readonly consoleUrl: URL | null;
}

/** A message of a channel, in the language of the receivers, without personal data. */
export interface Message {
  /** The same in each attempt to deliver the message. */
  readonly id: string;
  /** The same for all messages about one alert. */
  readonly thread: string;
  /** Null: no state of an alert, or an alert that is over. */
  readonly severity: AlertEntry['severity'] | null;
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly link: { readonly url: URL; readonly label: string } | null;
  /** For receivers that are programs. */
  readonly document: object;
}

export interface Channel {
  readonly name: AlertChannel;
  /** Longest time that `send` takes, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Returns null after a delivery, otherwise the reason for the failure, without an address or a
   * part of the answer.
   */
  send(message: Message, signal: AbortSignal): Promise<string | null>;
}

const TIMEOUT_MS = 10_000;

interface HttpChannelOptions {
  /** A secret, because the URL may hold a token. */
  readonly url: URL;
  /** Of the signatures. Absent or null: deliveries carry none. */
  readonly key?: Buffer | null;
  /** Longest wait for the answer, in milliseconds; default 10 seconds. */
  readonly timeoutMs?: number | undefined;
}

/** The channels whose settings are given. */
export const openChannels = (config: Config): Channel[] => {
  const { alertWebhookUrl, alertWebhookSecret, alertSlackUrl, alertTeamsUrl, email } = config;
  return [
    ...(alertWebhookUrl
      ? [openHttpChannel('webhook', { url: alertWebhookUrl, key: alertWebhookSecret })]
      : []),
    ...(alertSlackUrl ? [openHttpChannel('slack', { url: alertSlackUrl })] : []),
    ...(alertTeamsUrl ? [openHttpChannel('teams', { url: alertTeamsUrl })] : []),
    ...(email ? [openEmail(email)] : []),
  ];
};

/** What each channel receives. */
const BODIES = { webhook: ({ document }: Message) => document, slack: toSlack, teams: toTeams };

export function openHttpChannel(
  name: keyof typeof BODIES,
  { url, key = null, timeoutMs = TIMEOUT_MS }: HttpChannelOptions,
): Channel {
  return {
    name,
    timeoutMs,
    send: async (message, signal) => {
      const { id } = message;
      const body = JSON.stringify(BODIES[name](message));
      const headers = {
        'content-type': 'application/json',
        'idempotency-key': id,
        ...(key !== null && signatureHeaders(key, { id, body, sentAt: new Date() })),
      };
      const dispatcher = new Agent({ connect: { timeout: timeoutMs } });
      try {
        // Redirects are not followed, because their target is unknown.
        const answer = request(url, { method: 'POST', dispatcher, headers, body });
        const { statusCode } = await within(timeoutMs, answer, signal);
        return statusCode >= 200 && statusCode < 300 ? null : `status ${statusCode}`;
      } catch (error) {
        return faultCode(error);
      } finally {
        // Ends a request without an answer, too.
        await dispatcher.destroy();
      }
    },
  };
}

/** An incoming webhook: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
function toSlack({ title, paragraphs, link }: Message): object {
  // Slack reads these three characters as markup.
  const escaped = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
  return {
    text: escaped([title, ...paragraphs].join('\n')),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: title, emoji: false } },
      ...paragraphs.map((text) => ({
        type: 'section',
        text: { type: 'plain_text', text, emoji: false },
      })),
      ...(link === null ? [] : [section(`<${escaped(link.url.href)}|${escaped(link.label)}>`)]),
    ],
  };
}

/** A workflow that begins when a webhook request is received: https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
function toTeams({ title, paragraphs, link, severity }: Message): object {
  // A text block would take characters of a message for Markdown.
  const block = (text: string, style: object) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...style }],
  });
  const color =
    severity === 'critical' ? 'Attention' : severity === 'warning' ? 'Warning' : 'Default';
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            block(title, { size: 'Medium', weight: 'Bolder', color }),
            ...paragraphs.map((text) => block(text, {})),
          ],
          actions:
            link === null
              ? []
              : [{ type: 'Action.OpenUrl', title: link.label, url: link.url.href }],
        },
      },
    ],
  };
}

export interface EmailOptions {
  /** With user and password, where the server requires them. A secret. */
  readonly url: URL;
  /** Without TLS, to a host that the configuration lists for plain connections. */
  readonly isPlain: boolean;
  readonly from: string;
  readonly to: readonly string[];
  /** Longest time of a delivery, in milliseconds; default 20 seconds. */
  readonly timeoutMs?: number;
}

const EMAIL_TIMEOUT_MS = 20_000;

/** E-mail over SMTP. The mails about one alert are one thread. */
export function openEmail(options: EmailOptions): Channel {
  const { url, isPlain, from, to, timeoutMs = EMAIL_TIMEOUT_MS } = options;
  const isTlsFirst = url.protocol === 'smtps:';
  const user = decodeURIComponent(url.username);
  const transport = createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (isTlsFirst ? 465 : 587)),
    secure: isTlsFirst,
    requireTLS: !isPlain,
    ignoreTLS: isPlain,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(url.password) } }),
  });
  const messageId = (id: string) => `<${id}@erp-conciliation-sync>`;
  return {
    name: 'email',
    timeoutMs,
    async send({ id, thread, title, paragraphs, link }, signal) {
      const lines = [...paragraphs, ...(link === null ? [] : [`${link.label}: ${link.url.href}`])];
      const mail = transport.sendMail({
        from,
        to: [...to],
        subject: title,
        text: `${lines.join('\n\n')}\n`,
        messageId: messageId(id),
        references: id === thread ? [] : [messageId(thread)],
      });
      // The connection of an abandoned mail ends by its own timeout.
      return within(timeoutMs, mail, signal).then(() => null, faultCode);
    },
  };
}

/** @param id the same in every attempt to deliver one message */
export function signatureHeaders(
  key: Buffer,
  { id, body, sentAt }: { readonly id: string; readonly body: string; readonly sentAt: Date },
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
