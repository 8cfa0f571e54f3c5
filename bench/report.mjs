// The figures for people: medians of the rounds in one table, and the profiles.
import { itemAt } from './item-at.mjs';

/**
 * @import { Measured } from './measure.mjs'
 * @import { ProfileSummary } from './profile.mjs'
 * @import { StatementTime } from './statement-times.mjs'
 * @import { Side } from './cases.mjs'
 * @import { CaseResult } from './suite.mjs'
 *
 * @typedef {{ median: number, min: number, max: number }} Ratio
 * @typedef {ReturnType<typeof summariseSide>} SideSummary
 * @typedef {{ ratio: Ratio } & Partial<Record<Side, SideSummary>>} Summary
 * @typedef {CaseResult & { summary: Summary }} SummarisedResult
 */

const TOP_STATEMENTS = 12;

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = itemAt(sorted, middle);
  return sorted.length % 2 === 1 ? upper : (itemAt(sorted, middle - 1) + upper) / 2;
}

/**
 * One case and size in a few numbers: medians over the rounds, but of memory and stalls the worst.
 *
 * @param {CaseResult} result
 * @returns {Summary}
 */
export function summarise({ sides, rounds }) {
  const ratios = rounds.map(({ ratio }) => ratio);
  const sideSummaries = sides.map((side) => [
    side,
    summariseSide(rounds.flatMap((round) => round[side] ?? [])),
  ]);
  return {
    ratio: { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) },
    ...Object.fromEntries(sideSummaries),
  };
}

/** @param {Measured[]} runs of one side */
function summariseSide(runs) {
  const databaseCpuSeconds = runs.flatMap((run) => run.databaseCpuSeconds ?? []);
  return {
    titlesPerSecond: median(runs.map((run) => run.titlesPerSecond)),
    elapsedMs: median(runs.map((run) => run.elapsedMs)),
    workerCpuSeconds: median(runs.map((run) => run.workerCpuSeconds)),
    databaseCpuSeconds: databaseCpuSeconds.length < runs.length ? null : median(databaseCpuSeconds),
    walBytesPerTitle: median(runs.map((run) => run.walBytesPerTitle)),
    peakMemoryBytes: Math.max(...runs.map((run) => run.peakMemoryBytes)),
    longestStallMs: Math.max(...runs.map((run) => run.longestStallMs)),
    rowsWritten: Math.max(...runs.map((run) => run.tables.rowsWritten)),
  };
}

const count = (/** @type {number} */ value) => Math.round(value).toLocaleString('en');
const decimal = (/** @type {number | null} */ value, digits = 2) =>
  value === null ? '–' : value.toFixed(digits);

/**
 * @typedef {object} Line of the table
 * @property {SummarisedResult} result
 * @property {Side} side
 * @property {Summary} summary
 * @property {SideSummary} of the side
 * @property {boolean} isFirst of its case and size
 */

/** @type {[string, (line: Line) => string][]} */
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

const ratioText = (/** @type {Ratio} */ { median, min, max }) =>
  `${decimal(median)} (${decimal(min)}–${decimal(max)})`;
const roundsText = (/** @type {CaseResult} */ { rounds }) =>
  rounds.map(({ ratio }) => decimal(ratio)).join(' ');

/**
 * A Markdown table, two lines a case and size.
 *
 * @param {SummarisedResult[]} results
 */
export function renderTable(results) {
  const lines = results.flatMap((result) =>
    result.sides.map((side, index) => {
      const { summary } = result;
      const of = summary[side];
      if (of === undefined) throw new Error(`the side ${side} has no summary`);
      const cell = { result, side, summary, of, isFirst: index === 0 };
      return COLUMNS.map(([, toText]) => toText(cell));
    }),
  );
  return toMarkdown(
    COLUMNS.map(([name]) => name),
    lines,
  );
}

/**
 * @param {string} title
 * @param {number} size
 * @param {ProfileSummary} profile
 */
export function renderProfile(title, size, profile) {
  const { stages, functions, statements, elapsedMs, directory } = profile;
  const share = (/** @type {number} */ ms) => `${((100 * ms) / elapsedMs).toFixed(1)} %`;
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

/**
 * The longest statements one by one, the others as one line.
 *
 * @param {StatementTime[]} statements
 */
function withRest(statements) {
  const others = statements.slice(TOP_STATEMENTS);
  const sum = (/** @type {'count' | 'ms'} */ field) =>
    others.reduce((total, other) => total + other[field], 0);
  const rest = { statement: `${others.length} others`, count: sum('count'), ms: sum('ms') };
  return [...statements.slice(0, TOP_STATEMENTS), ...(others.length > 0 ? [rest] : [])];
}

/**
 * @param {string[]} head
 * @param {string[][]} lines
 */
function toMarkdown(head, lines) {
  const columns = head.map((_, column) => lines.map((cells) => itemAt(cells, column)));
  const widths = columns.map((cells, column) =>
    Math.max(...[itemAt(head, column), ...cells].map(({ length }) => length)),
  );
  const isText = columns.map((cells) => cells.every((text) => !/^[\d.,–]+$/.test(text)));
  const toLine = (/** @type {string[]} */ cells) => {
    const padded = cells.map((text, column) => {
      const width = itemAt(widths, column);
      return isText[column] ? text.padEnd(width) : text.padStart(width);
    });
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, column) =>
    isText[column] ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [toLine(head), `| ${rule.join(' | ')} |`, ...lines.map(toLine)].join('\n');
}
