import { recordAudit } from '../../base/audit/audit.ts';
import type { Transaction } from '../../base/database/database.ts';
import { taxIdText } from '../../base/database/expressions.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { BankAccount } from '../../console/api/schema-parts.ts';
import type { MergingPull } from '../../core/merge/engine-hooks.ts';
import {
  ACCOUNT_ROLES,
  destinationColumns,
  destinationOfRow,
} from '../../core/title/destinations.sql.ts';
import { DESTINATION_PATHS, type PartyKind } from '../../core/title/promoted-fields.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { compareAccounts, type KnownAccount, type SeenAccount } from './account-change.ts';
import { accountHashOf, normalAccount } from './bank-account.ts';

/**
 * Writes the bank accounts that the titles of a merge name into `staged_account`, for `accountComparison`. To be
 * called before the closing phase, when titles and revisions are written.
 */
export async function stageAccounts(tx: Transaction, source: MergingPull): Promise<void> {
  const { fence } = source;
  let writings = await tx.$queryRaw<Writing[]>`
    -- Materialized: the planner would otherwise compute the key once for every use of it.
    WITH party AS MATERIALIZED (
      SELECT ${statedParty}, is_restated, is_erased FROM (${accountsOfTitles(source)}) AS named
    ), grouped AS MATERIALIZED (
      SELECT kind, ${partyKey} AS party_key, ${writingHash} AS writing_hash, bank, agency, agency_digit, account,
             account_digit, destination, bool_or(is_restated) AS is_restated,
             max(${taxId}) AS tax_id
      FROM party WHERE NOT ${IS_UNNAMED} AND NOT ${hasLostAccount}
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    ), staged AS (
      INSERT INTO conciliation.staged_account
        (fence, kind, party_key, writing_hash, bank, agency, agency_digit, account, account_digit, destination,
         normal_form, account_hash, is_restated, tax_id)
      SELECT ${fence}::bigint, kind, party_key, writing_hash, bank, agency, agency_digit, account, account_digit,
             destination, known.normal_form, known.account_hash, is_restated, grouped.tax_id
      FROM grouped LEFT JOIN LATERAL (
        SELECT normal_form, account_hash FROM conciliation.party_account AS account
        WHERE account.kind = grouped.kind AND account.party_key = grouped.party_key
          AND account.writing_hash = grouped.writing_hash
        -- Looked up for each row, whatever the statistics say.
        OFFSET 0
      ) AS known ON true
      RETURNING ctid::text AS place, *
    )
    ${unread(Prisma.sql`staged`)}`;
  for (;;) {
    if (writings.length > 0) await storeForms(tx, fence, writings);
    if (writings.length < WRITINGS_AT_ONCE) return;
    const left = Prisma.sql`(SELECT ctid::text AS place, * FROM conciliation.staged_account WHERE fence = ${fence}) AS staged`;
    writings = await tx.$queryRaw<Writing[]>(unread(left));
  }
}

/** Whether a row `party` states nothing of an account. */
const namesNoAccount = Prisma.sql`
  (num_nonnulls(party.bank, party.agency, party.agency_digit, party.account, party.account_digit,
                party.destination) = 0)`;

/** Whether a row `party` names neither a party nor an account. */
export const IS_UNNAMED = Prisma.sql`(party.key = '' AND ${namesNoAccount})`;

/** An erased title has lost its account, which is not the watched one of a title without account. */
export const hasLostAccount = Prisma.sql`(party.is_erased AND ${namesNoAccount})`;

/** A staged account whose writing the party did not have yet. */
type Writing = BankAccount & { readonly place: string };

/** The writings that are read by one statement. */
const WRITINGS_AT_ONCE = 5_000;

const unread = (staged: Prisma.Sql) => Prisma.sql`
  SELECT place, bank, agency, agency_digit AS "agencyDigit", account, account_digit AS "accountDigit", destination
  FROM ${staged} WHERE account_hash IS NULL LIMIT ${WRITINGS_AT_ONCE}::int`;

/** Adds their normal forms to staged accounts. */
async function storeForms(
  tx: Transaction,
  fence: bigint,
  writings: readonly Writing[],
): Promise<void> {
  const read = writings.map(({ place, ...stated }) => ({ place, ...formOf(stated) }));
  await tx.$executeRaw`
    UPDATE conciliation.staged_account AS staged
    SET normal_form = form.normal_form, account_hash = form.account_hash
    FROM json_to_recordset(${JSON.stringify(read)}::json)
      AS form (place text, normal_form text, account_hash uuid)
    WHERE staged.fence = ${fence} AND staged.ctid = form.place::tid`;
}

