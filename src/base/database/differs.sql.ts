import { Prisma } from '../../generated/prisma/client.ts';

/** Whether columns of a row are not as they were computed again. In JSON too, 1.0 and 1.00 are equal. */
export const differs = (row: Prisma.Sql, computed: Prisma.Sql): Prisma.Sql => Prisma.sql`
  to_jsonb(${row}) || (${computed}) <> to_jsonb(${row})`;
