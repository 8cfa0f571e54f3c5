import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { MERGE_TRANSACTION } from '../../core/merge/merge-transaction.sql.ts';
import type { Provider } from './provider.ts';

/** A provider and its place in the file. */
export interface ImportRow {
  readonly at: number;
  readonly provider: Provider;
}

/** Two conflicting places of one file. Both are reported and neither is imported. */
export interface RepeatedRow {
  readonly at: number;
  readonly field: 'externalId' | 'identificationNumber';
  readonly otherAt: number;
}

export interface ImportCounts {
  readonly inserted: number;
  readonly changed: number;
  readonly unchanged: number;
}

/**
 * Updates `provider` to the rows in one transaction, which lasts as long as its source. Rows with
 * equal content stay unchanged, so that they are not pushed again. A dry run is rolled back.
 * @throws the errors of the source; nothing was imported then
 */
export async function importProviders(
  database: Database,
  source: AsyncIterable<readonly ImportRow[]>,
  options: {
    readonly isDryRun: boolean;
    readonly actor: string;
    /** The rows with faults, complete after the last row of the source. */
    readonly refused?: readonly { readonly at: number; readonly externalId: string }[];
  },
): Promise<ImportCounts & { readonly repeated: readonly RepeatedRow[] }> {
  const dryRun: { result?: Awaited<ReturnType<typeof importProviders>> } = {};
  return database.prisma
    .$transaction(async (tx) => {
      await createImportTable(tx);
      for await (const rows of source) await addRows(tx, rows);
      const repeated = await takeRepeatedRows(tx, options.refused ?? []);
      const counts = await writeProviders(tx);
      if (options.isDryRun) {
        dryRun.result = { ...counts, repeated };
        throw new RolledBack();
      }
      await recordAudit(tx, {
        actor: options.actor,
        action: 'providers.import',
        details: { ...counts },
      });
      return { ...counts, repeated };
    }, MERGE_TRANSACTION)
    .catch((error: unknown) => {
      if (error instanceof RolledBack && dryRun.result !== undefined) return dryRun.result;
      throw error;
    });
}

/** Ends a dry run. Prisma rolls a transaction back when its callback throws. */
class RolledBack extends Error {}

async function createImportTable(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    CREATE TEMPORARY TABLE provider_import (
      at integer NOT NULL, external_id text NOT NULL, type text, identification_number text NOT NULL,
      name text, can_anticipate boolean, phones jsonb, email_addresses jsonb, accounts jsonb
    ) ON COMMIT DROP`;
}

async function addRows(tx: Transaction, rows: readonly ImportRow[]): Promise<void> {
  const records = rows.map(({ at, provider }) => ({ at, ...provider }));
  await tx.$executeRaw`
    INSERT INTO pg_temp.provider_import
    SELECT at, "externalId", type, "identificationNumber", name, "canAnticipate", phones,
           "emailAddresses", accounts
    FROM jsonb_to_recordset(${JSON.stringify(records)}::jsonb) AS provider
      (at int, "externalId" text, type text, "identificationNumber" text, name text,
       "canAnticipate" boolean, phones jsonb, "emailAddresses" jsonb, accounts jsonb)`;
}

/** A row whose external id a refused row has too is contested: the refused one may be the newer. */
async function takeRepeatedRows(
  tx: Transaction,
  refused: readonly { readonly at: number; readonly externalId: string }[],
): Promise<RepeatedRow[]> {
  const repeated = await tx.$queryRaw<RepeatedRow[]>`
    WITH neighbours AS (
      SELECT at, external_id,
             coalesce(lag(at) OVER same_key, lead(at) OVER same_key) AS key_at,
             coalesce(lag(at) OVER same_number, lead(at) OVER same_number) AS number_at,
             min(external_id) OVER whole_number <> max(external_id) OVER whole_number AS differs
      FROM pg_temp.provider_import
      WINDOW same_key AS (PARTITION BY external_id ORDER BY at),
             same_number AS (PARTITION BY identification_number ORDER BY at),
             whole_number AS (PARTITION BY identification_number)
    )
    SELECT at, 'externalId' AS field, key_at AS "otherAt" FROM neighbours WHERE key_at IS NOT NULL
    UNION ALL
    SELECT neighbours.at, 'externalId', min(refused.at) FROM neighbours
    JOIN jsonb_to_recordset(${JSON.stringify(refused)}::jsonb) AS refused
      (at int, "externalId" text) ON refused."externalId" = neighbours.external_id
    WHERE key_at IS NULL GROUP BY neighbours.at
    UNION ALL
    SELECT at, 'identificationNumber', number_at FROM neighbours WHERE differs
    ORDER BY at, field`;
  await tx.$executeRaw`
    DELETE FROM pg_temp.provider_import
    WHERE at = ANY(${repeated.map(({ at }) => at)}::int[])`;
  return repeated;
}

async function writeProviders(tx: Transaction): Promise<ImportCounts> {
  // In the order of the key: two concurrent imports then wait for each other without a deadlock.
  const [counts] = await tx.$queryRaw<[ImportCounts]>`
    WITH written AS (
      INSERT INTO conciliation.provider AS provider
        (external_id, type, identification_number, name, can_anticipate, phones, email_addresses, accounts)
      SELECT external_id, type, identification_number, name, can_anticipate, phones, email_addresses, accounts
      FROM pg_temp.provider_import ORDER BY external_id
      ON CONFLICT (external_id) DO UPDATE
      SET type = excluded.type, identification_number = excluded.identification_number,
          name = excluded.name, can_anticipate = excluded.can_anticipate, phones = excluded.phones,
          email_addresses = excluded.email_addresses, accounts = excluded.accounts
      WHERE (provider.type, provider.identification_number, provider.name, provider.can_anticipate,
             provider.phones, provider.email_addresses, provider.accounts)
        IS DISTINCT FROM
            (excluded.type, excluded.identification_number, excluded.name, excluded.can_anticipate,
             excluded.phones, excluded.email_addresses, excluded.accounts)
      -- Only a row that was there before has a locker or an older version.
      RETURNING xmax::text = '0' AS is_new
    )
    SELECT count(*) FILTER (WHERE is_new)::int AS inserted,
           count(*) FILTER (WHERE NOT is_new)::int AS changed,
           (SELECT count(*) FROM pg_temp.provider_import)::int - count(*)::int AS unchanged
    FROM written`;
  return counts;
}
