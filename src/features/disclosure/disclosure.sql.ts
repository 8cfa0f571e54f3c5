/**
 * Figures for the note on supplier finance arrangements (IAS 7, 44H(b); in Brazil CPC 03), at the end of reporting dates,
 * as known today: a title that was restated or withdrawn since counts as it is now.
 *
 * - `anticipated`: current titles that were accepted on or before the date and had not ended, without those that the
 *   buyer finances itself. The value is the original value; a part that was paid is not deducted. The term of a title is
 *   the days from the issue date of its matched payables to its due date.
 * - `comparable`: payables in BRL that were issued on or before the date and had not ended. Without an issue date, the
 *   day counts on which the ERP stated the payable first. Payables that are cancelled or matched with a title, that a
 *   booking line made or settled, that the posted line of a booking that stands names, that were ever assigned, that are
 *   credit notes, or that name an agent do not count.
 *
 * A title ends on the day on which the ERP paid the agent, a payable on the day on which it was settled. If the ERP
 * states no day, that is the business day of the due date, at the latest the day on which the ERP stated the settlement.
 * What the ERP states as open ends on the business day of its due date, at the earliest on the day after the statement.
 * A title of which the ERP states neither ends on the business day of its due date, and never without one. What ends on
 * a date is not owed at the end of the date.
 *
 * The part that suppliers have received from the agents, 44H(b)(ii), is unknown: an acceptance is not a payment.
 */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../../base/database/database.ts';
import { taxIdOf } from '../../base/database/expressions.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { count, date, orNull } from '../../console/api/schema-parts.ts';
import { BUYER } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { buyerOfCompany, IN_BRL, PAYMENTS, TITLE_AGENT } from '../balance/balance.sql.ts';
import { joinClosedDay, joinedBusinessDay } from '../calendar/business-days.sql.ts';
import { isAgent } from '../matching/candidates.sql.ts';
import { COMPLETE_AT } from '../matching/payables/payable-state.sql.ts';

const LIABILITIES = ['anticipated', 'comparable'] as const;

export const DisclosureRow = Type.Object({
  date,
  liabilities: Type.Unsafe<(typeof LIABILITIES)[number]>({
    type: 'string',
    enum: LIABILITIES,
    description:
      'anticipated: titles that are owed to financial agents. comparable: payables of the ERP outside of the programme.',
  }),
  company: orNull('string', {
    description: 'The buyer of the titles in normal form. Null: all companies and agents.',
  }),
  agent: orNull('string', {
    description: 'The financial agent in normal form. Null: all, or the payables are comparable.',
  }),
  number: count,
  value: orNull('string', {
    description: 'Original value, an exact decimal. Null: the payables are comparable.',
  }),
  shortest: orNull('integer', {
    description: 'Days from the issue date to the due date. Null: none has both dates.',
  }),
  longest: orNull('integer'),
  undated: Type.Integer({
    minimum: 0,
    description: 'Of the number: without an issue date or a due date, so in no range.',
  }),
});
export type DisclosureRow = Static<typeof DisclosureRow>;

/** A day in the time zone of the program, of a statement with `complete`. */
const dayOf = (instant: Prisma.Sql) =>
  Prisma.sql`(${instant} AT TIME ZONE complete.time_zone)::date`;

const BUSINESS_DAY = joinedBusinessDay(Prisma.sql`due`);

/**
 * Reads the figures of each date, over all companies and then by company and agent. A date without liabilities has the
 * rows over all.
 */
