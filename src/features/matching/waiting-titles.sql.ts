import { Prisma } from '../../generated/prisma/client.ts';
import { releaseBreaks } from './breaks.sql.ts';

/**
 * The current titles of an accepted date whose lines must not be released now, judged against the payables as they are
 * at that instant: a subquery with the column `title_id`. Reads by index. To be run with the settings of
 * `joinWholeSets`, because its joins are of sets.
 * @param date an expression of SQL of the type date
 */
export const waitingTitles = (date: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (WITH ${releaseBreaks(date)}
   SELECT DISTINCT title_id FROM broken WHERE waits AND accepted_date = ${date})`;
