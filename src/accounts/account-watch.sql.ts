import type { Transaction } from '../database/database.ts';
import { taxIdText } from '../database/tax-id.sql.ts';
import {
  findAccountChanges,
  type KnownAccount,
  type SeenAccount,
} from '../domain/account-change.ts';
import type { CivilDate } from '../domain/business-day.ts';
import type { NamedAccount, PartyKind } from '../domain/named-accounts.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** The merge whose titles are watched. */
export interface WatchedMerge {
  readonly pullId: bigint;
  readonly fence: bigint;
  readonly date: CivilDate;
}

/**
 * Writes the bank accounts that the titles of a merge name into `staged_account`, for `accountComparison`. To be
 * called before the closing phase, when titles and revisions are written.
 *
 * @param inserted the accounts that the reader has collected, where all titles were inserted; null: the
 *   accounts are read from the titles
 */
export async function stageAccounts(
  tx: Transaction,
  source: WatchedMerge,
  inserted: readonly NamedAccount[] | null,
): Promise<void> {
  const named = inserted === null ? accountsOfTitles(source) : accountsNamed(inserted);
  await tx.$executeRaw`
    -- Materialized: the planner would otherwise compute the key once for every use of it.
    WITH party AS MATERIALIZED (
      SELECT ${statedParty}, is_restated FROM (${named}) AS named
    )
    INSERT INTO conciliation.staged_account
      (fence, kind, party_key, account_hash, bank, agency, agency_digit, account, account_digit, is_restated,
       tax_id)
    SELECT ${source.fence}::bigint, kind, ${partyKey}, ${accountHash}, bank, agency, agency_digit,
           account, account_digit, bool_or(is_restated), max(${taxId})
    FROM party WHERE key IS NOT NULL AND account IS NOT NULL
    GROUP BY 2, 3, 4, 5, 6, 7, 8, 9`;
}

/** The accounts of a party that may have changed. `known` is null for a party without earlier accounts. */
export interface PartyAccounts {
  readonly kind: PartyKind;
  readonly partyKey: string;
  readonly known:
    | readonly (Omit<KnownAccount, 'lastSeenAt'> & {
        readonly lastSeenAt: string;
        readonly partyKey: string;
      })[]
    | null;
  readonly seen: readonly SeenAccount[];
}

/**
 * Common table expressions of the closing phase. They store the bank account of every provider and financial agent
 * that the merged titles name. `compared` has one row: the parties whose accounts may have changed, as JSON of
 * `PartyAccounts`, and whether an open change concerns the date.
 *
 * Looks only at parties with several accounts. Most parties have one account, and the titles name that one. A party
 * without accounts has those of its tax identifier, so that a supplier that is registered again is not a new one.
 * Those with an open change are not among them. All expressions read the accounts as they were before `stored`.
 */
