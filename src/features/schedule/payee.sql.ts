import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { destinationOfRow } from '../../core/title/destinations.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  ACCOUNT,
  accountHash,
  hasLostAccount,
  IS_UNNAMED,
  keyOf,
  partyKey,
  stated,
  writingHash,
} from '../accounts/account-watch.sql.ts';

/*
 * The party to be paid for a title, and its bank account. The financial agent has advanced the money and is
 * paid at the due date, on the account of `financialAgent.payment`. Where `buyerIsFinancial` is true, the buyer
 * advances its own money, so the provider is paid on `provider.bankAccount`. The interface does not say so:
 * this is an interpretation, which docs/console.md states.
 */

// Column names and expressions of this file and of core/title. No input reaches Prisma.raw.

const byKind = (provider: string, agent: string) =>
  `CASE WHEN buyer_is_financial THEN ${provider} ELSE ${agent} END`;

const KIND = byKind("'provider'", "'financial_agent'");
/** The columns that name a payee in `title`, as they are written, the same for both kinds of party. */
const WRITTEN = {
  kind: KIND,
  code: byKind('provider_external_id', 'NULL'),
  identification: byKind('provider_identification', 'financial_agent_identification'),
  name: byKind('NULL', 'financial_agent_name'),
  ...Object.fromEntries(
    ACCOUNT.map((column) => [column, byKind(`provider_${column}`, `payment_${column}`)]),
  ),
  destination: byKind(destinationOfRow('provider'), destinationOfRow('financial_agent')),
  is_erased: 'erased_at IS NOT NULL',
};
const written = Prisma.raw(Object.keys(WRITTEN).join(', '));
const WRITTEN_PAYEE = `(SELECT ${Object.entries(WRITTEN)
  .map(([column, value]) => `${value} AS ${column}`)
  .join(', ')})`;
const KEY = keyOf(WRITTEN.code, WRITTEN.identification, WRITTEN.name);
/** The payee of a row with the columns of `WRITTEN_PAYEE`. */
const NAMED = `kind, ${keyOf('code', 'identification', 'name')} AS key, destination, is_erased,
  ${ACCOUNT.map((column) => `${stated(column)} AS ${column}`).join(', ')}`;

/** The payee of a row with the columns of `title`, for a LATERAL join. */
export const PAYEE: Prisma.Sql = Prisma.raw(`(SELECT ${NAMED} FROM ${WRITTEN_PAYEE} AS written)`);

const hashOf = (kind: Prisma.Sql, key: Prisma.Sql, account: Prisma.Sql) =>
  Prisma.sql`md5(concat_ws(',', ${kind}, quote_nullable(${key}), (${account})::text))::uuid`;

/**
 * The hash of a row `party` with the columns of `PAYEE`, the same for all writings of one account. A title without
 * party and account has one hash. The account of a party that is not watched is compared as it is written.
 */
const payeeHash = (watched: Prisma.Sql) => Prisma.sql`
  CASE WHEN ${IS_UNNAMED} THEN md5('')::uuid
       ELSE ${hashOf(
         Prisma.sql`party.kind`,
         partyKey,
         Prisma.sql`coalesce(CASE WHEN NOT ${hasLostAccount} THEN ${watched} END, ${writingHash})`,
       )} END`;
/** Of a row `party` with the columns of `PAYEE`. */
export const PAYEE_HASH = payeeHash(accountHash);

export const CHANGED_PAYEE_HASH = hashOf(
  Prisma.sql`change.kind`,
  Prisma.sql`change.party_key`,
  Prisma.sql`change.account_hash`,
);

/** The party of a payee, and the hash of the payee. Personal data. */
export interface PayeeRow {
  readonly kind: string;
  /** Empty: neither an identifier nor a name. */
  readonly key: string;
  readonly hash: string;
}

/** The payee of a title; no row for an unknown title. */
export const payeeOf = (titleId: number): Prisma.Sql => Prisma.sql`
  SELECT party.kind, party.key, ${PAYEE_HASH}::text AS hash
  FROM conciliation.title AS title CROSS JOIN LATERAL ${PAYEE} AS party
  WHERE title.id = ${titleId}`;

export const payeeHashOf = (titleId: number): Prisma.Sql => Prisma.sql`
  SELECT hash::uuid FROM (${payeeOf(titleId)}) AS payee`;

