import type { Database } from '../../../base/database/database.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';

export type TotalsBy = 'provider' | 'agent';

/** Count and sums of a day's current titles with one provider or financial agent. */
export interface PartyTotals {
  /** provider_external_id, or the agent's name; null: not stated. */
  readonly party: string | null;
  /** The tax identifier of an agent: personal data. */
  readonly identification: string | null;
  readonly titles: number;
  /** Decimal text, exact. */
  readonly originalValueSum: string;
}

export interface DayTotals {
  /** By original value, in descending order. */
  readonly parties: readonly PartyTotals[];
  /** The number of parties beyond `parties`, with their totals; null: none. */
  readonly rest: { readonly parties: number; readonly totals: PartyTotals } | null;
}

export interface DayTotalsBy {
  readonly provider: DayTotals;
  readonly agent: DayTotals;
}

/**
 * Returns the control totals of a day. The listed parties and the rest add up to the day's totals.
 * Both groupings use one scan of the day's titles, which takes most of the time.
 */
export async function readDayTotals(
  database: Database,
  date: CivilDate,
  limit: number,
): Promise<DayTotalsBy> {
  const rows = await database.prisma.$queryRaw<
    (PartyTotals & { by: TotalsBy; place: number; parties: number })[]
  >`
    WITH total AS (
      SELECT CASE WHEN grouping(provider_external_id) = 0 THEN 'provider' ELSE 'agent' END AS by,
             CASE WHEN grouping(provider_external_id) = 0 THEN provider_external_id
                  ELSE financial_agent_name END AS party,
             financial_agent_identification AS identification, count(*) AS titles,
             sum(original_value) AS original_value
      FROM conciliation.title WHERE accepted_date = ${date}::date AND status = 'current'
      GROUP BY GROUPING SETS ((provider_external_id),
                              (financial_agent_name, financial_agent_identification))
    ), placed AS (
      SELECT *, least(row_number() OVER (PARTITION BY by
                                         ORDER BY original_value DESC, party, identification),
                      ${limit + 1}::int) AS place
      FROM total
    )
    SELECT by, CASE WHEN count(*) = 1 THEN min(party) END AS party,
           CASE WHEN count(*) = 1 THEN min(identification) END AS identification,
           place::int AS place, count(*)::int AS parties, sum(titles)::int AS titles,
           sum(original_value)::text AS "originalValueSum"
    FROM placed GROUP BY by, place ORDER BY place`;
  const totalsOf = (by: TotalsBy): DayTotals => {
    const own = rows.filter((row) => row.by === by);
    const rest = own.find((row) => row.place > limit);
    return {
      parties: own.filter((row) => row.place <= limit),
      rest: rest === undefined ? null : { parties: rest.parties, totals: rest },
    };
  };
  return { provider: totalsOf('provider'), agent: totalsOf('agent') };
}