export const accountComparison = ({ fence, date }: WatchedMerge): Prisma.Sql => Prisma.sql`
    seen AS (
      DELETE FROM conciliation.staged_account WHERE fence = ${fence} RETURNING *
    ), own AS MATERIALIZED (
      SELECT kind, party_key, account_hash, last_accepted_date, last_seen_at
      FROM conciliation.party_account
      WHERE kind = ANY(ARRAY(SELECT DISTINCT kind FROM seen))
        AND party_key = ANY(ARRAY(SELECT party_key FROM seen))
    ), stored AS (
      INSERT INTO conciliation.party_account AS present
        (kind, party_key, account_hash, bank, agency, agency_digit, account, account_digit,
         last_accepted_date, tax_id)
      SELECT kind, party_key, account_hash, bank, agency, agency_digit, account, account_digit,
             ${date}::date, tax_id
      FROM seen
      -- In a backfill, most accounts are known of a newer date. A conflict would lock the row of each.
      WHERE NOT EXISTS (
        SELECT FROM own
        WHERE (own.kind, own.party_key, own.account_hash) = (seen.kind, seen.party_key, seen.account_hash)
          AND own.last_accepted_date > ${date}::date)
      ON CONFLICT (kind, party_key, account_hash) DO UPDATE
      SET last_accepted_date = excluded.last_accepted_date, last_seen_at = excluded.last_seen_at,
          tax_id = coalesce(excluded.tax_id, present.tax_id)
      WHERE present.last_accepted_date < excluded.last_accepted_date
         -- Of the accounts of one date, the one to which a title was restated last is the present one.
         OR present.last_accepted_date = excluded.last_accepted_date
            AND (present.kind, present.party_key, present.account_hash) IN (
              SELECT kind, party_key, account_hash FROM seen WHERE is_restated)
    ), newcomer AS MATERIALIZED (
      SELECT kind, party_key, tax_id, account_hash FROM seen
      WHERE tax_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM own WHERE own.kind = seen.kind AND own.party_key = seen.party_key)
    ), related AS MATERIALIZED (
      SELECT kind, tax_id, account_hash, min(party_key) AS of_key,
             max(last_accepted_date) AS last_accepted_date, max(last_seen_at) AS last_seen_at
      FROM conciliation.party_account AS account
      WHERE tax_id = ANY(ARRAY(SELECT tax_id FROM newcomer))
        -- An account whose change is not acknowledged is not a known account under another identifier of the party.
        AND NOT EXISTS (
          SELECT FROM conciliation.account_change AS change
          WHERE change.kind = account.kind AND change.party_key = account.party_key
            AND change.account_hash = account.account_hash AND change.acknowledged_at IS NULL)
      GROUP BY kind, tax_id, account_hash
    ), latest AS (
      SELECT DISTINCT ON (kind, tax_id) * FROM related
      ORDER BY kind, tax_id, last_accepted_date DESC, last_seen_at DESC, account_hash
    ), known AS MATERIALIZED (
      SELECT kind, party_key, party_key AS of_key, account_hash, last_accepted_date, last_seen_at FROM own
      -- Not all accounts of the tax identifier: parties without number may share one.
      UNION
      SELECT kind, party_key, of_key, latest.account_hash, last_accepted_date, last_seen_at
      FROM newcomer JOIN latest USING (kind, tax_id)
      UNION
      SELECT kind, party_key, of_key, account_hash, last_accepted_date, last_seen_at
      FROM newcomer JOIN related USING (kind, tax_id, account_hash)
    ), party AS MATERIALIZED (
      SELECT kind, party_key FROM seen GROUP BY kind, party_key HAVING count(*) > 1
      UNION
      SELECT kind, party_key FROM seen JOIN known USING (kind, party_key)
      WHERE known.account_hash <> seen.account_hash
    ), known_of AS (
      SELECT kind, party_key,
             jsonb_agg(jsonb_build_object(
               'partyKey', of_key, 'accountHash', account_hash,
               'lastAcceptedDate', last_accepted_date, 'lastSeenAt', last_seen_at)) AS known
      FROM party JOIN known USING (kind, party_key) GROUP BY kind, party_key
    ), seen_of AS (
      SELECT kind, party_key,
             jsonb_agg(jsonb_build_object(
               'accountHash', account_hash, 'isRestated', is_restated)) AS seen
      FROM party JOIN seen USING (kind, party_key) GROUP BY kind, party_key
    ), compared AS (
      SELECT
        (SELECT jsonb_agg(jsonb_build_object(
           'kind', kind, 'partyKey', party_key, 'known', known_of.known, 'seen', seen_of.seen))
         FROM seen_of LEFT JOIN known_of USING (kind, party_key)) AS parties,
        EXISTS (SELECT FROM seen JOIN conciliation.account_change AS change
                  USING (kind, party_key, account_hash)
                WHERE change.acknowledged_at IS NULL)
        OR EXISTS (SELECT FROM conciliation.payment_hold AS hold
                   JOIN conciliation.account_change AS change ON change.id = hold.account_change_id
                   WHERE hold.accepted_date = ${date}::date
                     AND change.acknowledged_at IS NULL) AS has_open_change
    )`;

interface PartyChange {
  readonly kind: PartyKind;
  readonly party_key: string;
  /** The party whose account was `before_hash`: the same one, or one with the same tax identifier. */
  readonly before_key: string;
  readonly before_hash: string;
  readonly after_hash: string;
}

/**
 * Records the changes of the accounts that `accountComparison` has found; see `findAccountChanges`. A change is not
 * recorded a second time while it is unacknowledged.
 * @returns whether there were changes
 */
export async function recordAccountChanges(
  tx: Transaction,
  source: WatchedMerge,
  parties: readonly PartyAccounts[],
): Promise<boolean> {
  const changes = parties.flatMap((party) => changesOf(party, source.date));
  if (changes.length > 0) await recordChanges(tx, source, changes);
  return changes.length > 0;
}

