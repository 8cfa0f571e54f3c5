import type { Database, Transaction } from '../../base/database/database.ts';
import { mayBeSameTaxId, taxIdOf, taxIdText } from '../../base/database/expressions.sql.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { type Loop, loop } from '../../base/runtime/timing.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import {
  CHECK_CODES,
  CHECKS,
  type CheckCode,
  type CheckSeverities,
} from '../../base/values/checks.ts';
import type { LoopParts } from '../../console/shell/console-parts.ts';
import { lockDay } from '../../core/ledger/day-ledger.sql.ts';
import { settleDay } from '../../core/merge/decisions.sql.ts';
import { arrivalFence } from '../../core/merge/holds.sql.ts';
import { configurePlanner } from '../../core/merge/merge-plan.sql.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import { BUYER, companyIdText } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';

// Each check is a query over the current titles of a date. docs/console.md gives the reason for each check.

// The names below are constants of this program. No input reaches Prisma.raw.

const current = (date: CivilDate) =>
  Prisma.sql`title.accepted_date = ${date}::date AND title.status = 'current'`;

const where = (
  date: CivilDate,
  condition: Prisma.Sql,
  detail: Prisma.Sql,
): Prisma.Sql => Prisma.sql`
  SELECT title.id AS title_id, title.content_hash, ${detail} AS detail
  FROM conciliation.title WHERE ${current(date)} AND (${condition})`;

/**
 * Rows (title_id, content_hash, detail) of the titles of a date with the fault. A title may have several rows; the first
 * one in the order of `detail` counts.
 */
const FAULT_QUERIES: Readonly<Record<CheckCode, (date: CivilDate) => Prisma.Sql>> = {
  due_before_acceptance: (date) =>
    where(
      date,
      Prisma.sql`title.anticipated_due_date < title.accepted_date`,
      Prisma.sql`jsonb_build_object('field', 'anticipatedDueDate', 'value', title.anticipated_due_date,
                                    'limit', title.accepted_date)`,
    ),
  value_not_positive: (date) =>
    where(
      date,
      Prisma.sql`title.original_value <= 0`,
      Prisma.sql`jsonb_build_object('field', 'originalValue', 'value', title.original_value::text)`,
    ),
  // From the text in place of a tax identifier follows no single one.
  tax_id_invalid: (date) => Prisma.sql`
    SELECT title.id AS title_id, title.content_hash, jsonb_build_object('field', field) AS detail
    FROM conciliation.title CROSS JOIN LATERAL (VALUES
      ('provider.identification', provider_identification),
      ('financialAgent.identificationNumber', financial_agent_identification)
    ) AS stated (field, written)
    WHERE ${current(date)} AND title.erased_at IS NULL AND written IN (
      -- The different texts: a normal form for each title takes longer.
      SELECT text FROM (
        SELECT provider_identification AS text FROM conciliation.title WHERE ${current(date)}
        UNION SELECT financial_agent_identification FROM conciliation.title WHERE ${current(date)}
      ) AS texts WHERE NOT conciliation.has_check_digits(${taxIdOf('text')}))`,
  agent_is_party: (date) =>
    where(
      date,
      Prisma.sql`title.erased_at IS NULL
        AND (${mayBeSameTaxId('title.provider_identification', 'title.financial_agent_identification')}
        -- The line of such a title would change the payee to the buyer itself.
        OR NOT title.buyer_is_financial AND (title.buyer_identification, title.financial_agent_identification) IN (
          SELECT buyer, agent
          FROM (SELECT DISTINCT title.buyer_identification AS buyer, title.financial_agent_identification AS agent
                FROM conciliation.title WHERE ${current(date)}) AS stated
          WHERE ${mayBeSameTaxId('buyer', 'agent')}))`,
      Prisma.sql`'{}'::jsonb`,
    ),
  equal_in_day: (date) =>
    where(
      date,
      Prisma.sql`title.content_hash IN (
        SELECT content_hash FROM conciliation.title WHERE ${current(date)}
        GROUP BY content_hash HAVING count(*) > 1)`,
      Prisma.sql`'{}'::jsonb`,
    ),
  // With other due dates, both may be instalments of the order. They are, once a response for the date of the
  // earlier one that was requested after the later one had come still has the earlier one. Until then the title may
  // have moved.
  equal_on_two_dates: (date) => Prisma.sql`
    SELECT title_id, content_hash,
           jsonb_build_object('otherDate', other_date, 'otherTitle', other_id::text)
           || CASE WHEN is_due_alike THEN '{}' ELSE
                jsonb_build_object('awaitedDate', awaited.date, 'afterFence', greatest(came, other_came)::text)
              END AS detail
    FROM (
      SELECT title.id AS title_id, title.content_hash, title.accepted_date AS date,
             other.id AS other_id, other.accepted_date AS other_date,
             other.anticipated_due_date IS NOT DISTINCT FROM title.anticipated_due_date AS is_due_alike,
             ${arrivalFence('title')} AS came, ${arrivalFence('other')} AS other_came
      FROM conciliation.title
      JOIN conciliation.title AS other ON ${isSameReceivable}
      WHERE ${current(date)} AND other.status = 'current' AND other.accepted_date <> ${date}::date
        AND other.order_uid = ANY(ARRAY(
          SELECT DISTINCT title.order_uid FROM conciliation.title WHERE ${current(date)}))
    ) AS pair
    CROSS JOIN LATERAL (
      SELECT CASE WHEN came < other_came THEN pair.date ELSE other_date END AS date
    ) AS awaited
    WHERE is_due_alike OR NOT EXISTS (
      SELECT FROM conciliation.day JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
      WHERE day.date = awaited.date AND merged.fence > greatest(came, other_came))`,
  unit_jump: (date) => Prisma.sql`
    WITH restated AS (
      SELECT title.* FROM conciliation.title
      WHERE ${current(date)} AND title.last_change_pull_id <> title.first_pull_id
        -- Of titles with equal identities, which one was restated is a matter of their order.
        AND title.identity_hash NOT IN (
          SELECT identity_hash FROM conciliation.title WHERE accepted_date = ${date}::date
          GROUP BY identity_hash HAVING count(*) > 1)
    ), newest AS (
      -- Of each amount by itself: a later change of another field does not hide the jump.
      SELECT DISTINCT ON (title_id, name) title_id, name, amount.before::numeric AS before
      FROM conciliation.title_revision AS revision
      CROSS JOIN LATERAL jsonb_each_text(revision.before) AS amount (name, before)
      WHERE title_id = ANY(ARRAY(SELECT id FROM restated)) AND name = ANY(${[...AMOUNT_COLUMNS]}::text[])
      ORDER BY title_id, name, revision.revision DESC
    ), jump AS (
      SELECT restated.id, restated.content_hash, amount.field, newest.before, amount.value
      FROM restated JOIN newest ON newest.title_id = restated.id
      CROSS JOIN LATERAL (VALUES ${restatedAmounts}) AS amount (name, field, value)
      WHERE amount.name = newest.name
      UNION ALL
      SELECT title.id, title.content_hash, 'originalValue', predecessor.original_value, title.original_value
      FROM conciliation.title
      JOIN conciliation.title_succession AS link ON link.title_id = title.id
      JOIN conciliation.title AS predecessor ON predecessor.id = link.predecessor_id
      WHERE ${current(date)} AND link.accepted_date = ${date}::date AND predecessor.accepted_date = ${date}::date
    )
    SELECT id AS title_id, content_hash,
           jsonb_build_object('field', field, 'before', before::text, 'value', value::text) AS detail
    FROM jump
    WHERE before <> 0 AND (value = before * 100 OR value * 100 = before)`,
};

