import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';

/**
 * Updates `rejected_title` to the latest response for a date: a reject that is still in the
 * response keeps its row, a missing one becomes `resolved`, a new one is `open`. Rejects are matched by their
 * bytes, copy by copy.
 *
 * A reject stays accepted. But if titles stay current because a reject may be one of them, the acceptance holds for
 * the same titles only: the rejects of a response with other titles are `open` again. Otherwise a person who
 * accepted a reject beside a complete day would have accepted every later shrinkage of the day.
 *
 * @param withheld titles that the response lacks and that stay current because of a reject
 * @returns the number of open rejects
 */
export async function mergeRejects(
  tx: Transaction,
  source: { readonly pullId: bigint; readonly fence: bigint; readonly date: CivilDate },
  withheld: number,
): Promise<number> {
  const [{ open }] = await tx.$queryRaw<[{ open: number }]>`
    WITH reopening AS MATERIALIZED (
      SELECT ${withheld}::int > 0
             AND (pull.fold_count, pull.fold_sum) IS DISTINCT FROM (merged.fold_count, merged.fold_sum) AS reopens
      FROM conciliation.pull
      JOIN conciliation.day ON day.date = pull.date
      LEFT JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
      WHERE pull.id = ${source.pullId}
    ), response AS (
      SELECT *, row_number() OVER (PARTITION BY raw_hash ORDER BY ordinal) AS copy
      FROM conciliation.staged_reject WHERE fence = ${source.fence}
    ), present AS (
      SELECT id, raw_hash,
             row_number() OVER (PARTITION BY raw_hash ORDER BY status = 'open', id) AS copy
      FROM conciliation.rejected_title
      WHERE status <> 'resolved' AND date = ${source.date}::date
    ), matched AS (
      SELECT present.id, response.ordinal, response.ordinal IS NOT NULL AND reopens AS is_reopened
      FROM present LEFT JOIN response USING (raw_hash, copy) CROSS JOIN reopening
    ), known AS (
      UPDATE conciliation.rejected_title reject
      SET last_pull_id = CASE WHEN matched.ordinal IS NULL THEN last_pull_id ELSE ${source.pullId} END,
          ordinal = coalesce(matched.ordinal, reject.ordinal),
          status = CASE WHEN matched.ordinal IS NULL THEN 'resolved'
                        WHEN is_reopened THEN 'open' ELSE reject.status END,
          decided_at = CASE WHEN NOT is_reopened THEN decided_at END,
          decided_by = CASE WHEN NOT is_reopened THEN decided_by END,
          reason = CASE WHEN NOT is_reopened THEN reason END
      FROM matched
      WHERE matched.id = reject.id AND reject.id = ANY(ARRAY(SELECT id FROM matched))
      RETURNING status
    ), added AS (
      INSERT INTO conciliation.rejected_title
        (date, order_uid, first_pull_id, last_pull_id, ordinal, reasons, raw, raw_bytes, raw_hash)
      SELECT ${source.date}::date, order_uid, ${source.pullId}::bigint, ${source.pullId}::bigint, ordinal,
             reasons, raw, raw_bytes, raw_hash
      FROM response
      WHERE ordinal NOT IN (SELECT ordinal FROM matched WHERE ordinal IS NOT NULL)
      ORDER BY ordinal
      RETURNING status
    )
    SELECT count(*)::int AS open
    FROM (SELECT status FROM known UNION ALL SELECT status FROM added) AS reject WHERE status = 'open'`;
  return open;
}
