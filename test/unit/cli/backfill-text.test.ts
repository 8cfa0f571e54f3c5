import { expect, test } from 'vitest';
import { formatSeconds, progressBar } from '../../../src/cli/backfill.ts';

const start = {
  id: 1,
  from: '2026-01-01',
  to: '2026-12-31',
  state: 'running',
  concurrency: 2,
  requestedBy: 'test',
  createdAt: new Date(0),
  finishedAt: null,
  total: 365,
  done: 65,
  failed: 0,
  held: 0,
  open: 2,
  titles: 65_000,
} as Parameters<typeof progressBar>[0];

test('the bar shows days, titles, rate and remaining time since it began', () => {
  const now = { ...start, done: 160, failed: 4, held: 1, titles: 165_000 };
  expect(progressBar(start, now, 10_000)).toBe(
    '███████████░░░░░░░░░░░░░ 165/365 days, 165,000 titles, 10.0 days/s, 20 s left',
  );
});

test('before the first day has ended no pace is claimed', () => {
  expect(progressBar(start, start, 0)).toBe('████░░░░░░░░░░░░░░░░░░░░ 65/365 days, 65,000 titles');
});

test.each([
  [0.2, '1 s'],
  [89, '89 s'],
  [91, '2 min'],
  [5400, '1 h 30 min'],
  [7500, '2 h 5 min'],
])('%d seconds are %s', (seconds, shown) => {
  expect(formatSeconds(seconds)).toBe(shown);
});
