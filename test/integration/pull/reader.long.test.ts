/** The tables as other sessions see them during merges: the ERP and finance read all day. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { withClient } from '../../support/client.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';

const world = worldOfFile();

/**
 * Reads repeatedly in a separate session until `work` has ended, and once after `work`, which may wait until what it has
 * done was read.
 */
async function readDuring(
  work: (wasRead: () => Promise<void>) => Promise<void>,
  read: (client: Client) => Promise<void>,
) {
  await withClient(world.databaseUrl, async (client) => {
    let [isOver, reads] = [false, 0];
    const wasRead = async () => {
      // The read that is under way may have begun before.
      const enough = reads + 2;
      while (reads < enough) await sleep(5);
    };
    const working = work(wasRead).finally(() => {
      isOver = true;
    });
    const reading = (async () => {
      for (; !isOver; reads += 1) await read(client);
    })().finally(() => {
      reads = Number.POSITIVE_INFINITY;
    });
    // A reader that fails must not leave the work running behind the test.
    await Promise.allSettled([working, reading]);
    await Promise.all([working, reading]);
    await read(client);
  });
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

test('a restated day of 30,000 titles is seen completely, in its old or its new state', async () => {
  // Both the amounts and the titles themselves differ.
  const versions: readonly Version[] = [
    { first: 0, count: 30_000, fee: 1 },
    { first: 1000, count: 30_500, fee: 3 },
  ];
  const wholes = versions.map(({ first, count, fee }) => {
    const cents = (count * (2 * first + count - 1) * 100) / 2 + count;
    const fees = count + (count / 10) * (fee - 1);
    return `${count} titles of ${(cents / 100).toFixed(2)}, fees ${fees}, from t${first}: ${fee}`;
  });
  const seen = new Map<string, number>();

  await readDuring(
    async (wasRead) => {
      for (const version of [0, 1, 0].map((index) => versions[index])) {
        if (version === undefined) throw new Error('no such version');
        world.sandbox.setRawBody(DAY, { body: () => bodyOf(DAY, version) });
        await world.pull(DAY, { withdrawalLimitPercent: 100 });
        await wasRead();
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
