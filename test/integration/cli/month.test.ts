/** The command `month`: list, seal and evidence. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CivilDate, datesBetween, toCivilDate } from '../../../src/domain/business-day.ts';
import { readLedgerDay } from '../../../src/ledger/ledger-days.sql.ts';
import { reopenDay, signOffDay } from '../../../src/ledger/sign-off.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { openPullWorld, type PullWorld, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { unzip } from '../../unit/export/workbook-reader.ts';

const FIRST = toCivilDate('2026-03-30');
const LAST = toCivilDate('2026-03-31');

let folder: string;
let world: PullWorld;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conciliation-month-'));
  world = await openPullWorld({ startDate: FIRST });
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (...args: string[]) => runCommand(['month', ...args], environmentOf(world));
const sign = async (date: CivilDate) => {
  const day = await readLedgerDay(world.database, date, TODAY);
  const seenDigest = day?.contentDigest ?? '';
  await signOffDay(world.database, date, { by: 'ana', reason: null, seenDigest, fourEyes: true });
};

test('a month is listed, sealed and written to a file', async () => {
  for (const date of datesBetween(FIRST, LAST)) {
    world.sandbox.setDayTexts(date, [titleText({ uid: 'a', date, value: '1234.50' })]);
    await world.pull(date);
  }
  const early = await run('seal', '2026-03');
  expect([early.exit, early.stderr]).toEqual([
    2,
    'error: 2026-03: not every day of the month is signed off: 2026-03-30 to 2026-03-31\n',
  ]);
  for (const date of datesBetween(FIRST, LAST)) await sign(date);
  const listed = await run('list', '--json');
  expect(JSON.parse(listed.stdout).months.at(-1)).toMatchObject({
    month: '2026-03',
    state: 'ready',
    days: 2,
    signed: 2,
    seal: null,
  });
  const sealed = await run('seal', '2026-03', '--reason', 'agrees with the books');
  expect(sealed.exit).toBe(0);
  expect(sealed.stdout).toMatch(
    /^2026-03 is sealed by command line: .*: 2 day\(s\), 2 title\(s\), original value 2,469\.00\.\nDigest: [0-9a-f]{64}\n$/,
  );
  expect((await run('list')).stdout).toMatch(/2026-03 +sealed +2 of 2 +2 +2,469\.00 +command line/);

  const file = join(folder, 'march.zip');
  const written = await run('evidence', '2026-03', '--out', file);
  expect(written.exit).toBe(0);
  const month = JSON.parse(String(unzip(await readFile(file)).get('month.json')));
  expect(sealed.stdout).toContain(month.seal.digest);
  expect(month.seal.reason).toBe('agrees with the books');
  const again = await run('evidence', '2026-03', '--out', file);
  expect([again.exit, again.stderr]).toEqual([2, expect.stringContaining('--force replaces it')]);

  await reopenDay(world.database, LAST, { by: 'ana', reason: 'one more invoice' });
  const broken = await run('list');
  expect([broken.exit, broken.stdout]).toEqual([
    3,
    expect.stringContaining('The seal of 2026-03 no longer holds: 2026-03-31 (reopened).'),
  ]);
  const forced = await run('evidence', '2026-03', '--out', file, '--force', '--json');
  expect([forced.exit, JSON.parse(forced.stdout)]).toMatchObject([
    3,
    { days: 2, broken: [{ date: LAST, cause: 'reopened' }] },
  ]);
});

test('a month that is none, or is not sealed, is refused', async () => {
  expect((await run('seal', '2026-13')).exit).toBe(2);
  const out = join(folder, 'april.zip');
  const open = await run('evidence', '2026-04', '--out', out);
  expect([open.exit, open.stderr]).toEqual([2, 'error: 2026-04 is not sealed\n']);
});
