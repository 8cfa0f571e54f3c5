import { recordAudit } from '../audit/audit.ts';
import type { Database, Transaction } from '../database/database.ts';
import { describeFaults, type ProviderFault } from '../domain/provider.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { contentHash, isRelieved, lockProviders, rivals } from './providers.sql.ts';

/** A pending row as it stood when it was read. */
export interface PendingProvider {
  readonly externalId: string;
  readonly contentHash: string;
  /** Null where the number has not the form of a CPF or CNPJ. */
  readonly taxId: string | null;
  /** In the interface's shape, unchecked; null where a column is. */
  readonly candidate: unknown;
  /** Whether the platform has exactly this content already. */
  readonly isUnchanged: boolean;
  /** Whether a row of another external id has the same tax identifier. */
  readonly isDuplicate: boolean;
  /** `changed_at` with its microseconds, which a JavaScript Date has not. */
  readonly changedAt: string;
}

/** Rows that stood against this one let go: it is to be pushed again. Returns how many there were. */
export function relieveProviders(database: Database): Promise<number> {
  return database.prisma.$executeRaw`
    UPDATE conciliation.provider
    SET sync_state = 'pending', last_error = NULL, contested_by = '{}'
    WHERE external_id IN (SELECT external_id FROM conciliation.provider provider
                          WHERE ${isRelieved} FOR UPDATE SKIP LOCKED)`;
}

/**
 * A page of pending rows in the order in which they changed, after the row `after`. Reading goes on
 * behind a row that was read even if nothing came of it: one that the ERP has locked must not keep
 * the others from being pushed.
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

/** Of one pending row that is not sent. */
export type CheckOutcome =
  | { readonly row: PendingProvider; readonly state: 'synced' }
  | {
      readonly row: PendingProvider;
      readonly state: 'invalid';
      readonly faults: readonly ProviderFault[];
      readonly isContested: boolean;
    };

export const DUPLICATE_FAULT: ProviderFault = {
  field: 'identificationNumber',
  expected: 'another row has the same number under another externalId',
};

/**
 * Records what the check before the request found, of rows whose content is still the one that was
 * checked. The rows that share a number with a contested one become invalid with it, whatever they
 * were: nobody knows which of them is right. Where the ERP has one of these locked, all of them wait.
 *
 * @returns how many rows became invalid, and how many synced without being sent
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

/** Rows that do not say yet that their number is contested; those that are pending will be checked. */
const isUncontested = (taxIds: readonly string[]) => Prisma.sql`
  tax_id = ANY(${taxIds}::text[]) AND sync_state <> 'pending'
  AND (sync_state <> 'invalid' OR contested_by = '{}')`;

/** Returns the numbers of rows that somebody else has locked. */
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
      SELECT result.*, CASE WHEN result.is_contested THEN ${rivals} ELSE '{}' END AS rivals
      FROM provider
      JOIN jsonb_to_recordset(${JSON.stringify(checks)}::jsonb)
        AS result (external_id text, content_hash text, state text, last_error text,
                   is_contested boolean) USING (external_id)
      WHERE provider.sync_state = 'pending' AND ${contentHash} = result.content_hash
    )
    UPDATE conciliation.provider provider
    SET sync_state = checked.state, last_error = checked.last_error, contested_by = checked.rivals
    FROM checked
    WHERE provider.external_id = checked.external_id
      -- Where nobody contests the number any more, the row is checked again the next time.
      AND NOT (checked.is_contested AND checked.rivals = '{}')
    RETURNING checked.state`;
  return rows.map(({ state }) => state);
}

function invalidateUncontested(tx: Transaction, taxIds: readonly string[]): Promise<number> {
  return tx.$executeRaw`
    WITH contested AS (
      SELECT external_id, ${rivals} AS rivals FROM conciliation.provider provider
      WHERE ${isUncontested(taxIds)}
      FOR UPDATE SKIP LOCKED
    )
    UPDATE conciliation.provider provider
    SET sync_state = 'invalid', contested_by = contested.rivals,
        last_error = concat_ws('; ', CASE WHEN sync_state = 'invalid' THEN last_error END,
                               ${describeFaults([DUPLICATE_FAULT])}::text)
    FROM contested
    WHERE provider.external_id = contested.external_id AND contested.rivals <> '{}'`;
}
