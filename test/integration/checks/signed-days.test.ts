/** The checks beside days that are signed off. */
import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releaseWaitingDays } from '../../../src/features/bookings/release.sql.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { countFindings, resolveFindings } from '../../../src/features/checks/findings.sql.ts';
import { runMatching } from '../../../src/features/matching/run-matching.sql.ts';
import { DEFAULT_RULES } from '../../support/check-rules.ts';
import { signDay } from '../../support/days.ts';
import { worldOfEachTest } from '../../support/file-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const NEXT = daysFrom(1);

const world = worldOfEachTest();

async function pull(date: CivilDate, ...texts: string[]) {
  await world.serve(date, texts);
}

/** As often as the loop of the service needs to, for findings that two dates share. */
async function check() {
  while ((await checkDays(world.database, DEFAULT_RULES)).length > 0);
}

const sign = (date: CivilDate) =>
  signDay(world.database, date, { by: 'rita', requiresChecks: true });

test('a signed day that waits for the matching is released when a person has resolved the finding of an equal title on another date', async () => {
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '77' }], 'snapshot');
  await pull(DAY, titleText({ uid: 'a' }));
  await check();
  await sign(DAY);
  await pull(NEXT, titleText({ uid: 'a', date: NEXT }));
  await check();
  expect(await releaseWaitingDays(world.database, {})).toEqual([]);
  await runMatching(world.database, { by: 'test' });
  expect(await releaseWaitingDays(world.database, {})).toEqual([]);
  const seen = { date: DAY, code: 'equal_on_two_dates', newestId: 9n, titleId: null } as const;
  await resolveFindings(world.database, seen, { by: 'ana', reason: 'two deliveries' });
  expect(await releaseWaitingDays(world.database, {})).toEqual([DAY]);
});

test('a day whose restatement was taken back agrees with its seal, and has no finding of the restatement', async () => {
  await pull(DAY, titleText({ uid: 'a', discount: '1' }));
  await check();
  await sign(DAY);
  await pull(DAY, titleText({ uid: 'a', discount: '1000' }));
  await pull(DAY, titleText({ uid: 'a', discount: '100000' }));
  await check();
  const open = { state: 'open', check: null, date: DAY, severity: 'review' } as const;
  expect(await countFindings(world.database.prisma, open)).toEqual({ rows: 1 });
  await pull(DAY, titleText({ uid: 'a', discount: '1' }));
  await check();
  expect(await countFindings(world.database.prisma, open)).toEqual({ rows: 0 });
  expect(await world.database.prisma.day.findUniqueOrThrow({ where: { date: DAY } })).toMatchObject(
    {
      state: 'reconciled',
      restatedAfterSignOff: false,
    },
  );
  await expect(sign(DAY)).rejects.toMatchObject({ context: { fault: 'already_signed_off' } });
});
