/** What the merges and erasures of a date have left in `title`: the append-only table `date_digest`. */
import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { ROW_DIGEST } from '../title/title-hashes.sql.ts';

/** One row (titles, digest) of rows with the columns id and digest, which is `ROW_DIGEST`. */
const digestOf = (rows: Prisma.Sql) => Prisma.sql`
  SELECT count(*) AS titles, sha256(coalesce(string_agg(digest, '' ORDER BY id), '')) AS digest FROM ${rows}`;

const presentRows = (date: CivilDate) => Prisma.sql`
  (SELECT id, ${ROW_DIGEST} AS digest FROM conciliation.title WHERE accepted_date = ${date}::date) AS title`;

/** The newest row of a date; none: no merge has changed titles of it. */
export const newestDigest = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT * FROM conciliation.date_digest WHERE date = ${date}::date ORDER BY id DESC LIMIT 1`;

/** Whether the rows of `title`, or `rows` as in `digestOf`, are those that the newest merge or erasure of the date has left. */
export const areRowsRecorded = (
  date: CivilDate,
  rows = presentRows(date),
): Prisma.Sql => Prisma.sql`
  (SELECT (present.titles, present.digest)
            = (coalesce(recorded.titles, 0), coalesce(recorded.digest, sha256('')))
   FROM (${digestOf(rows)}) AS present LEFT JOIN (${newestDigest(date)}) AS recorded ON true)`;

export async function hasRecordedRows(tx: Transaction, date: CivilDate): Promise<boolean> {
  const [{ isRecorded }] = await tx.$queryRaw<[{ isRecorded: boolean }]>`
    SELECT ${areRowsRecorded(date)} AS "isRecorded"`;
  return isRecorded;
}

/**
 * The statement that appends the digest of a date.
 * @param pullId of the merge; null: an erasure
 * @param rows as in `digestOf`
 */
export const digestRow = (
  date: CivilDate,
  pullId: bigint | null,
  rows = presentRows(date),
): Prisma.Sql => Prisma.sql`
  INSERT INTO conciliation.date_digest (date, pull_id, titles, digest)
  SELECT ${date}::date, ${pullId}::bigint, titles, digest FROM (${digestOf(rows)}) AS present`;

/** Appends the digest that an erasure leaves, and returns it for the entry of the erasure. */
export async function appendDigest(tx: Transaction, date: CivilDate): Promise<string> {
  const [{ digest }] = await tx.$queryRaw<[{ digest: string }]>`
    ${digestRow(date, null)} RETURNING encode(digest, 'hex') AS digest`;
  return digest;
}
