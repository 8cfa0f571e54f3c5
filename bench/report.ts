import type { CaseResult } from './bench.ts';
import { median } from './numbers.ts';

const SIDES = ['ours', 'limit'] as const;

const HEAD = ['case', 'titles', 'side', 'titles/s', 'ratio (min–max)', 'peak MB', 'CPU ms/pull'];

const count = (value: number) => Math.round(value).toLocaleString('en');
const decimal = (value: number) => value.toFixed(2);

/** A Markdown table with two lines for each case and size: medians over the rounds, but of memory the worst. */
export function renderTable(results: readonly CaseResult[]): string {
  const lines = results.flatMap(({ title, size, rounds }) => {
    const ratios = rounds.map(({ ratio }) => ratio);
    return SIDES.map((side) => {
      const of = (field: 'titlesPerSecond' | 'peakMemoryBytes' | 'workerCpuMsPerPull') =>
        rounds.map((round) => round[side][field]);
      return [
        ...[title, count(size), side, count(median(of('titlesPerSecond')))],
        `${decimal(median(ratios))} (${decimal(Math.min(...ratios))}–${decimal(Math.max(...ratios))})`,
        count(Math.max(...of('peakMemoryBytes')) / 1e6),
        decimal(median(of('workerCpuMsPerPull'))),
      ];
    });
  });
  const table = [HEAD, HEAD.map(() => '---'), ...lines];
  return table.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
