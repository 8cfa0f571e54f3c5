import { postWebhook } from '../../base/webhooks/post-webhook.ts';
import type { WebhookSecret } from '../../base/webhooks/webhook-signature.ts';
import type { AlertChannel, Channel, Message } from './channel.ts';

const TIMEOUT_MS = 10_000;

interface HttpChannelOptions {
  /** A secret, because the URL may hold a token. */
  readonly url: URL;
  /** Longest wait for the answer, in milliseconds; default 10 seconds. */
  readonly timeoutMs?: number | undefined;
}

/** @param options.secret null: deliveries carry no signature */
export function openWebhook(
  options: HttpChannelOptions & { readonly secret: WebhookSecret | null },
): Channel {
  const { secret } = options;
  return {
    ...openHttpChannel('webhook', options, ({ document }) => document, secret),
    async prepare() {
      await secret?.current();
    },
  };
}

/** An incoming webhook of Slack. */
export function openSlack(options: HttpChannelOptions): Channel {
  return openHttpChannel('slack', options, toSlack);
}

/** A workflow of Microsoft Teams that begins when a webhook request is received. */
export function openTeams(options: HttpChannelOptions): Channel {
  return openHttpChannel('teams', options, toTeams);
}

function openHttpChannel(
  name: AlertChannel,
  { url, timeoutMs = TIMEOUT_MS }: HttpChannelOptions,
  toBody: (message: Message) => object,
  secret: WebhookSecret | null = null,
): Channel {
  return {
    name,
    timeoutMs,
    async prepare() {},
    async send(message, signal) {
      const [{ id }, document] = [message, toBody(message)];
      const contentType = 'application/json';
      return postWebhook(url, { id, contentType, document, secret, timeoutMs, signal });
    },
  };
}

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
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

/** https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
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
