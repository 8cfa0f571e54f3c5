import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, lastClosedDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { acceptRejects } from '../../../src/features/review/sign-off.sql.ts';
import { decideOpenChanges, signDay } from '../../support/days.ts';
import { clearProviders, providerOf, writeProviders } from '../../support/provider-rows.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { titlesOf, titleText } from '../../support/titles.ts';
import { expectDerived, NEVER_STALE, openAlerts, openKeys, openTexts } from './alert-table.ts';

const world = worldOfFile();
beforeEach(async () => {
  world.sandbox.faults.clear();
  await world.prisma.$executeRaw`DELETE FROM conciliation.alert`;
});

const ONE_ATTEMPT = { retry: { attempts: 1, backoffSeconds: 1 } };
const decision = { by: 'test', reason: 'test' };

const derive = (raised: number, resolved: number, open?: readonly string[]) =>
  expectDerived(world.database, [raised, resolved], open);

function setDay(date: typeof DAY, uids: readonly string[]): void {
  world.sandbox.setDayTexts(date, titlesOf(uids, { date }));
}

test('planned pulls that have not ended two hours after their slot are one alert', async () => {
  const plan = (date: string, slotAgo: string, createdAgo: string) => world.prisma.$executeRaw`
    INSERT INTO conciliation.pull (origin, date, requested_by, slot_at, created_at)
    VALUES ('daily', ${date}::date, 'test', now() - ${slotAgo}::interval, now() - ${createdAgo}::interval)`;
  await plan(daysFrom(40), '100 minutes', '100 minutes');
  await plan(daysFrom(41), '5 hours', '1 hour');
  await derive(0, 0);
  await plan(daysFrom(42), '140 minutes', '140 minutes');
  await plan(daysFrom(43), '3 hours', '3 hours');
  await derive(1, 0, [
    `pull_overdue ${daysFrom(43)}: 2 planned pulls have not ended 2 hours after the slot; the oldest is that of ${daysFrom(43)}`,
  ]);
  await world.prisma.$executeRaw`DELETE FROM conciliation.pull WHERE slot_at IS NOT NULL`;
  await derive(0, 1);
});

test('dates whose newest check is older than 26 hours are one alert', async () => {
  const [first, second] = [daysFrom(50), daysFrom(51)];
  const checked = (date: string, ago: string) => world.prisma.$executeRaw`
    INSERT INTO conciliation.title_check (date, checked_at)
    VALUES (${date}::date, now() - ${ago}::interval)
    ON CONFLICT (date) DO UPDATE SET checked_at = excluded.checked_at`;
  const merged = (date: string, ago: string) => world.prisma.$executeRaw`
    INSERT INTO conciliation.day (date, verified_at) VALUES (${date}::date, now() - ${ago}::interval)`;
  // A date that was never checked has waited since its newest merge.
  await merged(first, '25 hours');
  await merged(second, '27 hours');
  await checked(second, '25 hours');
  await derive(0, 0);
  await world.prisma.$executeRaw`
    UPDATE conciliation.day SET verified_at = now() - interval '28 hours' WHERE date = ${first}::date`;
  // A check in the future is none.
  await checked(second, '-1 hour');
  await derive(1, 0, [
    `verification_overdue ${first}: 2 dates were not checked for altered titles for 26 hours; the oldest check is that of ${first}`,
  ]);
  await checked(first, '1 minute');
  await checked(second, '1 minute');
  await derive(0, 1);
  await world.prisma.$executeRaw`DELETE FROM conciliation.day WHERE date >= ${first}::date`;
});

