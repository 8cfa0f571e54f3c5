import { TITLE_FIELDS, type TitleField } from '../title/title-schema.ts';

/** Returns the index of a documented field in `TITLE_FIELDS`. */
export function fieldAt(path: string): number {
  return TITLE_FIELDS.findIndex((field) => field.path === path);
}

/** The field's name within its object. */
function nameOf({ path }: TitleField): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** The index of the object that holds the field; -1: the title itself. */
export function parentOf({ path }: TitleField): number {
  return fieldAt(path.slice(0, Math.max(path.lastIndexOf('.'), 0)));
}

/** No documented name is at this place. */
export const NO_NAME = -1;

/**
 * Every name as it is written, `"name":`, in words of four bytes. The last word ends with the name, so it
 * may overlap the word before it.
 */
const nameTexts = TITLE_FIELDS.map((field) => Buffer.from(`"${nameOf(field)}":`));
const nameWords = nameTexts.map(toWords);
const NAME_LENGTHS = Int32Array.from(nameTexts, ({ length }) => length);
const NAME_WORDS = Int32Array.from(nameWords.flat());
const NAME_STARTS = Int32Array.from([0, ...nameWords], (_, field) =>
  nameWords.slice(0, field).reduce((total, { length }) => total + length, 0),
);

/** The fields of each object; the index is that of the object plus 1, and 0 for the title itself. */
export const MEMBERS = Array.from({ length: 1 + TITLE_FIELDS.length }, (_, index) =>
  TITLE_FIELDS.flatMap((field, member) => (parentOf(field) === index - 1 ? member : [])),
);

function toWords(name: Buffer): number[] {
  const words: number[] = [];
  for (let at = 0; at + 4 < name.length; at += 4) words.push(name.readInt32LE(at));
  return [...words, name.readInt32LE(name.length - 4)];
}

/** The index after the field's name and its colon; `NO_NAME` where another name is there. */
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

/** The field of the object whose name is there, or `NO_NAME`. */
export function findMember(view: DataView, at: number, object: number): number {
  const members = MEMBERS[1 + object] ?? [];
  return members.find((field) => endOfName(view, at, field) !== NO_NAME) ?? NO_NAME;
}
