// One answer of the platform in two files, and how its variants are made from it.
import { createSeededRandom } from '../dist/sandbox/seeded-random.js';
import { ByteFile } from './byte-file.mjs';
import { createRowRenderer, renderRow } from './row-renderer.mjs';

/** One title in a hundred is changed, another one is withdrawn. */
const isChanged = (index) => index % 100 === 1;
const isWithdrawn = (index) => index % 100 === 2;

/** The answer's body, and the same titles as the rows of the limit. */
export class AnswerFiles {
  /** Where title and row n begin and end in their files. */
  #titleSpans = [];
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

  append(title, row) {
    if (this.titles > 0) this.#body.append(',');
    this.#titleSpans.push(appendSpan(this.#body, title));
    this.#rowSpans.push(appendSpan(this.#rows, row));
  }

  /** In memory that the next call overwrites. */
  read(index) {
    return {
      title: this.#body.read(...this.#titleSpans[index]),
      row: this.#rows.read(...this.#rowSpans[index]),
    };
  }

  close() {
    this.#body.append(']}');
    this.#body.close();
    this.#rows.close();
  }
}

function appendSpan(file, content) {
  const start = file.length;
  file.append(content);
  return [start, file.length];
}

/** @param {Iterable<string>} texts the titles, as JSON */
export function fillBase(answer, texts, window) {
  const toRow = createRowRenderer(window);
  for (const text of texts) answer.append(text, toRow(text));
}

/**
 * Fills `answer` from `base`.
 *
 * @param {import('./cases.mjs').Variant} variant
 * @returns how many titles differ from `base`
 */
export function fillVariant(variant, base, answer, window) {
  const order = variant === 'shuffled' ? shuffledIndexes(base.titles) : null;
  let changed = 0;
  let withdrawn = 0;
  for (let place = 0; place < base.titles; place++) {
    const index = order === null ? place : order[place];
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

/** Another digit in front: a larger number, however it is written. */
function withOtherDiscount(title) {
  const field = '"financialDiscountedValue":';
  if (!title.includes(field)) throw new Error('a synthetic title has no discount to change');
  return title.replace(field, `${field}1`);
}

function shuffledIndexes(count) {
  const random = createSeededRandom('shuffle');
  const indexes = Uint32Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last--) {
    const other = random(last + 1);
    [indexes[last], indexes[other]] = [indexes[other], indexes[last]];
  }
  return indexes;
}
