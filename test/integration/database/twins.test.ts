/** What SQL and the program have to compute alike: tax identifiers, and the text of a value as `jsonb`. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mayBeSameTaxId } from '../../../src/base/database/expressions.sql.ts';
import { JsonNumber, type JsonValue, toJsonbText } from '../../../src/base/values/json-value.ts';
import { parseCnpj, parseTaxId, readTaxIds } from '../../../src/base/values/tax-id.ts';
import { worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();

const TEXT = 'no-cpf-or-cnpj:';

interface Forms {
  readonly form: string | null;
  readonly company: string | null;
  readonly readings: readonly string[];
  readonly companyReadings: readonly string[];
  readonly isDecided: boolean | null;
  readonly isStable: boolean;
}

/** The forms of all texts, in one statement. */
const formsOf = (texts: readonly string[]) =>
  world.prisma.$queryRaw<Forms[]>`
    SELECT form, company, conciliation.tax_id_readings(written) AS readings,
           conciliation.tax_id_readings(written, true) AS "companyReadings",
           conciliation.has_check_digits(form) AS "isDecided",
           conciliation.tax_id(form) IS NOT DISTINCT FROM form
             AND conciliation.tax_id(company, true) IS NOT DISTINCT FROM company AS "isStable"
    FROM unnest(${[...texts]}::text[]) WITH ORDINALITY AS text (written, place)
    CROSS JOIN LATERAL (SELECT conciliation.tax_id(written) AS form,
                               conciliation.tax_id(written, true) AS company) AS normal
    ORDER BY place`;

test.each([
  // Banco do Brasil, and the loss of its leading zeros.
  ['00000000000191', '00000000000191', '00000000000191'],
  ['00.000.000/0001-91', '00000000000191', '00000000000191'],
  ['0/0001-91', '00000000000191', '00000000000191'],
  ['0000000000191', '00000000000191', '00000000000191'],
  ['000000000191', '00000000000191', '00000000000191'],
  ['00000000191', '00000000191', '00000000000191'],
  ['191', '191', '00000000000191'],
  ['0000000191', '191', '00000000000191'],
  ['000.000.001-91', '00000000191', `${TEXT}00000000191`],
  // One reading is right.
  ['529.982.247-25', '52998224725', `${TEXT}52998224725`],
  ['1234567890', '01234567890', `${TEXT}1234567890`],
  ['123.456.789/0', `${TEXT}1234567890`, `${TEXT}1234567890`],
  [' 12.abc.345/01de-35\u00a0', '12ABC34501DE35', '12ABC34501DE35'],
  ['90021382000122\u3000\ufeff', '90021382000122', '90021382000122'],
  // CNPJs of one repeated character with the right check digits are accepted, CPFs are not.
  ['11111111111180', '11111111111180', '11111111111180'],
  ['AAAAAAAAAAAA45', 'AAAAAAAAAAAA45', 'AAAAAAAAAAAA45'],
  ['11111111111', `${TEXT}11111111111`, `${TEXT}11111111111`],
  ['12345678909', `${TEXT}12345678909`, `${TEXT}12345678909`],
  // None.
  ['', null, null],
  [' ./- ', null, null],
  ['0', null, null],
  ['000.000.000-00', null, null],
  ['0000000000000000', null, null],
  // Texts.
  ['filial-3', `${TEXT}FILIAL3`, `${TEXT}FILIAL3`],
  ['52998224726', `${TEXT}52998224726`, `${TEXT}52998224726`],
  ['12ABC34501DE36', `${TEXT}12ABC34501DE36`, `${TEXT}12ABC34501DE36`],
  ['2ABC34501DE35', `${TEXT}2ABC34501DE35`, `${TEXT}2ABC34501DE35`],
  ['12ABC34501DE3\u0665', `${TEXT}12ABC34501DE3\u0665`, `${TEXT}12ABC34501DE3\u0665`],
  ['CPF 52998224725', `${TEXT}CPF52998224725`, `${TEXT}CPF52998224725`],
  ['052998224725', `${TEXT}052998224725`, `${TEXT}052998224725`],
  ['000052998224725', `${TEXT}000052998224725`, `${TEXT}000052998224725`],
])('%j has the form %j, and %j as a company', async (written, form, company) => {
  expect(await formsOf([written])).toMatchObject([{ form, company, isStable: true }]);
});

/** The rule of the check digits as published, written down a second time: weights from the right, modulo 11. */
function checkDigit(body: string, highestWeight: number): number {
  const sum = [...body].reverse().reduce((total, character, place) => {
    return total + (character.charCodeAt(0) - 48) * ((place % (highestWeight - 1)) + 2);
  }, 0);
  return sum % 11 < 2 ? 0 : 11 - (sum % 11);
}

