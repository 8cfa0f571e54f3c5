import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { dateIn } from '../../../src/base/values/business-day.ts';
import { environmentOf, runCommand, startCommand } from '../../support/child-command.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { cpfOf } from '../../support/provider-rows.ts';
import { DAY, daysFrom, TODAY, worldOfFile } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const folder = forFile(openFolder);
const world = worldOfFile();

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  readonly nextStep: string | null;
}

/** The checks by their names. */
async function doctor(environment: Readonly<Record<string, string>> = {}) {
  const ran = await runCommand(['doctor', '--json'], { ...environmentOf(world), ...environment });
  const { checks } = JSON.parse(ran.stdout) as { checks: Check[] };
  const faults = Object.fromEntries(checks.flatMap((each) => (each.ok ? [] : [[each.name, each]])));
  return { exit: ran.exit, names: checks.map(({ name }) => name), faults };
}

test('all is in order, and nothing is written', async () => {
  const names = ['database', 'clock', 'queue', 'platform'];
  expect(await doctor()).toEqual({ exit: 0, names, faults: {} });
  expect(await world.prisma.pull.count()).toBe(0);
  const text = await runCommand(['doctor'], environmentOf(world));
  expect(text.stdout).toMatch(/^database +ok +PostgreSQL \d+/m);
  const name = '29990101000000_newer';
  await world.prisma.$executeRaw`
    INSERT INTO conciliation._prisma_migrations (id, checksum, migration_name, finished_at)
    VALUES (${name}, '', ${name}, now())`;
  for (const command of ['doctor', 'migrate', 'status']) {
    const { stdout, stderr } = await runCommand([command], environmentOf(world));
    expect(stdout + stderr).toContain(`has migrations of a newer version: ${name}`);
  }
  await world.prisma.$executeRaw`
    DELETE FROM conciliation._prisma_migrations WHERE id = ${name}`;
  expect(text.stdout).toMatch(/^platform +ok +accepts the token, answered 200/m);
});

test.each([
  ['DATABASE_URL', 'postgresql://nobody@127.0.0.1:9/none', 'database', /./, 'server'],
  ['PLATFORM_TOKEN', 'another', 'platform', /401/, 'token'],
  ['PLATFORM_BASE_URL', 'http://127.0.0.1:9', 'platform', /./, 'PLATFORM_BASE_URL'],
  ['REDIS_URL', 'redis://127.0.0.1:9', 'queue', /ECONNREFUSED/, 'REDIS_URL'],
] as const)('a wrong %s is a fault with its next step', async (name, value, part, found, step) => {
  const { exit, faults } = await doctor({ [name]: value });
  expect(exit).toBe(1);
  expect(Object.keys(faults)).toEqual([part]);
  expect(faults[part]?.found).toMatch(found);
  expect(faults[part]?.nextStep).toContain(step);
});

test('a platform that is silent ends no later than the time of the command', async () => {
  world.sandbox.faults.add({ kind: 'latency', latencyMs: 60_000 });
  const { faults } = await doctor();
  expect(faults['platform']?.found).toBe('no answer within 9000 ms');
  world.sandbox.faults.add({ kind: 'status', status: 500, times: 1 });
  expect((await doctor()).faults['platform']?.nextStep).toContain('ask its operator');
});

const traced = (...args: string[]) =>
  runCommand(args, { DATABASE_URL: world.databaseUrl, LOG_LEVEL: 'trace' });

test('an import of payables reports rejected lines and keeps them', async () => {
  const path = join(folder.path, 'payables.csv');
  const head = 'erpKey;supplierTaxId;openValue;dueDate\n';
  await writeFile(path, `${head}1;529.982.247-25;1.234,50;31/03/2026\n2;52998224726;CANARY;x\n`);
  const payables = (...args: string[]) => traced('erp-payables', 'import', path, ...args);
  const dry = await payables('--snapshot', '--dry-run');
  expect(dry.exit).toBe(3);
  expect(dry.stdout).toContain('Nothing was changed. Payables would be: 1 inserted');
  const real = await payables('--snapshot');
  expect(real.exit).toBe(3);
  expect(real.stdout).toContain(
    'The snapshot is not complete: payables were rejected. No payable is closed',
  );
  expect(real.stdout).toContain('line 3: openValue: expected an amount such as 1234.50');
  expect(real.stdout + real.stderr).not.toMatch(/CANARY|52998224726/);
  await writeFile(path, `${head}1;529.982.247-25;1.234,50;31/03/2026\n`);
  const complete = await payables('--snapshot', '--count', '1', '--json');
  expect(complete.exit).toBe(0);
  expect(JSON.parse(complete.stdout)).toMatchObject({ isComplete: true, unchanged: 1, closed: 0 });
});

test('an import of suppliers prints the planned changes, makes them, and reports the omitted rows', async () => {
  const path = join(folder.path, 'suppliers.csv');
  const head = 'externalId,identificationNumber,name\n';
  await writeFile(
    path,
    `${head}F1,${cpfOf(1)},Ana\nF2,11111111111,CANARY\nF3,12abc34501de35,Bia\n`,
  );
  const suppliers = (...args: string[]) => traced('providers', 'import', path, ...args);
  const dry = await suppliers('--dry-run');
  expect(dry.exit).toBe(3);
  expect(dry.stdout).toContain('Nothing was changed. Of 3 provider(s) would be: 2 inserted');
  const real = await suppliers();
  expect(real.exit).toBe(3);
  expect(real.stdout).toMatch(/were: 2 inserted, 0 changed, 0 left as they are, 1 left out/);
  expect(real.stdout).toContain('line 3: identificationNumber: expected a CPF or CNPJ');
  expect(real.stdout + real.stderr).not.toMatch(/CANARY|Ana|11111111111/);
  const again = await suppliers('--json');
  expect(JSON.parse(again.stdout)).toMatchObject({
    ...{ dryRun: false, inserted: 0, changed: 0, unchanged: 2, refused: 1 },
    faults: [{ at: 3, field: 'identificationNumber' }],
  });
});

