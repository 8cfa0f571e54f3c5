/** A sign-off that waits for a merge of its day. */
import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { signOffDay } from '../../../src/features/review/sign-off.sql.ts';
import { decideOpenChanges } from '../../support/account-decisions.ts';
import { ANY_DAY_RULES } from '../../support/check-rules.ts';
import { digestOf } from '../../support/days.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const NEXT = daysFrom(1);

const world = worldOfFile();

async function pull(date: CivilDate, account: string) {
  await world.serve(date, [titleText({ uid: `of ${date}`, date, account })]);
}

test('is refused where the merge holds a payment, although the content is the one that was seen', async () => {
  const { database } = world;
  await pull(DAY, '111');
  await pull(NEXT, '111');
  await checkDays(database, ANY_DAY_RULES);
  const seenDigest = await digestOf(database, NEXT);
  // The account is restated, and the restatement is taken back while the person signs.
  await pull(NEXT, '222');
  await decideOpenChanges(database, 'confirmed');
  let signing: Promise<unknown> = Promise.resolve();
  let merge: Promise<unknown> = Promise.resolve();
  await database.prisma.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT FROM conciliation.program_lock WHERE name = 'closing' FOR UPDATE`;
      // Waits for the lock of the closing phase, and holds that of the day.
      merge = pull(NEXT, '111');
      await lockWaits(database);
      signing = signOffDay(database, NEXT, {
        ...{ by: 'rita', reason: null, seenDigest, fourEyes: false, requiresChecks: true },
      }).catch((error: unknown) => error);
      await lockWaits(database, 2);
    },
    { timeout: 120_000 },
  );
  await merge;
  expect(await digestOf(database, NEXT)).toBe(seenDigest);
  expect(await signing).toMatchObject({ context: { fault: 'payment_held' } });
});
