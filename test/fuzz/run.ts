/** `run.ts <runs> <seed>`: a long run, with a line of progress now and then. See long-run.mjs. */
import { fuzz } from './fuzz.ts';

/** Rarely, because a full collection also discards compiled code. */
const PROGRESS_EVERY = 100_000;

const [runsText = '', seed = ''] = process.argv.slice(2);
const runs = Number(runsText);

/** The memory in use after a garbage collection; exact with --expose-gc. */
function usedMiB() {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const [heapUsedMiB, externalMiB, rssMiB] = [heapUsed, external, rss].map((bytes) =>
    Number((bytes / 2 ** 20).toFixed(1)),
  );
  return { heapUsedMiB, externalMiB, rssMiB };
}

const startMs = performance.now();
function report(inputs: number, more: object = {}): void {
  const seconds = (performance.now() - startMs) / 1000;
  const cpuSeconds = process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  const line = {
    inputs,
    seconds: Math.round(seconds),
    cpuSeconds: Math.round(cpuSeconds),
    perSecond: Math.round(inputs / seconds),
    ...usedMiB(),
    ...more,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const tally = fuzz(runs, seed, (inputs) => {
  if (inputs % PROGRESS_EVERY === 0) report(inputs);
});
report(runs, { seed, ...tally, differences: 0 });
