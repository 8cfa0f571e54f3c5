import type { CivilDate } from '../domain/business-day.ts';
import { AMOUNT_COLUMNS } from '../domain/title.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from './database.ts';
import type { AmountColumn } from './export-titles.ts';
import { inStaging } from './in-staging.ts';

export type TotalsBy = 'provider' | 'agent';

/** Count and sums of a day's current titles with one provider or financial agent. */
export interface PartyTotals {
  /** provider_external_id, or the agent's name; null: not stated. */
  readonly party: string | null;
  /** Of an agent its tax identifier: personal data. */
  readonly identification: string | null;
  readonly titles: number;
  readonly sums: Readonly<Record<AmountColumn, string>>;
}

export interface DayTotals {
  /** By original value, the greatest first. */
  readonly parties: readonly PartyTotals[];
  /** How many there are beyond `parties`, with their totals; null: none. */
  readonly rest: { readonly parties: number; readonly totals: PartyTotals } | null;
}

const KEYS: Readonly<Record<TotalsBy, Prisma.Sql>> = {
  provider: Prisma.sql`provider_external_id AS party, NULL::text AS identification`,
  agent: Prisma.sql`financial_agent_name AS party, financial_agent_identification AS identification`,
};

const sums = Prisma.raw(AMOUNT_COLUMNS.map((name) => `sum(${name}) AS ${name}`).join(', '));
const sumsJson = Prisma.raw(
  `jsonb_build_object(${AMOUNT_COLUMNS.map((name) => `'${name}', coalesce(sum(${name}), 0)::text`).join(', ')})`,
);

/** Control totals of a day; what is listed and the rest add up to the day's own. */
export function readDayTotals(
  database: Database,
  date: CivilDate,
  by: TotalsBy,
  limit: number,
): Promise<DayTotals> {
  return inStaging(async () => {
    const rows = await database.prisma.$queryRaw<
      (PartyTotals & { place: number; parties: number })[]
    >`
      WITH stated AS (
        SELECT ${KEYS[by]}, ${Prisma.raw(AMOUNT_COLUMNS.join(', '))}
        FROM conciliation.title WHERE accepted_date = ${date}::date AND status = 'current'
      ), total AS (
        SELECT party, identification, count(*) AS titles, ${sums},
               least(row_number() OVER (ORDER BY sum(original_value) DESC, party, identification),
                     ${limit + 1}::int) AS place
        FROM stated GROUP BY party, identification
      )
      SELECT CASE WHEN count(*) = 1 THEN min(party) END AS party,
             CASE WHEN count(*) = 1 THEN min(identification) END AS identification,
             place::int AS place, count(*)::int AS parties, sum(titles)::int AS titles,
             ${sumsJson} AS sums
      FROM total GROUP BY place ORDER BY place`;
    const rest = rows.find((row) => row.place > limit);
    return {
      parties: rows.filter((row) => row.place <= limit),
      rest: rest === undefined ? null : { parties: rest.parties, totals: rest },
    };
  });
}
