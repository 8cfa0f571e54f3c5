/** The lines of the payment schedule where one party is written in several ways. */
import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import {
  hasPayeeOf,
  readGroupTotals,
  readSchedule,
} from '../../../src/features/schedule/read-schedule.sql.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const DUE = '2026-06-30' as CivilDate;
const range = { from: DUE, to: DUE };

const world = worldOfFile();

const agent = (uid: string, number: string) => titleText({ uid, value: '100', agent: number });
/** Paid to the provider, which has no number in the ERP. */
const provider = (uid: string, taxId: string) =>
  titleText({ uid, value: '10', code: null, taxId }).replace(
    '"buyerIsFinancial":false',
    '"buyerIsFinancial":true',
  );

test('one party in several writings has one line', async () => {
  world.sandbox.setDayTexts(DAY, [
    agent('a', '00000000000191'),
    agent('b', '00.000.000/0001-91'),
    agent('c', '0000000000191'),
    // A number that may be the agent is no other agent's line, and no line of the agent.
    agent('d', '191'),
    agent('e', '0191'),
    agent('f', '00000000000272'),
    provider('g', '529.982.247-25'),
    provider('h', ' 52998224725'),
  ]);
  await world.pull(DAY, { withdrawalLimitPercent: 100 });
  const { groups } = await readSchedule(world.database.prisma, range, { offset: 0, limit: 10 });
  const lines = groups.map(({ payee, titles }) => [payee.kind, titles]);
  expect(lines.sort()).toEqual([
    ['financial_agent', 1],
    ['financial_agent', 2],
    ['financial_agent', 3],
    ['provider', 2],
  ]);
  for (const { titleId, titles } of groups) {
    const group = { range, payeeOf: titleId };
    expect((await readGroupTotals(world.database.prisma, group)).titles).toBe(titles);
    const condition = await hasPayeeOf(world.database.prisma, titleId);
    const [{ count }] = await world.database.prisma.$queryRaw<[{ count: number }]>(Prisma.sql`
        SELECT count(*)::int AS count FROM conciliation.title WHERE ${condition}`);
    expect(count).toBe(titles);
  }
});
