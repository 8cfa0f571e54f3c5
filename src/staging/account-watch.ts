import type { CivilDate } from '../domain/business-day.ts';
import type { NamedAccount, PartyKind } from '../domain/named-accounts.ts';
import { Prisma } from '../generated/prisma/client.ts';

/**
 * Gathers the bank accounts that the titles written by a merge name into `staged_account`, for
 * `watchAccounts`. To be called before the closing phase, when titles and revisions are written, so that
 * the closing phase does not read them.
 */
export async function stageAccounts(
  tx: Prisma.TransactionClient,
  source: WatchedMerge,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.staged_account
      (fence, kind, external_id, identification, bank, agency, agency_digit, account, account_digit,
       first_id, is_restated)
    SELECT ${source.fence}::bigint, accounts.* FROM (${accountsOfTitles(source)}) AS accounts`;
}

/**
 * Remembers the bank account of every provider and financial agent that the merged titles name, and
 * records where one is not the account that was last seen. To be called in the closing phase, whose lock
 * keeps other merges from the same parties.
 *
 * Last seen is the account with the latest accepted date. A change is
 *
 * 1. an account that the party never had, whatever the date of its title;
 * 2. an account it had before, in a title newer than all of the account last seen;
 * 3. an account that a title was restated to.
 *
 * What that leaves out is a late title of an old date with the account that was right then. A party's
 * first account is no change, nor is one to which an unacknowledged change leads already.
 *
 * @param inserted the accounts that the titles name, where all titles were inserted and the accounts are
 *   known; null: `stageAccounts` has gathered them
 */
export async function watchAccounts(
  tx: Prisma.TransactionClient,
  source: WatchedMerge,
  inserted: readonly NamedAccount[] | null,
): Promise<void> {
  const named = inserted === null ? accountsStaged(source) : accountsNamed(inserted);
  const changes = await rememberAccounts(tx, source, named);
  if (changes.length > 0) await recordChanges(tx, source, changes);
}

/** A merge whose titles name accounts. */
export interface WatchedMerge {
  readonly pullId: bigint;
  readonly fence: bigint;
  readonly date: CivilDate;
}

interface SeenChange {
  readonly kind: PartyKind;
  readonly party_key: string;
  readonly account_hash: string;
  readonly before: unknown;
  readonly after: unknown;
}

// The names are constants of this program: nothing from outside reaches Prisma.raw.
const ACCOUNT = ['bank', 'agency', 'agency_digit', 'account', 'account_digit'];
const PROVIDER_ACCOUNT = ACCOUNT.map((column) => `provider_${column}`);
const AGENT_ACCOUNT = ACCOUNT.map((column) => `payment_${column}`);
const PROVIDER: PartyKind = 'provider';
const FINANCIAL_AGENT: PartyKind = 'financial_agent';
const providerColumns = Prisma.raw(
  ['provider_external_id', 'provider_identification', ...PROVIDER_ACCOUNT].join(', '),
);
const agentColumns = Prisma.raw(['financial_agent_identification', ...AGENT_ACCOUNT].join(', '));

const account = Prisma.raw(ACCOUNT.join(', '));

/** A row for each party that a row with the columns of a title names, with its account. */
const parties = Prisma.raw(`LATERAL (VALUES
  ('${PROVIDER}', provider_external_id, provider_identification, ${PROVIDER_ACCOUNT.join(', ')}),
  ('${FINANCIAL_AGENT}', NULL, financial_agent_identification, ${AGENT_ACCOUNT.join(', ')})
) AS named (kind, external_id, identification, ${ACCOUNT.join(', ')})`);

/** Of such a row what is stated: blanks around it are nothing, and blanks alone no statement. */
const stated = (column: string) => `nullif(btrim(${column}), '')`;
const statedParty = Prisma.raw(
  `kind, coalesce(${stated('external_id')}, ${stated('identification')}) AS key,
   ${ACCOUNT.map((column) => `${stated(column)} AS ${column}`).join(', ')}`,
);

/** What the party is called in the tables: long texts do not fit an index entry. */
const partyKey = Prisma.raw(
  `CASE WHEN length(party.key) <= 255 THEN party.key ELSE 'md5:' || md5(party.key) END`,
);

/** Quoted, so that no two accounts run into the same text, and what is not stated is NULL. */
const accountHash = Prisma.raw(
  `md5(concat_ws(',', quote_nullable(party.bank), quote_nullable(party.agency),
                 quote_nullable(party.agency_digit), quote_nullable(party.account),
                 quote_nullable(party.account_digit)))::uuid`,
);

/**
 * Whether the merge restated one of the columns of a title that it had not inserted. `+ 0` keeps the
 * planner off the index by pull, whose statistics do not know this merge yet: it would read every
 * revision of the pull for every title.
 */
const isRestated = ({ pullId }: WatchedMerge, columns: readonly string[]) => Prisma.sql`
  CASE WHEN title.first_pull_id = ${pullId} THEN false ELSE EXISTS (
    SELECT FROM conciliation.title_revision revision
    WHERE revision.title_id = title.id AND revision.pull_id + 0 = ${pullId}
      AND jsonb_exists_any(revision.before, ${columns}::text[])) END`;

/** The titles that the merge wrote and left current. */
const writtenTitles = ({ pullId, date }: WatchedMerge) => Prisma.sql`
  conciliation.title title
  WHERE title.accepted_date = ${date}::date AND title.status = 'current'
    AND title.last_change_pull_id = ${pullId}`;

const accountJson = (alias: string) =>
  Prisma.raw(
    `jsonb_build_object('bank', ${alias}.bank, 'agency', ${alias}.agency,
       'agencyDigit', ${alias}.agency_digit, 'account', ${alias}.account,
       'accountDigit', ${alias}.account_digit)`,
  );

/** Of either kind of party, under one name. */
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
 * The written titles, by the provider and the account that they name, and again by the agent and its
 * account: of hundreds of thousands, a few hundred rows are left to be looked at.
 */
const accountsOfTitles = (source: WatchedMerge) => Prisma.sql`
  SELECT CASE grouping(provider_external_id) WHEN 0 THEN ${PROVIDER}
                                             ELSE ${FINANCIAL_AGENT} END AS kind,
         provider_external_id AS external_id, ${identificationOfKind} AS identification, ${accountOfKind},
         min(id) AS first_id,
         CASE grouping(provider_external_id)
           WHEN 0 THEN bool_or(${isRestated(source, PROVIDER_ACCOUNT)})
           ELSE bool_or(${isRestated(source, AGENT_ACCOUNT)}) END AS is_restated
  FROM ${writtenTitles(source)}
  GROUP BY GROUPING SETS ((${providerColumns}), (${agentColumns}))`;

const accountsStaged = ({ fence }: WatchedMerge) => Prisma.sql`
  SELECT * FROM conciliation.staged_account WHERE fence = ${fence}`;

/** The same of titles that were all inserted, as the reader has noted them. */
const accountsNamed = (accounts: readonly NamedAccount[]) => Prisma.sql`
  SELECT named.kind, named."externalId" AS external_id, named.identification, named.bank,
         named.agency, named."agencyDigit" AS agency_digit, named.account,
         named."accountDigit" AS account_digit, ordinality AS first_id, false AS is_restated
  FROM ROWS FROM (jsonb_to_recordset(${JSON.stringify(accounts)}::jsonb) AS
    (kind text, "externalId" text, identification text, bank text, agency text, "agencyDigit" text,
     account text, "accountDigit" text))
    WITH ORDINALITY AS named`;

/** Writes `party_account` and returns what is a change against what stood there before. */
function rememberAccounts(
  tx: Prisma.TransactionClient,
  { date }: WatchedMerge,
  named: Prisma.Sql,
): Promise<SeenChange[]> {
  return tx.$queryRaw<SeenChange[]>`
    WITH party AS (
      SELECT ${statedParty}, first_id, is_restated FROM (${named}) AS named
    ), seen AS MATERIALIZED (
      SELECT kind, ${partyKey} AS party_key, bank, agency, agency_digit, account, account_digit,
             ${accountHash} AS account_hash, min(first_id) AS first_id,
             bool_or(is_restated) AS is_restated
      FROM party WHERE key IS NOT NULL AND account IS NOT NULL
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    ), known AS MATERIALIZED (
      SELECT * FROM conciliation.party_account
      WHERE kind = ANY(ARRAY(SELECT DISTINCT kind FROM seen))
        AND party_key = ANY(ARRAY(SELECT DISTINCT party_key FROM seen))
    ), last_seen AS MATERIALIZED (
      SELECT DISTINCT ON (kind, party_key) * FROM known
      ORDER BY kind, party_key, last_accepted_date DESC, last_seen_at DESC, account_hash
    ), first_seen AS MATERIALIZED (
      SELECT DISTINCT ON (kind, party_key) * FROM seen
      WHERE (kind, party_key) NOT IN (SELECT kind, party_key FROM last_seen)
      ORDER BY kind, party_key, first_id
    ), previous AS (
      SELECT kind, party_key, account_hash, last_accepted_date AS last_date, ${account} FROM last_seen
      UNION ALL
      SELECT kind, party_key, account_hash, ${date}::date, ${account} FROM first_seen
    ), remembered AS (
      INSERT INTO conciliation.party_account AS present
        (kind, party_key, account_hash, bank, agency, agency_digit, account, account_digit,
         last_accepted_date)
      SELECT kind, party_key, account_hash, bank, agency, agency_digit, account, account_digit,
             ${date}::date
      FROM seen
      ON CONFLICT (kind, party_key, account_hash) DO UPDATE
      SET last_accepted_date = excluded.last_accepted_date, last_seen_at = excluded.last_seen_at
      WHERE present.last_accepted_date < excluded.last_accepted_date
    )
    -- All of this sees the tables as they were before the statement.
    SELECT seen.kind, seen.party_key, seen.account_hash::text AS account_hash,
           ${accountJson('previous')} AS before, ${accountJson('seen')} AS after
    FROM seen
    JOIN previous USING (kind, party_key)
    LEFT JOIN known
      ON known.kind = seen.kind AND known.party_key = seen.party_key
     AND known.account_hash = seen.account_hash
    LEFT JOIN seen AS again
      ON again.kind = seen.kind AND again.party_key = seen.party_key
     AND again.account_hash = previous.account_hash
    WHERE seen.account_hash <> previous.account_hash
      AND (known.account_hash IS NULL OR seen.is_restated
           OR (again.account_hash IS NULL AND ${date}::date > previous.last_date))
      AND NOT EXISTS (
        SELECT FROM conciliation.account_change change
        WHERE change.kind = seen.kind AND change.party_key = seen.party_key
          AND change.account_hash = seen.account_hash AND change.acknowledged_at IS NULL)`;
}

async function recordChanges(
  tx: Prisma.TransactionClient,
  source: WatchedMerge,
  changes: readonly SeenChange[],
): Promise<void> {
  // The parties of the titles are worked out before they are compared with the changes: in one join,
  // every title would be compared with every change.
  await tx.$executeRaw`
    WITH party AS (
      SELECT ${statedParty}, written.id
      FROM (SELECT title.* FROM ${writtenTitles(source)}) AS written CROSS JOIN ${parties}
    ), named AS MATERIALIZED (
      SELECT kind, ${partyKey} AS party_key, ${accountHash} AS account_hash, id FROM party
    )
    INSERT INTO conciliation.account_change
      (kind, party_key, account_hash, before, after, accepted_date, title_id, pull_id)
    SELECT DISTINCT ON (seen.kind, seen.party_key, seen.account_hash)
           seen.kind, seen.party_key, seen.account_hash, seen.before, seen.after,
           ${source.date}::date, named.id, ${source.pullId}::bigint
    FROM named
    JOIN jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
      AS seen (kind text, party_key text, account_hash uuid, before jsonb, after jsonb)
      USING (kind, party_key, account_hash)
    ORDER BY seen.kind, seen.party_key, seen.account_hash, named.id`;
}