test('an outage is one alert for any number of dates, until the last date is pulled', async () => {
  const [first, second, third] = [daysFrom(60), daysFrom(61), daysFrom(62)];
  world.sandbox.faults.add({ kind: 'status', status: 500, times: 'forever' });
  await world.attempt(first, ONE_ATTEMPT);
  await world.attempt(second, ONE_ATTEMPT);
  await derive(1, 0);
  await world.attempt(third, ONE_ATTEMPT);
  await derive(0, 0, [
    `pull_failed:PLATFORM_UNAVAILABLE ${first}: the pulls of 3 dates failed after 1 attempt (PLATFORM_UNAVAILABLE): ${first} to ${third}`,
  ]);

  world.sandbox.faults.clear();
  for (const date of [second, first]) {
    setDay(date, []);
    await world.pull(date);
  }
  // Another cause is another alert.
  world.sandbox.faults.add({ kind: 'status', status: 400, date: first, times: 1 });
  await world.attempt(first, ONE_ATTEMPT);
  await derive(1, 0, [
    `pull_failed:PLATFORM_UNAVAILABLE ${third}: the pull of ${third} failed after 1 attempt (PLATFORM_UNAVAILABLE)`,
    `pull_failed:PLATFORM_REQUEST ${first}: the pull of ${first} failed after 1 attempt (PLATFORM_REQUEST)`,
  ]);
  setDay(third, []);
  await world.pull(first);
  await world.pull(third);
  await derive(0, 2);
});

test('days that are held for one reason are one alert, and another reason is another', async () => {
  const [first, second, third] = [daysFrom(70), daysFrom(71), daysFrom(72)];
  const hold = async (date: typeof DAY, uids: readonly string[]) => {
    setDay(date, ['a', 'b', 'c']);
    await world.pull(date);
    setDay(date, uids);
    return (await world.pull(date)).pullId;
  };
  const pullId = await hold(first, ['a']);
  await hold(second, ['a']);
  await hold(third, []);
  const oldest = `day_held:withdrawal_limit ${first}: 2 days are held for one reason, ${first} to ${second}; on the oldest day, pull ${pullId} would withdraw 2 of its 3 titles`;
  await derive(2, 0, [oldest, expect.stringContaining(`day_held:emptied ${third}: `)]);
  expect(await openAlerts(world.database)).toMatchObject([{ pull_id: pullId }, {}]);
  // A later pull that is held as well is the same alert, and names what can be released now.
  const later = await world.pull(third);
  await derive(0, 0);
  expect(await openAlerts(world.database)).toMatchObject([{}, { pull_id: later.pullId }]);
  // A released day leaves the alert of the others.
  await releasePull(world.parts, pullId, decision);
  await derive(0, 0);
  for (const date of [second, third]) {
    setDay(date, ['a', 'b', 'c']);
    await world.pull(date);
  }
  await derive(0, 2);
});

test('a day with rejected titles is an alert until they are accepted', async () => {
  const date = daysFrom(3);
  await world.serve(date, ['{}', titleText({ date })]);
  await derive(1, 0, [`day_attention ${date}: ${date} lacks 1 title that broke the contract`]);
  await acceptRejects(world.database, date, decision);
  await derive(0, 1);
});

test('a day restated after its sign-off is an alert until it is signed off again', async () => {
  const date = daysFrom(4);
  setDay(date, ['a', 'b']);
  await world.pull(date);
  await signDay(world.database, date, { bookingsFrom: null });
  await derive(0, 0);

  setDay(date, ['a', 'b', 'c']);
  await world.pull(date);
  await derive(1, 0, [expect.stringContaining(`restated_after_sign_off ${date}: `)]);

  await signDay(world.database, date, { bookingsFrom: null });
  await derive(0, 1);
});

test('days that wait for a decision about findings are one alert for each check', async () => {
  const dates = [daysFrom(81), daysFrom(80)];
  const { prisma } = world;
  const find = (date: string, code: string, titleId: number) => prisma.$executeRaw`
    INSERT INTO conciliation.check_finding (code, version, severity, accepted_date, title_id, content_hash, detail)
    VALUES (${code}, 1, 'review', ${date}::date, ${titleId}::bigint, gen_random_uuid(), '{}')`;
  for (const [index, date] of dates.entries()) {
    await prisma.$executeRaw`
      INSERT INTO conciliation.day (date, state, last_pull_id)
      VALUES (${date}::date, 'attention', ${8 - index}::bigint)`;
    await find(date, 'unit_jump', 1);
    await find(date, 'unit_jump', 2);
  }
  await find(daysFrom(81), 'tax_id_invalid', 1);
  await derive(2, 0, [
    `day_attention:unit_jump ${daysFrom(80)}: a person has to resolve 4 findings of the check "Unit jump": ${daysFrom(80)} to ${daysFrom(81)}`,
    expect.stringContaining(`day_attention:tax_id_invalid ${daysFrom(81)}: `),
  ]);
  expect(await openAlerts(world.database)).toMatchObject([{ pull_id: 7n }, { pull_id: 8n }]);
  await prisma.day.updateMany({ where: { date: { in: dates } }, data: { state: 'reconciled' } });
  await derive(0, 2);
  await prisma.checkFinding.deleteMany();
  await prisma.day.deleteMany({ where: { date: { in: dates } } });
});

