/** One line of the table that a soak leaves behind. Memory in bytes, after a collection. */
export interface SoakSample {
  readonly seconds: number;
  readonly pulls: number;
  readonly faults: number;
  readonly heapUsed: number;
  /** Of the heap: what functions were compiled to. */
  readonly compiledCode: number;
  readonly rss: number;
  readonly external: number;
  readonly descriptors: number;
  readonly postgresSessions: number;
  readonly redisClients: number;
}

const MB = 1024 * 1024;
const DATA_LIMIT_MB_PER_HOUR = 1;
/** A function that is compiled again for each pull makes more. */
const CODE_LIMIT_MB_PER_HOUR = 5;
/** Until caches are full and code is compiled. */
const WARM_UP_SHARE = 0.3;
/** Of less, the heap's slope is that of code being compiled. */
const JUDGED_FROM_SECONDS = 20 * 60;
/** A connection that was just lost, and one that was just opened in its place. */
const FLAT_MARGIN = 2;

const COLUMNS = [
  'seconds',
  'pulls',
  'faults',
  'heapUsed',
  'compiledCode',
  'rss',
  'external',
  'descriptors',
  'postgresSessions',
  'redisClients',
] as const satisfies readonly (keyof SoakSample)[];

export function toCsv(samples: readonly SoakSample[]): string {
  const lines = samples.map((sample) => COLUMNS.map((name) => sample[name]).join(','));
  return `${[COLUMNS.join(','), ...lines].join('\n')}\n`;
}

/**
 * V8 compiles a function, and again for speed, when it was called often enough. What is called only when
 * something fails gets there after an hour of faults, and its code is kept: growth that says nothing about
 * what the program keeps. So data and code are judged apart.
 */
const MEMORY = {
  heap: (at: SoakSample) => at.heapUsed,
  data: (at: SoakSample) => at.heapUsed - at.compiledCode,
  'compiled code': (at: SoakSample) => at.compiledCode,
  rss: (at: SoakSample) => at.rss,
  external: (at: SoakSample) => at.external,
} as const;

const LIMITS: Readonly<Record<string, number>> = {
  data: DATA_LIMIT_MB_PER_HOUR,
  'compiled code': CODE_LIMIT_MB_PER_HOUR,
};

/** The report of a soak about the process, and the failures in the report. */
export function judge(all: readonly SoakSample[]): { lines: string[]; failures: string[] } {
  const samples = all.slice(Math.floor(all.length * WARM_UP_SHARE));
  const failures: string[] = [];
  const isLong = (all.at(-1)?.seconds ?? 0) >= JUDGED_FROM_SECONDS;
  const lines = Object.entries(MEMORY).map(([name, bytesOf]) => {
    const { slope, error } = fitLine(samples.map((at) => [at.seconds / 3600, bytesOf(at) / MB]));
    const limit = LIMITS[name] ?? Number.POSITIVE_INFINITY;
    // So small a slope cannot be told from none in a short run; only what is certain is a failure.
    if (isLong && slope - 2 * error > limit) {
      failures.push(`${name} grows by ${slope.toFixed(2)} MB/h`);
    }
    const last = samples.at(-1);
    const lastMb = last === undefined ? 0 : bytesOf(last) / MB;
    return `${name}: ${lastMb.toFixed(1)} MB at the end, ${slope.toFixed(2)} ± ${(2 * error).toFixed(2)} MB/h`;
  });
  for (const name of ['descriptors', 'postgresSessions', 'redisClients'] as const) {
    const values = samples.map((at) => at[name]);
    const third = Math.max(1, Math.floor(values.length / 3));
    const [early, late] = [median(values.slice(0, third)), median(values.slice(-third))];
    lines.push(`${name}: median ${early} early, ${late} late, ${Math.max(...values)} at most`);
    if (late - early > FLAT_MARGIN) failures.push(`${name} grew from ${early} to ${late}`);
  }
  return { lines, failures };
}

/** Least squares; `error` is the standard error of the slope. */
export function fitLine(points: readonly (readonly [number, number])[]) {
  const count = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / Math.max(1, count - 2) / spread) };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
