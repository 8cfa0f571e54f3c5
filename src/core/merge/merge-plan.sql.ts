import type { Transaction } from '../../base/database/database.ts';
import { StagingUnavailableError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LockedDay } from '../ledger/day-ledger.sql.ts';
import { TITLE_COLUMNS } from '../title/title.ts';
import { COMPUTED_CONTENT_HASH, COMPUTED_IDENTITY_HASH } from '../title/title-hashes.sql.ts';
import type { ChangeCounts, MergePlan, MergingPull } from './engine-hooks.ts';

export const NO_CHANGES: ChangeCounts = {
  inserted: 0,
  changed: 0,
  withdrawn: 0,
  restored: 0,
  unchanged: 0,
  withheld: 0,
};

/**
 * Matches the response of one attempt with the titles of its date, and writes the changes into
 * `staged_change`. Equal titles get no row, so an unchanged day writes nothing.
 *
 * The order of a response has no meaning, and a title has no identifier. So the contents that the date has afterwards
 * depend only on the two multisets of contents. Of rows with equal contents and different texts, the known texts decide
 * which row goes.
 *
 * 1. equal content matches, copy by copy (two identical titles are two rows);
 * 2. the titles left on both sides match by identity: `changed`;
 * 3. left in the table: `withdrawn`, unless a reject of the response may be the title;
 * 4. left in the response: a withdrawn title of equal content, then of equal identity, is `restored`;
 * 5. the rest is `inserted`, with the next free occurrence of its identity.
 *
 * Where `staged_base` has a row, the reader has matched the titles of equal text. They are not staged, and
 * of the titles of the date only those that `staged_missing` names are matched here.
 *
 * Of a date without titles, every staged title is inserted, and `staged_change` gets no row.
 *
 * The caller holds the lock of the day's row, so the titles do not change between the statements below, and
 * has called `configurePlanner`.
 *
 * In a repair, no stored hash counts, and every column that differs from the response is written.
 *
 * @throws StagingUnavailableError when the date was changed since its titles were read
 */
export async function planChanges(
  tx: Transaction,
  day: LockedDay,
  { fence, isRepair }: Pick<MergingPull, 'fence' | 'isRepair'>,
): Promise<MergePlan> {
  if (day.isStale) {
    throw new StagingUnavailableError(
      `another pull changed ${day.date} while its titles were read; they are read again`,
      { context: { date: day.date } },
    );
  }
  const titles = day.stagedTitles + (day.knownTitles ?? 0);
  const rejected = day.stagedRejects;
  if (day.knownTitles === null && !day.hasTitles) {
    return { ...NO_CHANGES, titles, rejected, inserted: titles };
  }
  if (isRepair) await hashAgain(tx, day.date);
  const { inserted, changed: unequal, withdrawn, restored } = await matchTitles(tx, fence, day);
  const changed = unequal + (isRepair ? await planDiffering(tx, fence, day.date) : 0);
  const withheld = rejected === 0 ? 0 : await withholdWithdrawals(tx, fence);
  return {
    titles,
    rejected,
    inserted,
    changed,
    withdrawn: withdrawn - withheld,
    restored,
    unchanged: titles - inserted - changed - restored,
    withheld,
  };
}

/**
 * Gives the titles of a date the content hashes of their columns. The identity hash of a current title stays, so that
 * it is matched with the title of the response that it was. No response states the columns of a withdrawn title, so it
 * gets hashes only where its columns are those that the newest change has recorded.
 */