function formOf(stated: BankAccount) {
  const form = normalAccount(stated);
  return { normal_form: form, account_hash: accountHashOf(form) };
}

/** The column `tax_id`, without the zeros in front that a writing may have lost. */
const taxDigits = Prisma.raw(
  `CASE WHEN tax_id ~ '^[0-9]{1,14}$' THEN ltrim(tax_id, '0') ELSE tax_id END`,
);

/** The accounts of a party that may have changed. `known` is null for a party without earlier accounts. */
export interface PartyAccounts {
  readonly kind: PartyKind;
  readonly partyKey: string;
  readonly known: readonly (KnownAccount & { readonly partyKey: string })[] | null;
  readonly seen: readonly SeenAccount[];
}

/**
 * Common table expressions of the closing phase. They store the bank account of every provider and financial agent
 * that the merged titles name. `compared` has one row: the parties whose accounts may have changed, as JSON of
 * `PartyAccounts`, and whether one of these accounts has an open change.
 *
 * Looks only at parties with several accounts. Most parties have one account, and the titles name that one. A party
 * without accepted accounts of its tax identifier has those of the other parties with the identifier, so that a supplier
 * that is registered again is not a new one, and a supplier that states the identifier of another one makes no account
 * known to the latter; see `isAccepted`. Its accounts of no, or another, tax identifier do not count then. All expressions
 * read the accounts as they were before `stored`.
 */
