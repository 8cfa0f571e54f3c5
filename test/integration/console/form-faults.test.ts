import { expect, test } from 'vitest';
import { pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';

const PORTUGUESE = { 'accept-language': 'pt-BR' };

const { world, operator } = pagesForFile();

const faultOf = (text: string) =>
  /<form[\s\S]*?role="alert">([^<]*)<[\s\S]*<\/form>/.exec(text)?.[1];
const fieldOf = (text: string, name: string) =>
  new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(text)?.[1];
const inPortuguese = (date: string) => date.split('-').reverse().join('/');

const TOMORROW = daysFrom(1, TODAY);
const CASES: readonly [string, string, Record<string, string>, string][] = [
  ['a backfill', 'no date', { from: '', to: DAY }, 'Informe as duas datas: a primeira e a última.'],
  [
    'a backfill',
    'dates in the wrong order',
    { from: TODAY, to: DAY },
    `O intervalo termina em ${inPortuguese(DAY)}, antes do início, que é ${inPortuguese(TODAY)}.`,
  ],
  [
    'a backfill',
    'a date in the future',
    { from: DAY, to: TOMORROW },
    `O intervalo termina em ${inPortuguese(TOMORROW)}, que está no futuro: hoje é ${inPortuguese(TODAY)}.`,
  ],
  [
    'a backfill',
    'more than ten years',
    { from: '2001-01-01', to: DAY },
    'Um reprocessamento aceita no máximo 3.660 (dez anos).',
  ],
  [
    'a backfill',
    'too many dates at the same time',
    { from: DAY, to: DAY, concurrency: '99' },
    'O número de datas simultâneas é um número inteiro de 1 a 16.',
  ],
  ['an export', 'no date', { from: '', to: DAY }, 'Informe as duas datas: a primeira e a última.'],
  [
    'an export',
    'dates in the wrong order',
    { from: TODAY, to: DAY },
    `O intervalo termina em ${inPortuguese(DAY)}, antes do início, que é ${inPortuguese(TODAY)}.`,
  ],
];

test.each(CASES)(
  '%s of %s is refused inside of its form, which keeps what was written',
  async (what, _, dates, sentence) => {
    const isExport = what === 'an export';
    const path = isExport ? '/exports' : '/backfills';
    const more = isExport ? { format: 'jsonl', includeWithdrawn: 'true' } : { concurrency: '3' };
    const fields: Record<string, string> = { ...more, ...dates };
    const { status, text } = await operator.post(path, fields, { headers: PORTUGUESE });
    expect([status, faultOf(text)]).toEqual([400, expect.stringContaining(sentence)]);
    for (const name of ['from', 'to', ...(isExport ? [] : ['concurrency'])]) {
      expect(fieldOf(text, name) ?? '').toBe(fields[name]);
    }
    if (isExport) {
      expect(text).toMatch(/<option value="jsonl" selected/);
      expect(text).toMatch(/name="includeWithdrawn"[^>]* checked/);
    }
    expect(await world.database.prisma.backfill.count()).toBe(0);
    expect(await world.database.prisma.auditEntry.count({ where: { action: 'export' } })).toBe(0);
  },
);

test('an action that is refused says why in the language of the reader', async () => {
  const missing = await operator.post(`/days/${DAY}/accept-rejects`, {}, { headers: PORTUGUESE });
  expect([missing.status, missing.text]).toEqual([
    400,
    expect.stringContaining('Informe o motivo.'),
  ]);
  const future = await operator.post(`/days/${TOMORROW}/pull`, {}, { headers: PORTUGUESE });
  expect(future.text).toContain(`${inPortuguese(TOMORROW)} está no futuro.`);
});
