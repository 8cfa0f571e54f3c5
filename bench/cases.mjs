// What is measured, as data.

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} title
 * @property {Layout} layout
 * @property {'nothing' | 'base'} before what the tables hold when the clock starts
 * @property {Variant} answer what the platform then answers
 * @property {[Side, Side]} sides what is measured, and what the measure is compared with
 * @property {number} [pullsAtOnce] by our side, 1 unless told; the limit takes one response after the other
 * @property {number} [processes] that share the pulls of our side, 1 unless told
 * @property {number} [latencyMs] from a request until the first byte of its response, 0 unless told
 *
 * @typedef {'ours' | 'limit' | 'full' | 'empty'} Side
 *
 * @typedef {'day' | 'backfill' | 'full-table'} Layout one day; a response of 1,000 titles for each of many
 *   days; a day of 1,000 titles a round
 *
 * @typedef {'base' | 'shuffled' | 'changed' | 'withdrawn'} Variant the titles; the same in another
 *   order; 1 % with another discount; 1 % left out
 */

/** @type {['ours', 'limit']} */
const AGAINST_LIMIT = ['ours', 'limit'];

/** What a backfill has under way at once, unless it is told otherwise. */
const PLATFORM_CONCURRENCY = 4;

/** @type {Case} */
const BACKFILL = {
  name: 'backfill',
  title: 'backfill, days of 1,000',
  layout: 'backfill',
  before: 'nothing',
  answer: 'base',
  sides: AGAINST_LIMIT,
  pullsAtOnce: PLATFORM_CONCURRENCY,
};

/** @type {Case[]} */
export const CASES = [
  {
    name: 'first-load',
    title: 'first load',
    layout: 'day',
    before: 'nothing',
    answer: 'base',
    sides: AGAINST_LIMIT,
  },
  {
    name: 'identical',
    title: 'identical re-pull',
    layout: 'day',
    before: 'base',
    answer: 'base',
    sides: AGAINST_LIMIT,
  },
  {
    name: 'shuffled',
    title: 're-pull, shuffled',
    layout: 'day',
    before: 'base',
    answer: 'shuffled',
    sides: AGAINST_LIMIT,
  },
  {
    name: 'changed',
    title: 're-pull, 1 % changed',
    layout: 'day',
    before: 'base',
    answer: 'changed',
    sides: AGAINST_LIMIT,
  },
  {
    name: 'withdrawn',
    title: 're-pull, 1 % withdrawn',
    layout: 'day',
    before: 'base',
    answer: 'withdrawn',
    sides: AGAINST_LIMIT,
  },
  BACKFILL,
  ...[50, 300].map((latencyMs) => ({
    ...BACKFILL,
    name: `backfill-${latencyMs}ms`,
    title: `backfill, responses after ${latencyMs} ms`,
    latencyMs,
  })),
  {
    ...BACKFILL,
    name: 'backfill-two-workers',
    title: 'backfill, two worker processes',
    processes: 2,
  },
  {
    name: 'backfill-one-by-one',
    title: 'backfill, one pull at a time',
    layout: 'backfill',
    before: 'nothing',
    answer: 'base',
    sides: AGAINST_LIMIT,
  },
];

/**
 * Whether a day costs more the more titles the table holds already: both sides are ours. A round
 * takes another day, because the full table is too large to be made again.
 *
 * @type {Case}
 */
export const FULL_TABLE_CASE = {
  name: 'full-table',
  title: 'a day of 1,000 into a full table',
  layout: 'full-table',
  before: 'nothing',
  answer: 'base',
  sides: ['full', 'empty'],
};

/** Titles of one day of a backfill and of the full-table case. */
const DAY_TITLES = 1000;

/**
 * What has to be rendered for the cases: each data set once, however many cases use it.
 *
 * @param {import('./options.mjs').BenchOptions} options
 */
export function planDataSets({ cases, sizes, rounds, backfillDays }) {
  const layouts = [...new Set(cases.map(({ layout }) => layout))];
  return layouts.flatMap((layout) => {
    const of = { layout, cases: cases.filter((spec) => spec.layout === layout) };
    if (layout === 'backfill') {
      return [{ ...of, titles: backfillDays * DAY_TITLES, days: backfillDays }];
    }
    if (layout === 'full-table') return [{ ...of, titles: rounds * DAY_TITLES, days: rounds }];
    return sizes.map((titles) => ({ ...of, titles, days: 1 }));
  });
}
