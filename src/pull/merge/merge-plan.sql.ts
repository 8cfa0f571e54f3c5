import { missingHolds } from '../../accounts/payment-holds.sql.ts';
import type { Transaction } from '../../database/database.ts';
import { COMPUTED_IDENTITY_HASH, computedContentHash } from '../../database/title-hashes.sql.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import { TITLE_COLUMNS } from '../../domain/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LockedDay } from '../../ledger/day-ledger.sql.ts';
import { StagingUnavailableError } from '../../runtime/errors.ts';

/** The changes of a response in its date, counted. */
export interface ChangeCounts {
  readonly inserted: number;
  readonly changed: number;
  readonly withdrawn: number;
  readonly restored: number;
  readonly unchanged: number;
  /**
   * Titles that the response lacks and that stay current, because a reject of the response may be the title.
   */
  readonly withheld: number;
}

/** The changes that `planChanges` found. */
export interface MergePlan extends ChangeCounts {
  /** Titles of the response that keep the contract. */
  readonly titles: number;
  readonly rejected: number;
}

/**
 * Matches the response of one attempt with the titles of its date, and writes the changes into
 * `staged_change`. Equal titles get no row, so an unchanged day writes nothing.
 *
 * The order of a response has no meaning, and a title has no identifier. So the outcome depends only on
 * the two multisets of contents:
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
 * @param isRepair whether no stored hash counts, and every column that differs from the response is written
 * @throws StagingUnavailableError when the date was changed since its titles were read
 */
export async function planChanges(
  tx: Transaction,
  fence: bigint,
  day: LockedDay,
  isRepair: boolean,
): Promise<MergePlan> {
  const [base] = await tx.$queryRaw<
    [{ isKnown: boolean; isStale: boolean; titles: number; rejected: number }]
  >`
    SELECT base.fence IS NOT NULL AS "isKnown",
           base.fence IS NOT NULL AND base_changed_at IS DISTINCT FROM ${day.changedAt}::timestamptz AS "isStale",
           (SELECT count(*) FROM conciliation.staged_title WHERE fence = ${fence})::int
             + coalesce(base.known, 0) AS titles,
           (SELECT count(*) FROM conciliation.staged_reject WHERE fence = ${fence})::int AS rejected
    FROM (SELECT) AS one LEFT JOIN conciliation.staged_base AS base ON base.fence = ${fence}`;
  const { isKnown, isStale, ...staged } = base;
  if (isStale) {
    throw new StagingUnavailableError(
      `another pull changed ${day.date} while its titles were read; they are read again`,
      { context: { date: day.date } },
    );
  }
  if (!isKnown && !day.hasTitles) {
    const none = { changed: 0, withdrawn: 0, restored: 0, unchanged: 0, withheld: 0 };
    return { ...staged, ...none, inserted: staged.titles };
  }
  if (isRepair) await hashAgain(tx, day.date);
  await matchCurrent(tx, fence, day, isKnown);
  if (isRepair) await planDiffering(tx, fence, day.date);
  const withheld = await withholdWithdrawals(tx, fence);
  const plan = await countPlan(tx, fence, staged, withheld);
  if (plan.inserted === 0) return plan;
  // The count of the day may be wrong where the difference from the titles of the date is not known: the
  // status of a row may have been altered.
  const mayHaveWithdrawn = !isKnown || day.withdrawnCount > 0;
  if (mayHaveWithdrawn) await matchWithdrawn(tx, fence, day);
  await numberInsertions(tx, fence, day);
  return mayHaveWithdrawn ? countPlan(tx, fence, staged, withheld) : plan;
}

/**
 * Gives the titles of a date the content hashes of their columns. The identity hash of a current title stays, so that
 * it is matched with the title of the response that it was.
 */
async function hashAgain(tx: Transaction, date: CivilDate): Promise<void> {
  const computed = computedContentHash(date);
  await tx.$executeRaw`
    UPDATE conciliation.title
    SET content_hash = ${computed},
        identity_hash = CASE status WHEN 'current' THEN identity_hash ELSE ${COMPUTED_IDENTITY_HASH} END
    WHERE accepted_date = ${date}::date AND erased_at IS NULL
      AND (content_hash <> ${computed} OR status = 'withdrawn' AND identity_hash <> ${COMPUTED_IDENTITY_HASH})`;
}

// Column names are constants of domain/: nothing from outside reaches Prisma.raw.
const columnsOf = (table: string) =>
  Prisma.raw(
    [...TITLE_COLUMNS, 'identity_hash', 'raw_hash', 'erased_at IS NULL']
      .map((column) => `${table}.${column}`)
      .join(', '),
  );

/**
 * Plans a change for each title whose content the response has, if one of its columns differs, if its payment is not
 * held although it has to be, or if the feed does not have its id. The copies are numbered as `matchCurrent` numbers them.
 */
async function planDiffering(tx: Transaction, fence: bigint, date: CivilDate): Promise<void> {
  await tx.$executeRaw`
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
       OR present.id IN (SELECT title_id FROM (${missingHolds(date)}) AS missing)
       OR present.id NOT IN (
         SELECT title_id FROM conciliation.title_change
         WHERE pull_id = ANY(ARRAY(SELECT id FROM conciliation.pull WHERE date = ${date}::date)))`;
}

