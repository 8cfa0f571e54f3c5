/** The text of a value as `jsonb` is that of PostgreSQL: the content hash of a destination that is an object depends on it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonNumber, type JsonValue, toJsonbText } from '../../../src/base/values/json-value.ts';
import { worldOfFile } from '../../support/file-world.ts';

const world = worldOfFile();

const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.nat({ max: 999_999 }),
    fc.option(fc.stringMatching(/^[0-9]{1,4}$/)),
    fc.option(fc.integer({ min: -9, max: 9 })),
  )
  .map(
    ([sign, whole, fraction, exponent]) =>
      new JsonNumber(
        `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`,
      ),
  );
const text = fc.string({ unit: 'grapheme' }).filter((each) => !each.includes('\0'));
const value = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false),
    number,
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 6 }),
  ),
})).value;

/** JSON text, with the digits of the numbers. */
function written(of: JsonValue): string {
  if (of instanceof JsonNumber) return of.text;
  if (Array.isArray(of)) return `[${of.map(written).join(',')}]`;
  if (typeof of !== 'object' || of === null) return JSON.stringify(of);
  const fields = Object.entries(of as Record<string, JsonValue>);
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${written(each)}`).join(',')}}`;
}

test('the text of 3,000 random values is that of PostgreSQL', async () => {
  const values = fc.sample(value, { numRuns: 3000, seed: 7 });
  const rows = await world.database.prisma.$queryRaw<{ text: string }[]>`
    SELECT stated::jsonb::text AS text
    FROM unnest(${values.map(written)}::text[]) WITH ORDINALITY AS given (stated, place) ORDER BY place`;
  expect(values.map(toJsonbText)).toEqual(rows.map(({ text: of }) => of));
});
