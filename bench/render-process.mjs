// Renders a data set before any clock starts: the platform's answers, byte for byte, and for the
// limit the same titles as rows in COPY's text format, parsed, checked and hashed already.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { addDays, datesBetween } from '../dist/domain/business-day.js';
import { SyntheticTitles } from '../dist/sandbox/synthetic-titles.js';
import { AnswerFiles, fillBase, fillVariant } from './answer-files.mjs';
import { answerParent } from './child.mjs';

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
 * @property {{ from: string, to: string }} window of one date
 * @property {number} titles
 * @property {string} body file
 * @property {string} rows file
 */

const synthetic = new SyntheticTitles({ seed: 'bench', titlesPerDay: 1, restate: false });

answerParent({
  /**
   * @param {object} plan
   * @param {string} plan.directory
   * @param {number} plan.titles
   * @param {number} plan.days
   * @param {string} plan.lastDate
   * @param {string[]} plan.variants `base` is always rendered
   * @returns {Record<string, RenderedAnswers>}
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
    return Object.fromEntries(
      ['base', ...variants].map((variant) => [
        variant,
        addUp(rendered.map((answers) => answers[variant])),
      ]),
    );
  },
});

function renderRequest({ directory, window, titles, variants }) {
  mkdirSync(directory, { recursive: true });
  const base = new AnswerFiles(join(directory, 'base'));
  fillBase(base, synthetic.titlesOn(window.from, 0, titles), window);
  const describe = (answer, counts) => ({
    ...counts,
    request: { window, titles: answer.titles, ...answer.paths },
  });
  const rendered = { base: describe(base, { changed: 0, withdrawn: 0 }) };
  for (const variant of variants) {
    const answer = new AnswerFiles(join(directory, variant));
    rendered[variant] = describe(answer, fillVariant(variant, base, answer, window));
    answer.close();
  }
  base.close();
  return rendered;
}

function addUp(answers) {
  const sum = (field) => answers.reduce((total, answer) => total + answer[field], 0);
  const requests = answers.map(({ request }) => request);
  return {
    titles: requests.reduce((total, request) => total + request.titles, 0),
    changed: sum('changed'),
    withdrawn: sum('withdrawn'),
    requests,
  };
}