function changesOf({ kind, partyKey, known, seen }: PartyAccounts, date: CivilDate): PartyChange[] {
  const before = (known ?? []).map((one) => ({ ...one, lastSeenAt: new Date(one.lastSeenAt) }));
  return findAccountChanges(date, before, seen).map((change) => ({
    kind,
    party_key: partyKey,
    before_key:
      before.find(({ accountHash }) => accountHash === change.before)?.partyKey ?? partyKey,
    before_hash: change.before,
    after_hash: change.after,
  }));
}

// The names are constants of this program. No input reaches Prisma.raw.
const ACCOUNT = ['bank', 'agency', 'agency_digit', 'account', 'account_digit'];
const PROVIDER_ACCOUNT = ACCOUNT.map((column) => `provider_${column}`);
const AGENT_ACCOUNT = ACCOUNT.map((column) => `payment_${column}`);
const PROVIDER: PartyKind = 'provider';
const FINANCIAL_AGENT: PartyKind = 'financial_agent';
const providerColumns = Prisma.raw(
  ['provider_external_id', 'provider_identification', ...PROVIDER_ACCOUNT].join(', '),
);
const agentColumns = Prisma.raw(['financial_agent_identification', ...AGENT_ACCOUNT].join(', '));

/** One row for each party that a row with the columns of a title names, with the account of the party. */
const parties = Prisma.raw(`LATERAL (VALUES
  ('${PROVIDER}', provider_external_id, provider_identification, ${PROVIDER_ACCOUNT.join(', ')}),
  ('${FINANCIAL_AGENT}', NULL, financial_agent_identification, ${AGENT_ACCOUNT.join(', ')})
) AS named (kind, external_id, identification, ${ACCOUNT.join(', ')})`);

/** The value of a column without surrounding blanks; null for blanks alone. */
const stated = (column: string) => `nullif(btrim(${column}), '')`;
const statedParty = Prisma.raw(
  `kind, coalesce(${stated('external_id')}, ${stated('identification')}) AS key, identification,
   ${ACCOUNT.map((column) => `${stated(column)} AS ${column}`).join(', ')}`,
);

/** The key of a row `party` in the tables. Long texts do not fit an index entry. */
export const partyKey = Prisma.raw(
  `CASE WHEN length(party.key) <= 255 THEN party.key ELSE 'md5:' || md5(party.key) END`,
);

/** The tax identifier of a row `party`. Long texts do not fit an index entry. */
const taxId = Prisma.raw(
  `(SELECT CASE WHEN length(tax_id) <= 255 THEN tax_id ELSE 'md5:' || md5(tax_id) END
    FROM (SELECT ${taxIdText('party.identification')}) AS stated (tax_id))`,
);

/** Of a row `party`. The values are quoted, so that different accounts have different texts; a missing value is NULL. */
export const accountHash = Prisma.raw(
  `md5(concat_ws(',', quote_nullable(party.bank), quote_nullable(party.agency),
                 quote_nullable(party.agency_digit), quote_nullable(party.account),
                 quote_nullable(party.account_digit)))::uuid`,
);

/**
 * Whether the merge restated one of the columns of a title that existed before. The `+ 0` keeps the
 * planner from using the index by pull. The statistics of that index do not include this merge yet,
 * and the planner would read every revision of the pull for every title.
 */
const isRestated = ({ pullId }: WatchedMerge, columns: readonly string[]) => Prisma.sql`
  CASE WHEN title.first_pull_id = ${pullId} THEN false ELSE EXISTS (
    SELECT FROM conciliation.title_revision revision
    WHERE revision.title_id = title.id AND revision.pull_id + 0 = ${pullId}
      AND jsonb_exists_any(revision.before, ${columns}::text[])) END`;

/** The current titles that the merge has written. */
const writtenTitles = ({ pullId, date }: WatchedMerge) => Prisma.sql`
  conciliation.title title
  WHERE title.accepted_date = ${date}::date AND title.status = 'current'
    AND title.last_change_pull_id = ${pullId}`;

