import fc from 'fast-check';

/** JSON as hostile machines write it: any escape, any whitespace, structure inside of strings. */
const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r\n  ');

const stringPiece = fc.constantFrom(
  ...['a', 'titles', ' ', 'é', '€', '😀', '{', '}', '[', ']', ',', ':', '0', '\u007f', '\u2028'],
  ...String.raw`\" \\ \/ \b \f \n \r \t \u0041 \u00e9 \uD83D\uDE00`.split(' '),
);

export const stringText = fc
  .array(stringPiece, { maxLength: 6 })
  .map((pieces) => `"${pieces.join('')}"`);

export const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.bigInt({ min: 1n, max: 10n ** 20n }).map(String)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,10}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]$/)),
  )
  .map((parts) => parts.join(''));

function spaced(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(space, text, space).map((parts) => parts.join(''));
}

function listOf(item: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> {
  return fc
    .array(spaced(item), { maxLength })
    .chain((items) => (items.length === 0 ? space : fc.constant(items.join(','))));
}

function fieldText(name: fc.Arbitrary<string>, value: fc.Arbitrary<string>) {
  return fc.tuple(spaced(name), spaced(value)).map(([n, v]) => `${n}:${v}`);
}

export const valueText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(stringText, numberText, fc.constantFrom('true', 'false', 'null')),
    listOf(tie('value'), 4).map((items) => `[${items}]`),
    listOf(fieldText(stringText, tie('value')), 4).map((fields) => `{${fields}}`),
  ),
})).value;

const titlesField = fieldText(
  fc.constantFrom('"titles"', '"titles"', '"\\u0074itles"', '"ti\\u0074\\u006Ces"'),
  listOf(valueText, 5).map((items) => `[${items}]`),
);
const otherField = fieldText(stringText, valueText);

/** Mostly answers that must be read; now and then `titles` is missing, doubled, or no array. */
export const answerText: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(otherField, { maxLength: 2 }),
    fc.array(titlesField, { minLength: 0, maxLength: 1 }),
    fc.array(titlesField, { minLength: 1, maxLength: 1 }),
    fc.array(otherField, { maxLength: 2 }),
    fc.nat(9),
    fc.constantFrom('', '', '', '\ufeff', '\ufeff\ufeff'),
    space,
  )
  .map(([before, extra, titles, after, dice, mark, end]) => {
    const fields = [
      ...before,
      ...(dice === 0 ? extra : []),
      ...(dice === 1 ? [] : titles),
      ...after,
    ];
    return `${mark}${end}{${fields.join(',')}}${end}`;
  });

/** One place of the bytes changed, put in, or taken out. */
export function mutated(bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const byte = fc.oneof(
    fc.constantFrom(...Buffer.from('{}[],:"\\ \n0123e.-+tfnu\u0000')),
    fc.constantFrom(0x80, 0xbf, 0xc0, 0xc3, 0xe2, 0xed, 0xf0, 0xff),
    fc.nat(255),
  );
  return fc
    .tuple(bytes, fc.nat(), byte, fc.constantFrom('replace', 'insert', 'delete', 'cut'))
    .map(([original, place, value, change]) => {
      const at = place % (original.length + 1);
      const head = original.subarray(0, at);
      if (change === 'cut') return Buffer.from(head);
      const tail = original.subarray(change === 'insert' ? at : at + 1);
      return Buffer.concat(change === 'delete' ? [head, tail] : [head, Buffer.of(value), tail]);
    });
}
