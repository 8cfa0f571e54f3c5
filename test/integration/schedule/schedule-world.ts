import type { Database } from '../../../src/base/database/database.ts';
import type { DueRange } from '../../../src/features/schedule/read-schedule.sql.ts';
import { type TitleFields, titleText } from '../../support/titles.ts';

/** A title whose parties have no name or number where they have no other identifier. */
export const scheduleTitle = (fields: TitleFields) =>
  titleText({
    ...fields,
    ...(fields.agent !== undefined && { name: fields.agent && `Agente ${fields.agent}` }),
    ...(fields.code === null && { taxId: null }),
  });

/** The sums by plain SQL over `title`, written without any part of the product. */
export async function plainSums(database: Database, { from, to }: DueRange) {
  const [overall] = await database.prisma.$queryRaw<[Record<string, unknown>]>`
    SELECT count(*)::int AS titles, coalesce(sum(original_value), 0)::text AS original_value,
           count(*) FILTER (WHERE day.state IN ('held', 'attention'))::int AS waiting,
           coalesce(sum(original_value) FILTER (WHERE day.state IN ('held', 'attention')), 0)::text
             AS waiting_value
    FROM conciliation.title LEFT JOIN conciliation.day ON day.date = accepted_date
    WHERE status = 'current' AND anticipated_due_date >= ${from}::date
      AND anticipated_due_date <= ${to}::date`;
  const dates = await database.prisma.$queryRaw<Record<string, unknown>[]>`
    SELECT anticipated_due_date::text AS date, count(*)::int AS titles,
           sum(original_value)::text AS original_value
    FROM conciliation.title WHERE status = 'current' AND anticipated_due_date >= ${from}::date
      AND anticipated_due_date <= ${to}::date GROUP BY 1 ORDER BY 1`;
  const groups = await database.prisma.$queryRaw<Record<string, unknown>[]>`
    WITH paid AS (
      SELECT 'provider' AS kind, coalesce(provider_external_id, provider_identification) AS party,
             provider_bank AS bank, provider_account AS account, original_value, provider_agency AS agency,
             erased_at IS NOT NULL AS is_erased
      FROM conciliation.title
      WHERE status = 'current' AND buyer_is_financial IS TRUE
        AND anticipated_due_date BETWEEN ${from}::date AND ${to}::date
      UNION ALL
      SELECT 'financial_agent', coalesce(financial_agent_identification, financial_agent_name),
             payment_bank, payment_account, original_value, payment_agency, erased_at IS NOT NULL
      FROM conciliation.title
      WHERE status = 'current' AND buyer_is_financial IS NOT TRUE
        AND anticipated_due_date BETWEEN ${from}::date AND ${to}::date
    ), named AS (
      SELECT CASE WHEN party IS NOT NULL OR bank IS NOT NULL THEN kind END AS kind, party, bank,
             account, original_value, is_erased AND party IS NOT NULL AND num_nonnulls(bank, agency, account) = 0 AS is_lost
      FROM paid
    )
    SELECT kind, party, account, count(*)::int AS titles, sum(original_value)::text AS original_value,
           NOT is_lost AND EXISTS (SELECT FROM conciliation.account_change AS change
                   WHERE state IN ('open', 'refused') AND change.kind = named.kind
                     AND change.party_key = named.party AND change.after ->> 'account' IS NOT DISTINCT FROM named.account
                  ) AS changed
    FROM named GROUP BY kind, party, bank, account, is_lost ORDER BY sum(original_value) DESC`;
  const [undated] = await database.prisma.$queryRaw<[Record<string, unknown>]>`
    SELECT count(*)::int AS titles, coalesce(sum(original_value), 0)::text AS "originalValue"
    FROM conciliation.title WHERE status = 'current' AND anticipated_due_date IS NULL`;
  return { overall, dates, groups, undated };
}
