import type { Database } from '../../../src/base/database/database.ts';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import type { DueRange } from '../../../src/features/schedule/read-schedule.sql.ts';
import { titleText } from '../../support/titles.ts';

export interface TitleFields {
  readonly uid: string;
  readonly date: CivilDate;
  readonly dueDate: string | null;
  readonly value: string;
  readonly discount?: string | null;
  readonly isBuyer: boolean | null;
  /** Tax identifier of the agent; null: the title has no agent at all. */
  readonly agent: string | null;
  readonly agentAccount: string | null;
  readonly provider: string | null;
  readonly providerAccount: string | null;
}

/** A title as the platform writes it. */
export function scheduleTitle(fields: TitleFields): string {
  const { uid, date, value, dueDate, isBuyer, agent, provider } = fields;
  const title = JSON.parse(titleText({ uid, date, value: '0' }));
  title.anticipatedDueDate = dueDate;
  title.providerExternalId = provider;
  title.provider.externalId = provider;
  title.provider.identification = provider === null ? null : '52998224725';
  title.provider.bankAccount.account = fields.providerAccount;
  if (fields.discount !== undefined) title.platformDiscountedValue = null;
  title.financialAgent.buyerIsFinancial = isBuyer;
  title.financialAgent.identificationNumber = agent;
  title.financialAgent.name = agent === null ? null : `Agente ${agent}`;
  title.financialAgent.payment.account = fields.agentAccount;
  for (const [account, party] of [
    [title.provider.bankAccount, fields.providerAccount],
    [title.financialAgent.payment, fields.agentAccount],
  ]) {
    if (party === null) for (const field of Object.keys(account)) account[field] = null;
  }
  // The amounts as they are written, not as JavaScript's numbers.
  const text = JSON.stringify(title).replace('"originalValue":0', `"originalValue":${value}`);
  return fields.discount == null
    ? text
    : text.replace(
        '"platformDiscountedValue":null',
        `"platformDiscountedValue":${fields.discount}`,
      );
}

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
