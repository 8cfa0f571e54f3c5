// The command line of the benchmark.
import { parseArgs } from 'node:util';
import { CASES, FULL_TABLE_CASE } from './cases.mjs';

export const USAGE = `npm run bench -- [options]

  --size <list>         titles of one response: 1k,20k,100k,500k,1M unless told
  --case <list>         ${CASES.map(({ name }) => name).join(', ')};
                        all of them unless told
  --rounds <number>     5 unless told; each measures both sides once, in turns
  --backfill-days <n>   365 unless told; days of 1,000 titles
  --full-table <n>      also a day of 1,000 into a table of n titles (10M) against an empty one
  --quick               20k titles, 3 rounds, a backfill of 20 days
  --profile             one more pull of each case and size under the CPU profiler: where its time
                        goes, by stage and by SQL statement; profiles go to bench/profiles
  --json                one JSON document on standard output
  --help
`;

const FULL_SIZES = '1k,20k,100k,500k,1M';

/**
 * @typedef {object} BenchOptions
 * @property {number[]} sizes
 * @property {import('./cases.mjs').Case[]} cases
 * @property {number} rounds
 * @property {number} backfillDays
 * @property {number} fullTable titles in the table of the full-table case; 0 without that case
 * @property {boolean} profile
 * @property {boolean} json
 */

/**
 * @param {string[]} args
 * @returns {BenchOptions | null} null: help was asked for
 * @throws Error that says what an argument takes
 */
export function parseOptions(args) {
  const list = /** @type {const} */ ({ type: 'string', multiple: true });
  const { values } = parseArgs({
    args,
    options: {
      size: list,
      sizes: list,
      case: list,
      cases: list,
      rounds: { type: 'string' },
      'backfill-days': { type: 'string' },
      'full-table': { type: 'string' },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const sizes = toItems(values.size, values.sizes) ?? [values.quick ? '20k' : FULL_SIZES];
  const fullTable = values['full-table'] === undefined ? 0 : toCount(values['full-table']);
  const cases = toCases(toItems(values.case, values.cases));
  return {
    sizes: sizes.flatMap((size) => size.split(',')).map(toCount),
    cases: fullTable > 0 ? [...cases, FULL_TABLE_CASE] : cases,
    rounds: toCount(values.rounds ?? (values.quick ? '3' : '5')),
    backfillDays: toCount(values['backfill-days'] ?? (values.quick ? '20' : '365')),
    fullTable,
    profile: values.profile,
    json: values.json,
  };
}

/** @param {(string[] | undefined)[]} given */
function toItems(...given) {
  const items = given.flatMap((values) => values ?? []).flatMap((value) => value.split(','));
  return items.length === 0 ? null : items;
}

const UNITS = new Map([
  ['', 1],
  ['k', 1e3],
  ['M', 1e6],
]);

/**
 * `20k` is 20,000 and `1M` is 1,000,000.
 *
 * @param {string} text
 */
function toCount(text) {
  const [, number, unit = ''] = /^(\d+)([kM]?)$/.exec(text) ?? [];
  const count = Number(number ?? 0) * (UNITS.get(unit) ?? 0);
  if (count < 1) throw new Error(`${text} is not a number above 0, such as 500, 20k or 1M`);
  return count;
}

/**
 * None is allowed: `--case none --full-table 10M` measures that case alone.
 *
 * @param {string[] | null} names
 */
function toCases(names) {
  if (names === null) return CASES;
  return names.flatMap((name) => {
    const found = CASES.find((known) => known.name === name);
    if (found === undefined && name !== 'none') {
      throw new Error(`there is no case ${name}: ${CASES.map((known) => known.name).join(', ')}`);
    }
    return found ?? [];
  });
}
