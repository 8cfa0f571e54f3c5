import { describe, expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { listDates } from '../../../src/features/alerts/messages/dated-alerts.ts';
import {
  alteredDateAlerts,
  brokenMonthAlerts,
  heldDayAlerts,
  openFindingsAlerts,
  openRejectsAlerts,
  restatedDayAlerts,
} from '../../../src/features/alerts/messages/day-alerts.ts';
import { bookingReceiptsAlerts } from '../../../src/features/alerts/messages/erp-alerts.ts';
import {
  type CheckpointProgress,
  contractDriftAlert,
  failedPullAlerts,
  STALENESS_LIMITS,
  staleCheckpointAlert,
} from '../../../src/features/alerts/messages/pull-alerts.ts';
import {
  contradictedDateAlerts,
  sweepFindingAlerts,
} from '../../../src/features/alerts/messages/sweep-alerts.ts';

const HOUR_MS = 3_600_000;
const ADVANCED_AT = new Date('2026-03-10T09:00:00Z');
const checkpoint: CheckpointProgress = {
  startDate: toCivilDate('2026-03-01'),
  lastReconciledDate: toCivilDate('2026-03-09'),
  advancedAt: ADVANCED_AT,
};

function staleAfter(hours: number, lastClosed: string, progress = checkpoint) {
  const at = {
    now: new Date(ADVANCED_AT.getTime() + hours * HOUR_MS),
    lastClosedDate: toCivilDate(lastClosed),
  };
  return staleCheckpointAlert(progress, at, STALENESS_LIMITS);
}

test('a checkpoint that has reached the last closed date is never stale', () => {
  expect(staleAfter(1000, '2026-03-09')).toBeNull();
  // START_DATE may lie ahead.
  expect(staleAfter(1000, '2026-02-20', { ...checkpoint, lastReconciledDate: null })).toBeNull();
});

test('a checkpoint one day behind is stale once a daily run was missed, and not before', () => {
  expect(staleAfter(26, '2026-03-10')).toBeNull();
  expect(staleAfter(26.1, '2026-03-10')).toMatchObject({
    kind: 'checkpoint_stale',
    date: '2026-03-10',
    message: 'complete only up to 2026-03-09, 1 day behind',
  });
});

test('a checkpoint far behind is stale after an hour without progress, and not while it catches up', () => {
  expect(staleAfter(1, '2026-03-13')).toBeNull();
  expect(staleAfter(1.1, '2026-03-12')).toBeNull();
  expect(staleAfter(1.1, '2026-03-13')?.message).toContain('4 days behind');
});

test('a ledger that never got anywhere counts from its start date', () => {
  expect(staleAfter(2, '2026-03-31', { ...checkpoint, lastReconciledDate: null })).toMatchObject({
    date: '2026-03-01',
    message: 'no date is complete yet, 31 days behind',
  });
});

test('failed pulls are one alert for each error code, which names the dates', () => {
  const failed = (from: string, errorCode: string, attempts: number, pullId: bigint) => ({
    date: toCivilDate(from),
    errorCode,
    attempts,
    pullId,
  });
  expect(
    failedPullAlerts([
      failed('2026-03-09', 'PLATFORM_UNAVAILABLE', 8, 19n),
      failed('2026-03-05', 'PLATFORM_CONTRACT', 1, 15n),
      failed('2026-03-08', 'PLATFORM_UNAVAILABLE', 2, 18n),
    ]),
  ).toEqual([
    {
      kind: 'pull_failed',
      dedupeKey: 'pull_failed:PLATFORM_UNAVAILABLE',
      message:
        'the pulls of 2 dates failed after 8 attempts (PLATFORM_UNAVAILABLE): 2026-03-08 to 2026-03-09',
      messagePt:
        'as buscas de 2 datas falharam após 8 tentativas (PLATFORM_UNAVAILABLE): 08/03/2026 a 09/03/2026',
      date: '2026-03-08',
      pullId: 18n,
    },
    {
      kind: 'pull_failed',
      dedupeKey: 'pull_failed:PLATFORM_CONTRACT',
      message: 'the pull of 2026-03-05 failed after 1 attempt (PLATFORM_CONTRACT)',
      messagePt: 'a busca de 05/03/2026 falhou após 1 tentativa (PLATFORM_CONTRACT)',
      date: '2026-03-05',
      pullId: 15n,
    },
  ]);
  expect(failedPullAlerts([])).toEqual([]);
});

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
  const dates = texts.split(' ').map((date) => toCivilDate(`2026-${date}`));
  expect([listDates(dates, 'en'), listDates(dates, 'pt-BR')]).toEqual([en, ptBR]);
});

describe('the alerts of a sweep', () => {
  const nothing = {
    from: toCivilDate('2026-01-22'),
    datesCompared: 45,
    datesDiffering: 0,
    undated: 0,
    future: 0,
    early: 0,
  };

  test('is an alert where more than a fifth of the dates differ', () => {
    const alertsOf = (datesCompared: number, datesDiffering: number) =>
      sweepFindingAlerts({ ...nothing, datesCompared, datesDiffering }).map(({ kind }) => kind);
    expect(alertsOf(45, 9)).toEqual([]);
    expect(alertsOf(45, 10)).toEqual(['sweep_differs']);
    expect(alertsOf(0, 0)).toEqual([]);
  });

  test('is an alert where titles belong to no date, with count and reasons', () => {
    expect(sweepFindingAlerts({ ...nothing, undated: 3, early: 1 })).toMatchObject([
      {
        kind: 'sweep_differs',
        dedupeKey: 'sweep_differs:unplaced',
        message:
          'the sweep since 2026-01-22 had titles that belong to no date: 3 without a readable accepted date, 1 of a date before 2026-01-22, which were not asked for',
      },
    ]);
  });
});

