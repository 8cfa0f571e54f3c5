/** In random worlds the rows sum up to the difference, and nothing of either side is lost. */
import { beforeAll, expect, test } from 'vitest';
import { createSeededRandom } from '../../../src/demo/synthetic-titles.ts';
import { readBalance } from '../../../src/features/balance/balance.sql.ts';
import {
  AGENT,
  type JudgedTitle,
  judgedWorldOfFile,
  type StatedPayable,
  SUPPLIER,
  THIRD_PARTY,
} from '../../support/judged-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { tryHistories } from '../../support/random-runs.ts';

const { world, judged } = judgedWorldOfFile();
const NEXT = daysFrom(1);
const EVERYTHING = { company: null, agent: null, reason: null };

const titles: readonly JudgedTitle[] = Array.from({ length: 12 }, (_, index) => ({
  uid: `order-${index}`,
  value: String(100 * (1 + (index % 4))),
  agent: index % 3 === 0 ? THIRD_PARTY : AGENT,
  isEarly: index === 11,
}));
const keys: string[] = [];

beforeAll(async () => {
  await judged.pull(DAY, titles.slice(0, 6));
  await judged.pull(NEXT, titles.slice(6));
  await judged.release(DAY);
  await judged.answer(DAY, 'posted');
  await judged.release(NEXT);
  for (const [index, { uid }] of titles.entries()) {
    keys.push(await judged.keyOf(uid, index < 6 ? DAY : NEXT));
  }
});

test('the rows of a group sum up to its difference', async () => {
  const { prisma } = world.database;
  const reasons = new Set<string>();
  await tryHistories(5, async (seed) => {
    const random = createSeededRandom(String(seed));
    const oneOf = <T>(...values: readonly T[]) => values[random(values.length)] as T;
    const payables = Array.from({ length: 15 }, (_, index): StatedPayable => {
      const title = oneOf(...titles);
      const status = oneOf('open', 'open', 'open', 'paid', 'cancelled');
      return {
        erpKey: `k${index}`,
        openValue: oneOf(title.value, title.value, '50.5', '0', '-20', '700'),
        orderUid: oneOf(title.uid, ''),
        bookingKey: oneOf('', '', oneOf(...keys), `2026-01-02:${'0'.repeat(32)}:1:1`),
        payee: oneOf('', AGENT, THIRD_PARTY, SUPPLIER),
        paidTo: oneOf('', AGENT, THIRD_PARTY, SUPPLIER),
        status,
        ...oneOf<Pick<StatedPayable, 'settledAs'>>({}, {}, { settledAs: 'assignment' }),
      };
    });
    await judged.state(payables, 'snapshot');
    await judged.pull(
      NEXT,
      titles.slice(6).filter(() => random(4) > 0),
    );
    await judged.match();

    const place = { offset: 0, limit: 1000 };
    const { groups, page, rows } = await readBalance(prisma, EVERYTHING, place);
    expect(page.length).toBe(rows);
    for (const { company, agent, owed, inErp, difference } of groups) {
      const own = page.filter((row) => row.company === company && row.agent === agent);
      expect(own.reduce((sum, row) => sum + Number(row.difference), 0)).toBe(Number(difference));
      expect(Number(owed) - Number(inErp)).toBe(Number(difference));
    }
    for (const { reason } of page) reasons.add(reason);
    const [all] = await prisma.$queryRaw<[{ owed: number; inErp: number }]>`
      SELECT (SELECT sum(original_value)::float8 FROM conciliation.title
              WHERE status = 'current' AND NOT buyer_is_financial) AS owed,
             (SELECT coalesce(sum(open_value), 0)::float8 FROM conciliation.erp_payable
              WHERE status = 'open' AND closed_at IS NULL
                AND (booking_key IS NOT NULL OR payee IN (${AGENT}, ${THIRD_PARTY}))) AS "inErp"`;
    const sumOf = (figure: 'owed' | 'paid' | 'inErp') =>
      groups.reduce((sum, group) => sum + Number(group[figure]), 0);
    expect({ owed: sumOf('owed') + sumOf('paid'), inErp: sumOf('inErp') }).toEqual(all);
  });
  // The worlds are not all alike.
  expect(reasons.size).toBeGreaterThan(6);
}, 120_000);