/** The platform's name of the field of a column: `originalValue` of `original_value`. */
const fieldOf = (column: string) =>
  column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const restatedAmounts = Prisma.raw(
  AMOUNT_COLUMNS.map((column) => `('${column}', '${fieldOf(column)}', restated.${column})`).join(
    ', ',
  ),
);

const sameText = (value: (alias: string) => string) =>
  `${value('other')} IS NOT DISTINCT FROM ${value('title')}`;

/** The same order, buyer, provider and value, in any writing of a tax identifier. */
const isSameReceivable = Prisma.raw(
  [
    'other.order_uid = title.order_uid',
    'other.original_value = title.original_value',
    sameText((alias) => companyIdText(`${alias}.buyer_identification`)),
    // The provider is named by the ERP's code, by the tax identifier, or not at all.
    `(btrim(other.provider_external_id) = btrim(title.provider_external_id)
      OR ${taxIdText('other.provider_identification')} = ${taxIdText('title.provider_identification')}
      OR ${['other', 'title']
        .map(
          (alias) =>
            `coalesce(btrim(${alias}.provider_external_id), ${taxIdText(`${alias}.provider_identification`)}, '') = ''`,
        )
        .join(' AND ')})`,
  ].join(' AND '),
);

export interface CheckedDay {
  readonly date: CivilDate;
  /** Findings that were not there before, or are there again. */
  readonly found: number;
  /** Findings whose title no longer has the fault. */
  readonly closed: number;
}

/** Longer than the check of a date with millions of titles. The database's statement_timeout limits each statement. */
export const CHECK_TRANSACTION = { timeout: 3_600_000, maxWait: 30_000 } as const;

/** The rules as text. Another text makes the dates that are not signed off be checked again. */
function describeRules(severities: CheckSeverities): string {
  return CHECK_CODES.map((code) => `${code}:${CHECKS[code].version}:${severities[code]}`).join(' ');
}

