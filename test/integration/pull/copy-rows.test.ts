import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { parseDecimal } from '../../../src/base/values/decimal.ts';
import { copyRows, insertRejects } from '../../../src/core/merge/stage-response.sql.ts';
import { readExactTitle } from '../../../src/core/reader/exact-title.ts';
import { COPY_START, encodeTitle } from '../../../src/core/reader/title-row.ts';
import { contentHash, identityHash, type Title, toDigest } from '../../../src/core/title/title.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { worldOfFile } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { WINDOW } from '../../unit/reader/readers.ts';

const world = worldOfFile();

const { signal } = new AbortController();
const RAW = '00112233445566778899aabbccddeeff';
let fence = 0n;

function titleWith(values: Partial<Title>): Title {
  const check = readExactTitle(Buffer.from(titleText({ date: toCivilDate('2026-03-02') })), WINDOW);
  if (!check.ok) throw new Error('the title keeps the contract');
  return { ...check.title, ...values };
}

/** Copies titles, and returns what an expression of SQL makes of each row. */
async function copyTitles(titles: readonly Title[], expression: string): Promise<unknown[]> {
  fence += 1n;
  const rows = titles.map((title, ordinal) => encodeTitle(fence, ordinal, title, toDigest(RAW)));
  expect(await copyRows(world.database.pool, rows, signal)).toBe(titles.length);
  const found = await world.database.pool.query<{ value: unknown }>(`
    SELECT ${expression} AS value FROM conciliation.staged_title WHERE fence = ${fence} ORDER BY ordinal`);
  return found.rows.map(({ value }) => value);
}

/** JSON numbers of all forms; some have too many digits. */
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,40}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.(?:0{0,9}\d{1,40}|\d{1,3}0{0,9})$/)),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: fc.stringMatching(/^[eE][+-]?\d{1,2}$/) },
    ),
  )
  .map((parts) => parts.join(''));

test('PostgreSQL keeps of every amount the digits that it reads from its text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(number, { minLength: 50, maxLength: 50 }), async (texts) => {
      const amounts = texts.map(parseDecimal).filter((amount) => amount !== null);
      const titles = amounts.map((amount) => titleWith({ original_value: amount }));
      const shown = (amount: string) =>
        `concat_ws(' ', ${amount}, encode(numeric_send(${amount}), 'hex'))`;
      const { rows } = await world.database.pool.query<{ value: string }>(
        `SELECT ${shown('written::numeric')} AS value FROM unnest($1::text[]) AS written`,
        [amounts.map(({ written }) => written)],
      );
      const expected = rows.map(({ value }) => value);
      expect(await copyTitles(titles, shown('original_value'))).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});

test('an amount with more zeros than a numeric has digits', async () => {
  const zeros = [50_000, 131_071, 131_072, 200_000, 300_000];
  const amounts = zeros.map((count) => parseDecimal(`-0.${'0'.repeat(count)}125e${count}`));
  const titles = amounts
    .filter((amount) => amount !== null)
    .map((amount) => titleWith({ original_value: amount }));
  const shown = await copyTitles(titles, 'original_value::text');
  expect(shown).toEqual(zeros.map(() => '-0.125'));
});

test('dates of all years', async () => {
  const dates = ['0001-01-01', '0099-12-31', '1600-02-29', '1999-12-31', '2000-01-01']
    .concat(['2000-02-29', '2026-11-25', '2100-03-01', '9999-12-31'])
    .map(toCivilDate);
  const titles = dates.map((date) =>
    titleWith({ accepted_date: date, anticipated_due_date: date }),
  );
  const shown = await copyTitles(titles, `accepted_date || ' ' || anticipated_due_date`);
  expect(shown).toEqual(dates.map((date: CivilDate) => `${date} ${date}`));
});

test('texts, truth values, nulls, undocumented fields and hashes', async () => {
  const texts = ['', '\\.', '\\N', '"', 'a,b\nc', 'ção €𝄞', `${'x'.repeat(5000)}"`];
  const titles = texts.map((text, index) =>
    titleWith({
      financial_agent_name: text,
      payment_bank: null,
      billing_fee: null,
      anticipated_due_date: null,
      buyer_is_financial: [true, false, null][index % 3] ?? null,
      extra: index === 1 ? null : { note: text, list: [true, null] },
    }),
  );
  const columns = [
    ...['financial_agent_name', 'payment_bank', 'billing_fee', 'anticipated_due_date'],
    ...['buyer_is_financial', 'extra', 'identity_hash', 'content_hash', 'raw_hash'],
  ];
  expect(await copyTitles(titles, `jsonb_build_array(${columns.join(', ')})`)).toEqual(
    titles.map((title) => [
      ...[title.financial_agent_name, null, null, null, title.buyer_is_financial, title.extra],
      ...[identityHash(title), contentHash(title), RAW].map((digits) =>
        digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
      ),
    ]),
  );
});

test('PostgreSQL receives the rows of a slow response as they arrive', async () => {
  // Memory must not grow with the response, so no rows may wait in the process.
  const received = async () => {
    const { rows } = await world.database.pool.query<{ bytes: number }>(`
      SELECT bytes_processed::int AS bytes FROM pg_stat_progress_copy
      WHERE datname = current_database()`);
    return rows[0]?.bytes;
  };
  fence += 1n;
  const blocks = [0, 1, 2].map((ordinal) =>
    encodeTitle(fence, ordinal, titleWith({}), toDigest(RAW)),
  );
  // Rows of the reader follow each other in one block of memory.
  const adjacent = Buffer.concat(blocks);
  async function* rows() {
    let sent = 0;
    for (const { length } of blocks) {
      yield adjacent.subarray(sent, sent + length);
      sent += length;
      const expected = COPY_START.length + sent;
      await vi.waitFor(async () => expect(await received()).toBe(expected), PATIENCE_MS);
    }
  }
  expect(await copyRows(world.database.pool, rows(), signal)).toBe(3);
});

test('rejects', async () => {
  const rejects = [
    { ordinal: 0, orderUid: null, reasons: ['a "quoted" \\ reason', '', 'NULL'], raw: '{}' },
    { ordinal: 1, orderUid: 'uid', reasons: [], raw: 'ção'.repeat(5000) },
  ].map((reject) => ({ ...reject, rawBytes: 2 ** 40, rawHash: RAW }));
  expect(await insertRejects(world.database, 9n, rejects)).toBe(2);
  const found = await world.database.pool.query(`
    SELECT ordinal, order_uid AS "orderUid", reasons, raw, raw_bytes::float8 AS "rawBytes",
           replace(raw_hash::text, '-', '') AS "rawHash"
    FROM conciliation.staged_reject WHERE fence = 9 ORDER BY ordinal`);
  expect(found.rows).toEqual(rejects);
});
