import type { Database, Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { BUYER } from '../../base/database/tax-id.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import {
  CHECK_CODES,
  CHECKS,
  type CheckCode,
  type CheckSeverities,
} from '../../base/values/checks.ts';
import { lockDay, settleDay } from '../../core/ledger/day-ledger.sql.ts';
import { configurePlanner } from '../../core/ledger/planner-settings.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { FAULT_QUERIES } from './find-faults.sql.ts';

/** Which checks run, with their severities. */
export interface CheckRules {
  readonly severities: CheckSeverities;
}

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
function describeRules({ severities }: CheckRules): string {
  return CHECK_CODES.map((code) => `${code}:${CHECKS[code].version}:${severities[code]}`).join(' ');
}

/**
 * Of a row `day`: signed off in its present state, and left as it was signed, except for faults that came with another
 * date. A date that was restated since is not, also where the content is the signed one again: the findings of the
 * restatement have to end.
 */
const isSealed = Prisma.sql`
  (day.signed_off_digest IS NOT DISTINCT FROM day.content_digest AND NOT day.restated_after_sign_off)`;

/** The checks that compare a date with others. They also run on a date that is signed off. */
const CROSS_DATE_CODES = ['equal_on_two_dates'] as const satisfies readonly CheckCode[];

/**
 * Of rows `day` and `done`. A check of another date leaves \`rules\` empty. A finding of a date may also wait for a pull,
 * see \`equal_on_two_dates\`.
 */
const isUnchecked = (rules: CheckRules) => Prisma.sql`
  day.content_digest IS NOT NULL
  AND (done.rules = ''
       OR (NOT ${isSealed} AND (done.content_digest IS DISTINCT FROM day.content_digest
                                OR done.rules <> ${describeRules(rules)}))
       OR EXISTS (
         SELECT FROM conciliation.check_finding AS finding
         JOIN conciliation.day AS awaited ON awaited.date = (finding.detail->>'awaitedDate')::date
         JOIN conciliation.pull AS merged ON merged.id = awaited.last_pull_id
         WHERE finding.accepted_date = day.date AND finding.closed_at IS NULL
           AND merged.fence > (finding.detail->>'afterFence')::bigint))`;

/**
 * The dates to check, newest first: those whose content, or whose rules, changed after the newest check.
 */
async function readUncheckedDates(database: Database, rules: CheckRules): Promise<CivilDate[]> {
  const rows = await database.prisma.$queryRaw<{ date: CivilDate }[]>`
    SELECT day.date::text AS date
    FROM conciliation.day LEFT JOIN conciliation.day_check AS done ON done.date = day.date
    WHERE ${isUnchecked(rules)} ORDER BY day.date DESC`;
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
  rules: CheckRules,
): Promise<CheckedDay | null> {
  return database.prisma.$transaction(async (tx) => {
    await configurePlanner(tx);
    // A check may have another date checked again. Beside a check of that date, the request would be lost.
    await takeLock(tx, 'checks');
    await lockDay(tx, date);
    const [unchecked] = await tx.$queryRaw<[{ isSealed: boolean }?]>`
      SELECT ${isSealed} AS "isSealed" FROM conciliation.day LEFT JOIN conciliation.day_check AS done ON done.date = day.date
      WHERE day.date = ${date}::date AND ${isUnchecked(rules)}`;
    if (unchecked === undefined) return null;
    const { isSealed: isSigned } = unchecked;
    const codes = isSigned ? CROSS_DATE_CODES : CHECK_CODES;
    const faults = faultsOf(codes, rules, { date });
    const counts = await storeFindings(tx, date, codes, faults);
    await pullAwaited(tx, date);
    if (!isSigned) await countBuyers(tx, date);
    // The other checks have not run on the content of a signed date: its digest stays.
    await tx.$executeRaw`
      INSERT INTO conciliation.day_check AS done (date, content_digest, rules, checked_at)
      SELECT date, coalesce(content_digest, ''), ${describeRules(rules)}, clock_timestamp()
      FROM conciliation.day WHERE date = ${date}::date
      ON CONFLICT (date) DO UPDATE
      SET content_digest = CASE WHEN ${isSigned} THEN done.content_digest ELSE excluded.content_digest END, rules = excluded.rules, checked_at = excluded.checked_at`;
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
  rules: CheckRules,
  signal?: AbortSignal,
): Promise<CheckedDay[]> {
  const checked: CheckedDay[] = [];
  let before: number;
  do {
    before = checked.length;
    for (const date of await readUncheckedDates(database, rules)) {
      if (signal?.aborted === true) return checked;
      const day = await checkDay(database, date, rules);
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
  { severities }: CheckRules,
  input: Parameters<(typeof FAULT_QUERIES)[CheckCode]>[0],
): Prisma.Sql {
  const queries = codes.flatMap((code) => {
    const severity = severities[code];
    const query = severity === 'off' ? null : FAULT_QUERIES[code](input);
    if (query === null) return [];
    return Prisma.sql`
      SELECT ${code}::text AS code, ${CHECKS[code].version}::smallint AS version,
             ${severity}::text AS severity, fault.*
      FROM (${query}) AS fault`;
  });
  const none = Prisma.sql`
    SELECT NULL::text AS code, NULL::smallint AS version, NULL::text AS severity,
           NULL::bigint AS title_id, NULL::uuid AS content_hash, NULL::jsonb AS detail WHERE false`;
  return Prisma.join([none, ...queries], ' UNION ALL ');
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