const run = (args: readonly string[], environment: Record<string, string> = {}) =>
  runCommand(args, { DATA_DIR: join(folder.path, 'data'), ...environment });

test('demo pulls 14 days with nothing configured, and again without changing any', async () => {
  const first = await run(['demo', '--once']);
  expect(first.exit).toBe(0);
  expect(first.stdout.match(/^\d{4}-\d\d-\d\d +[1-9].* reconciled /gm)).toHaveLength(14);
  expect(first.stdout).toContain('14 of 14 days are reconciled');

  const second = await run(['demo', '--once', '--json']);
  expect(second.exit).toBe(0);
  const { days, pulls } = JSON.parse(second.stdout);
  expect(days).toHaveLength(14);
  expect(new Set(days.map((day: { state: string }) => day.state))).toEqual(new Set(['reconciled']));
  expect(new Set(pulls.map((pull: { state: string }) => pull.state))).toEqual(
    new Set(['unchanged']),
  );
  expect(pulls.map(({ titles }: { titles: number }) => titles)).toEqual(
    days.map(({ titles }: { titles: number }) => titles),
  );
});

describe('pull', () => {
  test('prints the changes, as text and as one JSON document', async () => {
    world.sandbox.setDayTexts(DAY, [titleText()]);
    const text = await run(['pull', DAY], environmentOf(world));
    // A slow machine may print progress.
    expect(text).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(/^(2026-03-02: [01] titles, 0 MB read\n)*$/),
    });
    expect(text.stdout).toMatch(/2026-03-02 +1 +1 +0 +0 +0 +0 {2}merged/);
    const json = await run(['pull', DAY, '--json'], environmentOf(world));
    expect(JSON.parse(json.stdout)).toMatchObject({
      state: 'unchanged',
      dates: [{ unchanged: 1 }],
    });
  });

  test('prints each wait, and ends 1 when all attempts are spent', async () => {
    world.sandbox.faults.add({ kind: 'status', status: 500, times: 2 });
    const ran = await run(['pull', DAY], { ...environmentOf(world), PULL_ATTEMPTS: '2' });
    expect(ran.exit).toBe(1);
    expect(ran.stderr).toMatch(/2026-03-02: .*500.*; next attempt in \d s\n/);
    expect(ran.stdout).toMatch(/failed and changed nothing/);
    const status = await run(['status'], environmentOf(world));
    expect(status).toMatchObject({
      exit: 3,
      stdout: expect.stringContaining(
        '- Pull failed: the pull of 2026-03-02 failed after 2 attempts',
      ),
    });
    await world.pull();
  });
});

/** Forgets the ledger. */
const forgetLedger = () => world.prisma.$executeRaw`
  TRUNCATE conciliation.checkpoint, conciliation.pull, conciliation.day, conciliation.backfill CASCADE`;

async function readCheckpoint() {
  const [row] = await world.prisma.$queryRaw<unknown[]>`
    SELECT start_date::text AS "startDate", last_reconciled_date::text AS reached, pull_id AS "pullId"
    FROM conciliation.checkpoint`;
  return row;
}

/** Pulls `dates` for a ledger that begins on `startDate`. */
async function pullDates(startDate: string, dates: readonly (typeof DAY)[]): Promise<void> {
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.checkpoint (id, start_date) VALUES (1, ${startDate}::date)`;
  for (const date of dates) {
    await world.serve(date, [titleText({ date })]);
  }
}

test.each([
  ['start', []],
  ['backfill run', ['--from', DAY, '--to', DAY]],
])('START_DATE after yesterday is refused by %s, and no ledger is begun', async (command, args) => {
  await forgetLedger();
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
  expect(await world.prisma.pull.count()).toBe(0);
});

describe('start-date set', () => {
  beforeEach(forgetLedger);

  const dates = [0, 1, 2, 3].map((days) => daysFrom(days));

  test('to an earlier date takes the checkpoint back to before the first gap', async () => {
    await pullDates(daysFrom(1), [...dates, daysFrom(-5)]);
    expect(await readCheckpoint()).toMatchObject({ reached: daysFrom(3) });
    const reason = ['--reason', 'a typing error', '--yes'];
    const set = await run(['start-date', 'set', daysFrom(-5), ...reason], environmentOf(world));
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
    expect((await run(['verify', '--audit'], environmentOf(world))).exit).toBe(0);
  });

  test.each([
    ['today', () => [dateIn('America/Sao_Paulo', new Date()), '--reason', 'x'], /is not over/],
    [
      'an earlier date without a confirmation',
      () => [daysFrom(-5), '--reason', 'x'],
      /adds 5 date\(s\) to the ledger.* --yes/,
    ],
    ['an empty reason', () => [daysFrom(1), '--reason', ' '], /--reason/],
  ])('refuses %s with 2', async (_, args, message) => {
    await pullDates(DAY, []);
    const ran = await run(['start-date', 'set', ...args()], environmentOf(world));
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toMatch(message);
    expect(await readCheckpoint()).toMatchObject({ startDate: DAY });
  });
});