function withCheckDigits(body: string, highestWeight: number): string {
  const first = body + checkDigit(body, highestWeight);
  return first + checkDigit(first, highestWeight);
}

// A CPF's weights run to 11 and never wrap; a CNPJ's run from 2 to 9 and start over.
const toCpf = (body: string): string => withCheckDigits(body, 11);
const toCnpj = (body: string): string => withCheckDigits(body, 9);

const bodies = (length: number) =>
  fc.oneof(
    fc.stringMatching(new RegExp(`^[0-9]{${length}}$`), { size: 'max' }),
    // Roots with zeros in front, of which spreadsheets and ERPs leave out the zeros.
    fc.integer({ min: 1, max: 99_999 }).map((number) => String(number).padStart(length, '0')),
    fc
      .integer({ min: 1, max: 9_999_999 })
      .map((number) => `${String(number % 10 ** (length - 4)).padStart(length - 4, '0')}0001`),
  );
const cpf = bodies(9).map(toCpf);
const cnpj = fc.oneof(bodies(12), fc.stringMatching(/^[0-9A-Z]{12}$/, { size: 'max' })).map(toCnpj);
const identifier = fc.oneof(cpf, cnpj);

/** A text with characters of masks and blanks in it, in either case. */
const scattered = (digits: string) =>
  fc
    .tuple(
      fc.array(fc.constantFrom('', '', '', '.', '-', ' ', '\t', '\u00a0', '\u2009'), {
        minLength: digits.length,
        maxLength: digits.length,
      }),
      fc.boolean(),
    )
    .map(([between, isLower]) => {
      const text = [...digits].map((character, place) => character + between[place]).join('');
      return isLower ? text.toLowerCase() : text;
    });

const masked = (digits: string) =>
  digits.length === 11
    ? digits.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4')
    : digits.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5');

const withoutZeros = (digits: string, kept: number) => {
  const leading = /^0*/.exec(digits)?.[0].length ?? 0;
  return digits.slice(Math.min(leading, digits.length - kept));
};

/** The writings of one identifier that leave no doubt. */
const writings = (digits: string) =>
  fc.oneof(
    fc.constant(digits),
    fc.constant(masked(digits)),
    fc.constant(masked(digits).toLowerCase()),
    scattered(digits),
    // Zeros are not added to letters.
    /^\d{14}$/.test(digits) ? scattered(withoutZeros(digits, 12)) : fc.constant(` ${digits}\u2003`),
  );

const anything = fc.oneof(
  identifier,
  identifier.chain(scattered),
  identifier.map(masked),
  identifier.map((digits) => withoutZeros(digits, 1)),
  identifier.map((digits) => withoutZeros(masked(digits), 1)),
  identifier.chain((digits) =>
    fc
      .tuple(fc.nat(digits.length - 1), fc.constantFrom(...'0123456789AZa/.- ſ٥x'))
      .map(([place, other]) => digits.slice(0, place) + other + digits.slice(place + 1)),
  ),
  fc.stringMatching(/^[0-9]{0,16}$/),
  fc.stringMatching(/^[0-9A-Za-z./\- ?:é\u00a0\u0130\u0131\u017f\u0665]{0,18}$/),
  fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('\u0000')),
);

test('SQL and the program read the same from 10,000 texts, and a normal form is its own', async () => {
  const texts = fc.sample(anything, 10_000);
  const forms = await formsOf(texts);
  const digitsOf = (ids: ReturnType<typeof readTaxIds>) => ids.map(({ digits }) => digits);
  const differing = texts.filter((text, place) => {
    const row = forms[place] as Forms;
    const decided = (readings: readonly string[]) =>
      readings.filter((reading) => !reading.startsWith(TEXT));
    return !(
      String(decided(row.readings)) === String(digitsOf(readTaxIds(text))) &&
      String(decided(row.companyReadings)) ===
        String(digitsOf(readTaxIds(text, { isCompany: true }))) &&
      (row.isDecided === true ? row.form : null) === (parseTaxId(text)?.digits ?? null) &&
      (row.company?.startsWith(TEXT) ? null : row.company) === (parseCnpj(text)?.digits ?? null) &&
      row.isStable
    );
  });
  expect(differing).toEqual([]);
  // Each kind is among them.
  const kinds = new Set(
    forms.map(({ form, readings, isDecided }) =>
      form === null ? 'none' : isDecided ? form.length : readings.length > 1 ? 'both' : 'text',
    ),
  );
  expect([...kinds].sort()).toEqual([11, 14, 'both', 'none', 'text']);
});

