import { membersOf, nameOf, TITLE_LAYOUT } from './title-layout.ts';

/** That no name of the title's stands there. */
export const NO_NAME = -1;

/**
 * Every name as it is written, `"name":`, in words of four bytes. A name's last word ends where the
 * name ends, and so may overlap the one before it.
 */
const nameTexts = TITLE_LAYOUT.map((field) => Buffer.from(`"${nameOf(field)}":`));
const nameWords = nameTexts.map(toWords);
const NAME_LENGTHS = Int32Array.from(nameTexts, ({ length }) => length);
const NAME_WORDS = Int32Array.from(nameWords.flat());
const NAME_STARTS = Int32Array.from([0, ...nameWords], (_, field) =>
  nameWords.slice(0, field).reduce((total, { length }) => total + length, 0),
);

/** By 1 + the object. */
export const MEMBERS = Array.from({ length: 1 + TITLE_LAYOUT.length }, (_, index) =>
  membersOf(index - 1),
);

function toWords(name: Buffer): number[] {
  const words: number[] = [];
  for (let at = 0; at + 4 < name.length; at += 4) words.push(name.readInt32LE(at));
  return [...words, name.readInt32LE(name.length - 4)];
}

/** Behind the name and its colon, or `NO_NAME` where another name stands there. */
export function endOfName(view: DataView, from: number, field: number): number {
  const last = (NAME_STARTS[field + 1] as number) - 1;
  const end = from + (NAME_LENGTHS[field] as number);
  let at = from;
  for (let index = NAME_STARTS[field] as number; index < last; index++) {
    if (view.getInt32(at, true) !== NAME_WORDS[index]) return NO_NAME;
    at += 4;
  }
  return view.getInt32(end - 4, true) === NAME_WORDS[last] ? end : NO_NAME;
}

/** The field of the object whose name stands there, or `NO_NAME`. */
export function findMember(view: DataView, at: number, object: number): number {
  const members = MEMBERS[1 + object] ?? [];
  return members.find((field) => endOfName(view, at, field) !== NO_NAME) ?? NO_NAME;
}
