/**
 * What the titles of a date, the rows that follow from them, and the decisions of people are not. Each query has rows
 * (problem, row_key); see the comments of `title_finding`.
 */

import type { CivilDate } from '../../base/values/business-day.ts';
import { areRowsRecorded, newestDigest } from '../../core/ledger/date-digest.sql.ts';
import { HAS_OPEN_FINDINGS } from '../../core/ledger/day-ledger.sql.ts';
import { AMOUNT_COLUMNS, VALUE_COLUMNS } from '../../core/title/title.ts';
import {
  BATCH_DIGEST,
  COMPUTED_IDENTITY_HASH,
  CONTENT_DIGEST,
  computedContentHash,
  DESTINATION_COLUMNS,
  destinationColumns,
} from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { missingHolds } from '../accounts/payment-holds.sql.ts';
import { hasOtherTotals } from '../schedule/payee.sql.ts';

// Column names are constants of core/title. No input reaches Prisma.raw.
const each = (text: (column: string) => string, columns: readonly string[] = AMOUNT_COLUMNS) =>
  Prisma.raw(columns.map(text).join(', '));
const sumsOf = (table: string) => each((column) => `${table}.${column}_sum`);

/** The titles whose columns do not have their hashes. An erased title has lost what its hashes cover. */
export const contentAlterations = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT 'content' AS problem, id::text AS row_key FROM conciliation.title
  WHERE accepted_date = ${date}::date AND erased_at IS NULL
    AND (content_hash <> ${computedContentHash(date)} OR identity_hash <> ${COMPUTED_IDENTITY_HASH})`;

/**
 * The rows of the date are not those of its newest digest; or a merge that changed titles has appended none since; or
 * the newest one is neither of such a merge, nor of a pull that a check asked for, nor of an erasure.
 */
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

/**
 * The row of `day` has other counts, sums, latest due date or digest than the titles, its titles are not as many as the
 * newest merged answer had, it is reconciled although something waits for a person, or its newest merge or seal is not
 * that of `pull` or `sign_off`; the fence of that merge was never given; or titles have no row of `day`.
 */
const dayAlteration = (date: CivilDate) => Prisma.sql`
  WITH present AS (
    SELECT count(*) AS title_count, max(anticipated_due_date) AS latest_due_date, ${CONTENT_DIGEST} AS digest,
           ${each((column) => `coalesce(sum(${column}), 0) AS ${column}_sum`)}
    FROM conciliation.title WHERE accepted_date = ${date}::date AND status = 'current'
  ), withdrawn AS (
    SELECT count(*) AS withdrawn_count
    FROM conciliation.title WHERE accepted_date = ${date}::date AND status = 'withdrawn'
  ), reject AS (
    SELECT count(*) AS rejected_count, count(*) FILTER (WHERE status = 'open') AS open
    FROM conciliation.rejected_title WHERE date = ${date}::date AND status <> 'resolved'
  ), answer AS (
    SELECT max(fence) FILTER (WHERE state IN ('merged', 'unchanged')) AS merged_fence,
           count(*) FILTER (WHERE state = 'held') AS held
    FROM conciliation.pull WHERE date = ${date}::date
  )
  SELECT 'day' AS problem, NULL AS row_key
  FROM conciliation.day AS day CROSS JOIN present CROSS JOIN withdrawn CROSS JOIN reject CROSS JOIN answer
  LEFT JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
  LEFT JOIN conciliation.sign_off AS seal ON seal.date = day.date AND seal.ended_at IS NULL
  WHERE day.date = ${date}::date
    AND ((day.title_count, day.withdrawn_count, day.rejected_count, day.latest_due_date, ${sumsOf('day')})
           IS DISTINCT FROM
         (present.title_count, withdrawn.withdrawn_count, reject.rejected_count, present.latest_due_date, ${sumsOf('present')})
         OR coalesce(day.content_digest <> present.digest, present.title_count + withdrawn.withdrawn_count > 0)
         OR present.title_count <> merged.fold_count + merged.withheld
         OR reject.rejected_count <> merged.rejected
         OR merged.fence IS DISTINCT FROM answer.merged_fence
         OR merged.fence > (SELECT last_value FROM conciliation.pull_fence_seq)
         OR (day.state = 'reconciled' AND (answer.held + reject.open > 0 OR ${HAS_OPEN_FINDINGS}))
         OR (day.signed_off_at, day.signed_off_by, day.signed_off_digest)
              IS DISTINCT FROM (seal.signed_off_at, seal.signed_off_by, seal.content_digest)
         OR (day.content_digest <> seal.content_digest AND NOT day.restated_after_sign_off))
  UNION ALL
  SELECT 'day', NULL WHERE NOT EXISTS (SELECT FROM conciliation.day WHERE date = ${date}::date)
    AND EXISTS (SELECT FROM conciliation.title WHERE accepted_date = ${date}::date)`;

const contentsOf = (table: string) =>
  each((column) => `${table}.${column}`, [...VALUE_COLUMNS, ...DESTINATION_COLUMNS]);

/**
 * - `line`: the hashes of the columns are others. A line of an erased party has lost what its hashes cover: it has the
 *   columns of the erased title of its content, or no title has its content any more. Or the consumer is not that of the
 *   line before, a reversal does not show that line, the payable is none that the title had when the line was released,
 *   or the accounting date is neither that of the release nor one that the ERP named.
 * - `batch`: counts, digest or sums are not those of the lines, or the seal is not one of the date or was released
 *   completely before
 * - `lines`: the newest lines are not the content of the seal that was released last
 */
const bookingAlterations = (date: CivilDate) => Prisma.sql`
  WITH line AS MATERIALIZED (
    SELECT title.*, ${COMPUTED_IDENTITY_HASH} AS own_identity, ${computedContentHash(date)} AS own_content
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
               AND coalesce(ended_at, 'infinity') > released_at + interval '1 hour'), ',') AS certain
    FROM line JOIN batch ON batch.id = batch_id
    JOIN (SELECT * FROM conciliation.title_match WHERE title_id = ANY(ARRAY(SELECT title_id FROM line))) AS match
      USING (title_id)
    GROUP BY line.id
  ), written AS (
    SELECT batch_id AS id, count(line.id) AS line_count, count(*) FILTER (WHERE kind = 'book') AS book_count,
           count(*) FILTER (WHERE kind = 'adjust') AS adjust_count,
           count(*) FILTER (WHERE kind = 'reverse') AS reverse_count, ${BATCH_DIGEST} AS digest,
           ${each((column) => `coalesce(sum(${column}_change), 0) AS ${column}_sum`)}
    FROM (SELECT id AS batch_id FROM batch) AS batch LEFT JOIN (
      SELECT line.*, ${each((column) => `CASE line.kind WHEN 'reverse' THEN -1 ELSE 1 END * coalesce(line.${column}, 0) - coalesce(before.${column}, 0) AS ${column}_change`)}
      FROM line LEFT JOIN before
        -- A line that replaces a reversal adds all of its value.
        ON before.line_id = line.id AND line.kind = 'adjust' AND before.kind <> 'reverse'
    ) AS line USING (batch_id)
    GROUP BY batch_id
  ), newest AS (
    SELECT batch.id, batch.waiting_titles, seal.id AS seal_id, seal.content_digest, ${sumsOf('seal')}
    FROM batch JOIN conciliation.sign_off AS seal ON seal.id = batch.sign_off_id
    WHERE batch.id = (SELECT max(id) FROM batch)
  ), live AS MATERIALIZED (
    SELECT * FROM (
      SELECT DISTINCT ON (identity_hash, occurrence) * FROM line ORDER BY identity_hash, occurrence, version DESC
    ) AS top WHERE kind <> 'reverse'
  )
  SELECT 'line' AS problem, line.id::text AS row_key
  FROM line LEFT JOIN batch ON batch.id = line.batch_id
  LEFT JOIN before ON before.line_id = line.id LEFT JOIN matched ON matched.line_id = line.id
  CROSS JOIN LATERAL (SELECT coalesce(string_to_array(line.erp_key, ','), '{}') AS keys) AS own
  WHERE batch.id IS NULL
     OR batch.sign_off_id IS NOT NULL AND (
       line.consumer <> before.consumer
       OR CASE line.kind
            WHEN 'reverse' THEN (line.title_id, line.erp_key, ${contentsOf('line')})
                                  IS DISTINCT FROM (before.title_id, before.erp_key, ${contentsOf('before')})
            ELSE NOT (coalesce(certain, '{}') <@ keys AND keys <@ coalesce(ever, '{}')
                      -- A title without a payable takes the place of a line that the ERP has not reversed.
                      OR certain IS NULL AND line.erp_key IS NOT DISTINCT FROM before.erp_key) END)
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
  UNION ALL
  SELECT 'batch', batch.id::text
  FROM batch JOIN written USING (id)
  LEFT JOIN conciliation.sign_off AS seal ON seal.id = batch.sign_off_id AND seal.date = batch.date
  WHERE (batch.line_count, batch.book_count, batch.adjust_count, batch.reverse_count, batch.digest)
          IS DISTINCT FROM
        (written.line_count, written.book_count, written.adjust_count, written.reverse_count, written.digest)
     OR batch.sign_off_id IS NOT NULL AND (
          seal.id IS NULL OR seal.signed_off_by <> batch.released_by
          OR (${sumsOf('batch')}) IS DISTINCT FROM (${sumsOf('written')})
          OR EXISTS (
            SELECT FROM batch AS earlier
            WHERE earlier.id < batch.id AND earlier.sign_off_id = batch.sign_off_id AND earlier.waiting_titles = 0
              AND NOT EXISTS (SELECT FROM batch AS recorded
                              WHERE recorded.sign_off_id IS NULL AND recorded.id BETWEEN earlier.id AND batch.id)))
  UNION ALL
  SELECT 'lines', NULL
  FROM newest CROSS JOIN (
    SELECT ${CONTENT_DIGEST} AS digest,
           ${each((column) => `coalesce(sum(${column}), 0) AS ${column}_sum`)}
    FROM live
  ) AS released
  WHERE CASE WHEN newest.waiting_titles = 0
             THEN (newest.content_digest, ${sumsOf('newest')}) IS DISTINCT FROM (released.digest, ${sumsOf('released')})
             -- Where titles wait, a content that the seal has released is that of a title, unless it was restated since.
             ELSE EXISTS (SELECT FROM conciliation.day
                          WHERE date = ${date}::date AND day.content_digest = newest.content_digest)
                  AND EXISTS (
                    SELECT FROM live JOIN batch ON batch.id = live.batch_id AND batch.sign_off_id = newest.seal_id
                    GROUP BY live.identity_hash, live.content_hash
                    HAVING count(*) > (
                      SELECT count(*) FROM conciliation.title
                      WHERE accepted_date = ${date}::date AND status = 'current'
                        AND identity_hash = live.identity_hash AND content_hash = live.content_hash)) END`;

/** The checks whose fault follows from the content of the title alone. */
const OWN_FAULTS = [
  'due_before_acceptance',
  'value_not_positive',
  'tax_id_invalid',
  'agent_is_provider',
];

/**
 * The findings of the checks that are not as the newest check of the present content leaves them: of another severity,
 * or closed though the title has the fault. After a sign-off, the checks do not run.
 */
const findingAlterations = (date: CivilDate) => Prisma.sql`
  SELECT 'finding' AS problem, id::text AS row_key
  FROM (
    SELECT finding.*, substring(done.rules FROM code || ':' || version || ':([a-z]+)') AS given
    FROM conciliation.check_finding AS finding
    JOIN conciliation.day ON day.date = accepted_date
    JOIN conciliation.day_check AS done USING (date, content_digest)
    JOIN conciliation.title ON title.id = title_id AND title.content_hash = finding.content_hash
    WHERE finding.accepted_date = ${date}::date AND resolved_at IS NULL AND done.rules <> ''
      AND (signed_off_at IS NULL OR restated_after_sign_off) AND title.status = 'current' AND title.erased_at IS NULL
  ) AS finding
  WHERE CASE WHEN closed_at IS NULL THEN severity IS DISTINCT FROM given
             ELSE code = ANY(${OWN_FAULTS}::text[]) AND given <> 'off' END`;

/** A response that ends without a merge was replaced by a newer one. */
const pullAlterations = (date: CivilDate) => Prisma.sql`
  SELECT 'pull' AS problem, pull.id::text AS row_key FROM conciliation.pull
  -- A response that a crash of the database has lost is replaced before the next one comes.
  JOIN conciliation.day ON day.date = pull.date AND day.state = 'reconciled'
  WHERE pull.date = ${date}::date AND pull.state = 'superseded' AND NOT EXISTS (
    SELECT FROM conciliation.pull AS newer
    WHERE newer.date = pull.date AND newer.fence > pull.fence AND newer.state IN ('merged', 'unchanged', 'held', 'superseded'))`;

/**
 * What people have decided about a date, and the access, which concerns every date, compared with the audit log. An
 * entry and its rows are written by one transaction, so both have its time, or the entry names the row: an account, a
 * session. Of the ends of seals, the newest.
 */
const decisionAlterations = (date: CivilDate) => Prisma.sql`
  WITH seal AS (
    SELECT * FROM conciliation.sign_off WHERE date = ${date}::date
  ), change AS (
    SELECT * FROM conciliation.account_change
    WHERE state <> 'open' AND (accepted_date = ${date}::date OR id IN (
      SELECT account_change_id FROM conciliation.payment_hold WHERE accepted_date = ${date}::date))
  ), entry AS MATERIALIZED (
    -- A new password or second factor gives the session another token.
    SELECT id, at, actor, CASE WHEN jsonb_exists(details, 'session') THEN 'session.start' ELSE action END AS action, date,
           '{"isParallel": false}' || coalesce(details, '{}')
             || jsonb_build_object('pullId', pull_id, 'reason', reason) AS details
    FROM conciliation.audit_entry
    WHERE date = ${date}::date OR date IN (SELECT accepted_date FROM change)
       OR date IS NULL AND jsonb_exists_any(details, '{session,role,isDisabled,keyId,databaseRole,bookingsFrom,grounds}')
  ), decision (problem, row_key, date, action, actor, at, details) AS (
    SELECT 'seal', id::text, date, 'day.sign_off', signed_off_by, signed_off_at,
           jsonb_build_object('contentDigest', content_digest, 'reason', reason)
    FROM seal
    UNION ALL SELECT 'seal', id::text, date, 'day.reopen', ended_by, ended_at,
           jsonb_build_object('reason', end_reason)
    FROM seal WHERE ended_at IS NOT NULL AND id = (SELECT max(id) FROM seal)
    UNION ALL SELECT 'reject', id::text, date, 'rejects.accept', decided_by, decided_at,
           jsonb_build_object('reason', reason)
    FROM conciliation.rejected_title WHERE date = ${date}::date AND status = 'accepted'
    UNION ALL SELECT 'finding', id::text, accepted_date, 'findings.resolve', resolved_by, resolved_at,
           jsonb_build_object('check', code, 'reason', reason)
    FROM conciliation.check_finding WHERE accepted_date = ${date}::date AND resolved_at IS NOT NULL
    UNION ALL SELECT 'batch', id::text, date, 'bookings.receipts', released_by, released_at, '{}'
    FROM conciliation.booking_batch WHERE date = ${date}::date AND sign_off_id IS NULL
    UNION ALL SELECT 'receipt', id::text, date, 'bookings.receipts', settled_by, settled_at, jsonb_build_object('answer', outcome)
    FROM conciliation.booking_receipt WHERE date = ${date}::date AND outcome IN ('recorded', 'set_aside')
    UNION ALL SELECT 'pull', id::text, date, 'pull.release', decided_by, decided_at,
           jsonb_build_object('pullId', id, 'reason', reason)
    FROM conciliation.pull WHERE date = ${date}::date AND decided_at IS NOT NULL
    UNION ALL SELECT 'break', decided.id::text, title.accepted_date, 'break.resolve', decided_by, decided_at,
           jsonb_build_object('kind', kind, 'code', code, 'grounds', jsonb_build_array(ground), 'reason', reason)
    FROM conciliation.break_decision AS decided LEFT JOIN conciliation.title ON title.id = title_id
    WHERE coalesce(title.accepted_date, ${date}::date) = ${date}::date
    UNION ALL SELECT 'account', id::text, accepted_date, CASE state WHEN 'refused' THEN 'account_change.refuse'
             WHEN 'returned' THEN 'account_change.return' ELSE 'account_change.confirm' END, decided_by, NULL,
           jsonb_build_object('accountChangeIds', jsonb_build_array(id), 'isParallel', state = 'parallel', 'reason', reason)
    FROM change
    UNION ALL SELECT 'session', name, NULL, 'session.start', name, NULL, jsonb_build_object('session', token_hash)
    FROM conciliation.console_session JOIN conciliation.console_user ON console_user.id = user_id
    WHERE expires_at > now()
    UNION ALL SELECT 'key', key.id::text, NULL, 'key.add', key.created_by, key.created_at, jsonb_strip_nulls(
             jsonb_build_object('keyId', key.id, 'user', owner.name, 'role', key.role, 'scopes', scopes))
    FROM conciliation.api_key AS key LEFT JOIN conciliation.console_user AS owner ON owner.id = user_id
    WHERE revoked_at IS NULL AND expires_at > now()
  ), state (problem, row_key, action, details) AS (
    SELECT 'consumer', name, 'bookings.consumer',
           jsonb_build_object('name', name, 'databaseRole', database_role, 'apiKeyId', api_key_id, 'buyers', coalesce(buyers, '{}'))
    FROM conciliation.booking_consumer
    UNION ALL SELECT 'start', bookings_from::text, 'bookings.start', jsonb_build_object('bookingsFrom', bookings_from)
    FROM conciliation.booking_start
  ), given AS (
    SELECT details ->> 'user' AS name,
           array_agg(at ORDER BY id DESC) FILTER (WHERE jsonb_exists(details, 'role')) AS times,
           array_agg(details ->> 'role' ORDER BY id DESC) FILTER (WHERE jsonb_exists(details, 'role')) AS roles,
           array_agg(details -> 'isDisabled' ORDER BY id DESC) FILTER (WHERE jsonb_exists(details, 'isDisabled')) AS disabled
    FROM entry WHERE action IN ('user.add', 'user.change') GROUP BY 1
  )
  SELECT problem, row_key
  FROM (SELECT *, count(*) OVER (PARTITION BY problem, actor, at, details) AS rows FROM decision) AS decision
  WHERE NOT EXISTS (
    SELECT FROM entry
    WHERE (entry.action, entry.actor) = (decision.action, decision.actor) AND entry.date IS NOT DISTINCT FROM decision.date
      AND (entry.at = decision.at OR jsonb_exists_any(decision.details, '{accountChangeIds,session}'))
      AND entry.details @> decision.details
      -- Of how many rows the entry is.
      AND rows <= coalesce(entry.details ->> 'rejects', entry.details ->> 'findings', entry.details ->> 'receipts',
                           rows::text)::bigint)
  UNION ALL
  -- The seal in force is the one of the newest entry, and the key was not revoked since.
  SELECT 'seal', id::text FROM seal
  WHERE ended_at IS NULL AND EXISTS (
    SELECT FROM entry WHERE date = ${date}::date AND action IN ('day.sign_off', 'day.reopen') AND at > signed_off_at)
  UNION ALL
  SELECT 'key', key.id::text FROM conciliation.api_key AS key JOIN entry ON action = 'key.revoke'
    AND entry.details -> 'keyId' = to_jsonb(key.id)
  WHERE revoked_at IS NULL
  UNION ALL
  -- A decision that is gone.
  SELECT DISTINCT 'break', NULL
  FROM entry CROSS JOIN jsonb_array_elements_text(details -> 'grounds') AS named (ground)
  WHERE action = 'break.resolve' AND NOT EXISTS (
    SELECT FROM conciliation.break_decision AS decided WHERE (decided.decided_at, decided.ground::text) = (entry.at, named.ground))
  UNION ALL
  -- The newest entry has the present state. A consumer without an entry has no access.
  SELECT problem, row_key FROM state
  WHERE details <> coalesce((
    SELECT details - '{isParallel,pullId,reason}'::text[] FROM entry
    WHERE action = state.action AND details ->> 'name' IS NOT DISTINCT FROM state.details ->> 'name'
    ORDER BY id DESC LIMIT 1), details || '{"databaseRole": null, "apiKeyId": null, "buyers": []}')
  UNION ALL
  -- A user who was an administrator signs nothing that was open when the role changed: docs/console.md.
  SELECT 'user', owner.name FROM conciliation.console_user AS owner LEFT JOIN given USING (name)
  WHERE given.roles[1] IS DISTINCT FROM owner.role
     OR (owner.disabled_at IS NOT NULL) IS DISTINCT FROM coalesce(given.disabled[1]::boolean, false)
     OR coalesce(owner.decides_from < given.times[1], true) AND 'admin' = ANY(given.roles[2:])`;

/** The parts of a check. */
export const alterationsOf = (date: CivilDate): Prisma.Sql[] => [
  contentAlterations(date),
  titlesAlteration(date),
  dayAlteration(date),
  Prisma.sql`SELECT 'totals' AS problem, NULL AS row_key WHERE ${hasOtherTotals(date)}`,
  Prisma.sql`SELECT 'hold' AS problem, title_id::text AS row_key FROM (${missingHolds(date)}) AS missing`,
  bookingAlterations(date),
  findingAlterations(date),
  pullAlterations(date),
  decisionAlterations(date),
];
