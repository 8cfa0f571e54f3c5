// A figure of a run that did something else than it should is worth nothing, so it ends the benchmark.
import { deepStrictEqual } from 'node:assert';

/**
 * @import { Case } from './cases.mjs'
 * @import { Measured } from './measure.mjs'
 * @import { RenderedAnswers } from './render-process.mjs'
 */

/**
 * @param {Case} spec
 * @param {RenderedAnswers} answers
 * @param {Measured} ours
 */
export function verifyOurs(spec, answers, ours) {
  const { titles, changed, withdrawn } = answers;
  const isNew = spec.before === 'nothing';
  const dates = answers.requests.map(({ window: { from } }) => from);
  const { content, ledger } = ours.tables;
  equal(
    {
      titles: ours.titles,
      rejected: ours.rejected,
      inserted: ours.inserted,
      changed: ours.changed,
      withdrawn: ours.withdrawn,
      restored: ours.restored,
      unchanged: ours.unchanged,
    },
    {
      titles,
      rejected: 0,
      inserted: isNew ? titles : 0,
      changed,
      withdrawn,
      restored: 0,
      unchanged: isNew ? 0 : titles - changed,
    },
    `${spec.name}: what our pull says it did`,
  );
  equal(
    { current: content.current, withdrawn: content.withdrawn },
    { current: titles, withdrawn },
    `${spec.name}: the titles in our table`,
  );
  equal(
    ledger,
    {
      titles,
      originalValue: content.sums['original_value'],
      reconciled: dates.length,
      lastReconciledDate: dates.at(-1),
      revisions: changed + withdrawn,
    },
    `${spec.name}: our ledger and history`,
  );
}

/**
 * Both sides were given the same titles, so their tables must agree to the last digit.
 *
 * @param {Case} spec
 * @param {RenderedAnswers} answers
 * @param {Measured} ours
 * @param {Measured} limit
 */
export function verifyLimit(spec, answers, ours, limit) {
  equal(limit.titles, answers.titles, `${spec.name}: the rows that the limit copied`);
  equal(limit.tables.content, ours.tables.content, `${spec.name}: the limit's table against ours`);
}

/**
 * @param {unknown} actual
 * @param {unknown} expected
 * @param {string} what
 */
function equal(actual, expected, what) {
  try {
    deepStrictEqual(actual, expected);
  } catch (cause) {
    throw new Error(`wrong result, ${what}: ${/** @type {Error} */ (cause).message}`, { cause });
  }
}
