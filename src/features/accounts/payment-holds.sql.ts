/** The titles that name a changed bank account are not to be paid until a person confirms the change. */
import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { DayObstacle } from '../../console/day-obstacle.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { accountsNamedBy, namedAccounts, type WatchedMerge } from './account-watch.sql.ts';

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

export const accountObstacles = {
  /** Titles of the day name a changed bank account that no person has confirmed. */
  payment_held: {
    keeps: ['sign'],
    rows: (date) => Prisma.sql`
      SELECT NULL, count(*), sum(original_value), true
      FROM (SELECT DISTINCT title_id, original_value FROM (${OPEN_HOLDS}) AS hold WHERE accepted_date = ${date}) AS held
      HAVING count(*) > 0`,
    href: () => '/account-changes',
  },
} as const satisfies Record<string, DayObstacle>;

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
 * Rows (title_id): the titles that a merge wrote while a change of the account that they name was open or refused, as
 * it is now, and whose payment is not held. The merges are in the order of their numbered changes, because the time of
 * a transaction is that of its begin.
 */
export const missingHolds = (date: CivilDate): Prisma.Sql => Prisma.sql`
  WITH named AS MATERIALIZED (
    SELECT DISTINCT change.id, change.pull_id, title.id AS title_id, title.last_change_pull_id
    FROM (${accountsNamedBy(Prisma.sql`
      conciliation.title AS title
      WHERE accepted_date = ${date}::date AND status = 'current'
        AND EXISTS (SELECT FROM conciliation.account_change WHERE state IN ('open', 'refused'))`)}) AS account
    JOIN conciliation.account_change AS change USING (kind, party_key, account_hash)
    JOIN conciliation.title AS title ON title.id = account.title_id
    WHERE change.state IN ('open', 'refused')
      -- An erased title that names no account has lost it: see stageAccounts.
      AND NOT (title.erased_at IS NOT NULL AND jsonb_strip_nulls(change.after) = '{}')
  ), numbered AS MATERIALIZED (
    SELECT pull_id, min(change_seq) AS first FROM conciliation.title_change
    WHERE pull_id = ANY(ARRAY(SELECT pull_id FROM named UNION SELECT last_change_pull_id FROM named))
    GROUP BY pull_id
  )
  SELECT DISTINCT named.title_id
  FROM named
  JOIN numbered AS found ON found.pull_id = named.pull_id
  JOIN numbered AS written ON written.pull_id = named.last_change_pull_id AND written.first >= found.first
  WHERE (named.id, named.title_id) NOT IN (
    SELECT account_change_id, title_id FROM (${OPEN_HOLDS}) AS held WHERE accepted_date = ${date}::date)`;

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
