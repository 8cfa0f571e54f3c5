import type { Prisma } from '../generated/prisma/client.ts';
import { waitingTitlesOf } from './breaks.sql.ts';

/**
 * The current titles of an accepted date whose lines must not be released now, judged against the payables as they are
 * at that instant: a subquery with the column `title_id`. Reads by index, if the planner does not loop over joins
 * (`enable_nestloop` off, see `joinWholeSets`).
 * @param date an expression of SQL of the type date
 */
export const waitingTitles = (date: Prisma.Sql): Prisma.Sql => waitingTitlesOf(date);
