/**
 * npm run bench:sweep -- [--rounds 5] [--dates 400] [--titles 1000]: the cost of a sweep whose dates all agree, against
 * the limit: the same answer read into rows for COPY, which are discarded. Then that of `verify`, beside the load of the
 * last date. Processes in turns, each on the same loaded database. A sweep of the last 10 dates shows by its peak
 * memory whether memory grows with the answer.
 */
import { parseArgs } from 'node:util';
import { addDays, datesBetween, toCivilDate } from '#dist/base/values/business-day.js';
import { startChild } from './child.ts';
import type { EngineProgram } from './engine-process.ts';
import { pullLedger } from './ledger.ts';
import type { MeterReading } from './meter.ts';
import { itemAt, median, toCount } from './numbers.ts';
import { withServer } from './server.ts';

type Reading = MeterReading & { readonly titles: number };

const LAST_DATE = toCivilDate('2024-06-30');
const FEW_DATES = 10;
const DATABASE = 'bench_sweep';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    dates: { type: 'string', default: '400' },
    titles: { type: 'string', default: '1000' },
  },
});
const dates = datesBetween(addDays(LAST_DATE, 1 - toCount(values.dates)), LAST_DATE);
const startDate = itemAt(dates, 0);
const measureOf = (name: string, call: 'sweep' | 'read' | 'verify', from = startDate) => ({
  ...{ name, call, from },
  runs: [] as Reading[],
});
const sweep = measureOf('sweep', 'sweep');
const fewDates = measureOf('few dates', 'sweep', dates.at(-FEW_DATES));
const read = measureOf('read', 'read');
const measures = [sweep, fewDates, read, measureOf('verify', 'verify')];

await withServer(async (server) => {
  const { load, ...options } = await pullLedger(server, DATABASE, dates, toCount(values.titles));
  for (let round = 0; round < toCount(values.rounds); round++) {
    for (const { call, from, runs } of measures) {
      const child = startChild<EngineProgram>('engine-process');
      await child.call('open', options);
      await server.settle();
      runs.push(await child.call(call, { from }));
      await child.stop();
    }
    process.stderr.write(`round ${round + 1} of ${values.rounds}\n`);
  }
  const ratios = sweep.runs.map(
    (run, round) => run.workerCpuSeconds / itemAt(read.runs, round).workerCpuSeconds,
  );
  const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  const lines = [
    ...[{ name: 'load', runs: [load] }, ...measures].map(toLine),
    `CPU of the sweep to CPU of the reading: ${median(ratios).toFixed(2)} (${range})`,
    `peak memory of ${dates.length} dates above ${FEW_DATES} dates: ${(peakMb(sweep.runs) - peakMb(fewDates.runs)).toFixed(1)} MB`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
});

function toLine({ name, runs }: Pick<typeof sweep, 'name' | 'runs'>): string {
  const of = (field: 'titles' | 'elapsedMs' | 'workerCpuSeconds') =>
    median(runs.map((run) => run[field]));
  const [titles, seconds] = [of('titles'), of('elapsedMs') / 1000];
  const time = `${seconds.toFixed(2)} s  CPU ${of('workerCpuSeconds').toFixed(2)} s`;
  return `${name.padEnd(9)}  ${titles} titles  ${time}  ${Math.round(titles / seconds)} titles/s  peak ${peakMb(runs).toFixed(1)} MB`;
}

function peakMb(runs: readonly Reading[]): number {
  return Math.max(...runs.map(({ peakMemoryBytes }) => peakMemoryBytes)) / 1e6;
}
