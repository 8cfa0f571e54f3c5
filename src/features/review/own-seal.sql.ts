import type { QueryClient, Transaction } from '../../base/database/database.ts';
import { taxIdOf } from '../../base/database/expressions.sql.ts';
import { refusal } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { OwnSealProps } from '../../console/shell/parts.tsx';
import { AUTO_SIGN_OFF_AUTHOR } from '../../core/merge/holds.sql.ts';
import { companyIdOf } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/**
 * Whether a confirmation of the person is in force: of the tolerances, or of the buyer of a company or of an agent that
 * a current title of the date names. Dates after the confirmation do not count: otherwise one of two reviewers could
 * never sign.
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
              OR left(${taxIdOf('financial_agent_identification')}, 8) = ANY(agents)
  UNION ALL
  SELECT FROM conciliation.matching_rule
  WHERE id = (SELECT max(id) FROM conciliation.matching_rule) AND confirmed_by = ${person} AND confirmed_at > ${date})`;

/**
 * Whether the person made, or undid, the newest match of a title of the date, or of a withdrawn title of the order of
 * one, whose match the next run may give the title. An earlier decision decides nothing any more.
 */
export const hasMatched = (date: Prisma.Sql, person: string): Prisma.Sql => Prisma.sql`EXISTS (
  WITH decided AS MATERIALIZED (
    SELECT accepted_date, order_uid, status
    FROM conciliation.title_match AS match JOIN conciliation.title AS title ON title.id = title_id
    WHERE coalesce(ended_by, CASE rule WHEN 'person' THEN made_by END) = ${person} AND match.id = (
      SELECT max(id) FROM conciliation.title_match AS newest WHERE newest.title_id = match.title_id)
  )
  SELECT FROM decided
  WHERE accepted_date = ${date} OR status = 'withdrawn' AND EXISTS (
    SELECT FROM conciliation.title AS heir
    WHERE heir.order_uid = decided.order_uid AND heir.accepted_date = ${date} AND heir.status = 'current'))`;

/** Whether a resolution by the person holds of a break that the newest run has found in a title of the date. */
export const hasResolved = (date: Prisma.Sql, person: string): Prisma.Sql => Prisma.sql`EXISTS (
  SELECT FROM conciliation.erp_break AS broken JOIN conciliation.break_resolution USING (ground)
  WHERE broken.accepted_date = ${date} AND decided_by = ${person})`;

/** The newest seal of a row `day`, in force or ended. */
export const NEWEST_SEAL = Prisma.sql`
  JOIN conciliation.sign_off AS seal
    ON seal.id = (SELECT max(id) FROM conciliation.sign_off AS any_seal WHERE any_seal.date = day.date)`;

const IN_FORCE = Prisma.sql`seal.ended_at IS NULL`;

/** Which newest seals a decision is about. */
export interface Concern {
  /** Of a row `day` with its newest `seal`. */
  readonly days: Prisma.Sql;
  /** Whether nobody decides while a seal of the program is in force: no second person has looked at the day. */
  readonly needsPerson?: boolean;
}

/**
 * For a decision about days that is not the signer's: otherwise one person would decide alone, after the sign-off.
 * @param concern absent: the seals in force
 * @throws InputError if the person has signed one of the days off, or was an administrator when it was signed off, or,
 *   with `needsPerson`, the program has
 */
export async function requireOtherSigner(
  tx: Transaction,
  dates: readonly (CivilDate | null)[],
  by: string,
  concern?: Concern,
): Promise<void> {
  // A sign-off locks the row as well, so it is committed, or sees this decision.
  await tx.$executeRaw`
    SELECT FROM conciliation.day WHERE date = ANY(${dates}::text[]::date[]) ORDER BY date FOR UPDATE`;
  const [own] = await readOwnSeals(tx, dates, by, concern);
  if (own !== undefined) throw refusal('own_seal', { date: own.date, cause: own.cause });
}

/** Returns the seals for which `requireOtherSigner` refuses the person, in the order of their dates. */
export function readOwnSeals(
  client: QueryClient,
  dates: readonly (CivilDate | null)[],
  by: string,
  { days, needsPerson = false }: Concern = { days: IN_FORCE },
): Promise<OwnSealProps[]> {
  const isProgram = Prisma.sql`(${needsPerson} AND seal.signed_off_by = ${AUTO_SIGN_OFF_AUTHOR} AND ${IN_FORCE})`;
  return client.$queryRaw<OwnSealProps[]>`
    SELECT day.date::text AS date,
           CASE WHEN ${isProgram} THEN 'program' WHEN seal.signed_off_by = ${by} THEN 'signed'
                ELSE 'administered' END AS cause,
           ARRAY(SELECT name FROM conciliation.console_user AS other
                 WHERE role = 'reviewer' AND disabled_at IS NULL AND name NOT IN (${by}, seal.signed_off_by)
                   AND NOT ${wasAdministrator(Prisma.sql`other`)} ORDER BY name) AS deciders
    FROM conciliation.day ${NEWEST_SEAL}
    WHERE day.date = ANY(${dates}::text[]::date[])
      AND (${isProgram} OR seal.signed_off_by = ${by}
           OR EXISTS (SELECT FROM conciliation.console_user AS person
                      WHERE person.name = ${by} AND ${wasAdministrator(Prisma.sql`person`)}))
      AND ${days}
    ORDER BY day.date`;
}

/** Of a user: whether the present role is newer than the row `seal`. */
const wasAdministrator = (user: Prisma.Sql) =>
  Prisma.sql`(${user}.decides_from >= seal.signed_off_at) IS TRUE`;
