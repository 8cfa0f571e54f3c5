/** Rows of `day` for dates that have not begun, put there by SQL, change nothing that is shown or counted. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { datesBetween, toCivilDate } from '../../../src/base/values/business-day.ts';
import { createMetrics, readLedgerGauges } from '../../../src/features/alerts/metrics.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const YESTERDAY = daysFrom(-1, TODAY);
const PAGES = [
  '/',
  `/?to=${DAY.slice(0, 7)}`,
  '/?to=2099-12',
  '/alerts',
  '/backfills',
  '/titles',
  '/days/2099-12-31',
  '/titles?from=2099-12-31&to=2099-12-31',
  '/days/9999-12-31',
  '/api/status',
  `/api/days?from=${DAY}&to=${daysFrom(999)}`,
  '/api/days?from=9997-12-31&to=9999-12-31',
  '/api/days?from=2099-01-01&to=2099-12-31',
  '/api/days/2099-12-31',
  '/api/days/2099-12-31/changes',
];
const COMMANDS = [
  ['status', '--json'],
  ['status', '--from', DAY, '--to', '9999-12-31', '--json'],
];

let folder: string;
const { world, operator } = pagesForFile();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conciliation-future-'));
  for (const date of [DAY, daysFrom(1), YESTERDAY, TODAY]) {
    world.sandbox.setDayTexts(date, [titleText({ date })]);
    await world.pull(date);
  }
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function readPages(): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const path of PAGES) {
    const { status, text } = await operator.get(path);
    answers[path] = { status, text: text.replaceAll(/name="_csrf" value="[^"]+"/g, '') };
  }
  return answers;
}

async function readMetrics(): Promise<string[]> {
  const { registry } = createMetrics({
    readLedger: () => readLedgerGauges(world.database, YESTERDAY),
    countJobs: async () => ({}),
  });
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => line.startsWith('conciliation_'));
}

async function runCommands(): Promise<unknown[]> {
  const results: unknown[] = [];
  const environment = { ...environmentOf(world), DATA_DIR: join(folder, 'data') };
  for (const args of COMMANDS) results.push(await runCommand(args, environment));
  const out = join(folder, 'titles.xlsx');
  const range = ['--from', DAY, '--to', '9999-12-31'];
  results.push(
    await runCommand(
      ['export', ...range, '--format', 'xlsx', '--out', out, '--force'],
      environment,
    ),
  );
  return results;
}

async function insertDays(): Promise<void> {
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.day (date, state, title_count, original_value_sum, restated_after_sign_off)
    VALUES (${daysFrom(1, TODAY)}::date, 'reconciled', 5, 1000000, false),
           ('2099-12-29', 'failed', 5, 1000000, false),
           ('2099-12-30', 'attention', 5, 1000000, false),
           ('2099-12-31', 'reconciled', 5, 1000000, false),
           ('9999-12-30', 'failed', 0, 0, false),
           ('9999-12-31', 'pending', 0, 0, false)`;
}

test('pages, API, metrics and commands are as without the rows', async () => {
  const pages = await readPages();
  const metrics = await readMetrics();
  const commands = await runCommands();
  expect(pages['/']).toMatchObject({ status: 200 });

  await insertDays();
  expect(await readPages()).toEqual(pages);
  expect(await readMetrics()).toEqual(metrics);
  expect(await runCommands()).toEqual(commands);
});

test('a list of dates that would reach the year 9999 is not made', () => {
  expect(() => datesBetween(DAY, toCivilDate('9999-12-31'))).toThrow(RangeError);
  expect(datesBetween(daysFrom(-3650), DAY)).toHaveLength(3651);
});
