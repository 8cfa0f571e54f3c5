import { expect, test } from 'vitest';
import { formatAmount, renderTable } from '../../../src/cli/command.ts';

test.each([
  ['0', '0.00'],
  ['1234567.5', '1,234,567.50'],
  ['-1234.567', '−1,234.567'],
  ['12345678901234567.89', '12,345,678,901,234,567.89'],
  ['0.0000001', '0.0000001'],
  ['999', '999.00'],
])('the amount %s is shown as %s, no digit lost', (decimal, shown) => {
  expect(formatAmount(decimal)).toBe(shown);
});

test('columns are as wide as their widest cell, numbers to the right', () => {
  const table = renderTable(
    [{ title: 'date' }, { title: 'n', align: 'right' }],
    [
      ['2026-01-01', '1'],
      ['2026-01-02', '1,000'],
    ],
  );
  expect(table.split('\n')).toEqual([
    'date            n',
    '──────────  ─────',
    '2026-01-01      1',
    '2026-01-02  1,000',
  ]);
});
