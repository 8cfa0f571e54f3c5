import { expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { withClient } from '../../support/client.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titlesOf, titleText } from '../../support/titles.ts';

const world = worldOfFile();

let last = 0n;

/** The feed rows after the last position of an ERP. */
async function readFeed() {
  const rows = await world.database.prisma.$queryRaw<
    { seq: bigint; uid: string; status: string; discount: string }[]
  >`
    SELECT change_seq AS seq, order_uid AS uid, status, platform_discounted_value::text AS discount
    FROM conciliation.title_feed WHERE change_seq > ${last} ORDER BY change_seq`;
  last = rows.at(-1)?.seq ?? last;
  return rows.map(({ uid, status, discount }) => `${uid} ${status} ${discount}`);
}

async function pull(...texts: string[]) {
  await world.serve(DAY, texts);
}

const uids = ['a', 'b', 'c', 'd', 'e', 'f'];
const titles = titlesOf(uids, { date: DAY, discount: '1' });

test('the feed has each inserted, changed, withdrawn and restored title, and no other', async () => {
  await pull(...titles);
  expect((await readFeed()).sort()).toEqual(uids.map((uid) => `${uid} current 1`));
  await pull(...titles);
  expect(await readFeed()).toEqual([]);
  await pull(...titles.slice(1));
  expect(await readFeed()).toEqual(['a withdrawn 1']);
  await pull(titleText({ uid: 'b', date: DAY, discount: '2' }), ...titles.slice(2));
  expect(await readFeed()).toEqual(['b current 2']);
  await pull(
    titleText({ uid: 'b', date: DAY, discount: '2' }),
    ...titles.slice(2),
    titles[0] ?? '',
  );
  expect(await readFeed()).toEqual(['a current 1']);
});

test('the numbers of a merge that has not committed are not passed by those of another merge', async () => {
  const [first, second] = [daysFrom(1), daysFrom(2)];
  // The parties of the second date are others: merges that write the same bank account wait for each other.
  const others = { code: 'P-2', agent: '11444777000161' };
  const serve = (date: CivilDate, discount: string) =>
    world.sandbox.setDayTexts(date, [
      titleText({ uid: date, date, discount, ...(date === second && others) }),
    ]);
  serve(first, '1');
  serve(second, '1');
  await world.pull(second);
  await readFeed();
  serve(second, '2');

  await withClient(world.databaseUrl, async (client) => {
    // The first merge has numbered its changes and waits for the checkpoint. The second one moves no checkpoint.
    await client.query('BEGIN');
    await client.query('SELECT FROM conciliation.checkpoint FOR UPDATE');
    const merging = world.pull(first);
    await lockWaits(world.database);
    const later = world.pull(second);
    await Promise.race([later, lockWaits(world.database, 2)]);
    const early = await readFeed();
    await client.query('COMMIT');
    await Promise.all([merging, later]);
    expect([...early, ...(await readFeed())]).toEqual([
      `${first} current 1`,
      `${second} current 2`,
    ]);
  });
});
