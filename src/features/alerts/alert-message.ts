import { type Language, textOf } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { capitalised } from '../../base/values/display-text.ts';
import type { DueAlert } from './alert-delivery.sql.ts';
import { ALERTS, type AlertKind } from './alerts.ts';
import type { Message } from './channel.ts';

/** How messages are written. */
export interface MessageStyle {
  readonly language: Language;
  readonly timeZone: string;
  /** Address of the console; null: messages have no link. */
  readonly consoleUrl: URL | null;
}

export type AlertState = 'raised' | 'updated' | 'resolved';

export function stateOf(alert: DueAlert): AlertState {
  if (alert.resolvedAt !== null) return 'resolved';
  return alert.deliveries === 0 ? 'raised' : 'updated';
}

export function alertMessage(alert: DueAlert, style: MessageStyle): Message {
  const { kind, date, pullId, raisedAt, resolvedAt } = alert;
  const text = textOf(style.language);
  const state = stateOf(alert);
  const { severity } = ALERTS[kind];
  // The last message may name more than the state at the end.
  const sentence = state === 'resolved' ? (alert.deliveredMessage ?? alert.message) : alert.message;
  const prefix = state === 'raised' ? null : text(`alerts.states.${state}`);
  const from = instantText(raisedAt, style);
  const duration =
    resolvedAt === null
      ? text('alerts.since', { from })
      : text('alerts.lasted', { from, until: instantText(resolvedAt, style) });
  const nextStep = state === 'resolved' ? null : text(`alerts.nextSteps.${kind}`);
  const link = style.consoleUrl === null ? null : new URL(pageOf(kind, date), style.consoleUrl);
  const message = prefix === null ? sentence : `${prefix}: ${sentence}`;
  const thread = `alert-${alert.id}-raised`;
  return {
    id: `alert-${alert.id}-${state === 'updated' ? `updated-${alert.deliveries}` : state}`,
    thread,
    severity: state === 'resolved' ? null : severity,
    title: `${prefix ?? text(`alerts.severities.${severity}`)}: ${text(`alerts.kinds.${kind}`)}`,
    paragraphs: [
      `${capitalised(sentence)}.`,
      duration,
      ...(nextStep === null ? [] : [text('alerts.nextStep', { step: nextStep })]),
    ],
    link: link === null ? null : { url: link, label: text('alerts.openPage') },
    document: {
      kind,
      state,
      severity,
      message: resolvedAt === null ? message : `${message}. ${duration}`,
      date,
      pullId: pullId === null ? null : Number(pullId),
      raisedAt: raisedAt.toISOString(),
      resolvedAt: resolvedAt?.toISOString() ?? null,
      nextStep,
      link: link?.href ?? null,
      runbook: `docs/operating.md#${kind}`,
    },
  };
}

/** The page that shows what the alert is about. The message names the dates; a link leads to the oldest. */
export function pageOf(kind: AlertKind, date: CivilDate | null): string {
  return ALERTS[kind].page ?? (date === null ? '/alerts' : `/days/${date}`);
}

/** Date and time in the configured time zone, with the offset. */
function instantText(at: Date, { language, timeZone }: MessageStyle): string {
  const parts = new Intl.DateTimeFormat(language === 'en' ? 'sv-SE' : language, {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return parts.format(at);
}
