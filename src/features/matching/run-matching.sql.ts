import type { Database, Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { type Loop, loop } from '../../base/runtime/timing.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { LoopParts } from '../../console/shell/console-parts.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { ensureCalendar } from '../calendar/business-days.sql.ts';
import { askedLines } from './asked-lines.sql.ts';
import { COUNTED_AGREED } from './break-list.sql.ts';
import { CANCELLED, CHANGED, MATCHING_ACTOR, WITHDRAWN } from './break-pairs.sql.ts';
import { joinWholeSets, writeBreaks } from './breaks.sql.ts';
import {
  BUYER_NAME,
  CANDIDATES,
  CERTAIN,
  COMPANY_NAME,
  IS_REDUCED,
  isEnteredAgain,
  MAY_BE_COMPANY,
  PAYABLE_GROUND,
  PAYABLE_VALUE,
  RULE_VERSION,
  RULES,
  TITLE_GROUND,
  VETOED,
} from './candidates.sql.ts';
import { COMPANY_NAMES } from './companies.sql.ts';
import { arePayablesStale } from './payables/payable-state.sql.ts';
import { SUMS } from './sums.sql.ts';

export interface MatchingRun {
  readonly runId: bigint;
  /** Matches that were made. */
  readonly matched: number;
  /** Matches of earlier runs that ended, because one of their sides changed. */
  readonly reopened: number;
}

export interface RunRequest {
  /** The person, or `MATCHING_ACTOR`. */
  readonly by: string;
  /** TIMEZONE of the program. Absent: the default. */
  readonly timeZone?: string;
  /** BOOKINGS_FROM. Absent or null: not set; then the dates from the stored one on have bookings. */
  readonly bookingsFrom?: CivilDate | null;
}

/** Why a match ended whose sides are as they were, beside other rows. */
const NOT_CHOSEN = 'the rules choose another pair or none';

const ASKED = askedLines({ lines: Prisma.sql`true`, titles: Prisma.sql`true` });

const SUM_PLACE = RULES.indexOf('sum') + 1;

export const TRANSACTION = { timeout: 900_000, maxWait: 60_000 };

/** Whether a person has undone the match of a pair, and both sides are as they were. */
export const isDeclined = (
  titleId: Prisma.Sql,
  erpKey: Prisma.Sql,
  titleGround: Prisma.Sql,
  erpGround: Prisma.Sql,
) => Prisma.sql`EXISTS (
  SELECT FROM conciliation.title_match AS ended
  WHERE ended.title_id = ${titleId} AND ended.erp_key = ${erpKey} AND ended_by <> ${MATCHING_ACTOR}
    AND ended.title_ground = ${titleGround} AND ended.erp_ground = ${erpGround})`;

/**
 * Matches current titles with open payables. Ends matches whose title is withdrawn or whose payable is cancelled, and
 * those of the program whose title or payable changed in a compared field, or that the rules would not make again,
 * unless they are fixed, see `CANDIDATES`. The order of the rows changes nothing, and a second run over the same rows changes nothing.
 */
export const runMatching = ({ prisma }: Database, request: RunRequest): Promise<MatchingRun> =>
  prisma.$transaction((tx) => matchTitles(tx, request), TRANSACTION);

/** Does the same in a transaction of the caller. */
export async function matchTitles(
  tx: Transaction,
  { by, timeZone = 'America/Sao_Paulo', bookingsFrom = null }: RunRequest,
): Promise<MatchingRun> {
  await takeLock(tx, 'matching');
  await ensureCalendar(tx);
  await joinWholeSets(tx);
  const [{ id: runId }] = await tx.$queryRaw<[{ id: bigint }]>`
      INSERT INTO conciliation.match_run
        (requested_by, rule_version, started_at, payables_seen, bookings_seen, time_zone, bookings_from, states_paid)
      SELECT ${by}, ${RULE_VERSION}, at, ${payablesSeen(Prisma.sql`at`)}, ${BOOKINGS_SEEN}, ${timeZone},
             ${bookingsFrom}::date,
             EXISTS (SELECT FROM conciliation.erp_payable WHERE status = 'paid' AND import_id = (
                       SELECT max(id) FROM conciliation.erp_payable_import WHERE kind = 'snapshot' AND is_complete))
      FROM (SELECT clock_timestamp() AS at) AS start RETURNING id`;
  const groundless = await endGroundless(tx);
  await inheritMatches(tx, runId);
  const [{ matched, replaced }] = await tx.$queryRaw<[{ matched: number; replaced: number }]>`
      WITH RECURSIVE ${COMPANY_NAMES}, ${ASKED}, ${CANDIDATES}, ${CERTAIN}, ${SUMS}, chosen AS MATERIALIZED (
        SELECT place, title_id, erp_key, NULL::bigint AS sum_id, 1 AS rows, 0 AS title_part, 0 AS erp_part FROM certain
        UNION ALL
        SELECT ${SUM_PLACE}, title_id, erp_key, sum_id, rows, title_part, erp_part FROM certain_row
      ), ${VETOED}, refused AS (
        SELECT chosen.title_id, chosen.erp_key, sum_id FROM chosen JOIN vetoed USING (title_id, erp_key)
        UNION
        -- What a person has undone is not matched again while both sides are the same.
        SELECT title_id, erp_key, sum_id
        FROM chosen JOIN conciliation.title AS title ON title.id = title_id JOIN open_payable AS payable USING (erp_key)
        WHERE ${isDeclined(Prisma.sql`title.id`, Prisma.sql`payable.erp_key`, TITLE_GROUND, Prisma.sql`payable.ground`)}
      ), wanted AS MATERIALIZED (
        SELECT *, coalesce(sum_id, -title_id) AS key FROM chosen
        WHERE (title_id, erp_key) NOT IN (SELECT title_id, erp_key FROM refused)
          AND (sum_id IS NULL OR sum_id NOT IN (SELECT sum_id FROM refused WHERE sum_id IS NOT NULL))
      ), kept AS MATERIALIZED (
        SELECT wanted.key AS wanted, lasting.key AS lasting
        FROM wanted JOIN lasting USING (title_id, erp_key, rows)
        GROUP BY 1, 2 HAVING count(*) = max(rows)
      ), ended AS (
        UPDATE conciliation.title_match AS match
        SET ended_at = clock_timestamp(), ended_by = ${MATCHING_ACTOR}, end_reason = ${NOT_CHOSEN}
        FROM lasting
        WHERE NOT is_fixed AND match.id = lasting.id AND key NOT IN (SELECT lasting FROM kept)
        RETURNING key
      ), made AS (
        INSERT INTO conciliation.title_match
          (title_id, erp_key, sum_id, title_part, erp_part, rule, rule_version, run_id, made_by,
           title_ground, erp_ground, erp_value)
        SELECT title_id, erp_key, sum_id, title_part, erp_part, (${[...RULES]}::text[])[place],
               ${RULE_VERSION}, ${runId}, ${by}, ${TITLE_GROUND}, payable.ground, erp_value
        -- The rows that end give their places free first.
        FROM wanted CROSS JOIN (SELECT count(*) FROM ended) AS after
        JOIN conciliation.title AS title ON title.id = title_id JOIN open_payable AS payable USING (erp_key)
        WHERE key NOT IN (SELECT wanted FROM kept)
        RETURNING title_part, erp_part
      )
      -- Of a match, one row has both places 0.
      SELECT (SELECT count(*)::int FROM made WHERE title_part = 0 AND erp_part = 0) AS matched,
             (SELECT count(DISTINCT key)::int FROM ended) AS replaced`;
  const reopened = groundless + replaced;
  await writeBreaks(tx);
  await tx.$executeRaw`
      WITH ${COMPANY_NAMES}
      UPDATE conciliation.match_run
      SET matched = ${matched}, reopened = ${reopened}, breaks_known = true, agreed = ${COUNTED_AGREED},
          unmapped_companies = (SELECT count(*) FROM unmapped)
      WHERE id = ${runId}`;
  return { runId, matched, reopened };
}

/**
 * A number that a committed change of a payable changes. The time of a change is that of its statement or of the
 * begin of its transaction, so a payable may appear with a time before the run that has not seen the payable.
 */
const payablesSeen = (at: Prisma.Sql) => Prisma.sql`
  (SELECT coalesce(sum(extract(epoch FROM changed_at)), 0) FROM conciliation.erp_payable
   WHERE changed_at >= ${at} - interval '1 day')`;

/** A number that grows with each batch and each receipt that was compared. */
const BOOKINGS_SEEN = Prisma.sql`
  (coalesce((SELECT max(id) FROM conciliation.booking_batch), 0)
   + coalesce((SELECT max(id) FROM conciliation.booking_receipt WHERE outcome IS NOT NULL), 0))`;

/** Why a match ended whose payable has another key now. */
const ENTERED_AGAIN = 'the payable is entered again';

/** Ends a sum as a whole. What a line has asked for ends no match: the payable and the title are judged by the line. */
async function endGroundless(tx: Transaction): Promise<number> {
  const [{ ended }] = await tx.$queryRaw<[{ ended: number }]>`
    WITH ${COMPANY_NAMES}, ${ASKED}, entered_again AS MATERIALIZED (
      SELECT gone.erp_key FROM conciliation.erp_payable AS gone JOIN conciliation.erp_payable AS fresh
        ON ${isEnteredAgain(Prisma.sql`fresh`)} AND fresh.erp_key <> gone.erp_key
      WHERE (gone.closed_at IS NOT NULL AND gone.status = 'open' OR gone.status = 'cancelled')
        AND fresh.closed_at IS NULL AND fresh.status = 'open'
    ), changed AS MATERIALIZED (
      SELECT coalesce(sum_id, id) AS key, min(reason) AS reason
      FROM (
        SELECT match.id, sum_id, ${reasonOf()} AS reason,
               title.status = 'current' AND title_id IN (SELECT title_id FROM live WHERE is_own) AS is_asked
        FROM conciliation.title_match AS match
        JOIN (SELECT title.*, buyer, is_claimed FROM conciliation.title AS title ${BUYER_NAME}) AS title
          ON title.id = title_id
        JOIN (SELECT payable.*, buyers, roots, is_named FROM conciliation.erp_payable AS payable ${COMPANY_NAME})
          AS payable ON payable.erp_key = match.erp_key
        WHERE ended_at IS NULL
      ) AS judged
      WHERE reason IS NOT NULL GROUP BY 1
      HAVING bool_or(reason IN (${WITHDRAWN}, ${ENTERED_AGAIN})) OR NOT bool_or(is_asked)
    ), ended AS (
      UPDATE conciliation.title_match AS match
      SET ended_at = clock_timestamp(), ended_by = ${MATCHING_ACTOR}, end_reason = changed.reason
      FROM changed WHERE coalesce(match.sum_id, match.id) = changed.key AND ended_at IS NULL
      RETURNING changed.key
    )
    SELECT count(DISTINCT key)::int AS ended FROM ended`;
  return ended;
}

const reasonOf = () => Prisma.sql`
  CASE WHEN title.status = 'withdrawn' THEN ${WITHDRAWN}
       WHEN payable.erp_key IN (SELECT erp_key FROM entered_again) THEN ${ENTERED_AGAIN}
       WHEN payable.status = 'cancelled' THEN ${CANCELLED}
       -- Whatever else changes is left to the person.
       WHEN rule = 'person' THEN NULL
       WHEN ${TITLE_GROUND} <> title_ground THEN 'the title has changed'
       -- A payable of which nothing is left is paid, as one with the status; one of which less is left is paid in part.
       WHEN ${PAYABLE_GROUND} <> erp_ground AND payable.status = 'open' AND payable.open_value <> 0 AND NOT ${IS_REDUCED}
         THEN ${CHANGED}
       WHEN NOT ${MAY_BE_COMPANY} THEN 'the company is another buyer'
  END`;

/**
 * Gives the successor of a restated title its payables, where a line asked for them and the reversal is not posted.
 * The successor is the title that a merge linked with the withdrawn title, or the only title of the same order, buyer,
 * provider, due date and value on another accepted date.
 */
async function inheritMatches(tx: Transaction, runId: bigint): Promise<void> {
  await tx.$executeRaw`
    WITH RECURSIVE ${ASKED}, gone AS MATERIALIZED (
      SELECT title.* FROM conciliation.title AS title
      WHERE status = 'withdrawn' AND id = ANY(ARRAY(SELECT title_id FROM left_over WHERE NOT is_undone))
    ), heir AS (
      SELECT link.predecessor_id AS gone_id, link.title_id FROM conciliation.title_succession AS link
      JOIN gone ON gone.id = link.predecessor_id
      UNION
      SELECT heir.gone_id, link.title_id
      FROM heir JOIN conciliation.title_succession AS link ON link.predecessor_id = heir.title_id
    ), moved AS (
      SELECT gone.id AS gone_id, title.id AS title_id, count(*) OVER (PARTITION BY gone.id) AS heirs,
             count(*) OVER (PARTITION BY title.id) AS predecessors
      FROM gone JOIN (
        SELECT * FROM conciliation.title
        WHERE status = 'current' AND order_uid = ANY(ARRAY(SELECT order_uid FROM gone))
      ) AS title ON title.order_uid = gone.order_uid AND title.accepted_date <> gone.accepted_date
       AND ROW(title.buyer_identification, title.provider_external_id, title.anticipated_due_date)
           IS NOT DISTINCT FROM
           ROW(gone.buyer_identification, gone.provider_external_id, gone.anticipated_due_date)
       AND title.original_value = gone.original_value
    ), chosen AS MATERIALIZED (
      SELECT DISTINCT ON (title_id) gone_id, title_id, is_moved FROM (
        SELECT gone_id, title_id, false AS is_moved FROM heir
        UNION ALL SELECT gone_id, title_id, true FROM moved WHERE heirs = 1 AND predecessors = 1
      ) AS known
      WHERE title_id = ANY(ARRAY(SELECT id FROM conciliation.title WHERE status = 'current'
                                   AND id = ANY(ARRAY(SELECT title_id FROM heir UNION SELECT title_id FROM moved))))
        AND NOT EXISTS (SELECT FROM conciliation.title_payable AS own
                        WHERE own.title_id = known.title_id)
        -- Another instalment of the order, which a merge has taken for the withdrawn one, has a payable of its own.
        AND NOT EXISTS (
          SELECT FROM conciliation.title AS heir JOIN conciliation.title AS gone ON gone.id = gone_id
          JOIN conciliation.erp_payable AS payable ON payable.order_uid = heir.order_uid
           AND payable.due_date = heir.anticipated_due_date AND payable.open_value = heir.original_value
          WHERE heir.id = known.title_id AND payable.status = 'open' AND payable.closed_at IS NULL
            AND (gone.anticipated_due_date, gone.original_value)
                IS DISTINCT FROM (heir.anticipated_due_date, heir.original_value)
            AND NOT EXISTS (SELECT FROM conciliation.title_payable AS taken WHERE taken.erp_key = payable.erp_key))
      ORDER BY title_id, gone_id DESC
    ), successor AS MATERIALIZED (
      -- Of several titles, the one that a merge has linked.
      SELECT DISTINCT ON (gone_id) gone_id, title_id FROM chosen ORDER BY gone_id, is_moved, title_id
    ), inherited AS MATERIALIZED (
      -- The newest match of the withdrawn title, unless another title has one of its payables.
      SELECT match.*, successor.title_id AS heir_id FROM successor
      JOIN conciliation.title_match AS match ON match.title_id = gone_id
      WHERE ended_by = ${MATCHING_ACTOR} AND end_reason = ${WITHDRAWN} AND erp_part = 0
        AND coalesce(sum_id, match.id) = (
          SELECT coalesce(newest.sum_id, newest.id) FROM conciliation.title_match AS newest
          WHERE newest.title_id = gone_id ORDER BY newest.id DESC LIMIT 1)
        AND NOT EXISTS (
          SELECT FROM conciliation.title_match AS sum JOIN conciliation.title_match AS other USING (erp_key)
          WHERE coalesce(sum.sum_id, sum.id) = coalesce(match.sum_id, match.id) AND other.ended_at IS NULL
            AND other.title_id <> gone_id)
    ), sum AS MATERIALIZED (
      SELECT sum_id, nextval('conciliation.title_match_id_seq') AS new_id
      FROM (SELECT DISTINCT sum_id FROM inherited WHERE sum_id IS NOT NULL) AS sums
    )
    INSERT INTO conciliation.title_match
      (title_id, erp_key, sum_id, title_part, erp_part, rule, rule_version, run_id, made_by, reason,
       title_ground, erp_ground, erp_value, code, difference)
    SELECT heir_id, inherited.erp_key, new_id, title_part, 0,
           CASE WHEN rule IN ('sum', 'person') THEN rule ELSE 'inherited' END, rule_version,
           CASE WHEN rule <> 'person' THEN ${runId}::bigint END, made_by, inherited.reason,
           ${TITLE_GROUND}, ${PAYABLE_GROUND}, ${PAYABLE_VALUE}, code,
           -- The difference to another value is not confirmed.
           CASE WHEN title.original_value = (SELECT original_value FROM conciliation.title AS gone WHERE gone.id = inherited.title_id)
                THEN difference ELSE 0 END
    FROM inherited LEFT JOIN sum USING (sum_id)
    JOIN conciliation.title AS title ON title.id = heir_id
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = inherited.erp_key`;
}

/**
 * Whether titles, payables, bookings or BOOKINGS_FROM changed after the newest run began, a person has decided since,
 * or another day has begun. Stale payables are not
 * matched by the service.
 * @param maxAgeHours the age from which payables are stale
 */
export async function isMatchingDue(
  database: Database,
  maxAgeHours: number,
  bookingsFrom: CivilDate | null = null,
): Promise<boolean> {
  if (await arePayablesStale(database.prisma, maxAgeHours)) return false;
  const [row] = await database.prisma.$queryRaw<[{ due: boolean }]>`
    WITH newest AS (
      SELECT max(started_at) AS at, bool_or(NOT breaks_known) AS is_unknown, max(payables_seen) AS seen,
             max(bookings_seen) AS bookings, max(time_zone) AS zone, max(bookings_from) AS bookings_from
      FROM conciliation.match_run WHERE id = (SELECT max(id) FROM conciliation.match_run)
    )
    SELECT EXISTS (SELECT FROM conciliation.erp_payable)
       AND (at IS NULL OR is_unknown
            OR seen <> ${payablesSeen(Prisma.sql`at`)}
            OR bookings <> ${BOOKINGS_SEEN} OR bookings_from IS DISTINCT FROM ${bookingsFrom}::date
            -- Graces and due dates end with a day.
            OR (at AT TIME ZONE zone)::date < (now() AT TIME ZONE zone)::date
            -- A merge may commit after the time of its pull. The checks of its date run after the commit.
            OR EXISTS (SELECT FROM conciliation.day_check WHERE checked_at >= at)
            OR EXISTS (SELECT FROM conciliation.pull
                       WHERE finished_at >= at AND coalesce(inserted + changed + withdrawn + restored, 0) > 0)
           ) AS due
    FROM newest`;
  return row.due;
}

const EVERY_MS = 60_000;

/** Matches titles with payables within a minute after one of them has changed. */
export function startMatchingLoop({
  database,
  logger,
  config: { erpPayablesMaxAgeHours, timezone: timeZone, bookingsFrom },
}: LoopParts<'erpPayablesMaxAgeHours' | 'timezone' | 'bookingsFrom'>): Loop {
  return loop({
    everyMs: EVERY_MS,
    run: async () => {
      if (!(await isMatchingDue(database, erpPayablesMaxAgeHours, bookingsFrom))) return;
      const run = await runMatching(database, { by: MATCHING_ACTOR, timeZone, bookingsFrom });
      logger.info({ ...run }, 'titles matched');
    },
    failure: { logger, message: 'titles were not matched' },
  });
}
