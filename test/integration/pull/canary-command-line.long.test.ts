/** The canaries of `canary.test.ts` in commands that run as separate processes. */
import { beforeAll, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { acceptRejects } from '../../../src/features/review/sign-off.sql.ts';
import { canaryTitle, expectCleanLedger, expectNoLeak } from '../../support/canary.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { clientOfFile, DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
const administrator = clientOfFile(() => world.databaseUrl);
let token: string;
let secrets: string[];

beforeAll(async () => {
  token = world.sandbox.issueToken();
  secrets = [token, token.split('.')[2] ?? token];
});

const titlesOn = (date: CivilDate, count = 3) =>
  Array.from({ length: count }, (_, index) => canaryTitle({ date, uid: `t${index}` }));

/** Runs a command at the most talkative level and returns its exit status. */
async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<number | null> {
  const { exit, stdout, stderr } = await runCommand(args, {
    ...environmentOf(world),
    PLATFORM_TOKEN: token,
    PULL_ATTEMPTS: '1',
    LOG_LEVEL: 'trace',
    ...environment,
  });
  expectNoLeak(`standard output of ${args[0]}`, stdout, secrets);
  expectNoLeak(`standard error of ${args[0]}`, stderr, secrets);
  expect(stdout + stderr).not.toBe('');
  return exit;
}

test('the command line reports good, bad and held days in numbers', async () => {
  const date = daysFrom(1);
  world.sandbox.setDayTexts(date, [
    ...titlesOn(date, 10),
    canaryTitle({ date }).replace('100.00', '"kanari"'),
  ]);
  expect(await run(['pull', date])).toBe(3);
  await acceptRejects(world.database, date, { by: 'olga', reason: 'asked' });
  world.sandbox.setDayTexts(date, titlesOn(date, 2));
  expect(await run(['pull', date, '--json'])).toBe(3);
  expect(await run(['status', '--from', date, '--to', date])).toBe(3);
  const [held] = await world.prisma.pull.findMany({ where: { state: 'held' } });
  await releasePull(world.parts, held?.id ?? 0n, { by: 'olga', reason: 'asked' });
  await expectCleanLedger(administrator, secrets);
  // Only the name of the deciding person is personal data.
  const entries = await world.prisma.auditEntry.findMany({ where: { date: new Date(date) } });
  expect(entries.map(({ actor }) => actor)).toEqual(['olga', 'olga']);
});

test('the command line reports the failures of platforms and databases', async () => {
  const date = daysFrom(2);
  world.sandbox.setDayTexts(date, titlesOn(date));
  world.sandbox.faults.add({ kind: 'body', body: '{"kanari":"kanari"} kanari', date });
  expect(await run(['pull', date])).toBe(1);
  world.sandbox.faults.add({ kind: 'status', status: 401, body: '{"kanari":1}', date });
  expect(await run(['pull', date])).toBe(1);

  await administrator.query(`
    ALTER TABLE conciliation.title ADD CONSTRAINT refusal CHECK (financial_agent_name = '') NOT VALID`);
  try {
    expect(await run(['pull', date, '--json'])).toBe(1);
  } finally {
    await administrator.query('ALTER TABLE conciliation.title DROP CONSTRAINT refusal');
  }
  await expectCleanLedger(administrator, secrets);
});

test('the command line reports a wrong configuration without its values', async () => {
  expect(await run(['pull', DAY], { PLATFORM_TOKEN: 'kanari with spaces' })).toBe(2);
  const unreachable = 'postgresql://kanari:kanari-password@127.0.0.1:1/conciliation';
  expect(await run(['pull', DAY], { DATABASE_URL: unreachable })).toBe(1);
  const userInfoUrl = world.sandbox.baseUrl.replace('http://', 'http://kanari:kanari@');
  expect(await run(['pull', DAY], { PLATFORM_BASE_URL: userInfoUrl })).toBe(2);
});
