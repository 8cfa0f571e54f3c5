/** The messages about alerts, and the daily digest. */
import { listDates, textOf } from '../../base/texts/texts.ts';
import { type CivilDate, dateIn } from '../../base/values/business-day.ts';
import { capitalised } from '../../base/values/display-text.ts';
import { headlineOf } from '../home/headline.ts';
import type { OpenItems } from '../home/open-items.ts';
import { ALERTS, type AlertKind, pageOf } from './alerts.ts';
import type { Message, MessageStyle } from './channels.ts';

/** A state of an alert that has not reached a channel yet. */
export interface DueAlert {
  readonly id: bigint;
  readonly kind: AlertKind;
  /** In the language of the caller. */
  readonly message: string;
  /** The message that the channel took last; null: none. */
  readonly deliveredMessage: string | null;
  readonly date: CivilDate | null;
  readonly pullId: bigint | null;
  readonly raisedAt: Date;
  /** Null: the alert lasts. */
  readonly resolvedAt: Date | null;
  /** Messages about the alert that the channel took. */
  readonly deliveries: number;
}

type AlertState = 'raised' | 'updated' | 'resolved';

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

/** Date and time in the configured time zone, with the offset. */
function instantText(at: Date, { language, timeZone }: MessageStyle): string {
  const parts = new Intl.DateTimeFormat(language === 'en' ? 'sv-SE' : language, {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return parts.format(at);
}

/** Yesterday and the tasks, as on the start page. */
export function digestMessage(items: OpenItems, slotAt: Date, style: MessageStyle): Message {
  const { language, timeZone, consoleUrl } = style;
  const id = `digest-${slotAt.toISOString().slice(0, 16).replace(':', '')}`;
  const date = dateIn(timeZone, slotAt);
  const text = textOf(language);
  const headline = headlineOf(items, language);
  const { startDate, lastReconciledDate, lagDays, needs, accountChanges } = items;
  return {
    id,
    thread: id,
    severity: null,
    title: text('alerts.digest', { date: listDates([date], language) }),
    paragraphs: [headline.title, headline.lines.join('\n')],
    link: consoleUrl === null ? null : { url: consoleUrl, label: text('alerts.openPage') },
    document: {
      kind: 'digest',
      date,
      headline,
      startDate,
      lastReconciledDate,
      lagDays,
      needs,
      accountChanges,
      link: consoleUrl?.href ?? null,
    },
  };
}
