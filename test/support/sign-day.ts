import type { Database } from '../../src/base/database/database.ts';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import {
  type Signing,
  type SigningRules,
  signOffDay,
} from '../../src/features/review/sign-off.sql.ts';

/** Signs a day off with the content that it has. */
export async function signDay(
  database: Database,
  date: CivilDate,
  options: Partial<Signing & SigningRules> = {},
): Promise<void> {
  const { contentDigest } = await database.prisma.day.findUniqueOrThrow({ where: { date } });
  await signOffDay(database, date, {
    ...{ by: 'ana', reason: null, fourEyes: false },
    ...options,
    seenDigest: contentDigest ?? '',
  });
}
