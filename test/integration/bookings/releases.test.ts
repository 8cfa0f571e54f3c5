import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startReleases } from '../../../src/features/bookings/booking-loops.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import { DEFAULT_RULES } from '../../support/check-rules.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

test('the service compares receipts, signs clean days off and releases them', async () => {
  const { prisma } = world.database;
  await prisma.$executeRaw`
    INSERT INTO conciliation.booking_receipt
      (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status, document)
    VALUES ('erp', 'a', '2020-01-01', gen_random_uuid(), 1, 1, gen_random_uuid(), 'posted', 'D')`;
  await world.serve(DAY, [titleText()]);
  await checkDays(world.database, DEFAULT_RULES);
  const releases = startReleases({
    database: world.database,
    logger: pino({ level: 'silent' }),
    bookingsFrom: DAY,
    payablesMaxAgeHours: 30,
    signsCleanDays: true,
    timeZone: 'America/Sao_Paulo',
    everyMs: 50,
  });
  await expect.poll(() => prisma.bookingLine.count({ where: { date: DAY } })).toBe(1);
  await releases.stop();
  expect(await prisma.bookingReceipt.findMany({ select: { outcome: true } })).toEqual([
    { outcome: 'unknown_key' },
  ]);
});
