import type { CivilDate } from '../domain/business-day.ts';
import type { Prisma } from '../generated/prisma/client.ts';

/**
 * Brings `rejected_title` to what the latest response says of `dates`: a reject that is still there
 * keeps its row, and with it a person's acceptance; one that is gone is `resolved`; a new one is
 * `open`. Rejects are matched by their bytes, copy by copy. Rejects without a date belong to the
 * pulls of sweeps and are matched among themselves.
 */
export async function mergeRejects(
  tx: Prisma.TransactionClient,
  source: { readonly pullId: bigint; readonly fence: bigint },
  dates: readonly CivilDate[],
  scope: { readonly undated: boolean },
): Promise<void> {
  await tx.$executeRaw`
    WITH response AS (
      SELECT *, row_number() OVER (PARTITION BY date, raw_hash ORDER BY ordinal) AS copy
      FROM conciliation.staged_reject
      WHERE fence = ${source.fence}
        AND (date = ANY(${dates}::date[]) OR (date IS NULL AND ${scope.undated}::boolean))
    ), present AS (
      SELECT id, date, raw_hash,
             row_number() OVER (PARTITION BY date, raw_hash ORDER BY status = 'open', id) AS copy
      FROM conciliation.rejected_title
      WHERE status <> 'resolved'
        AND (date = ANY(${dates}::date[]) OR (date IS NULL AND ${scope.undated}::boolean))
    ), matched AS (
      SELECT present.id, response.ordinal
      FROM present LEFT JOIN response
        ON response.date IS NOT DISTINCT FROM present.date
       AND response.raw_hash = present.raw_hash AND response.copy = present.copy
    ), known AS (
      UPDATE conciliation.rejected_title reject
      SET last_pull_id = CASE WHEN matched.ordinal IS NULL THEN last_pull_id ELSE ${source.pullId} END,
          ordinal = coalesce(matched.ordinal, reject.ordinal),
          status = CASE WHEN matched.ordinal IS NULL THEN 'resolved' ELSE reject.status END
      FROM matched
      WHERE matched.id = reject.id AND reject.id = ANY(ARRAY(SELECT id FROM matched))
    )
    INSERT INTO conciliation.rejected_title
      (date, first_pull_id, last_pull_id, ordinal, reasons, raw, raw_bytes, raw_hash)
    SELECT date, ${source.pullId}::bigint, ${source.pullId}::bigint, ordinal, reasons, raw, raw_bytes, raw_hash
    FROM response
    WHERE ordinal NOT IN (SELECT ordinal FROM matched WHERE ordinal IS NOT NULL)
    ORDER BY ordinal`;
}
