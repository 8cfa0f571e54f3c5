/** What the merges and erasures of a date have left in `title`: the append-only table `date_digest`. */
import type { Transaction } from '../database/database.ts';
import { ROW_DIGEST } from '../database/title-hashes.sql.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** One row (titles, digest): the rows of `title` that a date has. */
const presentRows = (date: CivilDate) => Prisma.sql`
  SELECT count(*) AS titles, sha256(coalesce(string_agg(digest, '' ORDER BY id), '')) AS digest
  FROM (SELECT id, ${ROW_DIGEST} AS digest FROM conciliation.title WHERE accepted_date = ${date}::date) AS title`;

/** The newest row of a date; none: no merge has changed titles of it. */
export const newestDigest = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT * FROM conciliation.date_digest WHERE date = ${date}::date ORDER BY id DESC LIMIT 1`;

/** Whether the rows of `title` are those that the newest merge or erasure of the date has left. */
export const areRowsRecorded = (date: CivilDate): Prisma.Sql => Prisma.sql`
  (SELECT (present.titles, present.digest)
            = (coalesce(recorded.titles, 0), coalesce(recorded.digest, sha256('')))
   FROM (${presentRows(date)}) AS present LEFT JOIN (${newestDigest(date)}) AS recorded ON true)`;

export async function hasRecordedRows(tx: Transaction, date: CivilDate): Promise<boolean> {
  const [{ isRecorded }] = await tx.$queryRaw<[{ isRecorded: boolean }]>`
    SELECT ${areRowsRecorded(date)} AS "isRecorded"`;
  return isRecorded;
}

/** @param pullId of the merge; null: an erasure */
export async function appendDigest(
  tx: Transaction,
  date: CivilDate,
  pullId: bigint | null,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.date_digest (date, pull_id, titles, digest)
    SELECT ${date}::date, ${pullId}::bigint, titles, digest FROM (${presentRows(date)}) AS present`;
}
