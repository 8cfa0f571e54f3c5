import type { Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';

/**
 * Updates `rejected_title` to the latest response for a date: a reject that is still in the
 * response keeps its row and its acceptance, a missing one becomes `resolved`, a new one is `open`.
 * Rejects are matched by their bytes, copy by copy.
 */
export async function mergeRejects(
  tx: Transaction,
  source: { readonly pullId: bigint; readonly fence: bigint; readonly date: CivilDate },
): Promise<void> {
  await tx.$executeRaw`
    WITH response AS (
      SELECT *, row_number() OVER (PARTITION BY raw_hash ORDER BY ordinal) AS copy
      FROM conciliation.staged_reject WHERE fence = ${source.fence}
    ), present AS (
      SELECT id, raw_hash,
             row_number() OVER (PARTITION BY raw_hash ORDER BY status = 'open', id) AS copy
      FROM conciliation.rejected_title
      WHERE status <> 'resolved' AND date = ${source.date}::date
    ), matched AS (
      SELECT present.id, response.ordinal FROM present LEFT JOIN response USING (raw_hash, copy)
    ), known AS (
      UPDATE conciliation.rejected_title reject
      SET last_pull_id = CASE WHEN matched.ordinal IS NULL THEN last_pull_id ELSE ${source.pullId} END,
          ordinal = coalesce(matched.ordinal, reject.ordinal),
          status = CASE WHEN matched.ordinal IS NULL THEN 'resolved' ELSE reject.status END
      FROM matched
      WHERE matched.id = reject.id AND reject.id = ANY(ARRAY(SELECT id FROM matched))
    )
    INSERT INTO conciliation.rejected_title
      (date, order_uid, first_pull_id, last_pull_id, ordinal, reasons, raw, raw_bytes, raw_hash)
    SELECT ${source.date}::date, order_uid, ${source.pullId}::bigint, ${source.pullId}::bigint, ordinal,
           reasons, raw, raw_bytes, raw_hash
    FROM response
    WHERE ordinal NOT IN (SELECT ordinal FROM matched WHERE ordinal IS NOT NULL)
    ORDER BY ordinal`;
}

export function countOpenRejects(tx: Transaction, date: CivilDate): Promise<number> {
  return tx.rejectedTitle.count({ where: { date, status: 'open' } });
}