export const accountComparison = ({ fence, date }: MergingPull): Prisma.Sql => Prisma.sql`
    removed AS (
      DELETE FROM conciliation.staged_account WHERE fence = ${fence} RETURNING *
    ), seen AS MATERIALIZED (
      SELECT * FROM removed
    ), seen_key AS MATERIALIZED (
      SELECT DISTINCT kind, party_key FROM seen
    ), own_writing AS MATERIALIZED (
      SELECT kind, party_key, writing_hash, account_hash, normal_form, last_accepted_date, last_seen_at, tax_id
      FROM conciliation.party_account
      WHERE kind = ANY(ARRAY(SELECT DISTINCT kind FROM seen_key))
        AND party_key = ANY(ARRAY(SELECT party_key FROM seen_key))
    ), stored AS (
      INSERT INTO conciliation.party_account AS present
        (kind, party_key, writing_hash, account_hash, normal_form, bank, agency, agency_digit, account,
         account_digit, destination, last_accepted_date, tax_id)
      SELECT kind, party_key, writing_hash, account_hash, normal_form, bank, agency, agency_digit, account,
             account_digit, destination, ${date}::date, tax_id
      FROM seen
      -- In a backfill, most accounts are known of a newer date. A conflict would lock the row of each.
      WHERE NOT EXISTS (
        SELECT FROM own_writing AS own
        WHERE (own.kind, own.party_key, own.writing_hash) = (seen.kind, seen.party_key, seen.writing_hash)
          AND own.last_accepted_date >= ${date}::date)
      ON CONFLICT (kind, party_key, writing_hash) DO UPDATE
      SET last_accepted_date = excluded.last_accepted_date, last_seen_at = excluded.last_seen_at,
          tax_id = coalesce(excluded.tax_id, present.tax_id)
      WHERE present.last_accepted_date < excluded.last_accepted_date
    ), decision AS MATERIALIZED (
      SELECT id, kind, party_key, before_hash, account_hash, state, decided_at, accepted_date
      FROM conciliation.account_change
      WHERE kind = ANY(ARRAY(SELECT DISTINCT kind FROM seen_key))
        AND party_key = ANY(ARRAY(SELECT party_key FROM seen_key))
    ), unaccepted AS MATERIALIZED (
      SELECT kind, party_key, account_hash
      FROM (SELECT DISTINCT ON (kind, party_key, account_hash) * FROM decision
            ORDER BY kind, party_key, account_hash, id DESC) AS newest
      WHERE state NOT IN ('confirmed', 'parallel')
    ), own AS MATERIALIZED (
      SELECT kind, party_key, account_hash, normal_form, max(last_accepted_date) AS last_accepted_date,
             max(last_seen_at) AS last_seen_at,
             (kind, party_key, account_hash) NOT IN (SELECT * FROM unaccepted) AS is_accepted,
             array_agg(${taxDigits}) AS tax_ids
      FROM own_writing GROUP BY kind, party_key, account_hash, normal_form
    ), newcomer AS MATERIALIZED (
      SELECT DISTINCT kind, party_key, tax_id, ${taxDigits} AS tax_digits, account_hash FROM seen
      WHERE tax_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM own WHERE own.kind = seen.kind AND own.party_key = seen.party_key AND is_accepted
          AND ${taxDigits} = ANY(tax_ids))
    ), related AS MATERIALIZED (
      SELECT kind, ${taxDigits} AS tax_digits, account_hash, normal_form, min(party_key) AS of_key,
             max(last_accepted_date) AS last_accepted_date, max(last_seen_at) AS last_seen_at
      FROM conciliation.party_account AS account
      WHERE tax_id = ANY(ARRAY(
              SELECT DISTINCT written FROM newcomer CROSS JOIN LATERAL (
                VALUES (tax_id), (tax_digits), (lpad(tax_digits, 11, '0')), (lpad(tax_digits, 14, '0'))
              ) AS writing (written)
              -- Digits that lost their zeros may be those of a CPF and of a CNPJ.
              WHERE written = tax_id OR tax_id ~ '^[0-9]{1,14}$' AND length(written) >= length(tax_digits)))
        -- An account that is not accepted for one party is not a known account of another one.
        AND NOT EXISTS (
          SELECT FROM (
            SELECT DISTINCT ON (party_key) state FROM conciliation.account_change AS change
            WHERE change.kind = account.kind AND change.account_hash = account.account_hash
            ORDER BY party_key, id DESC) AS newest
          WHERE state NOT IN ('confirmed', 'parallel'))
      GROUP BY 1, 2, 3, 4
    ), latest AS (
      SELECT DISTINCT ON (kind, tax_digits) * FROM related
      ORDER BY kind, tax_digits, last_accepted_date DESC, last_seen_at DESC, account_hash
    ), known AS MATERIALIZED (
      SELECT kind, party_key, party_key AS of_key, account_hash, normal_form, last_accepted_date, last_seen_at,
             is_accepted
      FROM own
      -- A title without tax identifier must not make an account known to the party that a later one names.
      WHERE (kind, party_key) NOT IN (SELECT kind, party_key FROM newcomer JOIN related USING (kind, tax_digits))
      -- Not all accounts of the tax identifier: parties without number may share one.
      UNION
      SELECT kind, party_key, of_key, latest.account_hash, normal_form, last_accepted_date, last_seen_at, true
      FROM newcomer JOIN latest USING (kind, tax_digits)
      UNION
      SELECT kind, party_key, of_key, account_hash, normal_form, last_accepted_date, last_seen_at, true
      FROM newcomer JOIN related USING (kind, tax_digits, account_hash)
    ), party AS MATERIALIZED (
      SELECT kind, party_key FROM seen GROUP BY kind, party_key HAVING count(DISTINCT account_hash) > 1
      UNION
      SELECT kind, party_key FROM seen JOIN known USING (kind, party_key)
      WHERE known.account_hash <> seen.account_hash
    ), known_of AS (
      SELECT kind, party_key,
             jsonb_agg(jsonb_build_object(
               'partyKey', of_key, 'accountHash', account_hash, 'normalForm', normal_form,
               'lastAcceptedDate', last_accepted_date, 'lastSeenAt', last_seen_at, 'isAccepted', is_accepted,
               'confirmedAt', confirmed.decided_at,
               'replacedAt', replaced.decided_at, 'replacedOn', replaced.accepted_date)) AS known
      FROM party JOIN known USING (kind, party_key)
      LEFT JOIN (
        SELECT kind, party_key, account_hash, max(decided_at) AS decided_at
        FROM decision WHERE state IN ('confirmed', 'parallel') GROUP BY 1, 2, 3
      ) AS confirmed USING (kind, party_key, account_hash)
      LEFT JOIN (
        SELECT DISTINCT ON (kind, party_key, before_hash) kind, party_key, before_hash AS account_hash, decided_at,
               accepted_date
        FROM decision WHERE state = 'confirmed' ORDER BY kind, party_key, before_hash, decided_at DESC
      ) AS replaced USING (kind, party_key, account_hash)
      GROUP BY kind, party_key
    ), seen_of AS (
      SELECT kind, party_key,
             jsonb_agg(jsonb_build_object(
               'accountHash', account_hash, 'normalForm', normal_form, 'isRestated', is_restated)) AS seen
      FROM (SELECT kind, party_key, account_hash, normal_form, bool_or(is_restated) AS is_restated
            FROM party JOIN seen USING (kind, party_key) GROUP BY 1, 2, 3, 4) AS account
      GROUP BY kind, party_key
    ), compared AS (
      SELECT
        (SELECT jsonb_agg(jsonb_build_object(
           'kind', kind, 'partyKey', party_key, 'known', known_of.known, 'seen', seen_of.seen))
         FROM seen_of LEFT JOIN known_of USING (kind, party_key)) AS parties,
        EXISTS (SELECT FROM seen JOIN decision USING (kind, party_key, account_hash)
                WHERE decision.state IN ('open', 'refused')) AS has_open_change
    )`;