export function readDisclosure(
  tx: Transaction,
  dates: readonly CivilDate[],
): Promise<DisclosureRow[]> {
  return tx.$queryRaw<DisclosureRow[]>`
    WITH ${PAYMENTS}, complete AS MATERIALIZED (
      SELECT complete_at, time_zone FROM ${COMPLETE_AT} AS newest, start
    ), reporting AS MATERIALIZED (
      SELECT DISTINCT date FROM unnest(${dates}::date[]) AS date
    ), named AS MATERIALIZED (
      SELECT ${BUYER} AS company, ${TITLE_AGENT} AS agent FROM conciliation.title AS title
      WHERE status = 'current' AND buyer_is_financial IS NOT TRUE
      GROUP BY buyer_identification, financial_agent_identification
    ), agent_party AS MATERIALIZED (
      SELECT party.tax_id
      FROM (SELECT supplier_tax_id AS tax_id FROM conciliation.erp_payable
            UNION SELECT payee FROM conciliation.erp_payable) AS party
      JOIN (SELECT tax_id FROM known_agent UNION SELECT agent FROM named) AS agent
        ON ${isAgent(Prisma.sql`party.tax_id`, Prisma.sql`agent.tax_id`)}
    ), invoice AS MATERIALIZED (
      SELECT title_id, min(issue_date) AS first_issue, max(issue_date) AS last_issue
      FROM conciliation.title_payable JOIN conciliation.erp_payable USING (erp_key)
      WHERE booking_key IS NULL GROUP BY title_id
    ), posted_on AS MATERIALIZED (
      SELECT unnest(string_to_array(erp_key, ',')) AS erp_key
      FROM conciliation.booking_version WHERE stands AND version = posted_version
    ), stated AS (
      -- open_at: when the ERP stated last that it is open; null: never.
      SELECT 'anticipated' AS liabilities, buyer_identification, financial_agent_identification, NULL AS company,
             title.original_value, accepted_date AS begin_date, NULL::timestamptz AS created_at,
             anticipated_due_date AS due, first_issue, last_issue,
             payment.is_paid AS is_settled, payment.settled_on, payment.changed_at, payment.open_at
      FROM conciliation.title AS title
      LEFT JOIN payment ON payment.title_id = title.id
      LEFT JOIN invoice ON invoice.title_id = title.id
      WHERE title.status = 'current' AND title.buyer_is_financial IS NOT TRUE
      UNION ALL
      SELECT 'comparable', NULL, NULL, company, NULL, issue_date, created_at, due_date, issue_date, issue_date,
             status <> 'open' OR settled_as IS NOT NULL OR closed_at IS NOT NULL OR open_value = 0,
             settled_on, changed_at, stated_at
      FROM conciliation.erp_payable AS payable
      WHERE payable.status <> 'cancelled' AND ${IN_BRL}
        AND least(payable.open_value, payable.total_value) >= 0
        AND payable.booking_key IS NULL AND payable.settled_by IS NULL
        AND payable.settled_as IS DISTINCT FROM 'assignment' AND NOT payable.was_assigned
        AND (payable.supplier_tax_id IN (SELECT tax_id FROM agent_party)) IS NOT TRUE
        AND (payable.payee IN (SELECT tax_id FROM agent_party)) IS NOT TRUE
        AND NOT EXISTS (SELECT FROM conciliation.title_payable AS taken WHERE taken.erp_key = payable.erp_key)
        AND NOT EXISTS (SELECT FROM posted_on WHERE posted_on.erp_key = payable.erp_key)
    ), liability AS MATERIALIZED (
      SELECT liabilities, buyer_identification, financial_agent_identification, company, original_value,
             coalesce(begin_date, ${dayOf(Prisma.sql`created_at`)}) AS begin_date,
             CASE WHEN is_settled THEN coalesce(settled_on, least(${BUSINESS_DAY}, ${dayOf(Prisma.sql`changed_at`)}))
                  -- What is complete says that the rows that it leaves as they are are still open.
                  ELSE greatest(coalesce(${BUSINESS_DAY}, 'infinity'), ${dayOf(Prisma.sql`
                    CASE WHEN open_at IS NOT NULL THEN greatest(open_at, complete_at) END`)} + 1) END AS end_date,
             due - last_issue AS shortest, due - first_issue AS longest
      FROM stated CROSS JOIN complete ${joinClosedDay(Prisma.sql`due`)}
    ), figure AS MATERIALIZED (
      SELECT reporting.date, liabilities,
             CASE liabilities WHEN 'anticipated' THEN ${BUYER} ELSE ${buyerOfCompany(Prisma.sql`named`)} END AS company,
             CASE liabilities WHEN 'anticipated' THEN coalesce(${taxIdOf('financial_agent_identification')}, '') END AS agent,
             sum(original_value) AS value, count(*) AS number, min(shortest) AS shortest, max(longest) AS longest,
             count(*) FILTER (WHERE shortest IS NULL) AS undated
      FROM reporting JOIN liability AS payable ON begin_date <= reporting.date AND reporting.date < end_date
      GROUP BY reporting.date, liabilities, buyer_identification, financial_agent_identification, payable.company
    )
    SELECT date::text AS date, liabilities, company, agent, coalesce(sum(number), 0)::float8 AS number,
           CASE WHEN liabilities = 'anticipated' THEN coalesce(sum(value), 0)::text END AS value,
           min(shortest) AS shortest, max(longest) AS longest, coalesce(sum(undated), 0)::float8 AS undated
    FROM reporting CROSS JOIN unnest(${LIABILITIES}::text[]) AS liabilities LEFT JOIN figure USING (date, liabilities)
    GROUP BY GROUPING SETS ((date, liabilities), (date, liabilities, company, agent))
    HAVING GROUPING(company) = 1 OR company IS NOT NULL
    ORDER BY date, company NULLS FIRST, liabilities, agent`;
}
