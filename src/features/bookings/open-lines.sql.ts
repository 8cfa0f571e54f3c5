import { type Static, Type } from 'typebox';
import type { QueryClient } from '../../base/database/database.ts';
import { instantOrNull, text } from '../../console/api/schema-parts.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** The position of a consumer in the feed. */
export const ConsumerLag = Type.Object({
  name: text,
  lastSeq: text,
  acknowledgedAt: instantOrNull,
  behind: Type.Integer({
    minimum: 0,
    description: 'Open lines after the position. A line that the ERP has posted is not open.',
  }),
  behindSince: Type.Unsafe<Date | null>({
    ...instantOrNull,
    description: 'When the first of them was offered. Null: none.',
  }),
});
export type ConsumerLag = Static<typeof ConsumerLag>;

/** The consumers with their lag, as `ConsumerLag`, by name. */
export const CONSUMER_LAGS = Prisma.sql`
  WITH open AS (
    SELECT line.consumer, line.id, max(offer.seq) AS seq, max(offer.offered_at) AS offered_at
    FROM conciliation.booking_line AS line
    JOIN conciliation.booking_offer AS offer ON offer.line_id = line.id
    WHERE line.state IN ('released', 'failed')
    GROUP BY line.id
  )
  SELECT place.consumer AS name, place.last_seq::text AS "lastSeq", place.acknowledged_at AS "acknowledgedAt",
         count(open.id)::int AS behind, min(open.offered_at) AS "behindSince"
  FROM conciliation.booking_position AS place
  LEFT JOIN open ON open.consumer = place.consumer AND open.seq > place.last_seq
  GROUP BY place.consumer ORDER BY place.consumer`;

export const readConsumerLags = (tx: QueryClient): Promise<ConsumerLag[]> =>
  tx.$queryRaw(CONSUMER_LAGS);

/** The newest offer after the position of a consumer. */
export interface UnreadOffer {
  readonly consumer: string;
  readonly seq: string;
  readonly offeredAt: Date;
}

/** Returns the consumers that have open lines after their position, by name. */
export function readUnreadOffers(tx: QueryClient): Promise<UnreadOffer[]> {
  return tx.$queryRaw<UnreadOffer[]>`
    SELECT DISTINCT ON (line.consumer) line.consumer, offer.seq::text AS seq, offer.offered_at AS "offeredAt"
    FROM conciliation.booking_position AS place
    JOIN conciliation.booking_line AS line ON line.consumer = place.consumer AND line.state IN ('released', 'failed')
    JOIN conciliation.booking_offer AS offer ON offer.line_id = line.id AND offer.seq > place.last_seq
    ORDER BY line.consumer, offer.seq DESC`;
}
