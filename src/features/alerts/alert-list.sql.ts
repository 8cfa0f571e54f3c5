import { type Static, Type } from 'typebox';
import type { Transaction } from '../../base/database/database.ts';
import {
  dateOrNull,
  id,
  instant,
  instantOrNull,
  orNull,
  words,
} from '../../console/api/schema-parts.ts';
import type { ListTotal, Place } from '../../console/list/list.tsx';
import { Prisma } from '../../generated/prisma/client.ts';
import { ALERT_KINDS, type AlertKind } from './alerts.ts';

export const AlertRow = Type.Object({
  id,
  kind: words(ALERT_KINDS),
  message: Type.String(),
  messagePt: Type.String({ description: 'The message in Portuguese.' }),
  date: dateOrNull,
  pullId: orNull('integer'),
  raisedAt: instant,
  resolvedAt: instantOrNull,
  deliveredAt: Type.Unsafe<Date | null>({
    ...instantOrNull,
    description: 'When a channel took the last message about the alert.',
  }),
});
export type AlertRow = Readonly<Static<typeof AlertRow>>;

/** Alerts that last, those that are over, or both. */
export const ALERT_STATES = ['open', 'over', 'all'] as const;

export interface AlertFilter {
  readonly state: (typeof ALERT_STATES)[number];
  /** Null: all kinds. */
  readonly kind: AlertKind | null;
}

const isOf = ({ kind }: AlertFilter) => Prisma.sql`(${kind}::text IS NULL OR kind = ${kind}::text)`;

export async function countAlerts(tx: Transaction, filter: AlertFilter): Promise<ListTotal> {
  const [counts] = await tx.$queryRaw<[Record<(typeof ALERT_STATES)[number], number>]>`
    SELECT count(*) FILTER (WHERE resolved_at IS NULL)::int AS open,
           count(*) FILTER (WHERE resolved_at IS NOT NULL)::int AS over, count(*)::int AS all
    FROM conciliation.alert WHERE ${isOf(filter)}`;
  return { rows: counts[filter.state], counts };
}

/** Returns open alerts first, then those that are over, newest first. */
export function readAlerts(
  tx: Transaction,
  filter: AlertFilter,
  { offset, limit }: Place,
): Promise<AlertRow[]> {
  return tx.$queryRaw<AlertRow[]>`
    SELECT id::float8 AS id, kind, message, message_pt AS "messagePt", date::text AS date, pull_id::float8 AS "pullId",
           raised_at AS "raisedAt", resolved_at AS "resolvedAt",
           (SELECT max(delivered_at) FROM conciliation.alert_delivery
            WHERE alert_id = alert.id) AS "deliveredAt"
    FROM conciliation.alert
    WHERE ${isOf(filter)} AND (${filter.state} = 'all' OR (resolved_at IS NULL) = (${filter.state} = 'open'))
    ORDER BY resolved_at IS NOT NULL, id DESC LIMIT ${limit} OFFSET ${offset}`;
}
