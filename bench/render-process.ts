/**
 * Renders the platform's answers before any clock starts: their bodies, byte for byte, and for the limit the same
 * titles as rows in COPY's text format, parsed, checked and hashed by the product's own reader.
 */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { addDays, type CivilDate, datesBetween } from '#dist/base/values/business-day.js';
import { toJsonText } from '#dist/base/values/json-value.js';
import { parseTitle } from '#dist/core/reader/exact-title.js';
import { rawHash } from '#dist/core/reader/known-texts.js';
import { contentHash, identityHash, TITLE_COLUMNS, type Title } from '#dist/core/title/title.js';
import { checkTitle } from '#dist/core/title/title-contract.js';
import { answerParent } from './child.ts';
import { synthetic } from './platform.ts';

/** The titles as first sent, or with another discount for one title in a hundred. */
export type Variant = 'base' | 'changed';

export interface Answer {
  readonly date: CivilDate;
  readonly titles: number;
  readonly changed: number;
  /** Name of the file with the body. */
  readonly body: string;
  /** Name of the file with the rows. */
  readonly rows: string;
}

export interface RenderPlan {
  readonly directory: string;
  readonly lastDate: CivilDate;
  readonly days: number;
  readonly titlesPerDay: number;
  readonly variant: Variant;
}

const TITLES_AT_ONCE = 1000;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function render({ directory, lastDate, days, titlesPerDay, variant }: RenderPlan): Answer[] {
  mkdirSync(directory, { recursive: true });
  return datesBetween(addDays(lastDate, 1 - days), lastDate).map((date) =>
    renderAnswer(join(directory, `${variant}-${date}`), date, titlesPerDay, variant),
  );
}
export type RenderProgram = typeof render;

answerParent(render);

function renderAnswer(path: string, date: CivilDate, titles: number, variant: Variant): Answer {
  const answer = { date, titles, body: `${path}.json`, rows: `${path}.rows` };
  const occurrences = new Map<string, number>();
  let texts: string[] = [];
  let rows: string[] = [];
  const flush = () => {
    appendFileSync(answer.body, texts.join(''));
    appendFileSync(answer.rows, rows.join(''));
    [texts, rows] = [[], []];
  };
  let [index, changed] = [0, 0];
  for (const original of synthetic.titlesOn(date, 0, titles)) {
    const isChanged = variant === 'changed' && index % 100 === 1;
    const text = isChanged ? withOtherDiscount(original) : original;
    if (isChanged) changed += 1;
    texts.push(index === 0 ? '{"titles":[' : ',', text);
    rows.push(toRow(text, date, occurrences));
    if (rows.length === TITLES_AT_ONCE) flush();
    index += 1;
  }
  texts.push(']}');
  flush();
  return { ...answer, changed };
}

/** Another digit in front: a larger number, however it is written. */
function withOtherDiscount(title: string): string {
  const field = '"financialDiscountedValue":';
  if (!title.includes(field)) throw new Error('a synthetic title has no discount to change');
  return title.replace(field, `${field}1`);
}

/** Titles of equal identity are numbered, as the product does it. */
function toRow(text: string, date: CivilDate, occurrences: Map<string, number>): string {
  const { value, problems } = parseTitle(Buffer.from(text));
  const check = checkTitle(value, { from: date, to: date });
  if (!check.ok || problems.length > 0) throw new Error('a synthetic title breaks the contract');
  const { title } = check;
  const identity = identityHash(title);
  const occurrence = (occurrences.get(identity) ?? 0) + 1;
  occurrences.set(identity, occurrence);
  const cells = TITLE_COLUMNS.map((name) => toCell(title, name));
  const hashes = [
    identity,
    contentHash(title),
    Buffer.from(rawHash(Buffer.from(text)), 'latin1').toString('hex'),
  ];
  return `${[occurrence, ...cells, ...hashes].join('\t')}\n`;
}

function toCell(title: Title, name: keyof Title): string {
  if (name === 'extra') return title.extra === null ? '\\N' : escapeText(toJsonText(title.extra));
  const value = title[name];
  if (value === null) return '\\N';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  return typeof value === 'string' ? escapeText(value) : value.written;
}

function escapeText(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}
