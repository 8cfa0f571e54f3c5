/**
 * The decisions of people that have no entry in the audit log. An entry and what it is about are written by one
 * transaction, so both have its time. Each query has rows (problem, row_key).
 */
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** Whether the audit log has no entry of a date with these properties. */
export const hasNoEntry = (date: CivilDate, entry: Prisma.Sql) => Prisma.sql`
  NOT EXISTS (SELECT FROM conciliation.audit_entry AS entry WHERE entry.date = ${date}::date AND ${entry})`;

/** The decisions about a date. Of its seals, the newest and those in force. */
export const decisionAlterations = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT 'seal' AS problem, seal.id::text AS row_key FROM conciliation.sign_off AS seal
  WHERE seal.date = ${date}::date AND CASE
    WHEN seal.ended_at IS NULL THEN ${hasNoEntry(
      date,
      Prisma.sql`
        entry.action = 'day.sign_off' AND (entry.actor, entry.at) = (seal.signed_off_by, seal.signed_off_at)
        AND entry.details ->> 'contentDigest' = seal.content_digest`,
    )}
    ELSE seal.id = (SELECT max(id) FROM conciliation.sign_off WHERE date = ${date}::date) AND ${hasNoEntry(
      date,
      Prisma.sql`entry.action = 'day.reopen' AND (entry.actor, entry.at) = (seal.ended_by, seal.ended_at)`,
    )} END
  UNION ALL
  SELECT 'reject', reject.id::text FROM conciliation.rejected_title AS reject
  WHERE reject.date = ${date}::date AND reject.status = 'accepted' AND ${hasNoEntry(
    date,
    Prisma.sql`entry.action = 'rejects.accept' AND (entry.actor, entry.at) = (reject.decided_by, reject.decided_at)`,
  )}
  UNION ALL
  SELECT 'finding', found.id::text FROM conciliation.check_finding AS found
  WHERE found.accepted_date = ${date}::date AND found.resolved_at IS NOT NULL AND ${hasNoEntry(
    date,
    Prisma.sql`
      entry.action = 'findings.resolve' AND (entry.actor, entry.at) = (found.resolved_by, found.resolved_at)
      AND entry.details ->> 'check' = found.code`,
  )}
  UNION ALL
  SELECT 'account', change.id::text FROM conciliation.account_change AS change
  WHERE (change.accepted_date = ${date}::date
         OR change.id IN (SELECT account_change_id FROM conciliation.payment_hold WHERE accepted_date = ${date}::date))
    AND change.state <> 'open' AND NOT EXISTS (
      SELECT FROM conciliation.audit_entry AS entry
      WHERE entry.date = change.accepted_date AND entry.actor = change.decided_by
        AND entry.action = CASE change.state WHEN 'refused' THEN 'account_change.refuse'
                                             WHEN 'returned' THEN 'account_change.return'
                                             ELSE 'account_change.confirm' END
        AND entry.details -> 'accountChangeIds' @> to_jsonb(change.id)
        AND jsonb_exists(entry.details, 'isParallel') = (change.state = 'parallel'))
  UNION ALL
  -- A response that was held is merged by a person or at the end of its run, or replaced by a newer one.
  SELECT 'pull', pull.id::text FROM conciliation.pull
  WHERE pull.date = ${date}::date AND (
    pull.decided_at IS NOT NULL AND ${hasNoEntry(
      date,
      Prisma.sql`entry.action = 'pull.release' AND entry.pull_id = pull.id AND entry.actor = pull.decided_by`,
    )}
    OR pull.state = 'cancelled' AND pull.fold_count IS NOT NULL
    OR pull.hold_reason IS NOT NULL AND CASE pull.state
         WHEN 'held' THEN false WHEN 'merged' THEN false
         -- A response that a crash of the database has lost is replaced before the next one comes.
         WHEN 'superseded' THEN EXISTS (
           SELECT FROM conciliation.day WHERE day.date = pull.date AND day.state = 'reconciled')
           AND NOT EXISTS (
             SELECT FROM conciliation.pull AS newer
             WHERE newer.date = pull.date AND newer.fence > pull.fence
               AND newer.state IN ('merged', 'unchanged', 'held', 'superseded'))
         ELSE true END)`;

/** Sessions, roles and the access of consumers, which do not belong to a date. */
export const accessAlterations = Prisma.sql`
  WITH entry AS MATERIALIZED (
    SELECT id, at, actor, action, details FROM conciliation.audit_entry
    WHERE date IS NULL AND action IN ('session.start', 'user.add', 'user.change', 'bookings.consumer')
  )
  SELECT 'session' AS problem, owner.name AS row_key
  FROM conciliation.console_session AS session JOIN conciliation.console_user AS owner ON owner.id = session.user_id
  WHERE session.expires_at > now() AND NOT EXISTS (
    SELECT FROM entry WHERE action = 'session.start' AND (actor, at) = (owner.name, session.created_at))
  UNION
  -- A user who was an administrator signs nothing that was open when the role changed: docs/console.md.
  SELECT 'user', owner.name
  FROM conciliation.console_user AS owner
  LEFT JOIN LATERAL (
    SELECT id, at, details ->> 'role' AS role FROM entry
    WHERE details ->> 'user' = owner.name AND jsonb_exists(details, 'role') ORDER BY id DESC LIMIT 1
  ) AS given ON true
  WHERE given.role IS DISTINCT FROM owner.role
     OR (owner.disabled_at IS NOT NULL) IS DISTINCT FROM coalesce((
          SELECT (details ->> 'isDisabled')::boolean FROM entry
          WHERE details ->> 'user' = owner.name AND jsonb_exists(details, 'isDisabled') ORDER BY id DESC LIMIT 1), false)
     OR coalesce(owner.decides_from < given.at, true) AND EXISTS (
          SELECT FROM entry
          WHERE details ->> 'user' = owner.name AND details ->> 'role' = 'admin' AND id < given.id)
  UNION ALL
  SELECT 'consumer', consumer.name
  FROM conciliation.booking_consumer AS consumer
  LEFT JOIN LATERAL (
    SELECT details FROM entry
    WHERE action = 'bookings.consumer' AND details ->> 'name' = consumer.name ORDER BY id DESC LIMIT 1
  ) AS given ON true
  WHERE (consumer.database_role, consumer.api_key_id, coalesce(cardinality(consumer.buyers), 0))
          IS DISTINCT FROM
        (given.details ->> 'databaseRole', (given.details ->> 'apiKeyId')::bigint,
         coalesce((given.details ->> 'buyers')::int, 0))`;
