/** Where the ledger begins: what START_DATE may be, and how a wrong date is corrected. */
import { beforeEach, describe, expect, test } from 'vitest';
import { dateIn } from '../../../src/base/values/business-day.ts';
import { environmentOf, runCommand, startCommand } from '../../support/child-command.ts';
import { forFile } from '../../support/for-tests.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { DAY, daysFrom, openPullWorld, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = forFile(openPullWorld);
beforeEach(async () => {
  await world.database.prisma.$executeRaw`
    TRUNCATE conciliation.checkpoint, conciliation.pull, conciliation.day, conciliation.backfill CASCADE`;
});

const run = (args: readonly string[], environment: Record<string, string> = {}) =>
  runCommand(args, { ...environmentOf(world), CONSOLE_PORT: '0', ...environment });

async function readCheckpoint() {
  const [row] = await world.database.prisma.$queryRaw<unknown[]>`
    SELECT start_date::text AS "startDate", last_reconciled_date::text AS reached, pull_id AS "pullId"
    FROM conciliation.checkpoint`;
  return row;
}

/** Pulls `dates` for a ledger that begins on `startDate`. */
async function pullDates(startDate: string, dates: readonly (typeof DAY)[]): Promise<void> {
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.checkpoint (id, start_date) VALUES (1, ${startDate}::date)`;
  for (const date of dates) {
    await world.serve(date, [titleText({ date })]);
  }
}

const setTo = (date: string, reason = 'a typing error') =>
  run(['start-date', 'set', date, '--reason', reason, '--yes']);

test.each([
  ['start', []],
  ['backfill run', ['--from', DAY, '--to', DAY]],
])('START_DATE after yesterday is refused by %s, and no ledger is begun', async (command, args) => {
  const started = startCommand([...command.split(' '), ...args], {
    ...environmentOf(world),
    CONSOLE_PORT: '0',
    START_DATE: TODAY,
  });
  // A service that starts would never end.
  const patience = setTimeout(() => started.kill('SIGKILL'), PATIENCE_MS);
  const ended = await started.ended;
  clearTimeout(patience);
  expect(ended).toMatchObject({
    exit: 2,
    stderr: expect.stringMatching(
      `START_DATE: got "${TODAY}", expected a date that is over: in America/Sao_Paulo`,
    ),
  });
  expect(await readCheckpoint()).toBeUndefined();
  expect(await world.database.prisma.pull.count()).toBe(0);
});

describe('start-date set', () => {
  const dates = [0, 1, 2, 3].map((days) => daysFrom(days));

  test('to an earlier date takes the checkpoint back to before the first gap', async () => {
    await pullDates(daysFrom(1), [...dates, daysFrom(-5)]);
    expect(await readCheckpoint()).toMatchObject({ reached: daysFrom(3) });
    const set = await setTo(daysFrom(-5));
    expect(set).toMatchObject({ exit: 0, stderr: '' });
    expect(set.stdout).toBe(
      `The ledger begins on ${daysFrom(-5)} instead of ${daysFrom(1)}; ` +
        `every date from ${daysFrom(-5)} to ${daysFrom(-5)} is reconciled.\n`,
    );
    expect(await readCheckpoint()).toEqual({
      startDate: daysFrom(-5),
      reached: daysFrom(-5),
      pullId: null,
    });
    expect(await lastAudit(world, { action: 'start_date.set' })).toMatchObject({
      actor: expect.stringMatching(/^command line: /),
      reason: 'a typing error',
      details: { from: daysFrom(1), to: daysFrom(-5) },
    });
    expect((await run(['verify', '--audit'])).exit).toBe(0);
  });

  test.each([
    ['today', () => [dateIn('America/Sao_Paulo', new Date()), '--reason', 'x'], /is not over/],
    ['more than ten years', () => ['0001-01-01', '--reason', 'x', '--yes'], /the earliest date is/],
    [
      'an earlier date without a confirmation',
      () => [daysFrom(-5), '--reason', 'x'],
      /adds 5 date\(s\) to the ledger.* --yes/,
    ],
    ['an empty reason', () => [daysFrom(1), '--reason', ' '], /--reason/],
  ])('refuses %s with 2', async (_, args, message) => {
    await pullDates(DAY, []);
    const ran = await run(['start-date', 'set', ...args()]);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toMatch(message);
    expect(await readCheckpoint()).toMatchObject({ startDate: DAY });
  });
});
