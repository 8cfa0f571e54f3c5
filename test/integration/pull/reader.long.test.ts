/** The tables as other sessions see them during merges: the ERP and finance read all day. */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

/** Reads repeatedly in a separate session until `work` has ended, and once after `work`. */
async function readDuring(work: () => Promise<void>, read: (client: Client) => Promise<void>) {
  const client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    let isOver = false;
    const working = work().finally(() => {
      isOver = true;
    });
    const reading = (async () => {
      while (!isOver) await read(client);
    })();
    // A reader that fails must not leave the work running behind the test.
    await Promise.allSettled([working, reading]);
    await Promise.all([working, reading]);
    await read(client);
  } finally {
    await client.end();
  }
}

interface Version {
  readonly first: number;
  readonly count: number;
  /** Of every tenth title; the others always have 1. */
  readonly fee: number;
}

/** Titles `first` to `first + count`, a thousand at a time, each worth its number and a cent. */
function* bodyOf(date: CivilDate, { first, count, fee }: Version) {
  const title = (index: number) =>
    `{"order":{"uid":"t${index}"},"acceptedDate":"${date}","originalValue":${index}.01,"billingFee":${index % 10 === 0 ? fee : 1}}`;
  yield Buffer.from(`{"titles":[${title(first)}`);
  for (let from = first + 1; from < first + count; from += 1000) {
    const length = Math.min(1000, first + count - from);
    const titles = Array.from({ length }, (_, index) => title(from + index));
    yield Buffer.from(`,${titles.join(',')}`);
  }
  yield Buffer.from(']}');
}

test('a restated day of 100,000 titles is seen completely, in its old or its new state', async () => {
  // Both the amounts and the titles themselves differ.
  const versions: readonly Version[] = [
    { first: 0, count: 100_000, fee: 1 },
    { first: 1000, count: 100_500, fee: 3 },
  ];
  const wholes = versions.map(({ first, count, fee }) => {
    const cents = (count * (2 * first + count - 1) * 100) / 2 + count;
    const fees = count + (count / 10) * (fee - 1);
    return `${count} titles of ${(cents / 100).toFixed(2)}, fees ${fees}, from t${first}: ${fee}`;
  });
  const seen = new Map<string, number>();

  await readDuring(
    async () => {
      for (const version of [0, 1, 0].map((index) => versions[index])) {
        if (version === undefined) throw new Error('no such version');
        world.sandbox.setRawBody(DAY, { body: () => bodyOf(DAY, version) });
        await world.pull(DAY, { withdrawalLimitPercent: 100 });
      }
    },
    async (client) => {
      await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const { rows: titles } = await client.query(
        `SELECT count(*)::int AS count, coalesce(sum(original_value), 0)::text AS value,
                coalesce(sum(billing_fee), 0)::text AS fee
         FROM conciliation.title WHERE accepted_date = $1 AND status = 'current'`,
        [DAY],
      );
      const { rows: first } = await client.query(
        `SELECT order_uid || ': ' || billing_fee AS title
         FROM conciliation.title WHERE accepted_date = $1 AND status = 'current'
         ORDER BY original_value LIMIT 1`,
        [DAY],
      );
      const { rows: days } = await client.query(
        `SELECT title_count AS count, original_value_sum::text AS value, billing_fee_sum::text AS fee
         FROM conciliation.day WHERE date = $1`,
        [DAY],
      );
      await client.query('COMMIT');
      const [{ count, value, fee }] = titles;
      // The ledger's row says the same as the titles in the same snapshot.
      expect(days).toEqual(count === 0 ? [] : titles);
      if (count === 0) return;
      const whole = `${count} titles of ${value}, fees ${fee}, from ${first[0]?.title}`;
      seen.set(whole, (seen.get(whole) ?? 0) + 1);
    },
  );
  expect([...seen.keys()]).toEqual(wholes);
});

test('a consumer of the feed sees every change once and in order, while four dates are merged at once', async () => {
  const lanes = [0, 1, 2, 3];
  const rounds = [0, 1, 2, 3, 4, 5];
  const perPull = 150;
  const delivered: { seq: number; uid: string }[] = [];
  let last = '0';
  let readsThatFoundSome = 0;

  await readDuring(
    async () => {
      await Promise.all(
        lanes.map(async (lane) => {
          for (const round of rounds) {
            const date = daysFrom(1 + round * lanes.length + lane);
            const texts = Array.from({ length: perPull }, (_, index) =>
              titleText({ date, uid: `${lane}-${round}-${index}` }),
            );
            await world.serve(date, texts);
          }
        }),
      );
    },
    async (client) => {
      const { rows } = await client.query<{ seq: string; uid: string }>(
        `SELECT change_seq AS seq, order_uid AS uid FROM conciliation.title_feed
         WHERE change_seq > $1 AND accepted_date > $2 ORDER BY change_seq`,
        [last, DAY],
      );
      if (rows.length > 0) readsThatFoundSome += 1;
      last = rows.at(-1)?.seq ?? last;
      delivered.push(...rows.map(({ seq, uid }) => ({ seq: Number(seq), uid })));
    },
  );

  const sequence = delivered.map(({ seq }) => seq);
  expect(sequence).toEqual(sequence.toSorted((a, b) => a - b));
  expect(new Set(sequence).size).toBe(sequence.length);
  const expected = lanes.flatMap((lane) =>
    rounds.flatMap((round) =>
      Array.from({ length: perPull }, (_, index) => `${lane}-${round}-${index}`),
    ),
  );
  expect(delivered.map(({ uid }) => uid).sort()).toEqual(expected.sort());
  // Read while it happened, not all at the end.
  expect(readsThatFoundSome).toBeGreaterThan(rounds.length);
});
