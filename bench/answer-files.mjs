// One answer of the platform in two files, and how its variants are made from it.
import { createSeededRandom } from '#dist/sandbox/seeded-random.js';
import { ByteFile } from './byte-file.mjs';
import { itemAt } from './item-at.mjs';
import { createRowRenderer, renderRow } from './row-renderer.mjs';

/**
 * @import { Variant } from './cases.mjs'
 * @import { DateWindow } from './row-renderer.mjs'
 *
 * @typedef {[start: number, end: number]} Span of a file, in bytes
 */

/** One title in a hundred is changed, another one is withdrawn. */
const isChanged = (/** @type {number} */ index) => index % 100 === 1;
const isWithdrawn = (/** @type {number} */ index) => index % 100 === 2;

/** The answer's body, and the same titles as the rows of the limit. */
export class AnswerFiles {
  /** @type {Span[]} where title n begins and ends in its file */
  #titleSpans = [];
  /** @type {Span[]} where row n begins and ends in its file */
  #rowSpans = [];
  #body;
  #rows;

  /** @param {string} path of both files, without their suffixes */
  constructor(path) {
    this.paths = { body: `${path}.json`, rows: `${path}.rows` };
    this.#body = new ByteFile(this.paths.body);
    this.#rows = new ByteFile(this.paths.rows);
    this.#body.append('{"titles":[');
  }

  get titles() {
    return this.#titleSpans.length;
  }

  /**
   * @param {string | Uint8Array} title
   * @param {string | Uint8Array} row
   */
  append(title, row) {
    if (this.titles > 0) this.#body.append(',');
    this.#titleSpans.push(appendSpan(this.#body, title));
    this.#rowSpans.push(appendSpan(this.#rows, row));
  }

  /**
   * In memory that the next call overwrites.
   *
   * @param {number} index
   */
  read(index) {
    return {
      title: this.#body.read(...itemAt(this.#titleSpans, index)),
      row: this.#rows.read(...itemAt(this.#rowSpans, index)),
    };
  }

  close() {
    this.#body.append(']}');
    this.#body.close();
    this.#rows.close();
  }
}

/**
 * @param {ByteFile} file
 * @param {string | Uint8Array} content
 * @returns {Span}
 */
function appendSpan(file, content) {
  const start = file.length;
  file.append(content);
  return [start, file.length];
}

/**
 * @param {AnswerFiles} answer
 * @param {Iterable<string>} texts the titles, as JSON
 * @param {DateWindow} window
 */
export function fillBase(answer, texts, window) {
  const toRow = createRowRenderer(window);
  for (const text of texts) answer.append(text, toRow(text));
}

/**
 * Fills `answer` from `base`.
 *
 * @param {Variant} variant
 * @param {AnswerFiles} base
 * @param {AnswerFiles} answer
 * @param {DateWindow} window
 * @returns how many titles differ from `base`
 */
export function fillVariant(variant, base, answer, window) {
  const order = variant === 'shuffled' ? shuffledIndexes(base.titles) : null;
  let changed = 0;
  let withdrawn = 0;
  for (let place = 0; place < base.titles; place++) {
    const index = order === null ? place : itemAt(order, place);
    const { title, row } = base.read(index);
    if (variant === 'withdrawn' && isWithdrawn(index)) {
      withdrawn += 1;
    } else if (variant === 'changed' && isChanged(index)) {
      changed += 1;
      const text = withOtherDiscount(title.toString());
      answer.append(text, renderRow(text, window, Number.parseInt(row.toString(), 10)));
    } else {
      answer.append(title, row);
    }
  }
  return { changed, withdrawn };
}

/**
 * Another digit in front: a larger number, however it is written.
 *
 * @param {string} title
 */
function withOtherDiscount(title) {
  const field = '"financialDiscountedValue":';
  if (!title.includes(field)) throw new Error('a synthetic title has no discount to change');
  return title.replace(field, `${field}1`);
}

/** @param {number} count */
function shuffledIndexes(count) {
  const random = createSeededRandom('shuffle');
  const indexes = Uint32Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last--) {
    const other = random(last + 1);
    const moved = itemAt(indexes, last);
    indexes[last] = itemAt(indexes, other);
    indexes[other] = moved;
  }
  return indexes;
}