async function hashAgain(tx: Transaction, date: CivilDate): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.title
    SET content_hash = ${COMPUTED_CONTENT_HASH},
        identity_hash = CASE status WHEN 'current' THEN identity_hash ELSE ${COMPUTED_IDENTITY_HASH} END
    WHERE accepted_date = ${date}::date AND erased_at IS NULL
      AND (content_hash <> ${COMPUTED_CONTENT_HASH} OR status = 'withdrawn' AND identity_hash <> ${COMPUTED_IDENTITY_HASH})
      AND CASE status WHEN 'current' THEN true ELSE ${COMPUTED_CONTENT_HASH} = (
        SELECT change.content_hash FROM conciliation.title_change AS change
        WHERE change.title_id = title.id AND kind <> 'payment_decided'
          AND pull_id = ANY(ARRAY(SELECT pull.id FROM conciliation.pull WHERE date = ${date}::date))
        ORDER BY change_seq DESC LIMIT 1) END`;
}

// Column names are constants of core/title: nothing from outside reaches Prisma.raw.
const columnsOf = (table: string) =>
  Prisma.raw(
    [...TITLE_COLUMNS, 'identity_hash', 'raw_hash', 'erased_at IS NULL']
      .map((column) => `${table}.${column}`)
      .join(', '),
  );

/**
 * Plans a change for each title whose content the response has, if one of its columns differs, or if the
 * feed does not have its id. The copies are numbered as `matchTitles` numbers them.
 *
 * @returns the number of these titles
 */
function planDiffering(tx: Transaction, fence: bigint, date: CivilDate): Promise<number> {
  return tx.$executeRaw`
    WITH response AS (
      SELECT *, row_number() OVER (PARTITION BY content_hash ORDER BY ordinal) AS copy
      FROM conciliation.staged_title WHERE fence = ${fence}
    ), present AS (
      SELECT *, row_number() OVER (PARTITION BY content_hash ORDER BY occurrence, id) AS copy
      FROM conciliation.title WHERE accepted_date = ${date}::date AND status = 'current'
    )
    INSERT INTO conciliation.staged_change (fence, kind, ordinal, title_id, occurrence)
    SELECT ${fence}::bigint, 'changed', response.ordinal, present.id, 1
    FROM response JOIN present USING (content_hash, copy)
    -- As text, because 3.90 and 3.9 are equal as numbers and written differently.
    WHERE ROW(${columnsOf('response')})::text <> ROW(${columnsOf('present')})::text
       OR present.id NOT IN (
         SELECT title_id FROM conciliation.title_change
         WHERE pull_id = ANY(ARRAY(SELECT id FROM conciliation.pull WHERE date = ${date}::date)))`;
}

/** The matching of `planChanges`. Returns the number of rows of `staged_change` by kind. */
async function matchTitles(
  tx: Transaction,
  fence: bigint,
  { date, knownTitles, withdrawnCount }: LockedDay,
): Promise<Omit<ChangeCounts, 'unchanged' | 'withheld'>> {
  // Whether only the difference from the titles of the date was staged.
  const isDifference = knownTitles !== null;
  // The count of the day may be wrong where the difference from the titles of the date is not known: the
  // status of a row may have been altered.
  const mayHaveWithdrawn = !isDifference || withdrawnCount > 0;
  const [counts] = await tx.$queryRaw<[Omit<ChangeCounts, 'unchanged' | 'withheld'>]>`
    WITH response AS (
      SELECT ordinal, identity_hash, content_hash,
             row_number() OVER (PARTITION BY content_hash ORDER BY ordinal) AS copy
      FROM conciliation.staged_title WHERE fence = ${fence}
    ), missing AS MATERIALIZED (
      SELECT raw_hash, copies FROM conciliation.staged_missing WHERE fence = ${fence}
    ), unmatched AS (
      SELECT id, identity_hash, content_hash, occurrence FROM conciliation.title
      WHERE NOT ${isDifference}::boolean AND accepted_date = ${date}::date AND status = 'current'
      UNION ALL
      SELECT id, identity_hash, content_hash, occurrence
      FROM (
        SELECT title.id, title.identity_hash, title.content_hash, title.occurrence, missing.copies,
               row_number() OVER (PARTITION BY title.raw_hash
                                  ORDER BY title.occurrence DESC, title.id DESC) AS copy
        FROM conciliation.title title
        JOIN missing ON missing.raw_hash = title.raw_hash
        WHERE EXISTS (SELECT FROM missing) AND title.accepted_date = ${date}::date
          AND title.status = 'current'
      ) AS candidate
      WHERE copy <= copies
    ), present AS (
      SELECT *, row_number() OVER (PARTITION BY content_hash ORDER BY occurrence, id) AS copy
      FROM unmatched
    ), unequal AS (
      SELECT coalesce(response.identity_hash, present.identity_hash) AS identity_hash,
             coalesce(response.content_hash, present.content_hash) AS content_hash,
             response.ordinal, present.id, present.occurrence
      FROM response FULL JOIN present USING (content_hash, copy)
      WHERE response.ordinal IS NULL OR present.id IS NULL
    ), ranked AS (
      SELECT *, row_number() OVER (
                  PARTITION BY identity_hash, ordinal IS NULL
                  ORDER BY occurrence, content_hash, ordinal) AS rank
      FROM unequal
    ), incoming AS (SELECT * FROM ranked WHERE ordinal IS NOT NULL),
       outgoing AS (SELECT * FROM ranked WHERE ordinal IS NULL),
    paired AS MATERIALIZED (
      SELECT incoming.ordinal, outgoing.id, identity_hash, incoming.content_hash
      FROM incoming FULL JOIN outgoing USING (identity_hash, rank)
    ), fresh AS MATERIALIZED (
      SELECT *, row_number() OVER (PARTITION BY content_hash ORDER BY ordinal) AS copy
      FROM paired WHERE id IS NULL
    ), gone AS MATERIALIZED (
      SELECT id, identity_hash, content_hash, occurrence,
             row_number() OVER (PARTITION BY content_hash ORDER BY occurrence, id) AS copy
      FROM conciliation.title
      WHERE ${mayHaveWithdrawn}::boolean AND EXISTS (SELECT FROM fresh)
        AND accepted_date = ${date}::date AND status = 'withdrawn'
    ), equal AS MATERIALIZED (
      -- By content first, so that a title that comes back unchanged gets its own row, and not the row of another
      -- title of its identity.
      SELECT fresh.ordinal, gone.id FROM fresh JOIN gone USING (content_hash, copy)
    ), restored AS MATERIALIZED (
      SELECT * FROM equal
      UNION ALL
      SELECT incoming.ordinal, outgoing.id
      FROM (SELECT *, row_number() OVER (PARTITION BY identity_hash ORDER BY content_hash, ordinal) AS rank
            FROM fresh WHERE ordinal NOT IN (SELECT ordinal FROM equal)) AS incoming
      JOIN (SELECT *, row_number() OVER (PARTITION BY identity_hash ORDER BY occurrence, id) AS rank
            FROM gone WHERE id NOT IN (SELECT id FROM equal)) AS outgoing USING (identity_hash, rank)
    ), added AS MATERIALIZED (
      SELECT ordinal, identity_hash,
             row_number() OVER (PARTITION BY identity_hash ORDER BY content_hash, ordinal) AS rank
      FROM fresh WHERE ordinal NOT IN (SELECT ordinal FROM restored)
    ), taken AS (
      SELECT identity_hash, max(occurrence) AS occurrence
      FROM conciliation.title
      WHERE accepted_date = ${date}::date AND identity_hash IN (SELECT identity_hash FROM added)
      GROUP BY identity_hash
    ), planned AS (
      INSERT INTO conciliation.staged_change (fence, kind, ordinal, title_id, occurrence)
      SELECT ${fence}::bigint, CASE WHEN ordinal IS NULL THEN 'withdrawn' ELSE 'changed' END, ordinal, id, NULL::bigint
      FROM paired WHERE id IS NOT NULL
      UNION ALL
      SELECT ${fence}::bigint, 'restored', ordinal, id, NULL FROM restored
      UNION ALL
      SELECT ${fence}::bigint, 'inserted', ordinal, NULL, coalesce(taken.occurrence, 0) + added.rank
      FROM added LEFT JOIN taken USING (identity_hash)
      RETURNING kind
    )
    SELECT count(*) FILTER (WHERE kind = 'inserted')::int AS inserted,
           count(*) FILTER (WHERE kind = 'changed')::int AS changed,
           count(*) FILTER (WHERE kind = 'withdrawn')::int AS withdrawn,
           count(*) FILTER (WHERE kind = 'restored')::int AS restored
    FROM planned`;
  return counts;
}

/**
 * Drops the withdrawals of titles that a reject of the response may be. A reject is another title only if
 * its order uid can be read and differs, because the order uid is part of a title's identity. Uids differ if their
 * ASCII letters or digits differ, regardless of case. They are not compared if one of them has no such letter or digit
 * and may be a placeholder, or has a character beyond printable ASCII, which may be invisible or transliterated.
 *
 * @returns the number of titles that are not withdrawn because of a reject
 */
function withholdWithdrawals(tx: Transaction, fence: bigint): Promise<number> {
  return tx.$executeRaw`
    DELETE FROM conciliation.staged_change change USING conciliation.title title
    WHERE change.fence = ${fence} AND change.kind = 'withdrawn' AND title.id = change.title_id
      AND EXISTS (SELECT FROM conciliation.staged_reject WHERE fence = ${fence})
      AND title.id = ANY(ARRAY(SELECT title_id FROM conciliation.staged_change
                               WHERE fence = ${fence} AND kind = 'withdrawn'))
      AND (EXISTS (SELECT FROM conciliation.staged_reject
                   WHERE fence = ${fence}
                     AND (order_uid IS NULL OR ${isUnclear(Prisma.sql`order_uid`)}))
           OR ${isUnclear(Prisma.sql`title.order_uid`)}
           OR ${comparedUid(Prisma.sql`title.order_uid`)} IN (
                SELECT ${comparedUid(Prisma.sql`reject.order_uid`)} FROM conciliation.staged_reject AS reject
                WHERE fence = ${fence} AND order_uid IS NOT NULL))`;
}

const isUnclear = (uid: Prisma.Sql) =>
  Prisma.sql`(${uid} COLLATE "C" ~ '[^ -~]' OR ${uid} COLLATE "C" !~ '[A-Za-z0-9]')`;

const comparedUid = (uid: Prisma.Sql) =>
  Prisma.sql`lower(regexp_replace(${uid} COLLATE "C", '[^A-Za-z0-9]', '', 'g'))`;

/**
 * Configures PostgreSQL's planner for the transaction of a merge, which must not depend on statistics:
 * the staging tables are filled and emptied all day, `title` doubles within seconds in a backfill, and
 * autovacuum may analyse either at any moment.
 *
 * - Rows of an attempt are matched with others by hashing or sorting. A planner that expects one row
 *   compares 10,000 with 10,000 one by one, which takes minutes.
 * - Rows of large tables are looked up by an index. Rows named by another statement are named by an
 *   array of keys, `id = ANY(ARRAY(SELECT …))`, which an index answers. By statistics of a minute ago,
 *   when `title` had ten dates, each date is a tenth of the table.
 * - Rows are grouped by hashing. A planner that expects one row sorts 100,000 wide rows to group them.
 */
export async function configurePlanner(tx: Transaction): Promise<void> {
  await tx.$executeRaw`SELECT ${PLANNER_SETTINGS}`;
}

/** The output columns of a statement that configures the planner. */
export const PLANNER_SETTINGS = Prisma.sql`
  -- Room for a hash of narrow rows. A larger hash goes to disk and takes several times as long.
  set_config('work_mem', '64MB', true), set_config('enable_nestloop', 'off', true),
  set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)`;