/** The condition for rows `title` that have this payee. The party is compared first: the hash takes longer. */
export function isPayee({ kind, key, hash }: PayeeRow): Prisma.Sql {
  const kinds = key === '' ? [] : [Prisma.sql`${Prisma.raw(KIND)} = ${kind}`];
  return Prisma.join(
    [
      ...kinds,
      Prisma.sql`${Prisma.raw(KEY)} = ${key}`,
      Prisma.sql`(SELECT ${PAYEE_HASH} FROM ${PAYEE} AS party) = ${hash}::uuid`,
    ],
    ' AND ',
  );
}

/**
 * The rows of `schedule_total` that the selected titles have.
 *
 * The titles are grouped by their columns as they are written first, and then by what names the payee, because a trimmed
 * text, a key and a hash for each title or each due date take longer.
 *
 * @param fence of the merge that has staged the accounts of the titles; null: all of them are stored
 */
const totalsOf = (selected: Prisma.Sql, fence: bigint | null): Prisma.Sql => {
  const staged =
    fence === null
      ? Prisma.sql`(SELECT NULL::uuid AS account_hash) AS staged ON true`
      : Prisma.sql`
          conciliation.staged_account AS staged
          ON staged.fence = ${fence} AND staged.kind = party.kind AND staged.party_key = ${partyKey}
             AND staged.writing_hash = ${writingHash}`;
  return Prisma.sql`
  SELECT line.accepted_date, line.due_date, named.payee, sum(line.titles)::int AS titles, min(line.title_id) AS title_id,
         sum(line.original_value) AS original_value
  FROM (
    SELECT ${payeeHash(Prisma.sql`coalesce(staged.account_hash, ${accountHash})`)} AS payee, lines
    FROM (
      SELECT ${Prisma.raw(NAMED)}, lines
      FROM (
        SELECT ${written}, array_agg(ROW(accepted_date, due_date, NULL, titles, title_id,
                                         original_value)::conciliation.schedule_total) AS lines
        FROM (
          SELECT accepted_date, anticipated_due_date AS due_date, ${written}, count(*) AS titles,
                 min(title.id) AS title_id, sum(original_value) AS original_value
          FROM conciliation.title AS title CROSS JOIN LATERAL ${Prisma.raw(WRITTEN_PAYEE)} AS payee
          WHERE status = 'current' AND ${selected}
          GROUP BY 1, 2, ${written}
        ) AS dated
        GROUP BY ${written}
      ) AS written
      -- Each OFFSET 0 keeps a subquery apart: merged into the query, the key and the hash would be computed once for
      -- each use of them.
      OFFSET 0
    ) AS party LEFT JOIN ${staged}
    OFFSET 0
  ) AS named CROSS JOIN LATERAL unnest(named.lines) AS line
  GROUP BY 1, 2, 3`;
};

/**
 * Writes the totals of accepted dates, in the transaction that has changed their titles and has locked their rows of
 * `day`.
 * @param isOfDates a condition for a row with the column `accepted_date`
 * @param fence see `totalsOf`
 */
export async function writeTotals(
  tx: Transaction,
  isOfDates: Prisma.Sql,
  fence: bigint | null,
): Promise<void> {
  // In the order of the due dates, so that a reader of a month reads few pages.
  await tx.$executeRaw`
    WITH replaced AS (DELETE FROM conciliation.schedule_total WHERE ${isOfDates})
    INSERT INTO conciliation.schedule_total
    SELECT * FROM (${totalsOf(isOfDates, fence)}) AS total ORDER BY due_date, payee`;
}

export const writeMergedTotals = (
  tx: Transaction,
  { date, fence }: { readonly date: CivilDate; readonly fence: bigint },
): Promise<void> => writeTotals(tx, Prisma.sql`accepted_date = ${date}::date`, fence);

/** Whether the totals of an accepted date are not those of its current titles. */
export const hasOtherTotals = (date: CivilDate): Prisma.Sql => {
  const isOfDate = Prisma.sql`accepted_date = ${date}::date`;
  const stored = Prisma.sql`SELECT * FROM conciliation.schedule_total WHERE ${isOfDate}`;
  const computed = totalsOf(isOfDate, null);
  return Prisma.sql`
    EXISTS ((${stored} EXCEPT ALL ${computed}) UNION ALL (${computed} EXCEPT ALL ${stored}))`;
};
