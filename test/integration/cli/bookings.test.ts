/** The command `bookings`: outside, adopt, dismiss and consumer. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readLedgerDay } from '../../../src/ledger/ledger-days.sql.ts';
import { signOffDay } from '../../../src/ledger/sign-off.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { DAY, openPullWorld, type PullWorld, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
  world.sandbox.setDayTexts(DAY, [titleText({ value: '10.10' })]);
  await world.pull(DAY);
  const day = await readLedgerDay(world.database, DAY, TODAY);
  const seenDigest = day?.contentDigest ?? '';
  await signOffDay(world.database, DAY, { by: 'ana', reason: null, seenDigest, fourEyes: true });
});
afterAll(() => world.close());

const run = (...args: string[]) =>
  runCommand(['bookings', ...args], { ...environmentOf(world), BOOKINGS_FROM: DAY });

test('what was booked outside is entered once, with the right totals and an entry of the audit log', async () => {
  const enter = (value: string) =>
    run(
      ...['outside', '--from', DAY, '--to', DAY, '--titles', '1', '--original-value', value],
      ...['--reason', 'by hand', '--json'],
    );
  const wrong = await enter('10.11');
  expect([wrong.exit, wrong.stdout + wrong.stderr]).toEqual([
    2,
    expect.stringContaining('the seals of the 1 days have 1 and 10.10'),
  ]);
  const entered = await enter('10.10');
  expect([entered.exit, JSON.parse(entered.stdout)]).toEqual([0, { dates: [DAY] }]);
  expect((await enter('10.10')).exit).toBe(2);
  const audited = await world.database.prisma.auditEntry.findMany({
    where: { action: 'bookings.outside' },
    select: { reason: true, details: true },
  });
  expect(audited).toMatchObject([{ reason: 'by hand', details: { titles: 1, days: 1 } }]);
});

test('receipts are adopted or dismissed by day, and a day without a question is refused', async () => {
  const none = await run('adopt', DAY, '--reason', 'restored');
  expect([none.exit, none.stderr]).toEqual([2, `error: ${DAY}: no receipt waits for a decision\n`]);
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.booking_receipt
      (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status, document)
    VALUES ('erp', 'a', ${DAY}::date, gen_random_uuid(), 1, 1, gen_random_uuid(), 'posted', 'D')`;
  const dismissed = await run('dismiss', DAY, '--reason', 'sent by the test system');
  expect([dismissed.exit, dismissed.stdout]).toEqual([0, `${DAY}: 1 receipts dismissed\n`]);
});

test('a consumer is named with its database user and its buyers', async () => {
  const named = await run('consumer', 'north', '--database-role', 'erp_north', '--buyers', '1, 2');
  expect(named.exit).toBe(0);
  const taken = await run('consumer', 'south', '--buyers', '2');
  expect([taken.exit, taken.stderr]).toEqual([2, expect.stringContaining('the consumer north')]);
  expect(
    await world.database.prisma.bookingConsumer.findUnique({ where: { name: 'north' } }),
  ).toMatchObject({ databaseRole: 'erp_north', buyers: ['1', '2'] });
});
