import { expect, test } from 'vitest';
import { pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';

const PORTUGUESE = { 'accept-language': 'pt-BR' };

const { world, console, operator } = pagesForFile();

const faultOf = (text: string) =>
  /<form[\s\S]*?role="alert">([^<]*)<[\s\S]*<\/form>/.exec(text)?.[1];
const fieldOf = (text: string, name: string) =>
  new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(text)?.[1];
const inPortuguese = (date: string) => date.split('-').reverse().join('/');

const TOMORROW = daysFrom(1, TODAY);
const BACKFILL_FAULTS: readonly [string, Record<string, string>, RegExp, string][] = [
  [
    'no date',
    { from: '', to: DAY, concurrency: '3' },
    /^Two dates are required/,
    'Informe as duas datas: a primeira e a última.',
  ],
  [
    'a date in the future',
    { from: DAY, to: TOMORROW, concurrency: '3' },
    /^The range ends on .* in the future/,
    `O intervalo termina em ${inPortuguese(TOMORROW)}, que está no futuro: hoje é ${inPortuguese(TODAY)}.`,
  ],
  [
    'too many dates at the same time',
    { from: DAY, to: DAY, concurrency: '99' },
    /from 1 to 16/,
    'O número de datas simultâneas é um número inteiro de 1 a 16.',
  ],
];

test.each(BACKFILL_FAULTS)(
  'a backfill of %s is refused inside of its form, which keeps what was written',
  async (_, fields, english, portuguese) => {
    const { status, text } = await operator.post('/backfills', fields, { headers: PORTUGUESE });
    expect(status).toBe(400);
    expect(faultOf(text)).toContain(portuguese);
    expect(fieldOf(text, 'from') ?? '').toBe(fields['from']);
    expect(fieldOf(text, 'to')).toBe(fields['to']);
    expect(fieldOf(text, 'concurrency')).toBe(fields['concurrency']);
    expect(faultOf((await operator.post('/backfills', fields)).text)).toMatch(english);
    expect(await world.database.prisma.backfill.count()).toBe(0);
  },
);

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
    select: { action: true, reason: true },
  });
  expect(entries).toEqual([
    { action: 'holiday.confirm', reason: 'Revolução <b>' },
    { action: 'holiday.end', reason: 'repealed' },
  ]);
});

test('an address that does not exist has the menu of the reader, and none for a visitor', async () => {
  for (const path of ['/nothing', '/days/2026-02-30']) {
    const { status, text } = await operator.get(path);
    expect([path, status, text.includes('href="/schedule"')]).toEqual([path, 404, true]);
  }
  const { status, text, headers } = await console.visitor().get('/nothing');
  expect([status, text.includes('href="/schedule"')]).toEqual([404, false]);
  expect(headers['set-cookie']).toBeUndefined();
});
