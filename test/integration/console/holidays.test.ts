import { expect, test } from 'vitest';
import { pagesForFile } from '../../support/pages-world.ts';

const { world, operator } = pagesForFile();

test('a holiday is added and ended in the forms of its year, and refused without a date or a name', async () => {
  const add = (fields: Record<string, string>) => operator.post('/holidays', fields);
  expect((await add({ date: '2026-02-30', name: 'x' })).text).toContain('2010 to 2059');
  expect((await add({ date: '2026-07-09', name: ' ' })).text).toContain('at most 100 characters');
  const { status, headers } = await add({ date: '2026-07-09', name: 'Revolução <b>' });
  expect([status, headers['location']]).toEqual([303, '/holidays?year=2026&notice=holiday_added']);
  const twice = await add({ date: '2026-07-09', name: 'again' });
  expect([twice.status, twice.text.includes('is a holiday already')]).toEqual([400, true]);

  const { text } = await operator.get('/holidays?year=2026');
  expect(text).toContain('Revolução &lt;b>');
  const end = /action="(\/holidays\/\d+\/end)"/.exec(text)?.[1] ?? '';
  expect((await operator.post(end, {})).status).toBe(400);
  const ended = await operator.post(end, { reason: 'repealed' });
  expect([ended.status, ended.headers['location']]).toEqual([
    303,
    '/holidays?notice=holiday_ended',
  ]);
  expect((await operator.get('/holidays?year=2026')).text).not.toContain('Revolução');
  const entries = await world.database.prisma.auditEntry.findMany({
    where: { action: { startsWith: 'holiday.' } },
    orderBy: { id: 'asc' },
    select: { action: true, actor: true, reason: true },
  });
  expect(entries).toEqual([
    { action: 'holiday.confirm', actor: 'otto', reason: 'Revolução <b>' },
    { action: 'holiday.end', actor: 'otto', reason: 'repealed' },
  ]);
});