test('open urgent breaks are one alert', async () => {
  const { prisma } = world;
  const found = (acceptedDate: string | null, severity: number, erpKey: string) => ({
    ...{ id: randomUUID(), ground: randomUUID(), kind: 'paid_to_supplier', waits: false },
    ...{ acceptedDate, severity, erpKey, since: DAY, value: '1', candidates: [] },
  });
  await prisma.erpBreak.createMany({ data: [found(DAY, 1, 'k1'), found(DAY, 1, 'k2')] });
  await derive(0, 0);
  const urgent = [
    found(daysFrom(1), 2, 'k3'),
    found(daysFrom(1), 2, 'k4'),
    found(DAY, 2, 'k5'),
    found(null, 2, 'k6'),
  ];
  await prisma.erpBreak.createMany({ data: urgent });
  await derive(1, 0, [
    expect.stringMatching(
      `^paid_to_supplier ${DAY}: 4 urgent breaks .*: ${DAY} to ${daysFrom(1)}$`,
    ),
  ]);
  // A decision of a person counts at once.
  await prisma.breakDecision.createMany({
    data: urgent.map(({ kind, erpKey, ground }) => ({
      ...{ kind, erpKey, ground, decidedBy: 'rita', code: 'agreed', reason: 'paid back' },
    })),
  });
  await derive(0, 1);
  await prisma.erpBreak.deleteMany();
});

describe('a checkpoint', () => {
  const limits = { maxLagDays: 3, maxIdleHours: 26 };
  const later = new Date(Date.now() + 2 * 3_600_000);
  const closed = lastClosedDate(NEVER_STALE.timeZone, later);
  /** @param lag days up to the last closed date; null: no date is complete since a month */
  const advance = (lag: number | null, idleHours: number) => world.prisma.$executeRaw`
    UPDATE conciliation.checkpoint
    SET start_date = ${closed}::date - 30, last_reconciled_date = ${closed}::date - ${lag}::int,
        updated_at = ${later}::timestamptz - ${idleHours}::float8 * interval '1 hour'`;
  beforeEach(async () => {
    setDay(DAY, []);
    await world.pull(DAY);
  });

  test.each([
    ['that has reached the last closed date is never stale', 0, 1000, false],
    ['that is ahead is not stale', -20, 1000, false],
    ['one day behind is not stale before a daily run was missed', 1, 26, false],
    ['one day behind is stale after that', 1, 26.1, true],
    ['three days behind is not stale while it advances each day', 3, 1.1, false],
    ['far behind is not stale while it catches up', 4, 1, false],
    ['far behind is stale after an hour', 4, 1.1, true],
    ['that never got anywhere counts from its start', null, 2, true],
  ])('%s', async (_, lag, idleHours, isStale) => {
    await advance(lag, idleHours);
    const message =
      lag === null
        ? 'no date is complete yet, 31 days behind'
        : `complete only up to ${addDays(closed, -lag)}, ${lag} day${lag === 1 ? '' : 's'} behind`;
    const date = addDays(closed, lag === null ? -30 : 1 - lag);
    const alerts = isStale ? [`checkpoint_stale ${date}: ${message}`] : [];
    await expectDerived(world.database, [alerts.length, 0], alerts, limits, later);
    for (const alert of await openAlerts(world.database)) expect(alert.pull_id).toBeNull();
    await advance(0, 0);
    await expectDerived(world.database, [0, alerts.length], [], limits, later);
  });
});

