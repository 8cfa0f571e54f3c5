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

// The names are constants of this program: nothing from outside reaches Prisma.raw.
const PROVIDER_ACCOUNT = [
  'provider_bank',
  'provider_agency',
  'provider_agency_digit',
  'provider_account',
  'provider_account_digit',
];
const AGENT_ACCOUNT = [
  'payment_bank',
  'payment_agency',
  'payment_agency_digit',
  'payment_account',
  'payment_account_digit',
];
const stated = (column: string) => `nullif(btrim(${column}), '')`;
const statedAccount = (columns: readonly string[]) => columns.map(stated).join(', ');

const PROVIDER = {
  kind: 'provider',
  key: `coalesce(${stated('provider_external_id')}, ${stated('provider_identification')})`,
  columns: ['provider_external_id', 'provider_identification', ...PROVIDER_ACCOUNT],
};
const FINANCIAL_AGENT = {
  kind: 'financial_agent',
  key: stated('financial_agent_identification'),
  columns: ['financial_agent_identification', ...AGENT_ACCOUNT],
};
const providerColumns = Prisma.raw(PROVIDER.columns.join(', '));
const agentColumns = Prisma.raw(FINANCIAL_AGENT.columns.join(', '));

/** A row for each party of a row with the columns of a title, and the account that it names. */
const parties = Prisma.raw(`LATERAL (VALUES
  ('${PROVIDER.kind}', ${PROVIDER.key}, ${statedAccount(PROVIDER_ACCOUNT)}),
  ('${FINANCIAL_AGENT.kind}', ${FINANCIAL_AGENT.key}, ${statedAccount(AGENT_ACCOUNT)})
) AS party (kind, key, bank, agency, agency_digit, account, account_digit)`);

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
const isRestated = (source: ChangeSource, columns: readonly string[]) => Prisma.sql`
  CASE WHEN title.first_pull_id = ${source.pullId} THEN false ELSE EXISTS (
    SELECT FROM conciliation.title_revision revision
    WHERE revision.title_id = title.id AND revision.pull_id + 0 = ${source.pullId}
      AND jsonb_exists_any(revision.before, ${columns}::text[])) END`;

/** The titles that the merge wrote and left current. */
const writtenTitles = (source: ChangeSource, dates: readonly CivilDate[]) => Prisma.sql`
  conciliation.title title
  WHERE title.accepted_date = ANY(${dates}::date[]) AND title.status = 'current'
    AND title.last_change_pull_id = ${source.pullId}`;

const accountJson = (alias: string) =>
  Prisma.raw(
    `jsonb_build_object('bank', ${alias}.bank, 'agency', ${alias}.agency,
       'agencyDigit', ${alias}.agency_digit, 'account', ${alias}.account,
       'accountDigit', ${alias}.account_digit)`,
  );

/**
 * The written titles, by the provider and the account that they name, and again by the agent and its
 * account: of hundreds of thousands, a few hundred rows are left to be looked at.
 */
const namedAccounts = (source: ChangeSource, dates: readonly CivilDate[]) => Prisma.sql`
  SELECT ${providerColumns}, ${agentColumns},
         CASE grouping(provider_external_id) WHEN 0 THEN ${PROVIDER.kind}
                                             ELSE ${FINANCIAL_AGENT.kind} END AS kind,
         min(accepted_date) AS first_date, max(accepted_date) AS last_date, min(id) AS first_id,
         CASE grouping(provider_external_id)
           WHEN 0 THEN bool_or(${isRestated(source, PROVIDER_ACCOUNT)})
           ELSE bool_or(${isRestated(source, AGENT_ACCOUNT)}) END AS is_restated
  FROM ${writtenTitles(source, dates)}
  GROUP BY GROUPING SETS ((${providerColumns}), (${agentColumns}))`;

/** Writes `party_account` and returns what is a change against what stood there before. */
function rememberAccounts(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<SeenChange[]> {
  return tx.$queryRaw<SeenChange[]>`
    WITH seen AS MATERIALIZED (
      SELECT party.kind, ${partyKey} AS party_key, party.bank, party.agency, party.agency_digit,
             party.account, party.account_digit,
             ${accountHash} AS account_hash,
             min(first_date) AS first_date, max(last_date) AS last_date, min(first_id) AS first_id,
             bool_or(is_restated) AS is_restated
      FROM (${namedAccounts(source, dates)}) AS named
      JOIN ${parties} ON party.kind = named.kind
      WHERE party.key IS NOT NULL AND party.account IS NOT NULL
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    ), known AS MATERIALIZED (
      SELECT * FROM conciliation.party_account
      WHERE kind = ANY(ARRAY(SELECT DISTINCT kind FROM seen))
        AND party_key = ANY(ARRAY(SELECT DISTINCT party_key FROM seen))
    ), last_seen AS MATERIALIZED (
      SELECT DISTINCT ON (known.kind, known.party_key) known.*
      FROM known JOIN (SELECT DISTINCT kind, party_key FROM seen) AS party USING (kind, party_key)
      ORDER BY known.kind, known.party_key, known.last_accepted_date DESC, known.last_seen_at DESC,
               known.account_hash
    ), first_seen AS MATERIALIZED (
      SELECT DISTINCT ON (kind, party_key) * FROM seen
      WHERE (kind, party_key) NOT IN (SELECT kind, party_key FROM last_seen)
      ORDER BY kind, party_key, first_date, first_id
    ), previous AS (
      SELECT kind, party_key, account_hash, last_accepted_date AS last_date,
             ${accountJson('last_seen')} AS content
      FROM last_seen
      UNION ALL
      SELECT kind, party_key, account_hash, last_date, ${accountJson('first_seen')} FROM first_seen
    ), remembered AS (
      INSERT INTO conciliation.party_account AS present
        (kind, party_key, account_hash, bank, agency, agency_digit, account, account_digit,
         last_accepted_date)
      SELECT kind, party_key, account_hash, bank, agency, agency_digit, account, account_digit,
             last_date
      FROM seen
      ON CONFLICT (kind, party_key, account_hash) DO UPDATE
      SET last_accepted_date = excluded.last_accepted_date, last_seen_at = excluded.last_seen_at
      WHERE present.last_accepted_date < excluded.last_accepted_date
    )
    -- All of this sees the tables as they were before the statement.
    SELECT seen.kind, seen.party_key, seen.account_hash::text AS account_hash,
           previous.content AS before, ${accountJson('seen')} AS after
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
  // The parties of the titles are worked out before they are compared with what changed: in one join
  // with them, every title would be compared with every change.
  await tx.$executeRaw`
    WITH named AS MATERIALIZED (
      SELECT party.kind, ${partyKey} AS party_key, ${accountHash} AS account_hash,
             written.accepted_date, written.id
      FROM (SELECT title.* FROM ${writtenTitles(source, dates)}) AS written
      CROSS JOIN ${parties}
    )
    INSERT INTO conciliation.account_change
      (kind, party_key, account_hash, before, after, accepted_date, title_id, pull_id)
    SELECT DISTINCT ON (seen.kind, seen.party_key, seen.account_hash)
           seen.kind, seen.party_key, seen.account_hash, seen.before, seen.after,
           named.accepted_date, named.id, ${source.pullId}::bigint
    FROM named
    JOIN jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
      AS seen (kind text, party_key text, account_hash uuid, before jsonb, after jsonb)
      USING (kind, party_key, account_hash)
    ORDER BY seen.kind, seen.party_key, seen.account_hash, named.accepted_date DESC, named.id`;
}