/** The changes, and the accepted accounts that titles name: see `compareAccounts`. */
type AccountFindings = ReturnType<typeof findChanges>;

/** Compares the accounts of the parties that `accountComparison` has found. */
export function findChanges(parties: readonly PartyAccounts[], date: CivilDate) {
  const found = parties.map(({ kind, partyKey: party_key, known, seen }) => {
    const { changes, named } = compareAccounts(date, known ?? [], seen);
    return {
      named: named.map((account_hash) => ({ kind, party_key, account_hash })),
      changes: changes.map(({ before, after }) => {
        // The party itself, or one with the same tax identifier.
        const of = known?.find(({ accountHash }) => accountHash === before)?.partyKey;
        const before_key = of ?? party_key;
        return { kind, party_key, before_key, before_hash: before, after_hash: after };
      }),
    };
  });
  return {
    changes: found.flatMap(({ changes }) => changes),
    named: found.flatMap(({ named }) => named),
  };
}

/** The author of changes that ended by themselves. */
const PROGRAM = 'account-watch';

// The names are constants of this program. No input reaches Prisma.raw.
export const ACCOUNT = ['bank', 'agency', 'agency_digit', 'account', 'account_digit'] as const;
const PROVIDER_ACCOUNT = ACCOUNT.map((column) => `provider_${column}`);
const AGENT_ACCOUNT = ACCOUNT.map((column) => `payment_${column}`);
const PROVIDER: PartyKind = 'provider';
const FINANCIAL_AGENT: PartyKind = 'financial_agent';
const providerColumns = Prisma.raw(
  [
    'provider_external_id',
    'provider_identification',
    ...PROVIDER_ACCOUNT,
    'provider_destination',
  ].join(', '),
);
const agentColumns = Prisma.raw(
  [
    'financial_agent_identification',
    'financial_agent_name',
    ...AGENT_ACCOUNT,
    'payment_destination',
  ].join(', '),
);

/**
 * One row for each party that a row with the columns of a title names, with the account of the party.
 * @param destinationOf the expression of the undocumented fields of an account
 */
const partiesOf = (destinationOf: (kind: PartyKind) => string) =>
  Prisma.raw(`LATERAL (VALUES
  ('${PROVIDER}', provider_external_id, provider_identification, NULL, ${PROVIDER_ACCOUNT.join(', ')},
   ${destinationOf(PROVIDER)}),
  ('${FINANCIAL_AGENT}', NULL, financial_agent_identification, financial_agent_name, ${AGENT_ACCOUNT.join(', ')},
   ${destinationOf(FINANCIAL_AGENT)})
) AS named (kind, external_id, identification, name, ${ACCOUNT.join(', ')}, destination)`);

/** The value of a column without surrounding blanks; null for blanks alone. */
export const stated = (column: string) => `nullif(btrim(${column}), '')`;
/** The key of a party. Those of a kind that state neither an identifier nor a name are one party, with an empty key. */
export const keyOf = (externalId: string, identification: string, name: string) =>
  `coalesce(${stated(externalId)}, ${taxIdText(identification)}, ${stated(name)}, '')`;
const statedParty = Prisma.raw(
  `named.kind, ${keyOf('external_id', 'identification', 'name')} AS key, identification, destination,
   ${ACCOUNT.map((column) => `${stated(column)} AS ${column}`).join(', ')}`,
);

/** The key of a row `party` in the tables. Long texts do not fit an index entry. */
export const partyKey = Prisma.raw(
  `CASE WHEN length(party.key) <= 255 THEN party.key ELSE 'md5:' || md5(party.key) END`,
);