describe('of providers', () => {
  const [first, second, third] = [1, 2, 3].map((number) => providerOf(number).externalId);
  const setState = (externalId: string | undefined, state: string, writtenAt: string) =>
    world.prisma.$executeRaw`
      UPDATE conciliation.provider SET sync_state = ${state}, changed_at = ${writtenAt}::timestamptz
      WHERE external_id = ${externalId}`;
  const derive = async (raised: number, resolved: number, open?: readonly string[]) => {
    const changes = await deriveAlerts(world.database, new Date(), NEVER_STALE, 'providers');
    expect(changes).toEqual({ raised, resolved });
    if (open !== undefined) expect(await openTexts(world.database)).toEqual(open);
  };
  beforeEach(async () => {
    await clearProviders(world.database);
    await writeProviders(world.database, [providerOf(1), providerOf(2), providerOf(3)]);
  });
  afterAll(() => clearProviders(world.database));

  test('those that were refused are one alert, which names the dates on which they were written', async () => {
    await derive(0, 0);
    // Late in the evening of the 3rd where the buyer is.
    await setState(first, 'rejected', '2026-03-04T01:30:00Z');
    await derive(1, 0);
    await setState(second, 'invalid', '2026-03-03T12:00:00Z');
    await derive(0, 0);
    await setState(third, 'invalid', '2026-03-05T12:00:00Z');
    await derive(0, 0, [
      'provider_rejected: of the providers written on 2026-03-03, 2026-03-05, 1 rejected by the platform, 2 invalid and not sent',
    ]);

    await writeProviders(
      world.database,
      [1, 2, 3].map((number) => providerOf(number, { name: 'Mended' })),
    );
    await derive(0, 1);
  });

  test('pushing that has failed for an hour is an alert until a request is decided', async () => {
    const request = (minutesAgo: number, errorCode: string | null, httpStatus: number | null) =>
      world.prisma.$executeRaw`
        INSERT INTO conciliation.provider_batch
          (external_ids, created_at, finished_at, error_code, http_status)
        VALUES (ARRAY[${first}], now() - make_interval(mins => ${minutesAgo}::int), now(),
                ${errorCode}, ${httpStatus}::int)`;
    await request(300, 'PLATFORM_UNAVAILABLE', 500);
    await request(200, null, 400);
    await request(50, 'PLATFORM_UNAVAILABLE', 500);
    await derive(0, 0);

    await request(120, 'PLATFORM_CONTRACT', 404);
    await derive(1, 0, [
      'push_failing: pushing has failed for over an hour (PLATFORM_CONTRACT), 3 providers wait',
    ]);
    await request(0, null, 200);
    await derive(0, 1);

    // A refused token has its own alert, and a stop is no failure.
    await request(120, 'PLATFORM_AUTH', 401);
    await request(120, 'SHUTDOWN', null);
    await derive(0, 0);
    await request(120, 'PLATFORM_AUTH', 403);
    await derive(1, 0);
    await clearProviders(world.database);
    await derive(0, 1);
  });

  test('providers for which no request was decided in two hours are an alert, for any cause', async () => {
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const decide = (minutes: number) => world.prisma.$executeRaw`
      INSERT INTO conciliation.provider_batch (external_ids, finished_at, http_status)
      VALUES (ARRAY[${first}], ${minutesAgo(minutes)}::timestamptz, 200)`;
    await setState(first, 'pending', minutesAgo(110));
    await derive(0, 0);

    await setState(first, 'pending', minutesAgo(130));
    // The platform has not answered this request, or the process has died.
    await world.prisma.$executeRaw`
      INSERT INTO conciliation.provider_batch (external_ids) VALUES (ARRAY[${first}])`;
    // The refusal of several rows decides none of them.
    await world.prisma.$executeRaw`
      INSERT INTO conciliation.provider_batch (external_ids, finished_at, http_status)
      VALUES (ARRAY[${first}, 'another'], now(), 400)`;
    await derive(1, 0, [
      'push_failing: no provider was accepted or refused for over 2 hours, 3 providers wait',
    ]);
    // Many providers take long.
    await decide(10);
    await derive(0, 1);
    await decide(125);
    await derive(1, 0);
    await setState(first, 'synced', minutesAgo(130));
    await derive(0, 1);
  });
});

