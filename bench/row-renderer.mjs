// A title's JSON text as a row for the limit, by the product's own reading of it.
import { toJsonText } from '../dist/domain/json-text.js';
import { rawHash } from '../dist/domain/known-titles.js';
import { contentHash, identityHash, TITLE_COLUMNS } from '../dist/domain/title.js';
import { checkTitle } from '../dist/platform/title-contract.js';
import { parseExactJson } from '../dist/reader/exact-json.js';

/** A row of `ROW_COLUMNS` in COPY's text format, the line's end included. */
export function renderRow(text, window, occurrence) {
  return toRow(text, readTitle(text, window), occurrence);
}

/** Numbers titles of equal identity, as the product does. One of these a response. */
export function createRowRenderer(window) {
  const seen = new Map();
  return (text) => {
    const title = readTitle(text, window);
    const identity = identityHash(title);
    const occurrence = (seen.get(identity) ?? 0) + 1;
    seen.set(identity, occurrence);
    return toRow(text, title, occurrence);
  };
}

function readTitle(text, window) {
  const { value, problems } = parseExactJson(Buffer.from(text));
  const check = checkTitle(value, window);
  if (!check.ok || problems.length > 0) throw new Error('a synthetic title breaks the contract');
  return check.title;
}

function toRow(text, title, occurrence) {
  const hashes = [
    identityHash(title),
    contentHash(title),
    rawHash(Buffer.from(text)).toString('hex'),
  ];
  const cells = TITLE_COLUMNS.map((name) => toCell(name, title[name]));
  return `${[occurrence, ...cells, ...hashes].join('\t')}\n`;
}

function toCell(name, value) {
  if (value === null) return '\\N';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value === 'string') return escapeText(value);
  return name === 'extra' ? escapeText(toJsonText(value)) : value.written;
}

const ESCAPES = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escapeText(text) {
  return text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character]);
}
