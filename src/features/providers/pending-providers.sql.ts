import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import type { FieldFault } from '../../base/values/field-reader.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { describeFaults } from './provider.ts';
import { contentHash, duplicates, isRelieved, lockProviders } from './providers.sql.ts';

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

/** The outcome for a pending row that is not sent. */
export type CheckOutcome =
  | { readonly row: PendingProvider; readonly state: 'synced' }
  | {
      readonly row: PendingProvider;
      readonly state: 'invalid';
      readonly faults: readonly FieldFault[];
      readonly isContested: boolean;
    };

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
  database: Database,
  outcomes: readonly CheckOutcome[],
  actor: string,
): Promise<{ invalid: number; synced: number }> {
  return database.prisma.$transaction(async (tx) => {
    const contested = outcomes.flatMap((outcome) => contestedTaxId(outcome) ?? []);
    const waiting = await lockUncontested(tx, contested);
    const decided = outcomes.filter((outcome) => !waiting.includes(contestedTaxId(outcome) ?? ''));
    const states = await writeOutcomes(tx, decided);
    const others = await invalidateUncontested(
      tx,
      contested.filter((taxId) => !waiting.includes(taxId)),
    );
    const synced = states.filter((state) => state === 'synced').length;
    const invalid = states.length - synced + others;
    if (invalid > 0) {
      await recordAudit(tx, { actor, action: 'providers.invalid', details: { invalid } });
    }
    return { invalid, synced };
  });
}

function contestedTaxId(outcome: CheckOutcome): string | null {
  return outcome.state === 'invalid' && outcome.isContested ? outcome.row.taxId : null;
}

/** Rows that are not marked as contested yet; pending ones will be checked. */
const isUncontested = (taxIds: readonly string[]) => Prisma.sql`
  tax_id = ANY(${taxIds}::text[]) AND sync_state <> 'pending'
  AND (sync_state <> 'invalid' OR contested_by = '{}')`;

/** Returns the numbers of rows with a lock of another session. */
async function lockUncontested(tx: Transaction, taxIds: readonly string[]): Promise<string[]> {
  if (taxIds.length === 0) return [];
  const rows = await tx.$queryRaw<{ taxId: string }[]>`
    WITH locked AS (
      SELECT external_id FROM conciliation.provider WHERE ${isUncontested(taxIds)}
      FOR UPDATE SKIP LOCKED
    )
    SELECT DISTINCT tax_id AS "taxId" FROM conciliation.provider
    WHERE ${isUncontested(taxIds)} AND external_id NOT IN (SELECT external_id FROM locked)`;
  return rows.map(({ taxId }) => taxId);
}

async function writeOutcomes(
  tx: Transaction,
  outcomes: readonly CheckOutcome[],
): Promise<string[]> {
  const checks = outcomes.map((outcome) => ({
    external_id: outcome.row.externalId,
    content_hash: outcome.row.contentHash,
    state: outcome.state,
    last_error: outcome.state === 'invalid' ? describeFaults(outcome.faults) : null,
    is_contested: contestedTaxId(outcome) !== null,
  }));
  const rows = await tx.$queryRaw<{ state: string }[]>`
    WITH provider AS MATERIALIZED (${lockProviders(outcomes.map(({ row }) => row))}), checked AS (
      SELECT result.*, CASE WHEN result.is_contested THEN ${duplicates} ELSE '{}' END AS duplicates
      FROM provider
      JOIN jsonb_to_recordset(${JSON.stringify(checks)}::jsonb)
        AS result (external_id text, content_hash text, state text, last_error text,
                   is_contested boolean) USING (external_id)
      WHERE provider.sync_state = 'pending' AND ${contentHash} = result.content_hash
    )
    UPDATE conciliation.provider provider
    SET sync_state = checked.state, last_error = checked.last_error, contested_by = checked.duplicates
    FROM checked
    WHERE provider.external_id = checked.external_id
      -- If the number is no longer contested, the row is checked again the next time.
      AND NOT (checked.is_contested AND checked.duplicates = '{}')
    RETURNING checked.state`;
  return rows.map(({ state }) => state);
}

function invalidateUncontested(tx: Transaction, taxIds: readonly string[]): Promise<number> {
  return tx.$executeRaw`
    WITH contested AS (
      SELECT external_id, ${duplicates} AS duplicates FROM conciliation.provider provider
      WHERE ${isUncontested(taxIds)}
      FOR UPDATE SKIP LOCKED
    )
    UPDATE conciliation.provider provider
    SET sync_state = 'invalid', contested_by = contested.duplicates,
        last_error = concat_ws('; ', CASE WHEN sync_state = 'invalid' THEN last_error END,
                               ${describeFaults([DUPLICATE_FAULT])}::text)
    FROM contested
    WHERE provider.external_id = contested.external_id AND contested.duplicates <> '{}'`;
}
