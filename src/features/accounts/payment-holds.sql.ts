/** The titles that name a changed bank account are not to be paid until a person confirms the change. */
import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { DayObstacle } from '../../console/day-obstacle.ts';
import type { MergingPull } from '../../core/merge/engine-hooks.ts';
import type { PartyKind } from '../../core/title/promoted-fields.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { accountsNamedBy, namedAccounts } from './account-watch.sql.ts';

/** Rows of `payment_hold` whose title is as the pull of the hold has left it, and not restated or withdrawn since. */
export const LASTING_HOLDS: Prisma.Sql = Prisma.sql`
  SELECT hold.account_change_id, hold.title_id, hold.accepted_date, title.original_value
  FROM conciliation.payment_hold AS hold
  JOIN conciliation.title ON title.id = hold.title_id AND title.last_change_pull_id = hold.pull_id`;

/** The rows of those whose change no person has confirmed. */
export const OPEN_HOLDS: Prisma.Sql = Prisma.sql`
  SELECT lasting.*, change.state FROM (${LASTING_HOLDS}) AS lasting
  JOIN conciliation.account_change AS change ON change.id = lasting.account_change_id
  WHERE change.state IN ('open', 'refused')`;

export const accountObstacles = {
  /** Titles of the day name a changed bank account that no person has confirmed; of the kind `refused`, only refused ones. */
  payment_held: {
    keeps: ['sign'],
    rows: (date) => Prisma.sql`
      SELECT nullif(state, 'open'), count(*), sum(original_value), true
      FROM (SELECT min(state) AS state, original_value FROM (${OPEN_HOLDS}) AS hold
            WHERE accepted_date = ${date} GROUP BY title_id, original_value) AS held
      GROUP BY state`,
    href: (_, kind) => `/account-changes${kind === null ? '' : `?state=${kind}`}`,
  },
} as const satisfies Record<string, DayObstacle>;

/**
 * Holds the titles that a merge has written and that name an account with an open change. The holds of the titles as
 * they were before have ended. To be called in the closing phase, after the changes were recorded.
 */
export async function holdPayments(tx: Transaction, source: MergingPull): Promise<void> {
  await tx.$executeRaw`
    WITH named AS MATERIALIZED (${namedAccounts(source)})
    INSERT INTO conciliation.payment_hold (account_change_id, title_id, pull_id, accepted_date)
    SELECT DISTINCT change.id, named.title_id, ${source.pullId}::bigint, ${source.date}::date
    FROM named
    JOIN conciliation.account_change AS change USING (kind, party_key, account_hash)
    WHERE change.state IN ('open', 'refused')`;
}

/**
 * Rows (id: of the change, title_id, pull_id, accepted_date): the titles that a merge wrote after the one that found an
 * account which is open or refused now, that name the account, and whose payment is not held. The merges are in the
 * order of their numbered changes, because the time of a transaction is that of its begin.
 * @param titles of `title`
 */
const unheld = (titles: Prisma.Sql): Prisma.Sql => Prisma.sql`
  WITH named AS MATERIALIZED (
    SELECT DISTINCT change.id, change.pull_id AS found_by, title.id AS title_id, title.last_change_pull_id AS pull_id,
           title.accepted_date
    FROM (${accountsNamedBy(Prisma.sql`
      conciliation.title AS title
      WHERE status = 'current' AND ${titles}
        AND EXISTS (SELECT FROM conciliation.account_change WHERE state IN ('open', 'refused'))`)}) AS account
    JOIN conciliation.account_change AS change USING (kind, party_key, account_hash)
    JOIN conciliation.title AS title ON title.id = account.title_id
    WHERE change.state IN ('open', 'refused')
      -- An erased title that names no account has lost it: see stageAccounts.
      AND NOT (title.erased_at IS NOT NULL AND jsonb_strip_nulls(change.after) = '{}')
  ), numbered AS MATERIALIZED (
    SELECT pull_id, min(change_seq) AS first FROM conciliation.title_change
    WHERE pull_id = ANY(ARRAY(SELECT found_by FROM named UNION SELECT pull_id FROM named))
    GROUP BY pull_id
  )
  SELECT named.id, title_id, named.pull_id, accepted_date
  FROM named
  JOIN numbered AS found ON found.pull_id = named.found_by
  JOIN numbered AS written ON written.pull_id = named.pull_id AND written.first >= found.first
  WHERE NOT EXISTS (
    SELECT FROM conciliation.payment_hold AS hold
    WHERE hold.account_change_id = named.id AND hold.title_id = named.title_id AND hold.pull_id = named.pull_id)`;