/**
 * Of rows `day` and `done`: signed off with this content, and not checked with another one since, whose findings have to
 * end. The findings stay as they were signed, except for faults that come with another date.
 */
const isSealed = Prisma.sql`
  (day.signed_off_digest = day.content_digest
   AND coalesce(done.content_digest, day.content_digest) = day.content_digest) IS TRUE`;

/** The checks that compare a date with others. They also run on a date that is signed off. */
const CROSS_DATE_CODES = ['equal_on_two_dates'] as const satisfies readonly CheckCode[];

/**
 * Of rows `day` and `done`. A check of another date leaves \`rules\` empty. A finding of a date may also wait for a pull,
 * see \`equal_on_two_dates\`.
 */
const isUnchecked = (severities: CheckSeverities) => Prisma.sql`
  day.content_digest IS NOT NULL
  AND (done.rules = ''
       OR (NOT ${isSealed} AND (done.content_digest IS DISTINCT FROM day.content_digest
                                OR done.rules <> ${describeRules(severities)}))
       OR EXISTS (
         SELECT FROM conciliation.check_finding AS finding
         JOIN conciliation.day AS awaited ON awaited.date = (finding.detail->>'awaitedDate')::date
         JOIN conciliation.pull AS merged ON merged.id = awaited.last_pull_id
         WHERE finding.accepted_date = day.date AND finding.closed_at IS NULL
           AND merged.fence > (finding.detail->>'afterFence')::bigint))`;

/**
 * The dates to check, newest first: those whose content, or whose rules, changed after the newest check.
 */
async function readUncheckedDates(
  database: Database,
  severities: CheckSeverities,
): Promise<CivilDate[]> {
  const rows = await database.prisma.$queryRaw<{ date: CivilDate }[]>`
    SELECT day.date::text AS date
    FROM conciliation.day LEFT JOIN conciliation.day_check AS done ON done.date = day.date
    WHERE ${isUnchecked(severities)} ORDER BY day.date DESC`;
  return rows.map(({ date }) => date);
}

/**
 * Runs the checks on the current titles of a date, opens and closes findings, and gives the day the state that
 * follows. The transaction holds the lock of the date, so no merge and no sign-off of the date runs meanwhile.
 * @returns null where another process has checked the date meanwhile
 */
function checkDay(
  database: Database,
  date: CivilDate,
  severities: CheckSeverities,
): Promise<CheckedDay | null> {
  return database.prisma.$transaction(async (tx) => {
    await configurePlanner(tx);
    // A check may have another date checked again. Beside a check of that date, the request would be lost.
    await takeLock(tx, 'checks');
    await lockDay(tx, date);
    const [unchecked] = await tx.$queryRaw<[{ isSealed: boolean }?]>`
      SELECT ${isSealed} AS "isSealed" FROM conciliation.day LEFT JOIN conciliation.day_check AS done ON done.date = day.date
      WHERE day.date = ${date}::date AND ${isUnchecked(severities)}`;
    if (unchecked === undefined) return null;
    const { isSealed: isSigned } = unchecked;
    const codes = isSigned ? CROSS_DATE_CODES : CHECK_CODES;
    const faults = faultsOf(codes, severities, date);
    const counts = await storeFindings(tx, date, codes, faults);
    await pullAwaited(tx, date);
    if (!isSigned) await countBuyers(tx, date);
    await tx.$executeRaw`
      INSERT INTO conciliation.day_check AS done (date, content_digest, rules, checked_at)
      SELECT date, coalesce(content_digest, ''), ${describeRules(severities)}, clock_timestamp()
      FROM conciliation.day WHERE date = ${date}::date
      ON CONFLICT (date) DO UPDATE
      SET content_digest = excluded.content_digest, rules = excluded.rules, checked_at = excluded.checked_at`;
    await settleDay(tx, date);
    return { date, ...counts };
  }, CHECK_TRANSACTION);
}

/**
 * Checks each date that has to be checked, also those that the check of another date asks for. `signal` ends the run
 * between two dates.
 */
export async function checkDays(
  database: Database,
  severities: CheckSeverities,
  signal?: AbortSignal,
): Promise<CheckedDay[]> {
  const checked: CheckedDay[] = [];
  let before: number;
  do {
    before = checked.length;
    for (const date of await readUncheckedDates(database, severities)) {
      if (signal?.aborted === true) return checked;
      const day = await checkDay(database, date, severities);
      if (day !== null) checked.push(day);
    }
  } while (checked.length > before);
  return checked;
}

/**
 * Asks for the responses that end findings which wait for one. A running pull is no answer: its request may have been
 * sent before the later title came.
 */
