import { readClock } from '../database/clock.ts';
import type { Database } from '../database/database.ts';
import { ALERT_KINDS, ALERT_SEVERITIES, listDates, severityOf } from '../domain/alert.ts';
import { type CivilDate, dateIn, lastClosedDate } from '../domain/business-day.ts';
import type { Logger } from '../runtime/logger.ts';
import type { MessageStyle } from './alert-message.ts';
import { ALERT_TEXTS } from './alert-text.ts';
import type { Channel, Message } from './channel.ts';
import { LEASE_MARGIN_MS, settleAll } from './deliver-alerts.ts';
import {
  claimDigest,
  type DigestFacts,
  planDigest,
  readDigest,
  recordDigest,
} from './digest.sql.ts';

export interface DigestParts {
  readonly database: Database;
  readonly logger: Logger;
  readonly style: MessageStyle;
  /** The channels that receive the digest. */
  readonly channels: readonly Channel[];
  /** The latest slot. */
  readonly slotAt: (now: Date) => Date;
}

/**
 * Delivers the digest of the latest slot to each channel that has not received it. Several processes may call
 * this function at the same time.
 * @returns the number of successful deliveries
 */
export async function deliverDigest(parts: DigestParts, signal: AbortSignal): Promise<number> {
  const { database, logger, style, channels } = parts;
  if (channels.length === 0) return 0;
  const now = await readClock(database);
  const slotAt = parts.slotAt(now);
  await planDigest(
    database,
    slotAt,
    channels.map(({ name }) => name),
  );
  const delivered = await settleAll(
    channels.map(async (channel) => {
      await channel.prepare();
      const leaseMs = channel.timeoutMs + LEASE_MARGIN_MS;
      const attempts = await claimDigest(database, { slotAt, channel: channel.name, leaseMs });
      if (attempts === null) return 0;
      const facts = await readDigest(database, lastClosedDate(style.timeZone, now));
      const fault = await channel.send(digestMessage(facts, slotAt, style), signal);
      const isDelivered = fault === null;
      await recordDigest(database, { slotAt, channel: channel.name, attempts, isDelivered });
      const fields = { slotAt, channel: channel.name, attempts };
      if (isDelivered) logger.info(fields, 'digest delivered');
      else logger.warn({ ...fields, fault }, 'digest not delivered');
      return isDelivered ? 1 : 0;
    }),
  );
  return delivered.reduce((sum: number, count) => sum + count, 0);
}

export function digestMessage(facts: DigestFacts, slotAt: Date, style: MessageStyle): Message {
  const { language, timeZone, consoleUrl } = style;
  const texts = ALERT_TEXTS[language].digest;
  const id = `digest-${slotAt.toISOString().slice(0, 16).replace(':', '')}`;
  const date = dateIn(timeZone, slotAt);
  const list = (label: string, dates: readonly CivilDate[]) =>
    `${label}: ${dates.length === 0 ? texts.none : `${dates.length} (${listDates(dates, language)})`}`;
  const alerts = Object.fromEntries(
    ALERT_SEVERITIES.map((severity) => [
      severity,
      ALERT_KINDS.filter((kind) => severityOf(kind) === severity).reduce(
        (sum, kind) => sum + (facts.openAlerts[kind] ?? 0),
        0,
      ),
    ]),
  ) as Record<(typeof ALERT_SEVERITIES)[number], number>;
  const { openAlerts: _, ...document } = facts;
  return {
    id,
    thread: id,
    severity: null,
    title: texts.title(listDates([date], language)),
    paragraphs: [
      texts.complete(
        facts.completeDays,
        facts.completeUntil === null ? null : listDates([facts.completeUntil], language),
      ),
      [
        list(texts.held, facts.heldDates),
        list(texts.attention, facts.attentionDates),
        list(texts.missing, facts.missingDates),
        list(texts.restated, facts.restatedDates),
      ].join('\n'),
      texts.accountChanges(facts.accountChanges),
      texts.alerts(alerts.critical, alerts.warning),
    ],
    link: consoleUrl === null ? null : { url: consoleUrl, label: ALERT_TEXTS[language].open },
    document: {
      kind: 'digest',
      date,
      ...document,
      openAlerts: alerts,
      link: consoleUrl?.href ?? null,
    },
  };
}
