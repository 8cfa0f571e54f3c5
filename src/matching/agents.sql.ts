import { Prisma } from '../generated/prisma/client.ts';

/** True where a party is the financial agent: the same tax identifier, or the same CNPJ root. Null counts as false. */
export const isAgent = (candidate: Prisma.Sql, agent: Prisma.Sql): Prisma.Sql => Prisma.sql`
  coalesce(${candidate} = ${agent}
    OR length(${candidate}) = 14 AND length(${agent}) = 14 AND left(${candidate}, 8) = left(${agent}, 8), false)`;