/** @param isDifference whether only the difference from the titles of the date was staged */
async function matchCurrent(
  tx: Transaction,
  fence: bigint,
  { date }: LockedDay,
  isDifference: boolean,
): Promise<void> {
  await tx.$executeRaw`
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
       outgoing AS (SELECT * FROM ranked WHERE ordinal IS NULL)
    INSERT INTO conciliation.staged_change (fence, kind, ordinal, title_id, occurrence)
    SELECT ${fence}::bigint,
           CASE WHEN outgoing.id IS NULL THEN 'inserted'
                WHEN incoming.ordinal IS NULL THEN 'withdrawn'
                ELSE 'changed' END,
           incoming.ordinal, outgoing.id, incoming.rank
    FROM incoming FULL JOIN outgoing USING (identity_hash, rank)`;
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

async function matchWithdrawn(tx: Transaction, fence: bigint, { date }: LockedDay): Promise<void> {
  // The same matching twice, first by content, then by identity, so that a title that comes back unchanged
  // gets its own row, and not the row of another title of its identity.
  await tx.$executeRaw`
    WITH incoming AS (
      SELECT staged.ordinal, staged.content_hash,
             row_number() OVER (PARTITION BY staged.content_hash ORDER BY staged.ordinal) AS copy
      FROM conciliation.staged_change change
      JOIN conciliation.staged_title staged USING (fence, ordinal)
      WHERE change.fence = ${fence} AND change.kind = 'inserted'
    ), gone AS (
      SELECT id, content_hash,
             row_number() OVER (PARTITION BY content_hash ORDER BY occurrence, id) AS copy
      FROM conciliation.title WHERE accepted_date = ${date}::date AND status = 'withdrawn'
    )
    UPDATE conciliation.staged_change change SET kind = 'restored', title_id = gone.id
    FROM incoming JOIN gone USING (content_hash, copy)
    WHERE change.fence = ${fence} AND change.ordinal = incoming.ordinal`;
  await tx.$executeRaw`
    WITH incoming AS (
      SELECT staged.ordinal, staged.identity_hash,
             row_number() OVER (PARTITION BY staged.identity_hash
                                ORDER BY staged.content_hash, staged.ordinal) AS rank
      FROM conciliation.staged_change change
      JOIN conciliation.staged_title staged USING (fence, ordinal)
      WHERE change.fence = ${fence} AND change.kind = 'inserted'
    ), gone AS (
      SELECT id, identity_hash,
             row_number() OVER (PARTITION BY identity_hash ORDER BY occurrence, id) AS rank
      FROM conciliation.title
      WHERE accepted_date = ${date}::date AND status = 'withdrawn'
        AND id NOT IN (SELECT title_id FROM conciliation.staged_change
                       WHERE fence = ${fence} AND kind = 'restored')
    )
    UPDATE conciliation.staged_change change SET kind = 'restored', title_id = gone.id
    FROM incoming JOIN gone USING (identity_hash, rank)
    WHERE change.fence = ${fence} AND change.ordinal = incoming.ordinal`;
}

async function numberInsertions(
  tx: Transaction,
  fence: bigint,
  { date }: LockedDay,
): Promise<void> {
  await tx.$executeRaw`
    WITH incoming AS (
      SELECT staged.ordinal, staged.identity_hash,
             row_number() OVER (PARTITION BY staged.identity_hash
                                ORDER BY staged.content_hash, staged.ordinal) AS rank
      FROM conciliation.staged_change change
      JOIN conciliation.staged_title staged USING (fence, ordinal)
      WHERE change.fence = ${fence} AND change.kind = 'inserted'
    ), taken AS (
      SELECT identity_hash, max(occurrence) AS occurrence
      FROM conciliation.title
      WHERE accepted_date = ${date}::date AND identity_hash IN (SELECT identity_hash FROM incoming)
      GROUP BY identity_hash
    )
    UPDATE conciliation.staged_change change
    SET occurrence = coalesce(taken.occurrence, 0) + incoming.rank
    FROM incoming LEFT JOIN taken USING (identity_hash)
    WHERE change.fence = ${fence} AND change.ordinal = incoming.ordinal`;
}

async function countPlan(
  tx: Transaction,
  fence: bigint,
  staged: Pick<MergePlan, 'titles' | 'rejected'>,
  withheld: number,
): Promise<MergePlan> {
  const [count] = await tx.$queryRaw<[Omit<ChangeCounts, 'withheld' | 'unchanged'>]>`
    SELECT count(*) FILTER (WHERE kind = 'inserted')::int AS inserted,
           count(*) FILTER (WHERE kind = 'changed')::int AS changed,
           count(*) FILTER (WHERE kind = 'withdrawn')::int AS withdrawn,
           count(*) FILTER (WHERE kind = 'restored')::int AS restored
    FROM conciliation.staged_change WHERE fence = ${fence}`;
  const unchanged = staged.titles - count.inserted - count.changed - count.restored;
  return { ...staged, ...count, unchanged, withheld };
}
