/**
 * What the titles of a date, the rows that follow from them, its booking lines, and the decisions of people are not.
 * Each query has rows (problem, row_key). The comments of `title_finding` have the conditions of each problem.
 */

import { differs } from '../../base/database/expressions.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import {
  areRowsRecorded,
  HAS_OPEN_FINDINGS,
  newestDigest,
  titleTotals,
} from '../../core/ledger/day-ledger.sql.ts';
import { DESTINATION_COLUMNS, destinationColumns } from '../../core/title/destinations.sql.ts';
import { AMOUNT_COLUMNS, VALUE_COLUMNS } from '../../core/title/title.ts';
import {
  COMPUTED_CONTENT_HASH,
  COMPUTED_IDENTITY_HASH,
  COMPUTED_LINE_HASH,
} from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { missingHolds } from '../accounts/payment-holds.sql.ts';
import { BATCH_DIGEST } from '../bookings/feed.sql.ts';
import { alteredFindings } from '../checks/findings.sql.ts';
import { hasOtherTotals } from '../schedule/payee.sql.ts';

// Column names are constants of core/title. No input reaches Prisma.raw.
const each = (text: (column: string) => string, columns: readonly string[] = AMOUNT_COLUMNS) =>
  Prisma.raw(columns.map(text).join(', '));

const valuesOf = (table: string) => each((column) => `${table}.${column}`, VALUE_COLUMNS);
const contentsOf = (table: string) =>
  each((column) => `${table}.${column}`, [...VALUE_COLUMNS, ...DESTINATION_COLUMNS]);

/**
 * A line of an erased party has lost what its hashes cover: it has the columns of the erased title of its content, or no
 * title has its content any more.
 */
