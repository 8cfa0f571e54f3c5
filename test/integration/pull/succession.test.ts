/** The view of consumers on a title that replaces another title. */
import { expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

test('the feed shows one restated title', async () => {
  const date = daysFrom(150, DAY);
  for (const dueDate of ['2027-01-31', '2027-02-28']) {
    const texts = [titleText({ uid: 'one', date, dueDate })];
    await world.serve(date, texts, { withdrawalLimitPercent: 100 });
  }
  const [gone, came] = await world.database.prisma.title.findMany({
    where: { acceptedDate: date },
    orderBy: { id: 'asc' },
  });
  const feed = await world.database.prisma.$queryRaw<object[]>`
    SELECT change_kind AS kind, predecessor_id AS "from", successor_id AS "to"
    FROM conciliation.title_feed WHERE accepted_date = ${date}::date ORDER BY change_seq`;
  expect(feed.slice(-2)).toEqual(
    expect.arrayContaining([
      { kind: 'withdrawn', from: null, to: came?.id },
      { kind: 'inserted', from: gone?.id, to: null },
    ]),
  );
});

test('a title whose buyer is written in another way replaces the title with the other writing', async () => {
  const date = daysFrom(152, DAY);
  const serve = async (...titles: (readonly [uid: string, buyer: string])[]) => {
    await world.serve(
      date,
      titles.map(([uid, buyer]) =>
        titleText({ uid, date }).replace('90021382000122', JSON.stringify(buyer).slice(1, -1)),
      ),
      { withdrawalLimitPercent: 100 },
    );
  };
  await serve(['one', '90021382000122'], ['two', '90021382000122'], ['three', '00000000000191']);
  await serve(['one', '90.021.382/0001-22'], ['two', '11444777000161'], ['three', '191']);
  const links = await world.database.prisma.$queryRaw<object[]>`
    SELECT came.order_uid AS uid, gone.buyer_identification AS before, came.buyer_identification AS after
    FROM conciliation.title_succession AS link
    JOIN conciliation.title AS came ON came.id = link.title_id
    JOIN conciliation.title AS gone ON gone.id = link.predecessor_id
    WHERE link.accepted_date = ${date}::date ORDER BY came.order_uid`;
  expect(links).toEqual([
    { uid: 'one', before: '90021382000122', after: '90.021.382/0001-22' },
    { uid: 'three', before: '00000000000191', after: '191' },
  ]);
});