/**
 * The tax identifier of a row `party`, computed once because of OFFSET 0. Long texts do not fit an index entry.
 */
const taxId = Prisma.raw(
  `(SELECT CASE WHEN length(tax_id) <= 255 THEN tax_id ELSE 'md5:' || md5(tax_id) END
    FROM (SELECT ${taxIdText('party.identification')} OFFSET 0) AS stated (tax_id))`,
);

/**
 * The hash of the account of a row `party` as it is written. Another writing of the account has another one. The
 * values are quoted, so that different writings have different texts; a missing value is NULL.
 */
export const writingHash = Prisma.raw(
  `md5(concat_ws(',', quote_nullable(party.bank), quote_nullable(party.agency),
                 quote_nullable(party.agency_digit), quote_nullable(party.account),
                 quote_nullable(party.account_digit), party.destination::text))::uuid`,
);

/** The hash of the account of a row `party`, in any writing; null: no title of a merge named it. */
export const accountHash = Prisma.sql`
  (SELECT account.account_hash FROM conciliation.party_account AS account
   WHERE account.kind = party.kind AND account.party_key = ${partyKey} AND account.writing_hash = ${writingHash})`;

/**
 * Whether the merge restated one of the columns of a title that existed before. The `+ 0` keeps the
 * planner from using the index by pull. The statistics of that index do not include this merge yet,
 * and the planner would read every revision of the pull for every title.
 */
const isRestated = (
  { pullId }: MergingPull,
  columns: readonly string[],
  kind: PartyKind,
) => Prisma.sql`
  CASE WHEN title.first_pull_id = ${pullId} THEN false ELSE EXISTS (
    SELECT FROM conciliation.title_revision revision
    WHERE revision.title_id = title.id AND revision.pull_id + 0 = ${pullId}
      AND (jsonb_exists_any(revision.before, ${columns}::text[])
           OR EXISTS (
             SELECT FROM (
               SELECT ${DESTINATION_PATHS[kind]}::text[] AS path
               UNION ALL
               SELECT field.path FROM conciliation.day CROSS JOIN LATERAL conciliation.promoted_fields(content_version) AS field
               WHERE day.date = title.accepted_date AND field.role = ${ACCOUNT_ROLES[kind]}
             ) AS stated
             WHERE revision.before -> 'extra' #> path IS DISTINCT FROM revision.after -> 'extra' #> path))) END`;

const writtenTitles = ({ pullId, date }: MergingPull) => Prisma.sql`
  conciliation.title title
  WHERE title.accepted_date = ${date}::date AND title.status = 'current'
    AND title.last_change_pull_id = ${pullId}`;

/** The account of a row `change`, as JSON. */
const accountOf = (partyKeyColumn: string, hashColumn: string) =>
  Prisma.raw(
    `(SELECT jsonb_build_object('bank', bank, 'agency', agency, 'agencyDigit', agency_digit,
        'account', account, 'accountDigit', account_digit, 'destination', destination)
      FROM conciliation.party_account AS known
      WHERE known.kind = change.kind AND known.party_key = ${partyKeyColumn} AND known.account_hash = ${hashColumn}
      ORDER BY last_accepted_date DESC, last_seen_at DESC, writing_hash LIMIT 1)`,
  );

const byKind = (providerColumn: string, agentColumn: string) =>
  `CASE grouping(provider_external_id) WHEN 0 THEN ${providerColumn} ELSE ${agentColumn} END`;
const accountOfKind = Prisma.raw(
  [
    ...PROVIDER_ACCOUNT.map(
      (column, index) => `${byKind(column, AGENT_ACCOUNT[index] ?? '')} AS ${ACCOUNT[index]}`,
    ),
    `${byKind('provider_destination', 'payment_destination')} AS destination`,
  ].join(', '),
);
const identificationOfKind = Prisma.raw(
  byKind('provider_identification', 'financial_agent_identification'),
);

/**
 * The written titles, grouped by provider and account, and again by agent and account. The groups of hundreds
 * of thousands of titles are a few hundred rows.
 */