const bookingAlterations = (date: CivilDate): Prisma.Sql => Prisma.sql`
  WITH line AS MATERIALIZED (
    SELECT title.*, ${COMPUTED_IDENTITY_HASH} AS own_identity, ${COMPUTED_LINE_HASH} AS own_content
    -- With the columns that the hashes of a title cover.
    FROM (SELECT line.*, line.date AS accepted_date,
                 jsonb_build_object('provider', jsonb_build_object('bankAccount', provider_destination),
                                    'financialAgent', jsonb_build_object('payment', payment_destination)) AS extra
          FROM conciliation.booking_line AS line WHERE date = ${date}::date) AS title
  ), batch AS MATERIALIZED (
    SELECT * FROM conciliation.booking_batch WHERE date = ${date}::date
  ), erased AS MATERIALIZED (
    SELECT title.*, ${destinationColumns} FROM conciliation.title
    WHERE accepted_date = ${date}::date AND erased_at IS NOT NULL AND EXISTS (SELECT FROM line)
  ), before AS (
    SELECT line.id AS line_id, before.*
    FROM line JOIN line AS before
      ON (before.identity_hash, before.occurrence, before.version) = (line.identity_hash, line.occurrence, line.succeeds)
  ), matched AS (
    -- The keys of the payables that the title ever had, and of those that it had beyond all doubt at the release: times of
    -- a transaction are those of its begin.
    SELECT line.id AS line_id, string_to_array(string_agg(match.erp_key, ','), ',') AS ever,
           string_to_array(string_agg(match.erp_key, ',') FILTER (
             WHERE made_at < released_at - interval '1 hour'
               AND coalesce(ended_at, 'infinity') > released_at + interval '1 hour'), ',') AS certain,
           array_agg(difference) FILTER (WHERE title_part = 0) AS differences
    FROM line JOIN batch ON batch.id = batch_id
    JOIN (SELECT * FROM conciliation.title_match WHERE title_id = ANY(ARRAY(SELECT title_id FROM line))) AS match
      USING (title_id)
    GROUP BY line.id
  ), written AS (
    SELECT batch_id AS id, count(line.id) AS line_count, count(*) FILTER (WHERE kind = 'book') AS book_count,
           count(*) FILTER (WHERE kind = 'adjust') AS adjust_count,
           count(*) FILTER (WHERE kind = 'reverse') AS reverse_count, ${BATCH_DIGEST} AS digest,
           ${each((column) => `coalesce(sum(${column}_change) FILTER (WHERE sign_off_id IS NOT NULL), 0) AS ${column}_sum`)}
    FROM (SELECT id AS batch_id, sign_off_id FROM batch) AS batch LEFT JOIN (
      SELECT line.*, ${each((column) => `CASE line.kind WHEN 'reverse' THEN -1 ELSE 1 END * coalesce(line.${column}, 0) - coalesce(before.${column}, 0) AS ${column}_change`)}
      FROM line LEFT JOIN before
        -- A line that replaces a reversal adds all of its value.
        ON before.line_id = line.id AND line.kind = 'adjust' AND before.kind <> 'reverse'
    ) AS line USING (batch_id)
    GROUP BY batch_id
  ), newest AS (
    SELECT seal.*, batch.waiting_titles
    FROM batch JOIN conciliation.sign_off AS seal ON seal.id = batch.sign_off_id
    WHERE batch.id = (SELECT max(id) FROM batch)
  ), live AS MATERIALIZED (
    SELECT line.*, 'current' AS status
    FROM line JOIN conciliation.booking_version AS version USING (id)
    WHERE version.date = ${date}::date AND is_newest AND has_content
  )
  SELECT 'line' AS problem, line.id::text AS row_key
  FROM line LEFT JOIN batch ON batch.id = line.batch_id
  LEFT JOIN before ON before.line_id = line.id LEFT JOIN matched ON matched.line_id = line.id
  CROSS JOIN LATERAL (SELECT coalesce(string_to_array(line.erp_key, ','), '{}') AS keys) AS own
  WHERE batch.id IS NULL
     OR batch.sign_off_id IS NOT NULL AND (
       line.consumer <> before.consumer
       OR CASE line.kind
            WHEN 'reverse' THEN (line.title_id, line.erp_key, line.posting_value, ${contentsOf('line')})
                                  IS DISTINCT FROM (before.title_id, before.erp_key, before.posting_value, ${contentsOf('before')})
            ELSE NOT (coalesce(certain, '{}') <@ keys AND keys <@ coalesce(ever, '{}')
                      -- A title without a payable takes the place of a line that the ERP has not reversed.
                      OR certain IS NULL AND line.erp_key IS NOT DISTINCT FROM before.erp_key)
                   OR line.posting_value IS DISTINCT FROM before.posting_value
                      AND (line.posting_value - line.original_value
                           = ANY(CASE WHEN line.erp_key IS NULL THEN '{0}' ELSE differences END)) IS NOT TRUE END)
     OR CASE line.accounting_basis
          WHEN 'event' THEN line.accounting_date NOT BETWEEN released_at::date - 1 AND released_at::date + 1
          WHEN 'erp' THEN NOT EXISTS (
            SELECT FROM conciliation.booking_receipt AS receipt
            WHERE (receipt.date, receipt.identity_hash, receipt.occurrence, receipt.version, receipt.accounting_date)
                = (line.date, line.identity_hash, line.occurrence, line.version, line.accounting_date)) END
     OR line.posted_hash IS NOT NULL AND NOT EXISTS (
       SELECT FROM conciliation.audit_entry WHERE date = ${date}::date AND action = 'bookings.receipts')
     OR (batch.sign_off_id IS NOT NULL OR line.posted_hash IS NULL) AND line.kind <> 'reverse'
        AND (line.own_identity, line.own_content) <> (line.identity_hash, line.content_hash)
        AND NOT EXISTS (
          SELECT FROM erased WHERE erased.content_hash = line.content_hash
            AND (${contentsOf('erased')}) IS NOT DISTINCT FROM (${contentsOf('line')}))
        AND NOT ((line.provider_identification LIKE 'erased-%' OR line.provider_external_id LIKE 'erased-%'
                  OR line.financial_agent_identification LIKE 'erased-%')
                 AND NOT EXISTS (SELECT FROM conciliation.title
                                 WHERE accepted_date = ${date}::date AND content_hash = line.content_hash))
        -- An undocumented field named an erased party: the other columns are those of the title.
        AND NOT (concat(line.provider_destination, line.payment_destination, line.promoted) ~ '"erased-[0-9]+"'
                 AND line.own_identity = line.identity_hash
                 AND NOT EXISTS (
                   SELECT FROM conciliation.title
                   WHERE accepted_date = ${date}::date AND content_hash = line.content_hash
                     AND (${valuesOf('title')}) IS DISTINCT FROM (${valuesOf('line')})))
  UNION ALL
  SELECT 'batch', batch.id::text
  FROM batch JOIN written USING (id)
  LEFT JOIN conciliation.sign_off AS seal ON seal.id = batch.sign_off_id AND seal.date = batch.date
  WHERE ${differs(Prisma.sql`batch`, Prisma.sql`to_jsonb(written)`)}
     OR batch.sign_off_id IS NOT NULL AND (
          seal.id IS NULL OR seal.signed_off_by <> batch.released_by
          OR EXISTS (
            SELECT FROM batch AS earlier
            WHERE earlier.id < batch.id AND earlier.sign_off_id = batch.sign_off_id AND earlier.waiting_titles = 0
              AND NOT EXISTS (SELECT FROM batch AS recorded
                              WHERE recorded.sign_off_id IS NULL AND recorded.id BETWEEN earlier.id AND batch.id))
          -- The seal stays released when a line is repeated that the ERP could not post.
          AND (batch.line_count = 0 OR EXISTS (
            SELECT FROM line LEFT JOIN before ON before.line_id = line.id
            WHERE line.batch_id = batch.id AND (line.content_hash IS DISTINCT FROM before.content_hash OR NOT EXISTS (
              SELECT FROM conciliation.booking_receipt AS receipt
              WHERE (receipt.date, receipt.identity_hash, receipt.occurrence, receipt.version, status, outcome)
                  = (before.date, before.identity_hash, before.occurrence, before.version, 'failed', 'accepted'))))))
  UNION ALL
  SELECT 'lines', NULL
  FROM newest CROSS JOIN (${titleTotals(Prisma.sql`live`)}) AS released
  WHERE CASE WHEN newest.waiting_titles = 0
             THEN ${differs(Prisma.sql`newest`, Prisma.sql`to_jsonb(released) - '{withdrawn_count,latest_due_date}'::text[]`)}
             -- Where titles wait, a content that the seal has released is that of a title, unless it was restated since.
             ELSE EXISTS (SELECT FROM conciliation.day
                          WHERE date = ${date}::date AND day.content_digest = newest.content_digest)
                  AND EXISTS (
                    SELECT FROM live JOIN batch ON batch.id = live.batch_id AND batch.sign_off_id = newest.id
                    GROUP BY live.identity_hash, live.content_hash
                    HAVING count(*) > (
                      SELECT count(*) FROM conciliation.title
                      WHERE accepted_date = ${date}::date AND status = 'current'
                        AND identity_hash = live.identity_hash AND content_hash = live.content_hash)) END`;

