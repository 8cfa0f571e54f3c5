// The figures for people: medians of the rounds in one table, and the profiles.

const TOP_STATEMENTS = 12;

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * One case and size in a few numbers: medians over the rounds, but of memory and stalls the worst.
 *
 * @param {any} result of `runSuite`
 */
export function summarise({ sides, rounds }) {
  const ratios = rounds.map(({ ratio }) => ratio);
  const summary = {
    ratio: { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) },
  };
  for (const side of sides) {
    const of = (field) => rounds.map((round) => round[side][field]);
    summary[side] = {
      titlesPerSecond: median(of('titlesPerSecond')),
      elapsedMs: median(of('elapsedMs')),
      workerCpuSeconds: median(of('workerCpuSeconds')),
      databaseCpuSeconds: of('databaseCpuSeconds').includes(null)
        ? null
        : median(of('databaseCpuSeconds')),
      walBytesPerTitle: median(of('walBytesPerTitle')),
      peakMemoryBytes: Math.max(...of('peakMemoryBytes')),
      longestStallMs: Math.max(...of('longestStallMs')),
      rowsWritten: Math.max(...rounds.map((round) => round[side].tables.rowsWritten)),
    };
  }
  return summary;
}

const count = (value) => Math.round(value).toLocaleString('en');
const decimal = (value, digits = 2) => (value === null ? '–' : value.toFixed(digits));

/** @type {[string, (cell: any) => string][]} */
const COLUMNS = [
  ['case', ({ result }) => result.title],
  ['titles', ({ result }) => count(result.size)],
  ['side', ({ side }) => side],
  ['titles/s', ({ of }) => count(of.titlesPerSecond)],
  ['ratio (min–max)', ({ summary, isFirst }) => (isFirst ? ratioText(summary.ratio) : '')],
  ['ratio by round', ({ result, isFirst }) => (isFirst ? roundsText(result) : '')],
  ['peak MB', ({ of }) => count(of.peakMemoryBytes / 1e6)],
  ['worker CPU s', ({ of }) => decimal(of.workerCpuSeconds)],
  ['database CPU s', ({ of }) => decimal(of.databaseCpuSeconds)],
  ['WAL B/title', ({ of }) => count(of.walBytesPerTitle)],
  ['rows written', ({ of }) => count(of.rowsWritten)],
  ['stall ms', ({ of }) => count(of.longestStallMs)],
];

const ratioText = ({ median, min, max }) => `${decimal(median)} (${decimal(min)}–${decimal(max)})`;
const roundsText = ({ rounds }) => rounds.map(({ ratio }) => decimal(ratio)).join(' ');

/** A Markdown table, two lines a case and size. */
export function renderTable(results) {
  const lines = results.flatMap((result) =>
    result.sides.map((side, index) => {
      const { summary } = result;
      const cell = { result, side, summary, of: summary[side], isFirst: index === 0 };
      return COLUMNS.map(([, toText]) => toText(cell));
    }),
  );
  return toMarkdown(
    COLUMNS.map(([name]) => name),
    lines,
  );
}

/** @param {import('./profile.mjs').ProfileSummary} profile */
export function renderProfile(title, size, profile) {
  const { stages, functions, statements, elapsedMs, directory } = profile;
  const share = (ms) => `${((100 * ms) / elapsedMs).toFixed(1)} %`;
  return [
    `${title}, ${count(size)} titles: ${count(elapsedMs)} ms under the profiler (${directory})`,
    toMarkdown(
      ['stage', 'ms', 'of the pull', 'µs/title'],
      stages.map(({ stage, ms, microsecondsPerTitle }) => [
        stage,
        count(ms),
        share(ms),
        decimal(microsecondsPerTitle),
      ]),
    ),
    toMarkdown(
      ['function', 'ms', 'of the pull'],
      functions.map(({ name, ms }) => [name, count(ms), share(ms)]),
    ),
    toMarkdown(
      ['statement', 'times', 'ms', 'of the pull'],
      withRest(statements).map(({ statement, count: times, ms }) => [
        statement.replaceAll('|', '\\|'),
        count(times),
        decimal(ms, 1),
        share(ms),
      ]),
    ),
  ].join('\n\n');
}

/** The longest statements one by one, the others as one line. */
function withRest(statements) {
  const others = statements.slice(TOP_STATEMENTS);
  const sum = (field) => others.reduce((total, other) => total + other[field], 0);
  const rest = { statement: `${others.length} others`, count: sum('count'), ms: sum('ms') };
  return [...statements.slice(0, TOP_STATEMENTS), ...(others.length > 0 ? [rest] : [])];
}

function toMarkdown(head, lines) {
  const widths = head.map((name, column) =>
    Math.max(name.length, ...lines.map((cells) => cells[column].length)),
  );
  const isText = head.map((_, column) => lines.every((cells) => !/^[\d.,–]+$/.test(cells[column])));
  const toLine = (cells) => {
    const padded = cells.map((text, column) =>
      isText[column] ? text.padEnd(widths[column]) : text.padStart(widths[column]),
    );
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, column) =>
    isText[column] ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [toLine(head), `| ${rule.join(' | ')} |`, ...lines.map(toLine)].join('\n');
}
