import { Prisma } from '../../generated/prisma/client.ts';

const root = (taxId: Prisma.Sql) => Prisma.sql`left(${taxId}, 8)`;

/**
 * True where two tax identifiers in normal form name one financial agent: the same identifier, branches of one
 * company, or companies that a person has confirmed to be equivalent, such as a fund and its administrator. Null
 * counts as false.
 */
export const isAgent = (candidate: Prisma.Sql, agent: Prisma.Sql): Prisma.Sql => Prisma.sql`
  coalesce(${candidate} = ${agent}
   OR length(${candidate}) = 14 AND length(${agent}) = 14
      AND (${root(candidate)} = ${root(agent)}
           -- Not correlated, so that the few pairs are read once.
           OR (${root(candidate)}, ${root(agent)}) IN (
             SELECT ${root(Prisma.sql`one`)}, ${root(Prisma.sql`other`)}
             FROM conciliation.party_equivalent
             CROSS JOIN LATERAL (VALUES (tax_id, same_as), (same_as, tax_id)) AS either (one, other)
             WHERE ended_at IS NULL)), false)`;