/** Rows (title_id): the titles of a date whose payment has to be held, and is not. */
export const missingHolds = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT DISTINCT title_id FROM (${unheld(Prisma.sql`accepted_date = ${date}::date`)}) AS missing`;

/** Lets a repair write the titles of `missingHolds` again, which holds their payment: their text is no longer known. */
export async function holdAnew(tx: Transaction, { isRepair, date }: MergingPull): Promise<void> {
  if (!isRepair) return;
  await tx.$executeRaw`
    UPDATE conciliation.title SET raw_hash = md5('')::uuid WHERE id IN (${missingHolds(date)})`;
}

/** The dates that were merged since the changes were found. */
const datesSince = (accountChangeIds: readonly bigint[]) => Prisma.sql`
  ARRAY(SELECT DISTINCT date FROM conciliation.pull WHERE id = ANY(ARRAY(
    SELECT DISTINCT pull_id FROM conciliation.title_change WHERE change_seq >= (
      SELECT min(change_seq) FROM conciliation.title_change
      WHERE pull_id = ANY(ARRAY(SELECT pull_id FROM conciliation.account_change
                                WHERE id = ANY(${accountChangeIds}::bigint[])))))))`;

/**
 * Holds the titles that merges wrote while changes were confirmed which a person has refused now. To be called in the
 * closing phase, after the changes are refused.
 */
export async function holdAgain(
  tx: Transaction,
  accountChangeIds: readonly bigint[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.payment_hold (account_change_id, title_id, pull_id, accepted_date)
    SELECT * FROM (${unheld(Prisma.sql`accepted_date = ANY(${datesSince(accountChangeIds)})`)}) AS missing
    WHERE id = ANY(${accountChangeIds}::bigint[])`;
}

/**
 * Numbers the end of the holds, or their new begin, as a change of each title for the feed. Callers run it in the
 * closing phase, in the transaction that decides about the changes.
 */
export async function announceDecision(
  tx: Transaction,
  accountChangeIds: readonly bigint[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.title_change (title_id, kind, pull_id)
    SELECT hold.title_id, 'payment_decided', max(change.pull_id)
    FROM (${LASTING_HOLDS}) AS hold
    JOIN conciliation.account_change AS change ON change.id = hold.account_change_id
    WHERE hold.account_change_id = ANY(${accountChangeIds}::bigint[])
      -- Another change may still hold the title.
      AND (change.state = 'refused' OR NOT EXISTS (SELECT FROM (${OPEN_HOLDS}) AS open WHERE open.title_id = hold.title_id))
    GROUP BY hold.title_id
    ORDER BY hold.title_id`;
}

/**
 * Returns a line that names the account of a change, which the ERP may have posted and has not reversed; null: there is
 * none. The title may be restated or withdrawn.
 */
export async function readLineOut(
  tx: Transaction,
  accountChangeIds: readonly bigint[],
): Promise<{ readonly date: CivilDate; readonly orderUid: string } | null> {
  const out = Prisma.sql`
    conciliation.booking_version AS title
    WHERE is_newest AND (has_content OR state <> 'posted') AND date = ANY(${datesSince(accountChangeIds)})`;
  const destinationOf = (kind: PartyKind) =>
    kind === 'provider' ? 'provider_destination' : 'payment_destination';
  const [line] = await tx.$queryRaw<[{ date: CivilDate; orderUid: string }?]>`
    WITH named AS MATERIALIZED (${accountsNamedBy(out, destinationOf)})
    SELECT line.date::text AS date, line.order_uid AS "orderUid"
    FROM named JOIN conciliation.account_change AS change USING (kind, party_key, account_hash)
    JOIN conciliation.booking_line AS line ON line.id = named.title_id
    WHERE change.id = ANY(${accountChangeIds}::bigint[])
    ORDER BY line.date, line.id LIMIT 1`;
  return line ?? null;
}
