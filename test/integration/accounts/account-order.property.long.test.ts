/** Which payments are held does not depend on the order of a response. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

/** Forgets all accounts and titles, so that each history begins in the same state. */
async function clear(): Promise<void> {
  await world.prisma.$executeRaw`
    TRUNCATE conciliation.account_change, conciliation.payment_hold, conciliation.party_account`;
}

const ACCOUNTS = [
  { agency: '1', account: 'A' },
  { agency: null, account: 'A' },
  { agency: '1', account: 'B' },
] as const;

interface NamedTitle {
  readonly uid: string;
  readonly account: number;
}

function text(date: CivilDate, { uid, account }: NamedTitle): string {
  const title = JSON.parse(titleText({ date, uid }));
  const bankAccount = { bank: '001', agencyDigit: null, accountDigit: '0', ...ACCOUNTS[account] };
  title.provider.bankAccount = bankAccount;
  return JSON.stringify(title);
}

let usedDays = 0;

/** Pulls the titles of consecutive dates. Returns the orders whose payments are held and the changes. */
async function heldAfter(days: readonly (readonly NamedTitle[])[]) {
  await clear();
  for (const titles of days) {
    const date = daysFrom(usedDays);
    usedDays += 1;
    await world.serve(
      date,
      titles.map((title) => text(date, title)),
    );
  }
  const holds = await world.prisma.$queryRaw<{ uid: string }[]>`
    SELECT order_uid || ' of ' || title.accepted_date - ${daysFrom(usedDays)}::date AS uid
    FROM conciliation.payment_hold AS hold JOIN conciliation.title ON title.id = hold.title_id
      AND title.last_change_pull_id = hold.pull_id
    ORDER BY 1`;
  const changes = await world.prisma.$queryRaw<{ change: string }[]>`
    SELECT (before || jsonb_build_object('after', after))::text AS change
    FROM conciliation.account_change ORDER BY 1`;
  return { held: holds.map(({ uid }) => uid), changes: changes.map(({ change }) => change) };
}

const day = fc
  .array(fc.integer({ min: 0, max: ACCOUNTS.length - 1 }), { minLength: 1, maxLength: 4 })
  .map((accounts) => accounts.map((account, index) => ({ uid: `order ${index}`, account })));
const history = fc
  .array(day, { minLength: 1, maxLength: 3 })
  .chain((days) =>
    fc.tuple(
      fc.constant(days),
      fc.tuple(...days.map((titles) => fc.shuffledSubarray(titles, { minLength: titles.length }))),
    ),
  );

test('the held payments are those of any other order', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ([days, shuffled]) => {
      const expected = await heldAfter(days);
      expect(await heldAfter(shuffled)).toEqual(expected);
    }),
    { numRuns: 50, seed: 7 },
  );
});