const accountsOfTitles = (source: MergingPull) => Prisma.sql`
  SELECT CASE grouping(provider_external_id) WHEN 0 THEN ${PROVIDER}
                                             ELSE ${FINANCIAL_AGENT} END AS kind,
         provider_external_id AS external_id, ${identificationOfKind} AS identification,
         financial_agent_name AS name, ${accountOfKind},
         CASE grouping(provider_external_id)
           WHEN 0 THEN bool_or(${isRestated(source, PROVIDER_ACCOUNT, 'provider')})
           ELSE bool_or(${isRestated(source, AGENT_ACCOUNT, 'financial_agent')})
         END AS is_restated, bool_and(erased_at IS NOT NULL) AS is_erased
  FROM (SELECT *, ${destinationColumns} FROM ${writtenTitles(source)}) AS title
  GROUP BY GROUPING SETS ((${providerColumns}), (${agentColumns}))`;

/** Rows (kind, party_key, account_hash, title_id): the accounts that each written title names. */
export const namedAccounts = (source: MergingPull) => accountsNamedBy(writtenTitles(source));

/** @param titles what follows FROM in a query for rows `title` */
export const accountsNamedBy = (titles: Prisma.Sql, destinationOf = destinationOfRow) => Prisma.sql`
  SELECT kind, party_key, account.account_hash, title_id
  FROM (
    SELECT kind, ${partyKey} AS party_key, ${writingHash} AS writing_hash, id AS title_id
    FROM (
      SELECT ${statedParty}, written.id
      FROM (SELECT title.* FROM ${titles}) AS written CROSS JOIN ${partiesOf(destinationOf)}
    ) AS party
  ) AS named JOIN conciliation.party_account AS account USING (kind, party_key, writing_hash)`;

/** Records the changes. A change is not recorded a second time while the other account is blocked. */
export async function recordChanges(
  tx: Transaction,
  source: MergingPull,
  changes: AccountFindings['changes'],
): Promise<void> {
  // The parties of the titles are grouped before they are joined with the changes, and the accounts are looked up
  // for each change. A single join would compare every title with every change, and all accounts with each other.
  await tx.$executeRaw`
    WITH named AS MATERIALIZED (
      SELECT kind, party_key, account_hash, min(title_id) AS title_id
      FROM (${namedAccounts(source)}) AS account GROUP BY 1, 2, 3
    )
    INSERT INTO conciliation.account_change
      (kind, party_key, before_hash, account_hash, before, after, accepted_date, title_id, pull_id)
    SELECT change.kind, change.party_key, change.before_hash, change.after_hash,
           ${accountOf('change.before_key', 'change.before_hash')},
           ${accountOf('change.party_key', 'change.after_hash')}, ${source.date}::date, named.title_id,
           ${source.pullId}::bigint
    FROM jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
      AS change (kind text, party_key text, before_key text, before_hash uuid, after_hash uuid)
    JOIN named ON named.kind = change.kind AND named.party_key = change.party_key
      AND named.account_hash = change.after_hash
    WHERE NOT EXISTS (
      SELECT FROM conciliation.account_change earlier
      WHERE earlier.kind = change.kind AND earlier.party_key = change.party_key
        AND earlier.account_hash = change.after_hash AND earlier.state IN ('open', 'refused'))
    ORDER BY named.title_id, change.kind, change.party_key`;
}

/**
 * Ends the open changes whose former account is named again, if no current title names the changed account any
 * more. To be called after the holds were written. A change that still holds a title waits for a person: the
 * program must not release the payment to an account that nobody has confirmed.
 */
export async function endReturned(
  tx: Transaction,
  source: MergingPull,
  named: AccountFindings['named'],
): Promise<void> {
  const ended = await tx.$queryRaw<{ id: number; date: CivilDate }[]>`
    UPDATE conciliation.account_change AS change
    SET state = 'returned', decided_at = clock_timestamp(), decided_by = ${PROGRAM}
    FROM jsonb_to_recordset(${JSON.stringify(named)}::jsonb)
      AS again (kind text, party_key text, account_hash uuid)
    WHERE change.kind = again.kind AND change.party_key = again.party_key
      AND change.before_hash = again.account_hash AND change.state = 'open'
      AND NOT EXISTS (SELECT FROM conciliation.payment_hold AS hold
                      JOIN conciliation.title ON title.id = hold.title_id
                        AND title.last_change_pull_id = hold.pull_id
                      WHERE hold.account_change_id = change.id)
    RETURNING change.id::float8 AS id, change.accepted_date::text AS date`;
  for (const { id, date } of ended) {
    await recordAudit(tx, {
      actor: PROGRAM,
      action: 'account_change.return',
      date,
      pullId: source.pullId,
      details: { accountChangeIds: [id] },
    });
  }
}