test('a bank account that changed is an alert for each pull that showed one, until a person decides', async () => {
  const [before, after] = [daysFrom(5), daysFrom(6)];
  const withAccount = (date: typeof DAY, account: string) =>
    world.sandbox.setDayTexts(date, [
      // Parties of this test alone.
      titleText({
        ...{ date, account, agentAccount: account, agent: '90024778000123' },
        ...{ taxId: 'a supplier of this test', code: 'P-2' },
      }),
    ]);
  withAccount(before, '1111111');
  await world.pull(before);
  await derive(0, 0);

  withAccount(after, '2222222');
  const { pullId } = await world.pull(after);
  await derive(1, 0, [
    `account_changed:${pullId} ${after}: titles of pull ${pullId} name another bank account than before for 2 parties`,
  ]);
  expect(await openAlerts(world.database)).toMatchObject([{ pull_id: pullId }]);

  withAccount(after, '3333333');
  await world.pull(after);
  await derive(1, 0);
  await decideOpenChanges(world.database);
  await derive(0, 2);
});

test('several processes that derive at once raise each alert once', async () => {
  const codes = ['A', 'B', 'C', 'D'];
  for (const code of codes) {
    await world.prisma.$executeRaw`
      INSERT INTO conciliation.pull (origin, date, requested_by, state, fence, error_code)
      VALUES ('manual', ${daysFrom(20)}::date + ${codes.indexOf(code)}::int, 'test', 'failed',
              nextval('conciliation.pull_fence_seq'), ${code})`;
  }
  // A derivation that does not wait then reads before the first has committed.
  await world.prisma.$executeRaw`
    CREATE FUNCTION conciliation.slow() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END'`;
  await world.prisma.$executeRaw`
    CREATE TRIGGER slow AFTER INSERT ON conciliation.alert FOR EACH ROW EXECUTE FUNCTION conciliation.slow()`;
  const results = await Promise.all(
    Array.from({ length: 8 }, () => deriveAlerts(world.database, new Date(), NEVER_STALE)),
  );
  await world.prisma.$executeRaw`DROP TRIGGER slow ON conciliation.alert`;
  expect(results.map(({ raised }) => raised).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 4]);
  expect(await openKeys(world.database)).toEqual(codes.map((code) => `pull_failed:${code}`));
  await world.prisma.pull.deleteMany({ where: { errorCode: { in: codes } } });
});

test('payables without a fresh complete snapshot are an alert; without payables there is none', async () => {
  const expectStale = async (...messages: string[]) => {
    await deriveAlerts(world.database, new Date(), { ...NEVER_STALE, payablesMaxAgeHours: 30 });
    const open = (await openTexts(world.database)).filter((text) => text.startsWith('payables_'));
    expect(open).toEqual(messages.map((message) => `payables_stale: ${message}`));
  };
  await expectStale();
  const importOf = (kind: string, isComplete: boolean, hoursAgo: number) => world.prisma
    .$executeRaw`
    INSERT INTO conciliation.erp_payable_import (kind, is_complete, started_at, ended_at)
    VALUES (${kind}, ${isComplete}, now() - make_interval(hours => ${hoursAgo}::int), now())`;
  await importOf('snapshot', false, 1);
  await importOf('delta', true, 1);
  await expectStale('the ERP has given no complete snapshot of its payables');
  await importOf('snapshot', true, 31);
  const old = "the last complete snapshot of the ERP's payables is more than 30 hours old";
  await expectStale(old);
  await importOf('sql', false, 29);
  await expectStale();
  await world.prisma.erpPayableImport.deleteMany();
});

test('PostgreSQL runs every statement of the runbook', async () => {
  const document = await readFile('docs/operating.md', 'utf8');
  const statements = [...document.matchAll(/```sql\n(.*?)```/gs)].map(([, sql = '']) => sql);
  expect(statements.length).toBeGreaterThan(0);
  for (const statement of statements) {
    expect((await world.database.pool.query(statement)).command, statement).toBe('SELECT');
  }
});
