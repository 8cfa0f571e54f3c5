// A title's JSON text as a row for the limit, by the product's own reading of it.
import { toJsonText } from '#dist/domain/json-text.js';
import { rawHash } from '#dist/domain/known-titles.js';
import { contentHash, identityHash, TITLE_COLUMNS } from '#dist/domain/title.js';
import { checkTitle } from '#dist/platform/title-contract.js';
import { parseExactJson } from '#dist/reader/exact-json.js';

/**
 * @import { CivilDate } from '#dist/domain/business-day.js'
 * @import { Title } from '#dist/domain/title.js'
 *
 * @typedef {{ from: CivilDate, to: CivilDate }} DateWindow of one date
 */

/**
 * A row of `ROW_COLUMNS` in COPY's text format, the line's end included.
 *
 * @param {string} text
 * @param {DateWindow} window
 * @param {number} occurrence
 */
export function renderRow(text, window, occurrence) {
  return toRow(text, readTitle(text, window), occurrence);
}

/**
 * Numbers titles of equal identity, as the product does. One of these a response.
 *
 * @param {DateWindow} window
 */
export function createRowRenderer(window) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return (/** @type {string} */ text) => {
    const title = readTitle(text, window);
    const identity = identityHash(title);
    const occurrence = (seen.get(identity) ?? 0) + 1;
    seen.set(identity, occurrence);
    return toRow(text, title, occurrence);
  };
}

/**
 * @param {string} text
 * @param {DateWindow} window
 */
function readTitle(text, window) {
  const { value, problems } = parseExactJson(Buffer.from(text));
  const check = checkTitle(value, window);
  if (!check.ok || problems.length > 0) throw new Error('a synthetic title breaks the contract');
  return check.title;
}

/**
 * @param {string} text
 * @param {Title} title
 * @param {number} occurrence
 */
function toRow(text, title, occurrence) {
  const hashes = [
    identityHash(title),
    contentHash(title),
    rawHash(Buffer.from(text)).toString('hex'),
  ];
  const cells = TITLE_COLUMNS.map((name) => toCell(title, name));
  return `${[occurrence, ...cells, ...hashes].join('\t')}\n`;
}

/**
 * @param {Title} title
 * @param {keyof Title} name
 */
function toCell(title, name) {
  if (name === 'extra') return title.extra === null ? '\\N' : escapeText(toJsonText(title.extra));
  const value = title[name];
  if (value === null) return '\\N';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value === 'string') return escapeText(value);
  return value.written;
}

/** @param {string} text */
function escapeText(text) {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
}
