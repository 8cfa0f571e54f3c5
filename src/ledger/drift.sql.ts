import { createHash } from 'node:crypto';
import { recordAudit } from '../audit/audit.ts';
import type { Database } from '../database/database.ts';
import { InputError } from '../runtime/errors.ts';

/** A field or a value that responses have and the documented interface does not. */
export interface Drift {
  readonly path: string;
  readonly kind: 'unknown_field' | 'unknown_value';
  /** The unknown value, which may be personal data, or the JSON type of the unknown field. */
  readonly value: string;
  readonly firstSeenAt: Date;
  /** The first pull whose response had it. */
  readonly pullId: number;
}

/** Drift that waits for a person, by path. */
export interface OpenDrift {
  readonly items: readonly Drift[];
  /** Names exactly these items: what a person looked at is what that person acknowledges. */
  readonly digest: string;
}

/** The drift that no person has acknowledged. */
export async function readOpenDrift(database: Database): Promise<OpenDrift> {
  const rows = await database.prisma.drift.findMany({
    where: { acknowledgedAt: null },
    orderBy: [{ path: 'asc' }, { kind: 'asc' }, { value: 'asc' }],
  });
  const items = rows.map((row) => ({
    path: row.path,
    kind: row.kind as Drift['kind'],
    value: row.value,
    firstSeenAt: row.firstSeenAt,
    pullId: Number(row.firstPullId),
  }));
  return { items, digest: digestOf(items) };
}

/**
 * Acknowledges all drift that is open. Titles and days stay as they are; the same field or value is no
 * drift again.
 *
 * @param decision.seenDigest of the list that the person looked at; null: whatever is open
 * @returns what was acknowledged
 * @throws InputError when nothing is open, or when the open drift is not the list that was looked at
 */
export function acknowledgeDrift(
  database: Database,
  decision: { readonly by: string; readonly reason: string; readonly seenDigest: string | null },
): Promise<readonly Drift[]> {
  const { by, reason, seenDigest } = decision;
  return database.prisma.$transaction(async (tx) => {
    const items = await tx.$queryRaw<Drift[]>`
      WITH acknowledged AS (
        UPDATE conciliation.drift
        SET acknowledged_at = now(), acknowledged_by = ${by}, reason = ${reason}
        WHERE acknowledged_at IS NULL RETURNING *
      )
      SELECT path, kind, value, first_seen_at AS "firstSeenAt", first_pull_id::float8 AS "pullId"
      FROM acknowledged ORDER BY path, kind, value`;
    if (items.length === 0) {
      throw new InputError('no field or value outside the documented interface waits');
    }
    if (seenDigest !== null && seenDigest !== digestOf(items)) {
      throw new InputError('the list has changed since it was looked at; look again');
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
