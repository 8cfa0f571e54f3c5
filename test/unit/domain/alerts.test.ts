import { expect, test } from 'vitest';
import { listDates } from '../../../src/base/texts/texts.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { alertOf } from '../../../src/features/alerts/alerts.sql.ts';

const day = (text: string) => toCivilDate(`2026-${text}`);

test.each([
  ['03-02', '2026-03-02', '02/03/2026'],
  ['02-28 03-01 03-02', '2026-02-28 to 2026-03-02', '28/02/2026 a 02/03/2026'],
  [
    '03-02 03-04 03-05',
    '2026-03-02, 2026-03-04 to 2026-03-05',
    '02/03/2026, 04/03/2026 a 05/03/2026',
  ],
  [
    '03-02 03-04 03-06 03-08 03-09',
    '2026-03-02, 2026-03-04, 2026-03-06 and 2 more',
    '02/03/2026, 04/03/2026, 06/03/2026 e mais 2',
  ],
])('the dates %s are named as %s and %s', (texts, en, ptBR) => {
  const dates = texts.split(' ').map(day);
  expect([listDates(dates, 'en'), listDates(dates, 'pt-BR')]).toEqual([en, ptBR]);
});

test('an alert about several dates names each of them, with the date, the pull and the numbers of the oldest', () => {
  const pulls = ['03-09', '03-05', '03-08'].map((text, index) => ({
    ...{ cause: 'X', date: day(text), pullId: index, attempts: index + 7, errorCode: 'X' },
  }));
  expect(alertOf('pull_failed:X', pulls)).toEqual({
    kind: 'pull_failed',
    dedupeKey: 'pull_failed:X',
    message:
      'the pulls of 3 dates failed after 8 attempts (X): 2026-03-05, 2026-03-08 to 2026-03-09',
    messagePt:
      'as buscas de 3 datas falharam após 8 tentativas (X): 05/03/2026, 08/03/2026 a 09/03/2026',
    date: '2026-03-05',
    pullId: 1n,
  });
  expect(alertOf('pull_failed:X', pulls.slice(0, 1))).toMatchObject({
    message: 'the pull of 2026-03-09 failed after 7 attempts (X)',
    messagePt: 'a busca de 09/03/2026 falhou após 7 tentativas (X)',
    date: '2026-03-09',
  });
});

test('the alert about drift lists five places at most, and no name that may be an identifier', () => {
  const messageOf = (named: readonly string[], places = named.length) =>
    alertOf('contract_drift:7', [{ pullId: 7, date: day('03-02'), named, places }]).message;
  expect(messageOf(['titles[].a', 'meta'])).toMatch(/: titles\[\]\.a, meta$/);
  expect(messageOf(['a', 'b', 'c', 'd', 'e'], 9)).toMatch(/: a, b, c, d, e and 4 more$/);
  expect(messageOf(['titles[].financialAgent.type', 'titles[].line2_x-y'])).toMatch(
    /: titles\[\]\.financialAgent\.type, titles\[\]\.line2_x-y$/,
  );
  for (const name of ['52998224725', 'cpf52998224725', 'Maria da Silva', 'João', 'a'.repeat(65)]) {
    expect(messageOf([`titles[].${name}`])).toMatch(/: titles\[\]\.…$/);
  }
});

test('the alert about altered titles names five of them, and says when there are more', () => {
  const altered = (text: string, findings: number, keys: string[]) => ({
    ...{ date: day(text), findings },
    altered: keys.map((key) => ({ problem: key === '3' ? 'seal' : 'content', key })),
  });
  const messageOf = (...dates: ReturnType<typeof altered>[]) =>
    alertOf('titles_altered:2026-03-10', dates).message;
  expect(
    messageOf(altered('03-02', 3, ['4', '5', '6']), altered('03-01', 4, ['1', '2', '3'])),
  ).toBe(
    'the tables of 2026-03-01 to 2026-03-02 were altered outside of the program: 7 differences (title 1, title 2, sign-off 3, title 4, title 5 and more)',
  );
  expect(messageOf(altered('03-03', 1, ['9']))).toMatch(/: 1 difference \(title 9\)$/);
  expect(messageOf(altered('03-03', 1, []))).toMatch(/: 1 difference$/);
});