/** The titles whose columns do not have their hashes. An erased title has lost what its hashes cover. */
export const contentAlterations = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT CASE status WHEN 'current' THEN 'content' ELSE 'withdrawn' END AS problem, id::text AS row_key
  FROM conciliation.title
  WHERE accepted_date = ${date}::date AND erased_at IS NULL
    AND (content_hash <> ${COMPUTED_CONTENT_HASH} OR identity_hash <> ${COMPUTED_IDENTITY_HASH})`;

const titlesAlteration = (date: CivilDate) => Prisma.sql`
  SELECT 'titles' AS problem, NULL AS row_key
  WHERE NOT ${areRowsRecorded(date)}
     OR (SELECT max(fence) FROM conciliation.pull WHERE date = ${date}::date AND state = 'merged')
          > (SELECT coalesce(max(own.fence), 0)
             FROM conciliation.date_digest AS recorded JOIN conciliation.pull AS own ON own.id = recorded.pull_id
             WHERE recorded.date = ${date}::date)
     OR EXISTS (
       SELECT FROM (${newestDigest(date)}) AS newest LEFT JOIN conciliation.pull AS own ON own.id = newest.pull_id
       WHERE CASE WHEN newest.pull_id IS NULL
                  THEN NOT EXISTS (SELECT FROM conciliation.audit_entry AS entry
                                   WHERE entry.action = 'party.erased' AND entry.at = newest.appended_at
                                     AND entry.details -> 'digests' ->> ${date} = encode(newest.digest, 'hex'))
                  ELSE own.date IS DISTINCT FROM newest.date
                       OR NOT (own.state = 'merged' OR own.state = 'unchanged' AND own.origin = 'repair') END)`;

const dayAlteration = (date: CivilDate) => Prisma.sql`
  WITH present AS (
    ${titleTotals(Prisma.sql`(SELECT * FROM conciliation.title WHERE accepted_date = ${date}::date) AS title`)}
  ), reject AS (
    SELECT count(*) AS rejected_count, count(*) FILTER (WHERE status = 'open') AS open
    FROM conciliation.rejected_title WHERE date = ${date}::date AND status <> 'resolved'
  ), answer AS (
    SELECT max(fence) FILTER (WHERE state IN ('merged', 'unchanged')) AS merged_fence,
           count(*) FILTER (WHERE state = 'held') AS held
    FROM conciliation.pull WHERE date = ${date}::date
  )
  SELECT 'day' AS problem, NULL AS row_key
  FROM conciliation.day AS day CROSS JOIN present CROSS JOIN reject CROSS JOIN answer
  LEFT JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
  LEFT JOIN conciliation.sign_off AS seal ON seal.date = day.date AND seal.ended_at IS NULL
  WHERE day.date = ${date}::date
    AND (${differs(
      Prisma.sql`day`,
      // A date without an answer has no digest.
      Prisma.sql`to_jsonb(present)
        - CASE WHEN day.content_digest IS NULL AND present.title_count + present.withdrawn_count = 0 THEN 'content_digest' ELSE '' END`,
    )}
         OR reject.rejected_count <> day.rejected_count
         OR reject.rejected_count <> merged.rejected
         OR present.title_count <> merged.fold_count + merged.withheld
         OR merged.fence IS DISTINCT FROM answer.merged_fence
         OR merged.fence > (SELECT last_value FROM conciliation.pull_fence_seq)
         OR (day.state = 'reconciled' AND (answer.held + reject.open > 0 OR ${HAS_OPEN_FINDINGS}))
         OR (day.signed_off_at, day.signed_off_by, day.signed_off_digest)
              IS DISTINCT FROM (seal.signed_off_at, seal.signed_off_by, seal.content_digest))
  UNION ALL
  SELECT 'day', NULL WHERE NOT EXISTS (SELECT FROM conciliation.day WHERE date = ${date}::date)
    AND EXISTS (SELECT FROM conciliation.title WHERE accepted_date = ${date}::date)`;

/** What an entry of the audit log does not state. A consumer without an entry has no access. */
const UNSTATED =
  '{"user":null,"isDisabled":false,"decidesFrom":null,"isParallel":false,"databaseRole":null,"apiKeyId":null,"buyers":[]}';

/**
 * What people have decided about a date, and the access, which concerns every date, compared with the audit log. An
 * entry and its rows are written by one transaction, so both have its time, or the entry names the row.
 * - `decision`: an entry has the facts. Of the columns, `entry.action` is for the join alone
 * - `state`: the newest entry about the subject has the facts
 */
const recordAlterations = (date: CivilDate) => Prisma.sql`
  WITH seal AS (
    SELECT * FROM conciliation.sign_off WHERE date = ${date}::date
  ), change AS (
    SELECT * FROM conciliation.account_change
    WHERE state <> 'open' AND (accepted_date = ${date}::date OR id IN (
      SELECT account_change_id FROM conciliation.payment_hold WHERE accepted_date = ${date}::date))
  ), entry AS MATERIALIZED (
    SELECT id, at, action, ${UNSTATED}::jsonb || coalesce(details, '{}') || jsonb_build_object(
             'action', action, 'by', actor, 'at', at, 'date', date, 'pullId', pull_id, 'reason', reason) AS facts,
           CASE WHEN jsonb_exists(details, 'session') THEN 'session ' || (details ->> 'session')
                WHEN action IN ('key.add', 'key.revoke') THEN 'key ' || (details ->> 'keyId')
                WHEN action IN ('user.add', 'user.change') THEN 'user ' || (details ->> 'user')
                WHEN action = 'bookings.consumer' THEN 'consumer ' || (details ->> 'name')
                WHEN action = 'bookings.start' THEN 'start'
                WHEN action IN ('day.sign_off', 'day.reopen') AND date = ${date}::date THEN 'seal' END AS subject
    FROM conciliation.audit_entry
    WHERE date = ${date}::date OR date IN (SELECT accepted_date FROM change)
       OR date IS NULL AND jsonb_exists_any(details, '{session,role,keyId,databaseRole,bookingsFrom,grounds,monthSealId}')
  ), decision (problem, row_key, action, facts) AS (
    SELECT 'seal', id::text, 'day.sign_off', jsonb_build_object(
      'by', signed_off_by, 'at', signed_off_at, 'date', date, 'contentDigest', content_digest, 'reason', reason)
    FROM seal
    UNION ALL SELECT 'seal', id::text, 'month.seal', jsonb_build_object(
      'by', sealed_by, 'monthSealId', id, 'digest', digest, 'reason', reason)
    FROM conciliation.month_seal WHERE month = date_trunc('month', ${date}::date)
    UNION ALL SELECT 'reject', id::text, 'rejects.accept', jsonb_build_object(
      'by', decided_by, 'at', decided_at, 'date', date, 'reason', reason)
    FROM conciliation.rejected_title WHERE date = ${date}::date AND status = 'accepted'
    UNION ALL SELECT 'finding', id::text, 'findings.resolve', jsonb_build_object(
      'by', resolved_by, 'at', resolved_at, 'date', accepted_date, 'check', code, 'reason', reason)
    FROM conciliation.check_finding WHERE accepted_date = ${date}::date AND resolved_at IS NOT NULL
    UNION ALL SELECT 'batch', id::text, 'bookings.receipts', jsonb_build_object(
      'by', released_by, 'at', released_at, 'date', date)
    FROM conciliation.booking_batch WHERE date = ${date}::date AND sign_off_id IS NULL
    UNION ALL SELECT 'receipt', id::text, 'bookings.receipts', jsonb_build_object(
      'by', settled_by, 'at', settled_at, 'date', date, 'answer', outcome)
    FROM conciliation.booking_receipt WHERE date = ${date}::date AND outcome IN ('recorded', 'set_aside')
    UNION ALL SELECT 'pull', id::text, 'pull.release', jsonb_build_object(
      'by', decided_by, 'at', decided_at, 'date', date, 'pullId', id, 'reason', reason)
    FROM conciliation.pull WHERE date = ${date}::date AND decided_at IS NOT NULL
    UNION ALL SELECT 'break', decided.id::text, CASE code WHEN 'reopened' THEN 'break.reopen' ELSE 'break.resolve' END, jsonb_build_object(
      'by', decided_by, 'at', decided_at, 'date', title.accepted_date, 'kind', kind, 'code', code,
      'grounds', jsonb_build_array(ground), 'reason', reason)
    FROM conciliation.break_decision AS decided LEFT JOIN conciliation.title ON title.id = title_id
    WHERE coalesce(title.accepted_date, ${date}::date) = ${date}::date
    UNION ALL SELECT 'account', id::text, CASE state WHEN 'refused' THEN 'account_change.refuse'
        WHEN 'returned' THEN 'account_change.return' ELSE 'account_change.confirm' END, jsonb_build_object(
      'by', decided_by, 'date', accepted_date, 'accountChangeIds', jsonb_build_array(id),
      'isParallel', state = 'parallel', 'reason', reason)
    FROM change
  ), state (problem, row_key, subject, facts) AS (
    SELECT 'seal', id::text, 'seal', CASE WHEN ended_at IS NULL
      THEN jsonb_build_object('action', 'day.sign_off', 'by', signed_off_by, 'at', signed_off_at)
      ELSE jsonb_build_object('action', 'day.reopen', 'by', ended_by, 'at', ended_at, 'reason', end_reason) END
    FROM seal WHERE ended_at IS NULL OR id = (SELECT max(id) FROM seal)
    UNION ALL SELECT 'session', name, 'session ' || token_hash, jsonb_build_object('by', name)
    FROM conciliation.console_session JOIN conciliation.console_user ON console_user.id = user_id
    WHERE expires_at > now()
    UNION ALL SELECT 'key', key.id::text, 'key ' || key.id, jsonb_build_object(
      'action', 'key.add', 'by', key.created_by, 'at', key.created_at, 'user', owner.name, 'role', key.role, 'scopes', scopes)
    FROM conciliation.api_key AS key LEFT JOIN conciliation.console_user AS owner ON owner.id = user_id
    WHERE revoked_at IS NULL
    UNION ALL SELECT 'user', name, 'user ' || name, jsonb_build_object(
      'role', role, 'isDisabled', disabled_at IS NOT NULL, 'decidesFrom', decides_from)
    FROM conciliation.console_user
    UNION ALL SELECT 'consumer', name, 'consumer ' || name, jsonb_build_object(
      'databaseRole', database_role, 'apiKeyId', api_key_id, 'buyers', coalesce(buyers, '{}'))
    FROM conciliation.booking_consumer
    UNION ALL SELECT 'start', bookings_from::text, 'start', jsonb_build_object('bookingsFrom', bookings_from)
    FROM conciliation.booking_start
  ), newest AS (
    SELECT DISTINCT ON (subject) subject, facts FROM entry WHERE subject IS NOT NULL ORDER BY subject, id DESC
  )
  SELECT problem, row_key
  FROM (SELECT *, count(*) OVER (PARTITION BY problem, action, facts) AS rows FROM decision) AS decision
  WHERE NOT EXISTS (
    SELECT FROM entry
    WHERE entry.action = decision.action AND entry.facts @> decision.facts
      -- Of how many rows the entry is.
      AND rows <= coalesce(entry.facts ->> 'rejects', entry.facts ->> 'findings', entry.facts ->> 'receipts',
                           rows::text)::bigint)
  UNION
  SELECT problem, row_key
  FROM state LEFT JOIN newest USING (subject)
  CROSS JOIN LATERAL (SELECT coalesce(newest.facts, ${UNSTATED}::jsonb) AS facts) AS recorded
  WHERE recorded.facts || state.facts <> recorded.facts
  UNION
  -- A decision that is gone.
  SELECT 'break', NULL
  FROM entry CROSS JOIN jsonb_array_elements_text(facts -> 'grounds') AS named (ground)
  WHERE action IN ('break.resolve', 'break.reopen') AND NOT EXISTS (
    SELECT FROM conciliation.break_decision AS decided WHERE (decided.decided_at, decided.ground::text) = (entry.at, named.ground))
  UNION
  -- A user who was an administrator signs nothing that was open when the role changed: docs/console.md.
  SELECT 'user', owner.name
  FROM conciliation.console_user AS owner CROSS JOIN LATERAL (
    SELECT min(at) AS at FROM entry
    WHERE subject = 'user ' || owner.name AND id > (
      SELECT max(id) FROM entry WHERE subject = 'user ' || owner.name AND facts ->> 'role' = 'admin')
  ) AS change
  WHERE role <> 'admin' AND change.at IS NOT NULL AND coalesce(decides_from < change.at, true)`;

/** The parts of a check. */
export const alterationsOf = (date: CivilDate): Prisma.Sql[] => [
  contentAlterations(date),
  titlesAlteration(date),
  dayAlteration(date),
  Prisma.sql`SELECT 'totals' AS problem, NULL AS row_key WHERE ${hasOtherTotals(date)}`,
  Prisma.sql`SELECT 'hold' AS problem, title_id::text AS row_key FROM (${missingHolds(date)}) AS missing`,
  bookingAlterations(date),
  recordAlterations(date),
  Prisma.sql`
    SELECT 'finding' AS problem, id::text AS row_key FROM (${alteredFindings(date)}) AS finding
    UNION ALL
    -- A response that a crash of the database has lost is replaced before the next one comes.
    SELECT 'pull', pull.id::text
    FROM conciliation.pull JOIN conciliation.day ON day.date = pull.date AND day.state = 'reconciled'
    WHERE pull.date = ${date}::date AND pull.state = 'superseded' AND NOT EXISTS (
      SELECT FROM conciliation.pull AS newer
      WHERE newer.date = pull.date AND newer.fence > pull.fence
        AND newer.state IN ('merged', 'unchanged', 'held', 'superseded'))`,
];