test('every writing of an identifier has one form, and different identifiers have different ones', async () => {
  const samples = fc.sample(
    identifier.chain((digits) =>
      fc.tuple(fc.constant(digits), fc.array(writings(digits), { minLength: 4, maxLength: 4 })),
    ),
    2_000,
  );
  const known = samples.filter(([digits]) => parseTaxId(digits) !== null);
  const forms = await formsOf(known.flatMap(([, texts]) => texts));
  const owners = known.flatMap(([digits, texts]) => texts.map((text) => ({ digits, text })));
  expect(owners.filter(({ digits }, place) => forms[place]?.form !== digits)).toEqual([]);
  expect(known.length).toBeGreaterThan(1_900);
});

test('two texts may name one party only where they do, or where zeros decide between a CPF and a CNPJ', async () => {
  // 120 writings of few identifiers, so that many pairs are of one.
  const of = (digits: string) =>
    fc.oneof(
      writings(digits),
      fc.constant(withoutZeros(digits, 1)),
      fc.constant(digits.padStart(14, '0')),
    );
  const few = ['00000000000191', '00000000191', '52998224725', '11222333000181', '00000000000272'];
  const texts = fc.sample(
    fc
      .constantFrom(...few, 'filial-3')
      .chain((digits) => fc.tuple(fc.constant(digits), of(digits))),
    120,
  );
  const rows = await world.prisma.$queryRaw<
    { first: number; second: number; isSame: boolean; mayBe: boolean }[]
  >`
    WITH text AS (SELECT * FROM unnest(${texts.map(([, text]) => text)}::text[]) WITH ORDINALITY AS text (written, place))
    SELECT one.place::int - 1 AS first, other.place::int - 1 AS second,
           conciliation.tax_id(one.written) = conciliation.tax_id(other.written) AS "isSame",
           ${mayBeSameTaxId('one.written', 'other.written')} AS "mayBe"
    FROM text AS one JOIN text AS other ON one.place <= other.place`;
  const numberOf = (place: number) => String(texts[place]?.[0]).replace(/^0+/, '');
  // Of different numbers, nothing is equal and nothing may be.
  const wrong = rows.filter(
    ({ first, second, mayBe }) => mayBe && numberOf(first) !== numberOf(second),
  );
  expect(wrong).toEqual([]);
  expect(rows.filter(({ isSame, mayBe }) => isSame && !mayBe)).toEqual([]);
  const pairs = await world.prisma.$queryRaw<{ mayBe: boolean | null }[]>`
    SELECT ${mayBeSameTaxId('one', 'other')} AS "mayBe"
    FROM (VALUES (1, '191', '00000000000191'), (2, '191', '00000000191'), (3, '00000000191', '00.000.000/0001-91'),
                 (4, '191', '0191'), (5, '000.000.001-91', '00000000000191'), (6, '000.000.001-91', '191'),
                 (7, '', ''), (8, '0', '00000000000191'), (9, 'filial-3', 'FILIAL 3'), (10, NULL, '191'))
      AS pair (place, one, other) ORDER BY place`;
  expect(pairs.map(({ mayBe }) => mayBe)).toEqual([
    ...[true, true, true, true],
    // A mask decides.
    ...[false, true],
    ...[false, false, true, null],
  ]);
});

test('a provider that SQL writes has the normal form of its number, and none without the right check digits', async () => {
  const rows = await world.prisma.$queryRaw<{ taxId: string | null }[]>`
    INSERT INTO conciliation.provider (external_id, identification_number, name)
    VALUES ('a', '0000000000191', 'A'), ('b', '12.abc.345/01de-35', 'B'), ('c', '191', 'C'),
           ('d', '12ABC34501DE36', 'D')
    RETURNING tax_id AS "taxId"`;
  expect(rows.map(({ taxId }) => taxId)).toEqual(['00000000000191', '12ABC34501DE35', null, null]);
});

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
const jsonText = fc.string({ unit: 'grapheme' }).filter((each) => !each.includes('\0'));
const value = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false),
    number,
    jsonText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(jsonText, tie('value'), { maxKeys: 6 }),
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

// The content hash of a destination that is an object depends on this text.
test('the text of 3,000 random values as jsonb is that of PostgreSQL', async () => {
  const values = fc.sample(value, { numRuns: 3000, seed: 7 });
  const rows = await world.prisma.$queryRaw<{ text: string }[]>`
    SELECT stated::jsonb::text AS text
    FROM unnest(${values.map(written)}::text[]) WITH ORDINALITY AS given (stated, place) ORDER BY place`;
  expect(values.map(toJsonbText)).toEqual(rows.map(({ text: of }) => of));
});
