/** What keeps signed-off days, and single titles of them, from their release. */
import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { OPEN_HOLDS } from '../accounts/payment-holds.sql.ts';
import { waitingTitles } from '../matching/breaks.sql.ts';
import { KEEPS_DAY } from '../verify/findings.sql.ts';

/**
 * - `not_matched`: the titles of the day were not matched with the ERP's payables since their newest change, or the
 *   payables are too old to say what the ERP has paid
 * - `altered`: a cause other than a merge has changed rows of the day; see `KEEPS_DAY`
 * - `not_reconciled`: a newer response of the day is held, or the day has open rejects or findings
 * - `receipts`: a receipt names an unknown line or another content, and no person has decided
 */
export const RELEASE_FAULTS = ['receipts', 'altered', 'not_reconciled', 'not_matched'] as const;
export type ReleaseFault = (typeof RELEASE_FAULTS)[number];

/** The configuration that decides about releases. */
export interface ReleaseRules {
  /** ERP_PAYABLES_MAX_AGE_HOURS. Absent: payables are never too old. */
  readonly payablesMaxAgeHours?: number | undefined;
}

/** The conditions, as SQL over `date`. Each is true where the fault is there. */
const CONDITIONS: Readonly<
  Record<ReleaseFault, (date: Prisma.Sql, rules: ReleaseRules) => Prisma.Sql>
> = {
  altered: (date) => Prisma.sql`EXISTS (
    SELECT FROM conciliation.title_finding AS finding WHERE finding.date = ${date} AND ${KEEPS_DAY})`,
  not_reconciled: (date) => Prisma.sql`EXISTS (
    SELECT FROM conciliation.day AS present WHERE present.date = ${date} AND present.state <> 'reconciled')`,
  not_matched: (date, { payablesMaxAgeHours }) => Prisma.sql`
    EXISTS (SELECT FROM conciliation.erp_payable) AND NOT (EXISTS (
      SELECT FROM conciliation.match_run AS run
      WHERE run.id = (SELECT max(id) FROM conciliation.match_run)
        -- The checks ran after the commit of the content. So the run has seen the content.
        AND run.started_at >= (
          SELECT done.checked_at FROM conciliation.day_check AS done
          -- The alias keeps day.date, as which the date may be given, that of the outer query.
          JOIN conciliation.day AS checked USING (date, content_digest) WHERE done.date = ${date}))
      AND (${payablesMaxAgeHours ?? null}::int IS NULL OR EXISTS (
        SELECT FROM conciliation.erp_payable_import AS complete
        WHERE (complete.kind = 'sql' OR complete.kind = 'snapshot' AND complete.is_complete)
          AND complete.started_at >= clock_timestamp() - make_interval(hours => ${payablesMaxAgeHours ?? null}::int))))`,
  receipts: (date) => Prisma.sql`EXISTS (
    SELECT FROM conciliation.booking_receipt AS receipt
    WHERE receipt.date = ${date} AND receipt.outcome IN ('unknown_key', 'other_content'))`,
};

/** True where `fault` keeps the day from being released. */
export const hasFault = (fault: ReleaseFault, date: Prisma.Sql, rules: ReleaseRules): Prisma.Sql =>
  Prisma.sql`(${CONDITIONS[fault](date, rules)})`;

/** True where nothing keeps the day from being released. */
export const isReleasable = (date: Prisma.Sql, rules: ReleaseRules): Prisma.Sql =>
  Prisma.sql`NOT (${Prisma.join(
    Object.values(CONDITIONS).map((condition) => condition(date, rules)),
    ' OR ',
  )})`;

/** The titles of a date that wait: for the payables, or because a person has refused their account after the sign-off. */
export const keptTitles = (date: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT title_id FROM (${waitingTitles(date)}) AS waiting
  UNION ALL
  SELECT title_id FROM (${OPEN_HOLDS}) AS held WHERE accepted_date = ${date}`;

/** The ERP's key of the payable that a row of `title` is matched with. */
export const ERP_KEY: Prisma.Sql = Prisma.sql`
  (SELECT string_agg(payable.erp_key, ',' ORDER BY payable.erp_key)
   FROM conciliation.title_payable AS payable WHERE payable.title_id = title.id)`;

/** Returns what keeps the day from being released; empty: nothing. */
export async function readReleaseFaults(
  tx: Pick<Transaction, '$queryRaw'>,
  date: CivilDate,
  rules: ReleaseRules,
): Promise<ReleaseFault[]> {
  const columns = Object.entries(CONDITIONS).map(
    ([fault, condition]) =>
      Prisma.sql`CASE WHEN ${condition(Prisma.sql`${date}::date`, rules)} THEN ${fault}::text END`,
  );
  const [row] = await tx.$queryRaw<[{ faults: ReleaseFault[] }]>`
    SELECT array_remove(ARRAY[${Prisma.join(columns)}], NULL) AS faults`;
  return row.faults;
}
