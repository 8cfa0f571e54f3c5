/** The figures for people. */
import type { CaseResult } from './bench.ts';
import type { Measured, Side } from './measure.ts';
import { median } from './numbers.ts';

const SIDES = ['ours', 'limit'] as const;

type SideSummary = ReturnType<typeof summariseSide>;
interface Summary extends Record<Side, SideSummary> {
  readonly ratio: { readonly median: number; readonly min: number; readonly max: number };
}

/** One case and size in a few numbers: medians over the rounds, but of memory the worst. */
export function summarise({ rounds }: CaseResult): Summary {
  const ratios = rounds.map(({ ratio }) => ratio);
  return {
    ratio: { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) },
    ours: summariseSide(rounds.map(({ ours }) => ours)),
    limit: summariseSide(rounds.map(({ limit }) => limit)),
  };
}

function summariseSide(runs: readonly Measured[]) {
  return {
    titlesPerSecond: median(runs.map((run) => run.titlesPerSecond)),
    elapsedMs: median(runs.map((run) => run.elapsedMs)),
    workerCpuSeconds: median(runs.map((run) => run.workerCpuSeconds)),
    workerCpuMsPerPull: median(runs.map((run) => run.workerCpuMsPerPull)),
    peakMemoryBytes: Math.max(...runs.map((run) => run.peakMemoryBytes)),
  };
}

const HEAD = [
  ['case', 'titles', 'side', 'titles/s', 'ratio (min–max)'],
  ['peak MB', 'worker CPU s', 'CPU ms/pull'],
].flat();

const count = (value: number) => Math.round(value).toLocaleString('en');
const decimal = (value: number) => value.toFixed(2);

/** A Markdown table with two lines for each case and size. */
export function renderTable(
  results: readonly (CaseResult & { readonly summary: Summary })[],
): string {
  const lines = results.flatMap(({ title, size, summary }) =>
    SIDES.map((side) => {
      const { ratio, [side]: of } = summary;
      return [
        title,
        count(size),
        side,
        count(of.titlesPerSecond),
        `${decimal(ratio.median)} (${decimal(ratio.min)}–${decimal(ratio.max)})`,
        count(of.peakMemoryBytes / 1e6),
        decimal(of.workerCpuSeconds),
        decimal(of.workerCpuMsPerPull),
      ];
    }),
  );
  const table = [HEAD, HEAD.map(() => '---'), ...lines];
  return table.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