async function pullAwaited(tx: Transaction, date: CivilDate): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.pull (origin, date, slot_at, requested_by)
    SELECT DISTINCT 'lookback', (finding.detail->>'awaitedDate')::date, now(), 'checks'
    FROM conciliation.check_finding AS finding
    WHERE finding.accepted_date = ${date}::date AND finding.closed_at IS NULL
      AND finding.detail ? 'awaitedDate'
      AND NOT EXISTS (SELECT FROM conciliation.pull AS open
                      WHERE open.date = (finding.detail->>'awaitedDate')::date AND open.state = 'queued')
    ON CONFLICT DO NOTHING`;
}

/** The limits for the titles of one buyer compare a response with these counts. */
async function countBuyers(tx: Transaction, date: CivilDate): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.day_buyer AS known (date, buyer_identification, titles, original_value_sum)
    SELECT ${date}::date, ${BUYER}, sum(titles), sum(value)
    FROM (
      SELECT buyer_identification, count(*) AS titles, sum(original_value) AS value
      FROM conciliation.title WHERE accepted_date = ${date}::date AND status = 'current' GROUP BY 1
      UNION ALL
      SELECT buyer_identification, 0, 0 FROM conciliation.day_buyer WHERE date = ${date}::date
    ) AS counted GROUP BY 2
    ON CONFLICT (date, buyer_identification) DO UPDATE
    SET titles = excluded.titles, original_value_sum = excluded.original_value_sum
    WHERE known.titles <> excluded.titles OR known.original_value_sum <> excluded.original_value_sum`;
}

/** Rows (code, version, severity, title_id, content_hash, detail) of all checks that run. */
function faultsOf(
  codes: readonly CheckCode[],
  severities: CheckSeverities,
  date: CivilDate,
): Prisma.Sql {
  const queries = codes.map(
    (code) => Prisma.sql`
      SELECT ${code}::text AS code, ${CHECKS[code].version}::smallint AS version, ${severities[code]}::text AS severity, fault.*
      FROM (${FAULT_QUERIES[code](date)}) AS fault WHERE ${severities[code]}::text <> 'off'`,
  );
  return Prisma.join(queries, ' UNION ALL ');
}

async function storeFindings(
  tx: Transaction,
  date: CivilDate,
  codes: readonly CheckCode[],
  faults: Prisma.Sql,
): Promise<Pick<CheckedDay, 'found' | 'closed'>> {
  // A date with an equal title is checked again, so that both dates have the finding, or neither.
  const [counts] = await tx.$queryRaw<[Pick<CheckedDay, 'found' | 'closed'>]>`
    WITH found AS MATERIALIZED (
      SELECT DISTINCT ON (code, title_id) * FROM (${faults}) AS fault ORDER BY code, title_id, detail
    ), closed AS (
      UPDATE conciliation.check_finding AS finding SET closed_at = now()
      WHERE finding.accepted_date = ${date}::date AND finding.closed_at IS NULL AND finding.code = ANY(${[...codes]}::text[])
        AND (finding.code, finding.title_id, finding.content_hash) NOT IN (
          SELECT code, title_id, content_hash FROM found)
      RETURNING finding.detail
    ), stored AS (
      INSERT INTO conciliation.check_finding AS finding
        (code, version, severity, accepted_date, title_id, content_hash, detail)
      SELECT code, version, severity, ${date}::date, title_id, content_hash, detail FROM found
      -- With a new id: a person who looked before has not seen the finding as it is now.
      ON CONFLICT (code, title_id, content_hash) DO UPDATE
      SET id = excluded.id, version = excluded.version, severity = excluded.severity, detail = excluded.detail, closed_at = NULL
      WHERE finding.closed_at IS NOT NULL OR finding.version <> excluded.version
         OR finding.severity <> excluded.severity OR finding.detail <> excluded.detail
      RETURNING finding.detail
    ), again AS (
      -- The digest stays: bookings of a signed date, which is not checked again, wait for the matching of that content.
      UPDATE conciliation.day_check SET rules = ''
      WHERE date IN (SELECT (detail->>'otherDate')::date FROM closed
                     UNION SELECT (detail->>'otherDate')::date FROM stored)
    )
    SELECT (SELECT count(*) FROM stored)::int AS found, (SELECT count(*) FROM closed)::int AS closed`;
  return counts;
}

const EVERY_MS = 2_000;

/** Checks the dates whose titles have changed. */
export function startCheckLoop({
  database,
  logger,
  config: { checkSeverities: severities },
}: LoopParts): Loop {
  return loop({
    everyMs: EVERY_MS,
    run: async (signal) => {
      for (const { date, found, closed } of await checkDays(database, severities, signal)) {
        if (found > 0 || closed > 0) logger.info({ date, found, closed }, 'titles checked');
      }
    },
    failure: { logger, message: 'titles were not checked' },
  });
}
