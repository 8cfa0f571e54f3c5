/**
 * A repair is a pull of a date whose rows were altered by something other than a merge. No stored hash of the
 * date counts. The rows get the values of the response back, each with a revision that shows the alteration.
 */
import type { Transaction } from '../../database/database.ts';
import { computedContentHash } from '../../database/title-hashes.sql.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import {
  newestRecords,
  readContentVersion,
  rowAlterations,
} from '../../integrity/check-date.sql.ts';

/**
 * Notes the altered titles of a date until the transaction ends, and gives those that are current the
 * content hashes of their columns. The identity hashes stay, so that an altered title is matched with the
 * title of the response that it was.
 */
export async function findAlteredTitles(tx: Transaction, date: CivilDate): Promise<void> {
  const contentVersion = await readContentVersion(tx, date);
  await tx.$executeRaw`CREATE TEMPORARY TABLE altered_title (id bigint, problem text) ON COMMIT DROP`;
  await tx.$executeRaw`
    INSERT INTO pg_temp.altered_title (id, problem)
    SELECT title_id, problem FROM (${rowAlterations(date, contentVersion)}) AS altered`;
  await tx.$executeRaw`
    UPDATE conciliation.title SET content_hash = ${computedContentHash(contentVersion)}
    WHERE status = 'current' AND erased_at IS NULL
      AND id = ANY(ARRAY(SELECT id FROM pg_temp.altered_title
                         WHERE problem IN ('content', 'unrecorded')))`;
}

/** Gives the row of a date the seal that `sign_off` has. */
export async function restoreSeal(tx: Transaction, date: CivilDate): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.day
    SET signed_off_at = seal.signed_off_at, signed_off_by = seal.signed_off_by,
        signed_off_digest = seal.content_digest
    FROM (SELECT) AS one LEFT JOIN conciliation.sign_off AS seal
      ON seal.date = ${date}::date AND seal.ended_at IS NULL
    WHERE day.date = ${date}::date
      AND (day.signed_off_at, day.signed_off_by, day.signed_off_digest)
            IS DISTINCT FROM (seal.signed_off_at, seal.signed_off_by, seal.content_digest)`;
}

/**
 * Plans a change for each altered title whose content the response has: the change writes the columns that
 * no content hash covers, and records the row. The copies are numbered as `planChanges` numbers them.
 */
export async function planRepairs(tx: Transaction, fence: bigint, date: CivilDate): Promise<void> {
  await tx.$executeRaw`
    WITH response AS (
      SELECT ordinal, content_hash,
             row_number() OVER (PARTITION BY content_hash ORDER BY ordinal) AS copy
      FROM conciliation.staged_title WHERE fence = ${fence}
    ), present AS (
      SELECT id, content_hash,
             row_number() OVER (PARTITION BY content_hash ORDER BY occurrence, id) AS copy
      FROM conciliation.title WHERE accepted_date = ${date}::date AND status = 'current'
    )
    INSERT INTO conciliation.staged_change (fence, kind, ordinal, title_id, occurrence)
    SELECT ${fence}::bigint, 'changed', response.ordinal, present.id, 1
    FROM response JOIN present USING (content_hash, copy)
    WHERE present.id = ANY(ARRAY(SELECT id FROM pg_temp.altered_title))`;
}

/**
 * Records that the rows of recorded titles are gone. The caller holds the lock of the closing phase. A title
 * of the response has a new row by then.
 */
export async function recordMissing(
  tx: Transaction,
  { pullId, date }: { readonly pullId: bigint; readonly date: CivilDate },
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.title_change (title_id, kind, pull_id)
    SELECT title_id, 'withdrawn', ${pullId}::bigint
    FROM (${newestRecords(date)}) AS recorded
    WHERE row_hash IS NOT NULL
      AND NOT EXISTS (SELECT FROM conciliation.title
                      WHERE id = recorded.title_id AND accepted_date = ${date}::date)
    ORDER BY title_id`;
}
