import type { AlertEntry } from '../../console/alert-entry.ts';

export type AlertChannel = 'webhook' | 'slack' | 'teams' | 'email';

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
  /** @throws ConfigError when nothing can be sent; no attempt counts then */
  prepare(): Promise<void>;
  /**
   * Returns null after a delivery, otherwise the reason for the failure, without an address or a
   * part of the answer.
   */
  send(message: Message, signal: AbortSignal): Promise<string | null>;
}
