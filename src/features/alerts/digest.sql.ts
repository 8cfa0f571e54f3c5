import { readClock } from '../../base/database/clock.ts';
import type { Database } from '../../base/database/database.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { listDates, textOf } from '../../base/texts/texts.ts';
import { dateIn } from '../../base/values/business-day.ts';
import type { AlertPolicy } from '../../console/alert-entry.ts';
import { headlineOf } from '../home/headline.ts';
import { type OpenItems, readOpenItems } from '../home/open-items.ts';
import { LEASE_MARGIN_MS, type MessageStyle, settleAll } from './alert-delivery.sql.ts';
import type { AlertChannel, Channel, Message } from './channels.ts';

/** When the digest is sent, in the configured time zone. */
export const DIGEST_CRON = '0 8 * * *';

export interface DigestParts {
  readonly database: Database;
  readonly logger: Logger;
  readonly style: MessageStyle;
  readonly policy: AlertPolicy;
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
      const items = await readOpenItems(database, { now, policy: parts.policy });
      const fault = await channel.send(digestMessage(items, slotAt, style), signal);
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

/**
 * Plans the digest of a slot for each channel, once over all processes. A slot before the first pull has
 * no digest.
 */
async function planDigest(
  database: Database,
  slotAt: Date,
  channels: readonly AlertChannel[],
): Promise<void> {
  await database.prisma.$executeRaw`
    INSERT INTO conciliation.digest_delivery (slot_at, channel)
    SELECT ${slotAt}::timestamptz, channel FROM unnest(${channels}::text[]) AS channel
    WHERE EXISTS (SELECT FROM conciliation.pull WHERE created_at <= ${slotAt}::timestamptz)
    ON CONFLICT DO NOTHING`;
}

/**
 * Claims the digest of a slot for `leaseMs`. A digest of an earlier slot that was not delivered is replaced
 * by that of this slot.
 * @returns the number of attempts, including this one; null: not due
 */
async function claimDigest(
  database: Database,
  claim: { readonly slotAt: Date; readonly channel: AlertChannel; readonly leaseMs: number },
): Promise<number | null> {
  const [row] = await database.prisma.$queryRaw<[{ attempts: number }?]>`
    UPDATE conciliation.digest_delivery
    SET attempts = attempts + 1,
        next_attempt_at = clock_timestamp() + make_interval(secs => ${claim.leaseMs / 1000}::float8)
    WHERE slot_at = ${claim.slotAt}::timestamptz AND channel = ${claim.channel}
      AND next_attempt_at <= clock_timestamp()
    RETURNING attempts`;
  return row?.attempts ?? null;
}

/** After a failure, the waits double from 30 seconds to an hour. */
async function recordDigest(
  database: Database,
  claimed: {
    readonly slotAt: Date;
    readonly channel: AlertChannel;
    readonly attempts: number;
    readonly isDelivered: boolean;
  },
): Promise<void> {
  const { slotAt, channel, attempts, isDelivered } = claimed;
  await database.prisma.$executeRaw`
    UPDATE conciliation.digest_delivery
    SET delivered_at = CASE WHEN ${isDelivered} THEN clock_timestamp() END,
        next_attempt_at = CASE WHEN NOT ${isDelivered} THEN clock_timestamp()
          + least(interval '1 hour', interval '30 seconds' * 2 ^ (least(attempts, 8) - 1)) END
    WHERE slot_at = ${slotAt}::timestamptz AND channel = ${channel} AND attempts = ${attempts}`;
}
