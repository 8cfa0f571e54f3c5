/**
 * npm run bench:sweep -- [--rounds 5] [--dates 400] [--titles 1000]: the cost of a sweep whose dates all agree, against
 * the limit: the same answer read into rows for COPY, which are discarded. Two processes in turns, each on the same
 * loaded database. A sweep of the last 10 dates shows by its peak memory whether memory grows with the answer.
 */
import { parseArgs } from 'node:util';
import { addDays, datesBetween, toCivilDate } from '#dist/domain/business-day.js';
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
const sweep: Reading[] = [];
const fewDates: Reading[] = [];
const read: Reading[] = [];
const measures = [
  { name: 'sweep', call: 'sweep', from: startDate, runs: sweep },
  { name: 'few-dates', call: 'sweep', from: dates.at(-FEW_DATES) ?? startDate, runs: fewDates },
  { name: 'read', call: 'read', from: startDate, runs: read },
] as const;

await withServer(async (server) => {
  const options = await pullLedger(server, DATABASE, dates, toCount(values.titles));
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
  const ratios = sweep.map(
    (run, round) => run.workerCpuSeconds / itemAt(read, round).workerCpuSeconds,
  );
  const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  const lines = [
    ...measures.map(toLine),
    `CPU of the sweep to CPU of the reading: ${median(ratios).toFixed(2)} (${range})`,
    `peak memory of ${dates.length} dates above ${FEW_DATES} dates: ${(peakMb(sweep) - peakMb(fewDates)).toFixed(1)} MB`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
});

function toLine({ name, runs }: (typeof measures)[number]): string {
  const of = (field: 'titles' | 'elapsedMs' | 'workerCpuSeconds') =>
    median(runs.map((run) => run[field]));
  const time = `${(of('elapsedMs') / 1000).toFixed(2)} s  CPU ${of('workerCpuSeconds').toFixed(2)} s`;
  return `${name.padEnd(9)}  ${of('titles')} titles  ${time}  peak ${peakMb(runs).toFixed(1)} MB`;
}

function peakMb(runs: readonly Reading[]): number {
  return Math.max(...runs.map(({ peakMemoryBytes }) => peakMemoryBytes)) / 1e6;
}
