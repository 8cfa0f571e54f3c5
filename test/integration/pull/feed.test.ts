import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

let last = 0n;

/** What an ERP that remembers its position is told since it asked last. */
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
  world.sandbox.setDayTexts(DAY, texts);
  await world.pull();
}

const uids = ['a', 'b', 'c', 'd', 'e', 'f'];
const titles = uids.map((uid) => titleText({ uid, date: DAY, discount: '1' }));

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
