import { Prisma } from '../../generated/prisma/client.ts';

/**
 * The fence of the newest response in which a row of `title` came, for the first time or again. A greater fence is a
 * later request.
 * @param title the alias of the row, a constant of this program
 */
export const arrivalFence = (title: string): Prisma.Sql =>
  Prisma.raw(`
    (SELECT max(arrival.fence) FROM conciliation.pull AS arrival
     WHERE arrival.id = ANY(ARRAY(
       SELECT ${title}.first_pull_id
       UNION ALL
       SELECT revision.pull_id FROM conciliation.title_revision AS revision
       WHERE revision.title_id = ${title}.id AND revision.kind = 'restored')))`);