test('the alert about drift lists five places at most, and no name that may be an identifier', () => {
  const messageOf = (paths: readonly string[], pathCount = paths.length) =>
    contractDriftAlert({ pullId: 7n, date: toCivilDate('2026-03-02'), paths, pathCount }).message;
  expect(messageOf(['titles[].a', 'meta'])).toMatch(/: titles\[\]\.a, meta$/);
  expect(messageOf(['a', 'b', 'c', 'd', 'e', 'f'], 9)).toMatch(/: a, b, c, d, e and 4 more$/);
  expect(messageOf(['titles[].financialAgent.type', 'titles[].line2_x-y'])).toMatch(
    /: titles\[\]\.financialAgent\.type, titles\[\]\.line2_x-y$/,
  );
  for (const name of ['52998224725', 'cpf52998224725', 'Maria da Silva', 'João', 'a'.repeat(65)]) {
    expect(messageOf([`titles[].${name}`])).toMatch(/: titles\[\]\.…$/);
  }
});

test('dates whose findings began on the same day are one alert', () => {
  const altered = (date: string, foundDate: string, findings: number, keys: string[]) => ({
    date: toCivilDate(date),
    foundDate: toCivilDate(foundDate),
    findings,
    rows: keys.map((key) => ({ problem: key === '3' ? 'seal' : 'content', key })),
    pullId: null,
  });
  const alerts = alteredDateAlerts([
    altered('2026-03-01', '2026-03-10', 4, ['1', '2', '3']),
    altered('2026-03-02', '2026-03-10', 3, ['4', '5', '6']),
    altered('2026-03-03', '2026-03-11', 1, []),
  ]);
  expect(alerts).toMatchObject([
    {
      dedupeKey: 'titles_altered:2026-03-10',
      message:
        'the tables of 2026-03-01 to 2026-03-02 were altered outside of the program: 7 differences (title 1, title 2, sign-off 3, title 4, title 5 and more)',
      date: '2026-03-01',
    },
    {
      dedupeKey: 'titles_altered:2026-03-11',
      message: 'the tables of 2026-03-03 were altered outside of the program: 1 difference',
    },
  ]);
});

describe('one cause is one alert for any number of dates', () => {
  // docs/alert-messages.md has the sentences.
  const dates = ['2026-03-05', '2026-03-02', '2026-03-03'].map(toCivilDate);
  const hit = dates.map((date, index) => ({ date, pullId: BigInt(index + 1) }));
  const oldest = { date: '2026-03-02', pullId: 2n };
  const facts = { titles: 9, responseTitles: 9, withdrawals: 0, detail: null, findings: 2 };
  const everyDate = '2026-03-02 to 2026-03-03, 2026-03-05';
  /** The causes of the dates: that of the second date is another one. */
  const of = <const A, const B>(first: A, second: B) => [first, second, first] as const;
  const reasons = of('unreadable', 'withdrawal_limit');
  const codes = of('unit_jump', 'tax_id_invalid');

  test.each([
    ['restated days', restatedDayAlerts(hit), [oldest], everyDate],
    [
      'rejected titles',
      openRejectsAlerts(hit.map((day) => ({ ...day, rejects: 2 }))),
      [oldest],
      everyDate,
    ],
    [
      'held days, by reason',
      heldDayAlerts(hit.map((day, at) => ({ ...day, ...facts, reason: reasons[at] ?? null }))),
      [
        { dedupeKey: 'day_held:unreadable', date: '2026-03-03', pullId: 3n },
        { ...oldest, dedupeKey: 'day_held:withdrawal_limit' },
      ],
      '2026-03-03, 2026-03-05',
    ],
    [
      'findings, by check',
      openFindingsAlerts(
        hit.map((day, at) => ({ ...day, ...facts, code: codes[at] ?? 'unit_jump' })),
      ),
      [{ dedupeKey: 'findings_open:unit_jump' }, { dedupeKey: 'findings_open:tax_id_invalid' }],
      '4 findings of the check "Unit jump": 2026-03-03, 2026-03-05',
    ],
    [
      'receipts',
      bookingReceiptsAlerts(dates.map((date) => ({ date, receipts: 1 }))),
      [{ date: '2026-03-02' }],
      everyDate,
    ],
    [
      'contradictions',
      contradictedDateAlerts(hit.map((day) => ({ ...day, sweepTitles: 3, pullTitles: 8 }))),
      [oldest],
      'of 3 dates that followed them: 2026-03-02',
    ],
    [
      'months',
      brokenMonthAlerts(
        ['2026-02', '2026-03'].map((month) => ({
          ...{ month, days: [{ date: toCivilDate(`${month}-28`) }] },
        })),
      ),
      [{ date: '2026-02-28' }],
      '2026-02, 2026-03 no longer hold, because of 2026-02-28, 2026-03-28',
    ],
  ])('%s', (_, alerts, expected, dated) => {
    expect(alerts).toMatchObject(expected);
    expect(alerts[0]?.message).toContain(dated);
  });
});
