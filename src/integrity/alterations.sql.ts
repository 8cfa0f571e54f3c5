/**
 * What the titles of a date, and the rows that follow from them, are not. Each query has rows (problem, row_key); see
 * the comments of `title_finding`.
 */
import { accountsNamedBy } from '../accounts/account-watch.sql.ts';
import { OPEN_HOLDS } from '../accounts/payment-holds.sql.ts';
import { HAS_OPEN_FINDINGS } from '../database/open-findings.sql.ts';
import {
  COMPUTED_IDENTITY_HASH,
  CONTENT_DIGEST,
  computedContentHash,
} from '../database/title-hashes.sql.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { AMOUNT_COLUMNS } from '../domain/title.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { hasOtherTotals } from '../schedule/schedule-totals.sql.ts';
import { areRowsRecorded, newestDigest } from './date-digest.sql.ts';

/** The titles whose columns do not have their hashes. An erased title has lost what its hashes cover. */
export const contentAlterations = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT 'content' AS problem, id::text AS row_key FROM conciliation.title
  WHERE accepted_date = ${date}::date AND erased_at IS NULL
    AND (content_hash <> ${computedContentHash(date)} OR identity_hash <> ${COMPUTED_IDENTITY_HASH})`;

/**
 * The rows of the date are not those of its newest digest; or a merge that changed titles has appended none since; or
 * the newest one is neither of such a merge, nor of a pull that a check asked for, nor of an erasure.
 */
export const titlesAlteration = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT 'titles' AS problem, NULL AS row_key
  WHERE NOT ${areRowsRecorded(date)}
     OR EXISTS (
       SELECT FROM (SELECT max(fence) AS fence FROM conciliation.pull
                    WHERE date = ${date}::date AND state = 'merged') AS merged
       WHERE fence IS NOT NULL AND NOT EXISTS (
         SELECT FROM conciliation.date_digest AS recorded JOIN conciliation.pull AS own ON own.id = recorded.pull_id
         WHERE recorded.date = ${date}::date AND own.fence >= merged.fence))
     OR EXISTS (
       SELECT FROM (${newestDigest(date)}) AS newest LEFT JOIN conciliation.pull AS own ON own.id = newest.pull_id
       WHERE CASE WHEN newest.pull_id IS NULL
                  THEN NOT EXISTS (SELECT FROM conciliation.audit_entry AS entry
                                   WHERE entry.action = 'party.erased' AND entry.at = newest.appended_at)
                  ELSE own.date IS DISTINCT FROM newest.date
                       OR NOT (own.state = 'merged' OR own.state = 'unchanged' AND own.origin = 'repair') END)`;

const totals = Prisma.raw(
  AMOUNT_COLUMNS.map(
    (column) => `coalesce(sum(${column}) FILTER (WHERE status = 'current'), 0) AS ${column}_sum`,
  ).join(', '),
);
const sumNames = (table: string) =>
  Prisma.raw(AMOUNT_COLUMNS.map((column) => `${table}.${column}_sum`).join(', '));

/**
 * The row of `day` has other counts, sums, latest due date or digest than the titles, its titles are not as many as the
 * newest merged answer had, it is reconciled although something waits for a person, or its newest merge or seal is not
 * that of `pull` or `sign_off`.
 */
export const dayAlteration = (date: CivilDate): Prisma.Sql => Prisma.sql`
    WITH present AS (
      SELECT count(*) FILTER (WHERE status = 'current') AS title_count,
             count(*) FILTER (WHERE status = 'withdrawn') AS withdrawn_count, ${totals},
             max(anticipated_due_date) FILTER (WHERE status = 'current') AS latest_due_date
      FROM conciliation.title WHERE accepted_date = ${date}::date
    ), content AS (
      SELECT ${CONTENT_DIGEST} AS digest
      FROM conciliation.title WHERE accepted_date = ${date}::date AND status = 'current'
    ), reject AS (
      SELECT count(*) AS rejected_count, count(*) FILTER (WHERE status = 'open') AS open
      FROM conciliation.rejected_title WHERE date = ${date}::date AND status <> 'resolved'
    ), answer AS (
      SELECT max(fence) FILTER (WHERE state IN ('merged', 'unchanged')) AS merged_fence,
             count(*) FILTER (WHERE state = 'held') AS held
      FROM conciliation.pull WHERE date = ${date}::date
    )
    SELECT 'day' AS problem, NULL AS row_key
    FROM conciliation.day AS day
    CROSS JOIN present CROSS JOIN content CROSS JOIN reject CROSS JOIN answer
    LEFT JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
    LEFT JOIN conciliation.sign_off AS seal ON seal.date = day.date AND seal.ended_at IS NULL
    WHERE day.date = ${date}::date
      AND ((day.title_count, day.withdrawn_count, day.rejected_count, day.latest_due_date, ${sumNames('day')})
             IS DISTINCT FROM
           (present.title_count, present.withdrawn_count, reject.rejected_count, present.latest_due_date, ${sumNames('present')})
           OR day.content_digest <> content.digest
           OR (day.content_digest IS NULL AND present.title_count + present.withdrawn_count > 0)
           OR present.title_count <> merged.fold_count + merged.withheld
           OR merged.fence IS DISTINCT FROM answer.merged_fence
           OR (day.state = 'reconciled'
               AND (answer.held + reject.open > 0 OR ${HAS_OPEN_FINDINGS}))
           OR (day.signed_off_at, day.signed_off_by, day.signed_off_digest)
                IS DISTINCT FROM (seal.signed_off_at, seal.signed_off_by, seal.content_digest)
           OR (day.content_digest <> seal.content_digest AND NOT day.restated_after_sign_off))
    LIMIT 1`;

export const totalsAlteration = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT 'totals' AS problem, NULL AS row_key WHERE ${hasOtherTotals(date)}`;

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

export const holdAlterations = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT 'hold' AS problem, title_id::text AS row_key FROM (${missingHolds(date)}) AS missing`;
