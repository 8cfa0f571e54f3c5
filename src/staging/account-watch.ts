import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { ChangeSource } from './merge-apply.ts';

/**
 * Remembers the bank account of every provider and financial agent that the merged titles name, and
 * records where one is not the account that was last seen. Looks at nothing but the titles that this
 * merge inserted, changed or restored. To be called in the merge, when they and their revisions are
 * written: its change-feed lock keeps other merges from the same parties.
 *
 * Last seen is the account with the latest accepted date. A change is
 *
 * 1. an account that the party never had, whatever the date of its title;
 * 2. an account it had before, in a title newer than all of the account last seen;
 * 3. an account that a title was restated to.
 *
 * What that leaves out is a late title of an old date with the account that was right then. A party's
 * first account is no change, nor is one to which an unacknowledged change leads already.
 */
export async function watchAccounts(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<void> {
  const changes = await rememberAccounts(tx, source, dates);
  if (changes.length > 0) await recordChanges(tx, source, dates, changes);
}

interface SeenChange {
  readonly kind: string;
  readonly party_key: string;
  readonly account_hash: string;
  readonly before: unknown;
  readonly after: unknown;
}

const REVISED_PROVIDER_ACCOUNT = [
  'provider_bank',
  'provider_agency',
  'provider_agency_digit',
  'provider_account',
  'provider_account_digit',
];
const REVISED_AGENT_ACCOUNT = [
  'payment_bank',
  'payment_agency',
  'payment_agency_digit',
  'payment_account',
  'payment_account_digit',
];

const stated = (column: string) => Prisma.raw(`nullif(btrim(staged.${column}), '')`);

/** A row for each party of each title that the merge wrote, with the account that the title names. */
function namedAccounts(source: ChangeSource, dates: readonly CivilDate[]): Prisma.Sql {
  return Prisma.sql`
    SELECT party.kind,
           -- Long texts do not fit an index entry.
           CASE WHEN length(party.key) <= 255 THEN party.key
                ELSE 'md5:' || md5(party.key) END AS party_key,
           party.bank, party.agency, party.agency_digit, party.account, party.account_digit,
           coalesce(party.is_restated, false) AS is_restated,
           staged.accepted_date, staged.ordinal
    FROM conciliation.staged_change change
    JOIN conciliation.staged_title staged USING (fence, ordinal)
    LEFT JOIN conciliation.title_revision revision
      ON revision.title_id = change.title_id AND revision.pull_id = ${source.pullId}
    CROSS JOIN LATERAL (VALUES
      ('provider',
       coalesce(${stated('provider_external_id')}, ${stated('provider_identification')}),
       ${stated('provider_bank')}, ${stated('provider_agency')}, ${stated('provider_agency_digit')},
       ${stated('provider_account')}, ${stated('provider_account_digit')},
       jsonb_exists_any(revision.before, ${REVISED_PROVIDER_ACCOUNT}::text[])),
      ('financial_agent', ${stated('financial_agent_identification')},
       ${stated('payment_bank')}, ${stated('payment_agency')}, ${stated('payment_agency_digit')},
       ${stated('payment_account')}, ${stated('payment_account_digit')},
       jsonb_exists_any(revision.before, ${REVISED_AGENT_ACCOUNT}::text[]))
    ) AS party (kind, key, bank, agency, agency_digit, account, account_digit, is_restated)
    WHERE change.fence = ${source.fence} AND change.date = ANY(${dates}::date[])
      AND change.kind <> 'withdrawn' AND party.key IS NOT NULL AND party.account IS NOT NULL`;
}

const accountJson = (alias: string) =>
  Prisma.raw(
    `jsonb_build_object('bank', ${alias}.bank, 'agency', ${alias}.agency,
       'agencyDigit', ${alias}.agency_digit, 'account', ${alias}.account,
       'accountDigit', ${alias}.account_digit)`,
  );

/** Writes `party_account` and returns what is a change against what stood there before. */
function rememberAccounts(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<SeenChange[]> {
  return tx.$queryRaw<SeenChange[]>`
    WITH seen AS MATERIALIZED (
      SELECT kind, party_key, bank, agency, agency_digit, account, account_digit,
             md5(jsonb_build_array(bank, agency, agency_digit, account, account_digit)::text)::uuid
               AS account_hash,
             min(accepted_date) AS first_date, min(ordinal) AS first_ordinal,
             max(accepted_date) AS last_date, bool_or(is_restated) AS is_restated
      FROM (${namedAccounts(source, dates)}) AS named
      GROUP BY kind, party_key, bank, agency, agency_digit, account, account_digit
    ), last_seen AS (
      SELECT DISTINCT ON (known.kind, known.party_key) known.*
      FROM conciliation.party_account known
      JOIN (SELECT DISTINCT kind, party_key FROM seen) AS party USING (kind, party_key)
      ORDER BY known.kind, known.party_key, known.last_accepted_date DESC, known.last_seen_at DESC,
               known.account_hash
    ), first_seen AS (
      SELECT DISTINCT ON (kind, party_key) * FROM seen
      WHERE NOT EXISTS (SELECT FROM last_seen WHERE last_seen.kind = seen.kind
                          AND last_seen.party_key = seen.party_key)
      ORDER BY kind, party_key, first_date, first_ordinal, account_hash
    ), previous AS (
      SELECT kind, party_key, account_hash, last_accepted_date AS last_date,
             ${accountJson('last_seen')} AS content
      FROM last_seen
      UNION ALL
      SELECT kind, party_key, account_hash, last_date, ${accountJson('first_seen')} FROM first_seen
    ), remembered AS (
      INSERT INTO conciliation.party_account AS known
        (kind, party_key, account_hash, bank, agency, agency_digit, account, account_digit,
         last_accepted_date)
      SELECT kind, party_key, account_hash, bank, agency, agency_digit, account, account_digit,
             last_date
      FROM seen
      ON CONFLICT (kind, party_key, account_hash) DO UPDATE
      SET last_accepted_date = excluded.last_accepted_date, last_seen_at = excluded.last_seen_at
      WHERE known.last_accepted_date < excluded.last_accepted_date
    )
    -- All of this sees the tables as they were before the statement.
    SELECT seen.kind, seen.party_key, seen.account_hash::text AS account_hash,
           previous.content AS before, ${accountJson('seen')} AS after
    FROM seen
    JOIN previous USING (kind, party_key)
    LEFT JOIN conciliation.party_account known
      ON known.kind = seen.kind AND known.party_key = seen.party_key
     AND known.account_hash = seen.account_hash
    LEFT JOIN seen AS again
      ON again.kind = seen.kind AND again.party_key = seen.party_key
     AND again.account_hash = previous.account_hash
    WHERE seen.account_hash <> previous.account_hash
      AND (known.account_hash IS NULL OR seen.is_restated
           OR seen.last_date > greatest(previous.last_date, again.last_date))
      AND NOT EXISTS (
        SELECT FROM conciliation.account_change change
        WHERE change.kind = seen.kind AND change.party_key = seen.party_key
          AND change.account_hash = seen.account_hash AND change.acknowledged_at IS NULL)`;
}

async function recordChanges(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
  changes: readonly SeenChange[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.account_change
      (kind, party_key, account_hash, before, after, accepted_date, title_id, pull_id)
    SELECT DISTINCT ON (seen.kind, seen.party_key, seen.account_hash)
           seen.kind, seen.party_key, seen.account_hash, seen.before, seen.after,
           named.accepted_date, title.id, ${source.pullId}::bigint
    FROM jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
      AS seen (kind text, party_key text, account_hash uuid, before jsonb, after jsonb)
    JOIN (${namedAccounts(source, dates)}) AS named
      ON named.kind = seen.kind AND named.party_key = seen.party_key
     AND ${accountJson('named')} = seen.after
    JOIN conciliation.staged_change change
      ON change.fence = ${source.fence} AND change.ordinal = named.ordinal
    JOIN conciliation.staged_title staged
      ON staged.fence = change.fence AND staged.ordinal = change.ordinal
    JOIN conciliation.title title
      ON title.accepted_date = staged.accepted_date AND title.identity_hash = staged.identity_hash
     AND (title.id = change.title_id
          OR (change.kind = 'inserted' AND title.occurrence = change.occurrence))
    ORDER BY seen.kind, seen.party_key, seen.account_hash, named.accepted_date DESC, named.ordinal`;
}
