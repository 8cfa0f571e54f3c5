import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ICAL from 'ical.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { readCsv } from '../../unit/export/csv-reader.ts';

const RANGE = ['--due-from', '2026-06-01', '--due-to', '2026-06-30'];

let world: PullWorld;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conciliation-schedule-'));
  world = await openPullWorld();
  world.sandbox.setDayTexts(DAY, [
    titleText({ uid: 'a', value: '1234567.50' }),
    titleText({ uid: 'b', value: '0.01' }),
    titleText({ uid: 'c', dueDate: '2026-07-01' }),
  ]);
  await world.pull(DAY);
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (...args: string[]) =>
  runCommand(['payment-schedule', ...RANGE, ...args], environmentOf(world));

test('the text lists dates and groups, and says how many there are', async () => {
  const { stdout, stderr, exit } = await run();
  expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
  expect(stdout).toMatch(/to be paid +2 +1,234,567\.51/);
  expect(stdout).toMatch(/2026-06-30 +2 +1,234,567\.51/);
  expect(stdout).toContain('CANARY Agente Financeiro · 11222333000181');
  expect(stdout).toContain('341 0987 1234567-8');
  expect(stdout).toContain('1 of 1 groups are listed.');
});

test('--json has the schedule as one document', async () => {
  const { stdout, exit } = await run('--json');
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    dueFrom: '2026-06-01',
    dueTo: '2026-06-30',
    overall: { titles: 2, sums: { original_value: '1234567.51' } },
    groupCount: 1,
    undated: { titles: 0 },
  });
});

test.each(['csv', 'xlsx', 'ics'])(
  '--format %s writes a file that only the owner may read',
  async (format) => {
    const out = join(folder, `schedule.${format}`);
    const { stderr, exit } = await run('--format', format, '--out', out);
    expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
    expect((await stat(out)).mode & 0o777).toBe(0o600);
    expect(await lastAudit(world)).toMatchObject({
      action: 'schedule.export',
      details: { dueFrom: '2026-06-01', dueTo: '2026-06-30', format, rows: 1, titles: 2 },
    });
    const bytes = await readFile(out);
    if (format === 'csv') {
      const [head, ...rows] = readCsv(bytes.toString('utf8').slice(1), ';');
      expect(head?.[0]).toBe('Vencimento');
      expect(rows[0]).toContain('1234567,51');
    }
    if (format === 'ics') {
      const [event] = new ICAL.Component(ICAL.parse(bytes.toString('utf8'))).getAllSubcomponents(
        'vevent',
      );
      expect(event?.getFirstPropertyValue('summary')).toBe('Pagamentos: 2 título(s), 1.234.567,51');
    }
    expect((await run('--format', format, '--out', out)).exit).toBe(2);
  },
);

test.each([
  [['--format', 'csv'], '--format and --out: one requires the other'],
  [['--locale', 'en'], '--locale en: requires --format'],
  [['--due-to', '2026-05-01'], '--due-from 2026-06-01 is after --due-to 2026-05-01'],
  [['--due-to', '2027-06-02'], '--due-from, --due-to: at most 366 days'],
] as const)('wrong usage: %s', async (args, message) => {
  const { stderr, exit } = await run(...args);
  expect(exit).toBe(2);
  expect(stderr).toContain(message);
});
