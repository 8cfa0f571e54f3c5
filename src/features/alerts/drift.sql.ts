import { createHash } from 'node:crypto';
import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';

/** A field or a value beyond the documented interface. */
export interface Drift {
  readonly path: string;
  readonly kind: 'unknown_field' | 'unknown_value';
  /** The unknown value, which may be personal data, or the JSON type of the unknown field. */
  readonly value: string;
  /** 1, or the number of fields or values of a place with too many, in all responses. */
  readonly names: number;
  readonly firstSeenAt: Date;
  /** The first pull whose response had it. */
  readonly pullId: number;
}

/** The unacknowledged drift, by path. */
export interface OpenDrift {
  readonly items: readonly Drift[];
  /** Identifies exactly these items, so that a person acknowledges only items that were shown. */
  readonly digest: string;
}

/** Returns the unacknowledged drift. */
export async function readOpenDrift(database: Database): Promise<OpenDrift> {
  const rows = await database.prisma.drift.findMany({
    where: { acknowledgedAt: null },
    orderBy: [{ path: 'asc' }, { kind: 'asc' }, { value: 'asc' }],
  });
  const items = rows.map((row) => ({
    path: row.path,
    kind: row.kind as Drift['kind'],
    value: row.value,
    names: Number(row.names),
    firstSeenAt: row.firstSeenAt,
    pullId: Number(row.firstPullId),
  }));
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
      SELECT path, kind, value, names::float8 AS names, first_seen_at AS "firstSeenAt", first_pull_id::float8 AS "pullId"
      FROM acknowledged ORDER BY path, kind, value`;
    if (items.length === 0) {
      throw new InputError('no field or value outside the documented interface waits', {
        context: { fault: 'no_drift' },
      });
    }
    if (seenDigest !== digestOf(items)) {
      throw new InputError('the list has changed since it was looked at; look again', {
        context: { fault: 'drift_changed' },
      });
    }
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
