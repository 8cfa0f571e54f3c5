import type { Database } from '../../base/database/database.ts';
import type { AlertChannel } from './channel.ts';

/**
 * Plans the digest of a slot for each channel, once over all processes. A slot before the first pull has
 * no digest.
 */
export async function planDigest(
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
export async function claimDigest(
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
export async function recordDigest(
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
