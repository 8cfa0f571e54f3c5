/** The titles that name a changed bank account are not to be paid until a person confirms the change. */
import type { Transaction } from '../database/database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { namedAccounts, type WatchedMerge } from './account-watch.sql.ts';

/** Rows of `payment_hold` whose title is as the pull of the hold has left it, and not restated or withdrawn since. */
export const LASTING_HOLDS: Prisma.Sql = Prisma.sql`
  SELECT hold.account_change_id, hold.title_id, hold.accepted_date, title.original_value
  FROM conciliation.payment_hold AS hold
  JOIN conciliation.title ON title.id = hold.title_id AND title.last_change_pull_id = hold.pull_id`;

/** The rows of those whose change no person has confirmed. */
export const OPEN_HOLDS: Prisma.Sql = Prisma.sql`
  SELECT lasting.* FROM (${LASTING_HOLDS}) AS lasting
  JOIN conciliation.account_change AS change ON change.id = lasting.account_change_id
  WHERE change.state IN ('open', 'refused')`;

/**
 * Holds the titles that a merge has written and that name an account with an open change. The holds of the titles as
 * they were before have ended. To be called in the closing phase, after the changes were recorded.
 */
export async function holdPayments(tx: Transaction, source: WatchedMerge): Promise<void> {
  await tx.$executeRaw`
    WITH named AS MATERIALIZED (${namedAccounts(source)})
    INSERT INTO conciliation.payment_hold (account_change_id, title_id, pull_id, accepted_date)
    SELECT DISTINCT change.id, named.title_id, ${source.pullId}::bigint, ${source.date}::date
    FROM named
    JOIN conciliation.account_change AS change USING (kind, party_key, account_hash)
    WHERE change.state IN ('open', 'refused')`;
}

/**
 * Numbers the end of the holds as a change of each title for the feed. Callers run it in the closing phase, in the
 * transaction that confirms the changes.
 */
export async function releasePayments(
  tx: Transaction,
  accountChangeIds: readonly bigint[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.title_change (title_id, kind, pull_id)
    SELECT hold.title_id, 'payment_released', max(change.pull_id)
    FROM (${LASTING_HOLDS}) AS hold
    JOIN conciliation.account_change AS change ON change.id = hold.account_change_id
    WHERE hold.account_change_id = ANY(${accountChangeIds}::bigint[])
      -- Another change may still hold the title.
      AND NOT EXISTS (SELECT FROM (${OPEN_HOLDS}) AS open WHERE open.title_id = hold.title_id)
    GROUP BY hold.title_id
    ORDER BY hold.title_id`;
}
