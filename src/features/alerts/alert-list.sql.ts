import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { refusal } from '../../base/texts/texts.ts';
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
import { ALERT_KINDS, type AlertKind } from './alerts.sql.ts';

export const AlertRow = Type.Object({
  id,
  kind: words(ALERT_KINDS),
  cause: orNull('string', { description: 'Which cause of its kind. Null: the kind has one.' }),
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

/** Of a row of `alert`: what follows the kind in its key. */
export const CAUSE = Prisma.sql`nullif(split_part(dedupe_key, ':', 2), '')`;

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
    SELECT id::float8 AS id, kind, ${CAUSE} AS cause, message, message_pt AS "messagePt", date::text AS date, pull_id::float8 AS "pullId",
           raised_at AS "raisedAt", resolved_at AS "resolvedAt",
           (SELECT max(delivered_at) FROM conciliation.message_delivery
            WHERE alert_id = alert.id) AS "deliveredAt"
    FROM conciliation.alert
    WHERE ${isOf(filter)} AND (${filter.state} = 'all' OR (resolved_at IS NULL) = (${filter.state} = 'open'))
    ORDER BY resolved_at IS NOT NULL, id DESC LIMIT ${limit} OFFSET ${offset}`;
}

export interface Drift {
  readonly path: string;
  readonly kind: 'unknown_field' | 'unknown_value';
  /** The unknown value, which may be personal data, or the JSON type of the unknown field. */
  readonly value: string;
  /** How many fields or values the item stands for. */
  readonly names: number;
  readonly firstSeenAt: Date;
  readonly pullId: number;
}

/** The columns of `Drift` of rows of `drift`, in their order. */
const driftIn = (rows: Prisma.Sql) => Prisma.sql`
  SELECT path, kind, value, names::float8 AS names, first_seen_at AS "firstSeenAt", first_pull_id::float8 AS "pullId"
  FROM ${rows} ORDER BY path, kind, value`;

/** The unacknowledged drift. The digest identifies exactly these items: a person acknowledges what was shown. */
export async function readOpenDrift({ prisma }: Database) {
  const items = await prisma.$queryRaw<Drift[]>(
    driftIn(Prisma.sql`conciliation.drift WHERE acknowledged_at IS NULL`),
  );
  return { items, digest: digestOf(items) };
}

/**
 * Acknowledges all open drift. Titles and days stay unchanged; the same field or value is not drift
 * again.
 * @param decision.seenDigest the digest of the list that the person saw
 * @returns the acknowledged items
 * @throws InputError when no drift is open, or when the open drift differs from the list that was
 * seen
 */
export function acknowledgeDrift(
  database: Database,
  decision: { readonly by: string; readonly reason: string; readonly seenDigest: string },
): Promise<readonly Drift[]> {
  const { by, reason, seenDigest } = decision;
  return database.prisma.$transaction(async (tx) => {
    const items = await tx.$queryRaw<Drift[]>`
      WITH acknowledged AS (
        UPDATE conciliation.drift
        SET acknowledged_at = now(), acknowledged_by = ${by}, reason = ${reason}
        WHERE acknowledged_at IS NULL RETURNING *
      )
      ${driftIn(Prisma.sql`acknowledged`)}`;
    if (items.length === 0) throw refusal('no_drift');
    if (seenDigest !== digestOf(items)) throw refusal('drift_changed');
    await recordAudit(tx, {
      actor: by,
      action: 'drift.acknowledge',
      reason,
      details: { rows: items.length },
    });
    return items;
  });
}

function digestOf(items: readonly Drift[]): string {
  const list = items.map(({ path, kind, value }) => [path, kind, value]);
  return createHash('sha256').update(JSON.stringify(list)).digest('hex');
}
