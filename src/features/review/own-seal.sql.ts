import type { QueryClient, Transaction } from '../../base/database/database.ts';
import { taxIdOf } from '../../base/database/expressions.sql.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { OwnSealProps } from '../../console/shell/parts.tsx';
import { companyIdOf } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/**
 * Whether a confirmation of the person, of the buyer of a company or of an agent, is in force and concerns a current
 * title of the date. Dates after the confirmation do not count: otherwise one of two reviewers could never sign.
 */
export const hasConfirmed = (date: Prisma.Sql, person: string): Prisma.Sql => Prisma.sql`EXISTS (
  WITH confirmed AS MATERIALIZED (
    SELECT buyer, NULL::text[] AS agents FROM conciliation.company_buyer
    WHERE ended_at IS NULL AND confirmed_by = ${person} AND confirmed_at > ${date}
    UNION ALL
    SELECT NULL, ARRAY[left(tax_id, 8), left(same_as, 8)] FROM conciliation.party_equivalent
    WHERE ended_at IS NULL AND confirmed_by = ${person} AND confirmed_at > ${date}
  )
  SELECT FROM confirmed JOIN (
    SELECT DISTINCT buyer_identification, financial_agent_identification FROM conciliation.title
    -- Without a confirmation, the titles are not read.
    WHERE EXISTS (SELECT FROM confirmed) AND accepted_date = ${date} AND status = 'current'
  ) AS stated ON ${companyIdOf('buyer_identification')} = buyer
              OR left(${taxIdOf('financial_agent_identification')}, 8) = ANY(agents))`;

/**
 * For a decision about days that is not the signer's: otherwise one person would decide alone, after the sign-off.
 * @param concerns of a row `day` with the `seal` in force: whether the decision is about it. Absent: yes
 * @throws InputError if the person has signed one of the days off, or was an administrator when it was signed off
 */
export async function requireOtherSigner(
  tx: Transaction,
  dates: readonly (CivilDate | null)[],
  by: string,
  concerns: Prisma.Sql = Prisma.sql`true`,
): Promise<void> {
  // A sign-off locks the row as well, so it is committed, or sees this decision.
  await tx.$executeRaw`
    SELECT FROM conciliation.day WHERE date = ANY(${dates}::text[]::date[]) ORDER BY date FOR UPDATE`;
  const [own] = await readOwnSeals(tx, dates, by, concerns);
  if (own === undefined) return;
  const { date, cause } = own;
  throw new InputError(
    'you have signed the day off, or it was signed off before your role changed; another person has to decide',
    { context: { fault: 'own_seal', date, cause } },
  );
}

/** Returns the seals for which `requireOtherSigner` refuses the person, in the order of their dates. */
export function readOwnSeals(
  client: QueryClient,
  dates: readonly (CivilDate | null)[],
  by: string,
  concerns: Prisma.Sql = Prisma.sql`true`,
): Promise<OwnSealProps[]> {
  return client.$queryRaw<OwnSealProps[]>`
    SELECT day.date::text AS date, CASE WHEN seal.signed_off_by = ${by} THEN 'signed' ELSE 'administered' END AS cause,
           ARRAY(SELECT name FROM conciliation.console_user AS other
                 WHERE role = 'reviewer' AND disabled_at IS NULL AND name NOT IN (${by}, seal.signed_off_by)
                   AND NOT ${wasAdministrator(Prisma.sql`other`)} ORDER BY name) AS deciders
    FROM conciliation.day JOIN conciliation.sign_off AS seal ON seal.date = day.date AND seal.ended_at IS NULL
    WHERE day.date = ANY(${dates}::text[]::date[])
      AND (seal.signed_off_by = ${by}
           OR EXISTS (SELECT FROM conciliation.console_user AS person
                      WHERE person.name = ${by} AND ${wasAdministrator(Prisma.sql`person`)}))
      AND ${concerns}
    ORDER BY day.date`;
}

/** Of a user: whether the present role is newer than the row `seal`. */
const wasAdministrator = (user: Prisma.Sql) =>
  Prisma.sql`(${user}.decides_from >= seal.signed_off_at) IS TRUE`;
