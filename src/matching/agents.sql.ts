import { Prisma } from '../generated/prisma/client.ts';

/**
 * True where two tax identifiers in normal form name one financial agent: the same identifier, branches of one
 * company, or two identifiers that a person has confirmed to be equivalent, such as a fund and its administrator. Null
 * where one of the two is not stated.
 */
export const isAgent = (candidate: Prisma.Sql, agent: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (${candidate} = ${agent}
   OR length(${candidate}) = 14 AND length(${agent}) = 14 AND left(${candidate}, 8) = left(${agent}, 8)
   OR (${candidate}, ${agent}) IN (
     SELECT tax_id, same_as FROM conciliation.party_equivalent WHERE ended_at IS NULL
     UNION ALL SELECT same_as, tax_id FROM conciliation.party_equivalent WHERE ended_at IS NULL))`;