/** The account of a row `change`, as JSON. */
const accountOf = (partyKeyColumn: string, hashColumn: string) =>
  Prisma.raw(
    `(SELECT jsonb_build_object('bank', bank, 'agency', agency, 'agencyDigit', agency_digit,
        'account', account, 'accountDigit', account_digit)
      FROM conciliation.party_account AS known
      WHERE known.kind = change.kind AND known.party_key = ${partyKeyColumn} AND known.account_hash = ${hashColumn})`,
  );

/** The column for the kind of party. */
const byKind = (providerColumn: string, agentColumn: string) =>
  `CASE grouping(provider_external_id) WHEN 0 THEN ${providerColumn} ELSE ${agentColumn} END`;
const accountOfKind = Prisma.raw(
  PROVIDER_ACCOUNT.map(
    (column, index) => `${byKind(column, AGENT_ACCOUNT[index] ?? '')} AS ${ACCOUNT[index]}`,
  ).join(', '),
);
const identificationOfKind = Prisma.raw(
  byKind('provider_identification', 'financial_agent_identification'),
);

/**
 * The written titles, grouped by provider and account, and again by agent and account. The groups of hundreds
 * of thousands of titles are a few hundred rows.
 */
const accountsOfTitles = (source: WatchedMerge) => Prisma.sql`
  SELECT CASE grouping(provider_external_id) WHEN 0 THEN ${PROVIDER}
                                             ELSE ${FINANCIAL_AGENT} END AS kind,
         provider_external_id AS external_id, ${identificationOfKind} AS identification, ${accountOfKind},
         CASE grouping(provider_external_id)
           WHEN 0 THEN bool_or(${isRestated(source, PROVIDER_ACCOUNT)})
           ELSE bool_or(${isRestated(source, AGENT_ACCOUNT)}) END AS is_restated
  FROM ${writtenTitles(source)}
  GROUP BY GROUPING SETS ((${providerColumns}), (${agentColumns}))`;

/** The same rows, from the accounts that the reader has collected. */
const accountsNamed = (accounts: readonly NamedAccount[]) => Prisma.sql`
  SELECT named.kind, named."externalId" AS external_id, named.identification, named.bank,
         named.agency, named."agencyDigit" AS agency_digit, named.account,
         named."accountDigit" AS account_digit, false AS is_restated
  FROM json_to_recordset(${JSON.stringify(accounts)}::json) AS named
    (kind text, "externalId" text, identification text, bank text, agency text, "agencyDigit" text,
     account text, "accountDigit" text)`;

/** Rows (kind, party_key, account_hash, title_id): the accounts that each written title names. */
export const namedAccounts = (source: WatchedMerge) => Prisma.sql`
  SELECT kind, ${partyKey} AS party_key, ${accountHash} AS account_hash, id AS title_id
  FROM (
    SELECT ${statedParty}, written.id
    FROM (SELECT title.* FROM ${writtenTitles(source)}) AS written CROSS JOIN ${parties}
  ) AS party`;

async function recordChanges(
  tx: Transaction,
  source: WatchedMerge,
  changes: readonly PartyChange[],
): Promise<void> {
  // The parties of the titles are grouped before they are joined with the changes, and the accounts are looked up
  // for each change. A single join would compare every title with every change, and all accounts with each other.
  await tx.$executeRaw`
    WITH named AS MATERIALIZED (
      SELECT kind, party_key, account_hash, min(title_id) AS title_id
      FROM (${namedAccounts(source)}) AS account GROUP BY 1, 2, 3
    )
    INSERT INTO conciliation.account_change
      (kind, party_key, account_hash, before, after, accepted_date, title_id, pull_id)
    SELECT change.kind, change.party_key, change.after_hash, ${accountOf('change.before_key', 'change.before_hash')},
           ${accountOf('change.party_key', 'change.after_hash')}, ${source.date}::date, named.title_id,
           ${source.pullId}::bigint
    FROM jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
      AS change (kind text, party_key text, before_key text, before_hash uuid, after_hash uuid)
    JOIN named ON named.kind = change.kind AND named.party_key = change.party_key
      AND named.account_hash = change.after_hash
    WHERE NOT EXISTS (
      SELECT FROM conciliation.account_change earlier
      WHERE earlier.kind = change.kind AND earlier.party_key = change.party_key
        AND earlier.account_hash = change.after_hash AND earlier.acknowledged_at IS NULL)
    ORDER BY named.title_id, change.kind, change.party_key`;
}
