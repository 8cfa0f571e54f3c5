/** The command `bookings`: consumer and export. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { signDay } from '../../support/days.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { DAY, daysFrom, worldWithUsers } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldWithUsers();
const folder = forFile(openFolder);

const run = (...args: string[]) =>
  runCommand(['bookings', ...args], { ...environmentOf(world), BOOKINGS_FROM: DAY });

test('a consumer is named with its database user and its buyers', async () => {
  const buyers = '191, 11.444.777/0001-61,11444777000161';
  const [role, other] = [world.users.nameOf('erp'), world.users.nameOf('finance')];
  const named = await run('consumer', 'north', '--database-role', role, '--buyers', buyers);
  expect(named.exit).toBe(0);
  for (const blind of [other, 'nobody_here']) {
    const { exit, stderr } = await run('consumer', 'north', '--database-role', blind);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`_erp TO ${blind}"`)]);
  }
  const refused = await run('consumer', 'south', '--buyers', '90021382000122,filial-3');
  expect([refused.exit, refused.stderr]).toEqual([
    2,
    'error: buyers: number 2 is no CNPJ; expected 14 characters with the right check digits, with or without mask\n',
  ]);
  const stored = () => world.prisma.bookingConsumer.findUnique({ where: { name: 'north' } });
  const both = ['00000000000191', '11444777000161'];
  expect(await stored()).toMatchObject({ databaseRole: role, buyers: both });
  // A missing option leaves its setting.
  await run('consumer', 'north', '--buyers', '191');
  expect(await stored()).toMatchObject({ databaseRole: role, buyers: both.slice(0, 1) });
  const ended = await run('consumer', 'north', '--database-role', '');
  expect(ended.stdout).toMatch(
    `role none, key none, 1 buyer(s); before: database role ${role}, key`,
  );
  expect(await stored()).toMatchObject({ databaseRole: null, buyers: both.slice(0, 1) });
});

test('the lines of the feed are written to a file, and the next file begins after the last line', async () => {
  const next = daysFrom(1);
  const values = ['10.10', '20.205', '30'];
  await world.serve(
    next,
    values.map((value) => titleText({ uid: `t${value}`, date: next, value })),
  );
  await signDay(world.database, next, { bookingsFrom: DAY });
  const write = async (after: string, format: string) => {
    const path = join(folder.path, `${after}.${format}`);
    const ran = await run(
      ...['export', '--after', after, '--format', format, '--out', path, '--json'],
    );
    expect(ran).toMatchObject({ exit: 0, stderr: '' });
    return { report: JSON.parse(ran.stdout), bytes: await readFile(path) };
  };
  const { report, bytes } = await write('0', 'jsonl');
  const lines = bytes
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => [line.kind, line.date, line.original_value]).sort()).toEqual(
    values.map((value) => ['book', next, value]),
  );
  expect(report).toMatchObject({
    lines: 3,
    next: String(lines.at(-1).seq),
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
  });
  const consumer = () =>
    world.prisma.bookingPosition.findUniqueOrThrow({ where: { consumer: 'erp' } });
  expect((await consumer()).lastSeq).toBe(0n);
  const after = await write(String(lines[1].seq), 'csv');
  expect(after.report).toMatchObject({ lines: 1, next: report.next });
  expect((await consumer()).lastSeq).toBe(BigInt(lines[1].seq));
  expect(after.bytes.toString().split('\r\n')[1]).toContain(lines[2].key);
  expect((await write(report.next, 'csv')).report).toMatchObject({ lines: 0, next: report.next });
  const refused = await run(
    ...['export', '--after', '0', '--format', 'csv', '--out', join(folder.path, 'none', 'x')],
  );
  expect(refused.exit).toBe(2);
  const audited = await world.prisma.auditEntry.findMany({
    where: { action: 'bookings.export' },
    select: { details: true },
  });
  expect(audited).toHaveLength(3);
  expect(audited[0]?.details).toEqual({ consumer: 'erp', after: '0', format: 'jsonl' });
});
