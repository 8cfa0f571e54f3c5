import { type Static, Type } from 'typebox';
import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { instantOrNull, text } from '../../console/api/schema-parts.ts';

/** The lines of one state. */
export interface OpenLines {
  readonly lines: number;
  /** The smallest accepted date of them. */
  readonly date: CivilDate;
}

/** Returns the lines that the ERP could not post, or will never post; null: none. */
export function readFailedLines(tx: Pick<Transaction, '$queryRaw'>): Promise<OpenLines | null> {
  return one(tx.$queryRaw<OpenLines[]>`
    SELECT count(*)::int AS lines, min(date)::text AS date
    FROM conciliation.booking_line WHERE state IN ('failed', 'refused') HAVING count(*) > 0`);
}

/** Returns the lines that were released before an instant and that the ERP has not answered; null: none. */
export function readUnansweredLines(
  tx: Pick<Transaction, '$queryRaw'>,
  releasedBefore: Date,
): Promise<OpenLines | null> {
  return one(tx.$queryRaw<OpenLines[]>`
    SELECT count(*)::int AS lines, min(line.date)::text AS date
    FROM conciliation.booking_line AS line JOIN conciliation.booking_batch AS batch ON batch.id = line.batch_id
    WHERE line.state = 'released' AND batch.released_at < ${releasedBefore}
    HAVING count(*) > 0`);
}

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

/** Returns the consumers with their lag, by name. */
export function readConsumerLags(tx: Pick<Transaction, '$queryRaw'>): Promise<ConsumerLag[]> {
  return tx.$queryRaw<ConsumerLag[]>`
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
}

/** The newest offer after the position of a consumer. */
export interface UnreadOffer {
  readonly consumer: string;
  readonly seq: string;
  readonly offeredAt: Date;
}

/** Returns the consumers that have open lines after their position, by name. */
export function readUnreadOffers(tx: Pick<Transaction, '$queryRaw'>): Promise<UnreadOffer[]> {
  return tx.$queryRaw<UnreadOffer[]>`
    SELECT DISTINCT ON (line.consumer) line.consumer, offer.seq::text AS seq, offer.offered_at AS "offeredAt"
    FROM conciliation.booking_position AS place
    JOIN conciliation.booking_line AS line ON line.consumer = place.consumer AND line.state IN ('released', 'failed')
    JOIN conciliation.booking_offer AS offer ON offer.line_id = line.id AND offer.seq > place.last_seq
    ORDER BY line.consumer, offer.seq DESC`;
}

const one = async (rows: Promise<OpenLines[]>) => (await rows)[0] ?? null;
