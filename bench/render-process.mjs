// Renders a data set before any clock starts: the platform's answers, byte for byte, and for the
// limit the same titles as rows in COPY's text format, parsed, checked and hashed already.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { addDays, datesBetween } from '#dist/domain/business-day.js';
import { SyntheticTitles } from '#dist/sandbox/synthetic-titles.js';
import { AnswerFiles, fillBase, fillVariant } from './answer-files.mjs';
import { answerParent } from './child.mjs';

/**
 * @import { CivilDate } from '#dist/domain/business-day.js'
 * @import { Variant } from './cases.mjs'
 * @import { DateWindow } from './row-renderer.mjs'
 */

/**
 * What the platform says in one variant, all requests together.
 *
 * @typedef {object} RenderedAnswers
 * @property {number} titles
 * @property {number} changed against `base`
 * @property {number} withdrawn against `base`
 * @property {RenderedRequest[]} requests
 *
 * @typedef {object} RenderedRequest
 * @property {DateWindow} window
 * @property {number} titles
 * @property {string} body file
 * @property {string} rows file
 *
 * @typedef {object} RenderPlan
 * @property {string} directory
 * @property {number} titles
 * @property {number} days
 * @property {CivilDate} lastDate
 * @property {Variant[]} variants `base` is always rendered
 *
 * @typedef {{ changed: number, withdrawn: number, request: RenderedRequest }} RenderedDay one variant
 *   of one date
 */

const synthetic = new SyntheticTitles({ seed: 'bench', titlesPerDay: 1, restate: false });

const handlers = {
  /**
   * @param {RenderPlan} plan
   * @returns {Map<Variant, RenderedAnswers>} of `base` and of each of the plan's variants
   */
  render({ directory, titles, days, lastDate, variants }) {
    const allDates = datesBetween(addDays(lastDate, 1 - days), lastDate);
    const rendered = allDates.map((date, number) =>
      renderRequest({
        directory: join(directory, String(number)),
        window: { from: date, to: date },
        titles: titles / allDates.length,
        variants,
      }),
    );
    return new Map(
      /** @type {Variant[]} */ (['base', ...variants]).map((variant) => [
        variant,
        addUp(rendered.flatMap((answers) => answers.get(variant) ?? [])),
      ]),
    );
  },
};
/** @typedef {typeof handlers} Handlers */

answerParent(handlers);

/** @param {{ directory: string, window: DateWindow, titles: number, variants: Variant[] }} plan */
function renderRequest({ directory, window, titles, variants }) {
  mkdirSync(directory, { recursive: true });
  const base = new AnswerFiles(join(directory, 'base'));
  fillBase(base, synthetic.titlesOn(window.from, 0, titles), window);
  /**
   * @param {AnswerFiles} answer
   * @param {{ changed: number, withdrawn: number }} counts
   * @returns {RenderedDay}
   */
  const describe = (answer, counts) => ({
    ...counts,
    request: { window, titles: answer.titles, ...answer.paths },
  });
  /** @type {Map<Variant, RenderedDay>} */
  const rendered = new Map([['base', describe(base, { changed: 0, withdrawn: 0 })]]);
  for (const variant of variants) {
    const answer = new AnswerFiles(join(directory, variant));
    rendered.set(variant, describe(answer, fillVariant(variant, base, answer, window)));
    answer.close();
  }
  base.close();
  return rendered;
}

/** @param {RenderedDay[]} answers */
function addUp(answers) {
  const sum = (/** @type {'changed' | 'withdrawn'} */ field) =>
    answers.reduce((total, answer) => total + answer[field], 0);
  const requests = answers.map(({ request }) => request);
  return {
    titles: requests.reduce((total, request) => total + request.titles, 0),
    changed: sum('changed'),
    withdrawn: sum('withdrawn'),
    requests,
  };
}
