import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import type { FieldFault } from '../../base/values/field-reader.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { describeFaults } from './provider.ts';
import { contentHash, duplicates, isRelieved } from './providers.sql.ts';

/** A pending row as it was read. */
export interface PendingProvider {
  readonly externalId: string;
  readonly contentHash: string;
  /** Null: the number does not have the form of a CPF or CNPJ. */
  readonly taxId: string | null;
  /** In the interface's shape, unchecked; null columns are null. */
  readonly candidate: unknown;
  /** Whether the platform already has this content. */
  readonly isUnchanged: boolean;
  /** Whether a row of another external id has the same tax identifier. */
  readonly isDuplicate: boolean;
  /** `changed_at` with its microseconds, which a JavaScript Date lacks. */
  readonly changedAt: string;
}

/** Sets rows to pending whose conflicting rows have changed. Returns their number. */
export function relieveProviders(database: Database): Promise<number> {
  return database.prisma.$executeRaw`
    UPDATE conciliation.provider
    SET sync_state = 'pending', last_error = NULL, contested_by = '{}'
    WHERE external_id IN (SELECT external_id FROM conciliation.provider provider
                          WHERE ${isRelieved} FOR UPDATE SKIP LOCKED)`;
}

/**
 * Returns a page of pending rows in the order of their changes, after the row `after`. The reading
 * continues after a row without a result, so that a row with a lock of the ERP does not delay the
 * others.
 */
export function readPendingProviders(
  database: Database,
  after: PendingProvider | null,
  limit: number,
): Promise<PendingProvider[]> {
  return database.prisma.$queryRaw<PendingProvider[]>`
    SELECT external_id AS "externalId", ${contentHash} AS "contentHash", tax_id AS "taxId",
           changed_at::text AS "changedAt",
           coalesce(synced_hash = ${contentHash}, false) AS "isUnchanged",
           EXISTS (SELECT FROM conciliation.provider other
                   WHERE other.tax_id = provider.tax_id
                     AND other.external_id <> provider.external_id) AS "isDuplicate",
           jsonb_build_object(
             'externalId', external_id, 'type', type,
             'identificationNumber', identification_number, 'name', name,
             'canAnticipate', can_anticipate, 'phones', phones,
             'emailAddresses', email_addresses, 'accounts', accounts) AS candidate
    FROM conciliation.provider provider
    WHERE sync_state = 'pending'
      AND (changed_at, external_id)
          > (coalesce(${after?.changedAt ?? null}::timestamptz, '-infinity'), ${after?.externalId ?? ''})
    ORDER BY changed_at, external_id
    LIMIT ${limit}`;
}

/** The outcome for a pending row that is not sent. `faults` are null for a row that the platform has already. */
export interface CheckOutcome {
  readonly row: PendingProvider;
  readonly faults: readonly FieldFault[] | null;
  readonly isContested: boolean;
}

export const DUPLICATE_FAULT: FieldFault = {
  field: 'identificationNumber',
  expected: 'another row has the same number under another externalId',
};

/**
 * Records the results of the check for rows whose content has not changed since. All rows with a
 * contested number become invalid, because it is unknown which of them is right. If the ERP has
 * locked one of them, all of them wait.
 * @returns the number of rows that became invalid, and of those that are synced without a request
 */
export function recordChecks(
  { prisma }: Database,
  outcomes: readonly CheckOutcome[],
  actor: string,
): Promise<{ invalid: number; synced: number }> {
  const checks = outcomes.map(({ row, faults, isContested }) => ({
    external_id: row.externalId,
    content_hash: row.contentHash,
    state: faults === null ? 'synced' : 'invalid',
    last_error: faults === null ? null : describeFaults(faults),
    is_contested: isContested,
  }));
  const contested = outcomes.flatMap(({ row, isContested }) => (isContested ? row.taxId : []));
  // Rows that are not marked as contested yet; pending ones will be checked.
  const isUncontested = Prisma.sql`
    provider.tax_id = ANY(${contested}::text[]) AND provider.sync_state <> 'pending'
    AND (provider.sync_state <> 'invalid' OR provider.contested_by = '{}')`;
  return prisma.$transaction(async (tx) => {
    const rows = await tx.$queryRaw<{ state: string }[]>`
      WITH checked AS (
        SELECT * FROM jsonb_to_recordset(${JSON.stringify(checks)}::jsonb)
          AS checked (external_id text, content_hash text, state text, last_error text, is_contested boolean)
      ), provider AS MATERIALIZED (
        SELECT * FROM conciliation.provider WHERE external_id = ANY(ARRAY(
          SELECT external_id FROM checked
          UNION ALL SELECT external_id FROM conciliation.provider provider WHERE ${isUncontested}))
        FOR UPDATE SKIP LOCKED
      ), result AS (
        SELECT provider.external_id, coalesce(checked.state, 'invalid') AS state,
               coalesce(checked.last_error, CASE WHEN checked IS NULL THEN concat_ws(
                 '; ', CASE WHEN sync_state = 'invalid' THEN provider.last_error END,
                 ${describeFaults([DUPLICATE_FAULT])}::text) END) AS last_error,
               coalesce(is_contested, true) AS is_contested,
               CASE WHEN coalesce(is_contested, true) THEN ${duplicates} ELSE '{}' END AS duplicates
        FROM provider LEFT JOIN checked USING (external_id)
        WHERE CASE WHEN checked IS NULL THEN ${isUncontested}
                   ELSE sync_state = 'pending' AND ${contentHash} = checked.content_hash END
          AND NOT (coalesce(is_contested, true) AND EXISTS (
            SELECT FROM conciliation.provider other
            WHERE other.tax_id = provider.tax_id AND other.sync_state <> 'pending'
              AND (other.sync_state <> 'invalid' OR other.contested_by = '{}')
              AND other.external_id NOT IN (SELECT external_id FROM provider)))
      )
      UPDATE conciliation.provider provider
      SET sync_state = result.state, last_error = result.last_error, contested_by = result.duplicates
      FROM result
      WHERE provider.external_id = result.external_id
        -- If the number is no longer contested, the row is checked again the next time.
        AND NOT (result.is_contested AND result.duplicates = '{}')
      RETURNING result.state`;
    const invalid = rows.filter(({ state }) => state === 'invalid').length;
    if (invalid > 0) {
      await recordAudit(tx, { actor, action: 'providers.invalid', details: { invalid } });
    }
    return { invalid, synced: rows.length - invalid };
  });
}
