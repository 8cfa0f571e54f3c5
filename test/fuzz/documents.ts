import type { CivilDate } from '../../src/base/values/business-day.ts';
import {
  createSeededRandom,
  type SeededRandom,
  SyntheticTitles,
} from '../../src/demo/synthetic-titles.ts';
import { HOSTILE_RESPONSES } from '../support/hostile-responses.ts';
import type { RawBody } from '../support/sandbox/faults.ts';
import { READABLE, REFUSED } from '../unit/reader/answer-corpus.ts';
import { TITLES_OF_EVERY_KIND } from '../unit/reader/title-corpus.ts';

/** Separate tests cover larger documents, which would take the time of many others. */
const MAX_CORPUS_BYTES = 8_000;
/** Documents of a title or two are of this size; others come a quarter as often. */
const MIN_USUAL_BYTES = 100;
const MAX_USUAL_BYTES = 2_000;

/** How many titles a document has: mostly one, so that time goes into many documents, not long ones. */
const TITLES_OF = [1, 1, 2, 1, 1, 1, 1, 4];
const SMALL_TITLE = '{"order":{"uid":"s"},"acceptedDate":"2026-03-02","originalValue":1.50}';

/** The texts that mutation inserts: structure, spellings of numbers, text and dates, broken UTF-8. */
const PIECES: readonly Buffer[] = [
  ...'{ } [ ] , : " \\ 0 - . e E + 9 null true false "" {} [] {"a":1} [1,2]'.split(' '),
  ...String.raw`\u0000 \ud800 \udc00 \" 1e99 1e101 -0.0 0e-99 1.10 NaN 1e`.split(' '),
  ...'"2026-02-29" "2026-03-02" "0000-01-01" "9999-12-31" "titles":[], "titles":'.split(' '),
  ...String.raw`"order":{"uid":"x"}, "more":1, "b\u0000":"\ud800", "__proto__":{},`.split(' '),
  ...'"acceptedDate":null, \ufeff é € 😀 "INDIVIDUAL" "COMPANY" "externalId":"Z", \u0000'.split(
    ' ',
  ),
  ...[' ', '\n', '9'.repeat(100), '9'.repeat(101), '"more" : [1e101],'],
  ...[`"${'x'.repeat(256)}"`, `"${'é'.repeat(255)}"`, `"${'😀'.repeat(1000)}"`],
  ...['[['.repeat(16), ']]'.repeat(16)],
].map((text) => Buffer.from(text));
const BYTES = [0x80, 0xbf, 0xc0, 0xc3, 0xe2, 0xed, 0xf0, 0xf4, 0xff, 0x1f, 0x7f];

/** Whole answers, good and bad, from which the mutations start. */
export function answerCorpus(date: CivilDate): readonly Buffer[] {
  const synthetic = [
    ...new SyntheticTitles({ seed: 'fuzz', titlesPerDay: 40, restate: true }).titlesOn(date, 5),
  ];
  const documents = [
    ...synthetic.map((_, index) =>
      document(synthetic.slice(index, index + (TITLES_OF[index % TITLES_OF.length] ?? 1))),
    ),
    ...TITLES_OF_EVERY_KIND.map(({ text }) => document([text, SMALL_TITLE])),
    ...Object.values(READABLE).map((answer) => Buffer.from(answer)),
    ...REFUSED.map(([, answer]) => Buffer.from(answer)),
    ...HOSTILE_RESPONSES.map(({ body }) => wholeOf(body(date))),
  ];
  return documents.filter((bytes) => bytes.length > 0 && bytes.length <= MAX_CORPUS_BYTES);
}

function document(titles: readonly string[]): Buffer {
  return Buffer.from(`{"titles":[${titles.join(',')}]}`);
}

const wholeOf = (body: RawBody): Buffer =>
  Buffer.concat(typeof body === 'function' ? [...body()] : [Buffer.from(body)]);

/** Input `index` of a run: the seed and the index decide it, so that it can be had again by itself. */
export function fuzzInput(
  corpus: readonly Buffer[],
  seed: string,
  index: number,
): { readonly bytes: Buffer; readonly chunks: readonly Buffer[] } {
  const dice = createSeededRandom(`${seed}/${index}`);
  let bytes = pickDocument(corpus, dice);
  const mutations = dice(5);
  for (let done = 0; done < mutations; done += 1) bytes = mutate(bytes, corpus, dice);
  return { bytes, chunks: split(bytes, dice) };
}

function pickDocument(corpus: readonly Buffer[], dice: SeededRandom): Buffer {
  for (;;) {
    const bytes = corpus[dice(corpus.length)] ?? Buffer.alloc(0);
    const isUsual = bytes.length >= MIN_USUAL_BYTES && bytes.length <= MAX_USUAL_BYTES;
    if (isUsual || dice(4) === 0) return bytes;
  }
}

function mutate(bytes: Buffer, corpus: readonly Buffer[], dice: SeededRandom): Buffer {
  const at = dice(bytes.length + 1);
  const piece = PIECES[dice(PIECES.length)] ?? Buffer.alloc(0);
  /** Something in the place of what is before `next`. */
  const put = (inserted: Buffer, next: number) =>
    Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(next)]);
  switch (dice(8)) {
    case 0:
      return put(piece, at);
    case 1:
      return put(piece, at + piece.length);
    case 2:
      return put(Buffer.alloc(0), at + 1 + dice(8));
    case 3:
      return put(Buffer.of(BYTES[dice(BYTES.length)] ?? 0), at + dice(2));
    case 4:
      return put(Buffer.of(dice(256)), at + 1);
    case 5:
      // A stretch twice.
      return put(bytes.subarray(at, at + dice(60)), at);
    case 6:
      return replaceToken(bytes, at, piece);
    default: {
      const other = corpus[dice(corpus.length)] ?? bytes;
      return dice(6) === 0
        ? put(other.subarray(dice(other.length)), bytes.length)
        : replaceToken(bytes, at, piece);
    }
  }
}

/** A whole value in the place of another, which gets past the grammar and down to the contract. */
function replaceToken(bytes: Buffer, at: number, piece: Buffer): Buffer {
  const text = bytes.toString('latin1');
  const token = /:\s*("(?:[^"\\]|\\.)*"|-?[0-9][^,}\]\s]*|true|false|null)/g;
  token.lastIndex = at;
  const match = token.exec(text);
  if (match?.[1] === undefined) return Buffer.concat([bytes.subarray(0, at), piece]);
  const end = match.index + match[0].length;
  return Buffer.concat([bytes.subarray(0, end - match[1].length), piece, bytes.subarray(end)]);
}

function split(bytes: Buffer, dice: SeededRandom): Buffer[] {
  const kind = dice(4);
  if (kind === 0) return [bytes];
  const cuts = Array.from({ length: 1 + dice(5) }, () => dice(bytes.length + 1));
  const size = 1 + dice(dice(2) === 0 ? 40 : 400);
  const even = Array.from({ length: bytes.length / size }, (_, index) => (index + 1) * size);
  const ends = kind === 1 ? even : cuts.sort((one, other) => one - other);
  return [0, ...ends].map((from, index) => bytes.subarray(from, ends[index] ?? bytes.length));
}
